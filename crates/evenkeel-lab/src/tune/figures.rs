//! Response curves: score, accuracy and gap against each parameter.

use evenkeel_metrics::Interval;
use evenkeel_report::figure::{Band, Dot, ErrorPoint, Lines, Plot, Scatter, ScatterSeries, Series};
use evenkeel_report::{Axis, Figure, Panel, Style};

use super::outcome::{Outcome, Searched, Tried};
use super::score::Scored;
use crate::analysis::comparisons::DECIDES;
use crate::analysis::mean_curves::{BAND, tidy};
use crate::spec::optimizers;

/// A ratio of the highest and the lowest value from which the axis is logarithmic.
const LOG_FROM: f64 = 10.0;

/// What a panel shows: its title, the label of its axis and the number.
type Part = (&'static str, &'static str, fn(&Scored) -> Interval);

const PARTS: [Part; 3] = [
    ("Score", "score", |scored| scored.score),
    ("Accuracy on all seen tasks", "all seen, %", |scored| scored.all_seen),
    ("Stability gap", DECIDES, |scored| scored.avg_sg),
];

/// One figure per parameter that has several numbers.
pub(super) fn all(outcome: &Outcome) -> Vec<Figure> {
    let mut keys: Vec<&String> = Vec::new();
    for key in trials(outcome).flat_map(|trial| trial.values.keys()) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.iter().filter_map(|key| figure(outcome, key)).collect()
}

fn trials(outcome: &Outcome) -> impl Iterator<Item = &Tried> {
    outcome.optimizers.iter().flat_map(|searched| &searched.trials)
}

fn value(trial: &Tried, key: &str) -> Option<f64> {
    trial.values.get(key)?.as_f64()
}

fn figure(outcome: &Outcome, key: &str) -> Option<Figure> {
    let values: Vec<f64> = trials(outcome).filter_map(|trial| value(trial, key)).collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if low >= high {
        return None;
    }
    let own = || {
        outcome.optimizers.iter().filter(|searched| searched.trials.iter().any(|t| value(t, key).is_some()))
    };
    // Where other parameters vary too, a value has several trials, and no line goes through them.
    let alone = own().all(|searched| searched.trials.iter().all(|trial| trial.values.len() == 1));
    let mut figure = Figure::new(format!("tune-{key}"), format!("Response to {key}"), PARTS.len());
    figure.caption = caption(alone);
    for (title, label, of) in PARTS {
        let x = Axis::new(key);
        let x = if low > 0.0 && high / low >= LOG_FROM { x.log() } else { x };
        let plot = if alone {
            Plot::from(Lines {
                series: own().map(|searched| line(searched, key, of)).collect(),
                ..Lines::default()
            })
        } else {
            Plot::from(Scatter {
                series: own().map(|searched| cloud(searched, key, of)).collect(),
                ..Scatter::default()
            })
        };
        figure.panels.push(Panel::new(title, x, with_range(Axis::new(label), outcome, of), plot));
    }
    Some(figure)
}

fn caption(alone: bool) -> String {
    let chosen = if alone { "The dot is the chosen value." } else { "The chosen trial is named." };
    format!(
        "Each trial over its runs: {BAND}. {chosen} Trials with runs that diverged lie beyond the panels."
    )
}

/// The range of the trials in which nothing diverged: one that did would flatten all others.
fn with_range(axis: Axis, outcome: &Outcome, of: fn(&Scored) -> Interval) -> Axis {
    let scored = || trials(outcome).filter_map(|trial| trial.scored.as_ref());
    if scored().all(|scored| scored.diverged == 0) {
        return axis;
    }
    let means: Vec<f64> =
        scored().filter(|scored| scored.diverged == 0).map(|scored| of(scored).mean).collect();
    let low = means.iter().copied().fold(f64::INFINITY, f64::min);
    let high = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let margin = 0.05 * (high - low);
    if margin > 0.0 { axis.with_range(tidy(low - margin), tidy(high + margin)) } else { axis }
}

fn style(searched: &Searched) -> Option<Style> {
    let rank = optimizers::rank(&searched.name);
    (rank < Style::COUNT).then(|| Style::nth(rank))
}

fn line(searched: &Searched, key: &str, of: fn(&Scored) -> Interval) -> Series {
    let mut points: Vec<(f64, Interval, bool)> = searched
        .trials
        .iter()
        .filter_map(|trial| Some((value(trial, key)?, of(trial.scored.as_ref()?), trial.chosen)))
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = |interval: &Interval| interval.standard_error().unwrap_or(f64::NAN);
    let edge = |sign: f64| points.iter().map(|(_, i, _)| tidy(i.mean + sign * half(i))).collect();
    let band = Band { low: edge(-1.0), high: edge(1.0) };
    Series {
        name: searched.shown.clone(),
        style: style(searched),
        x: points.iter().map(|(x, ..)| *x).collect(),
        y: points.iter().map(|(_, interval, _)| tidy(interval.mean)).collect(),
        band: band.low.iter().any(|edge: &f64| edge.is_finite()).then_some(band),
        dots: points.iter().filter(|point| point.2).map(|(x, i, _)| Dot::new(*x, tidy(i.mean))).collect(),
    }
}

fn cloud(searched: &Searched, key: &str, of: fn(&Scored) -> Interval) -> ScatterSeries {
    let point = |trial: &Tried| {
        let interval = of(trial.scored.as_ref()?);
        Some(ErrorPoint {
            x: value(trial, key)?,
            y: tidy(interval.mean),
            x_error: None,
            y_error: interval.standard_error().map(tidy),
            label: if trial.chosen { format!("{}: chosen", searched.shown) } else { String::new() },
        })
    };
    let points = searched.trials.iter().filter_map(point).collect();
    ScatterSeries { name: searched.shown.clone(), style: style(searched), points, joined: false }
}
