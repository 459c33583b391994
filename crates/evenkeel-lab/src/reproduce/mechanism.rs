//! Figure 3: what happens around the first task switch.

use evenkeel::curvature::geometric_mean;
use evenkeel_metrics::Estimate;
use evenkeel_report::figure::{Band, BarSeries, Bars, Lines, Mark, Series};
use evenkeel_report::{Axis, Cell, Figure, Panel, Table};

use super::claim::{Claim, Side, Verdict};
use super::curves::{Spread, band, mean_series, tidy};
use super::runs::{Group, Runs, Stream, loss_spike, sg};
use super::{Page, metrics_table};
use crate::extra::{CURVATURE_EFFECTIVE, CURVATURE_RESIDUAL};
use crate::paper::published;
use crate::spec::CurvatureWindow;

/// Iterations shown before the switch.
const BEFORE: f64 = 20.0;

pub(super) fn page(runs: &Runs) -> Page {
    let streams = runs.streams();
    Page {
        paragraphs: vec![
            "Around the switch 1→2, every iteration: task-1 test accuracy, gain, and increase of the task-1 test loss. The curvature is \
             the dominant |eigenvalue| of the Hessian of the task-1 loss with respect to the effective weights W = g·w, by power \
             iteration in f64 on fixed test batches (one mean loss over all of them), divided by its value at the switch: \
             R(t), geometric mean over seeds. It is measured less often than the rest, since one measurement costs as much as \
             hundreds of iterations; the times are in the table."
                .to_string(),
        ],
        claims: streams.iter().flat_map(claims).collect(),
        tables: streams.iter().flat_map(|stream| [transitions(stream), curvature_table(stream)]).collect(),
        figures: streams.iter().map(figure).collect(),
    }
}

fn window(stream: &Stream<'_>) -> CurvatureWindow {
    stream.settings.curvature.unwrap_or_default()
}

/// The iteration of the switch.
fn switch(stream: &Stream<'_>) -> u64 {
    window(stream).switch as u64 * stream.settings.iterations
}

/// ln R(t) of each seed: the times since the switch, and one list of values a seed.
fn log_ratios(stream: &Stream<'_>, group: &Group) -> Option<(Vec<u64>, Vec<Vec<f64>>)> {
    let measured = group.extra(CURVATURE_EFFECTIVE);
    let times: Vec<u64> =
        measured.first()?.iter().map(|(iteration, ..)| iteration - switch(stream)).collect();
    let logs = |rows: &Vec<(u64, usize, f64)>| -> Option<Vec<f64>> {
        let (_, _, before) = *rows.first()?;
        let ratios: Vec<f64> = rows.iter().map(|(.., value)| (value / before).ln()).collect();
        (ratios.len() == times.len() && ratios.iter().all(|ratio| ratio.is_finite())).then_some(ratios)
    };
    let ratios = measured.iter().map(logs).collect::<Option<Vec<_>>>()?;
    (times.first() == Some(&0)).then_some((times, ratios))
}

fn claims(stream: &Stream<'_>) -> Vec<Claim> {
    let Some(ngm) = stream.find("ngm-sgd") else { return Vec::new() };
    let mut claims = Vec::new();
    for other in ["msgd", "adam"] {
        let Some(group) = stream.find(other) else { continue };
        let name = group.name();
        let text = format!("at the switch 1→2 {name} loses more task-1 accuracy than NGM-SGD");
        let paper = published(stream.benchmark, other).zip(published(stream.benchmark, "ngm-sgd"));
        let paper = paper.map(|(a, b)| a.sg_per_transition[0].mean > b.sg_per_transition[0].mean);
        claims.push(
            Claim::compare(("Figure 3b, f", text), (group, ngm), Side::More, ("SG 1→2", 3), sg(1))
                .with_paper(paper),
        );
        let text = format!("at the switch 1→2 the task-1 loss of {name} rises more than NGM-SGD's");
        let spike = loss_spike(1);
        claims.push(Claim::compare(
            ("Figure 3d, g", text),
            (group, ngm),
            Side::More,
            ("loss spike", 3),
            spike,
        ));
        if let Some(ratios) = log_ratios(stream, ngm).zip(log_ratios(stream, group)) {
            claims.extend(curvature_claims(&name, (ngm, group), ratios));
        }
    }
    if let Some(sgd) = stream.find("sgd") {
        let text = "at the switch 1→2 NGM-SGD remains close to SGD or improves upon it".to_string();
        claims.push(Claim::compare(("Figure 3f", text), (ngm, sgd), Side::Less, ("SG 1→2", 3), sg(1)));
    }
    for group in stream.finished() {
        if let Some((_, ratios)) = log_ratios(stream, group) {
            let text =
                format!("the switch increases the curvature of {} (its highest R is above 1)", group.name());
            let peaks: Vec<f64> = ratios.iter().map(|seed| peak(seed)).collect();
            claims.push(Claim::of_differences(
                ("Figure 3e", text),
                &peaks,
                Side::More,
                ("ln of the highest R", 2),
            ));
        }
    }
    claims
}

/// The highest ln R after the switch.
fn peak(logs: &[f64]) -> f64 {
    logs[1..].iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

type Ratios = (Vec<u64>, Vec<Vec<f64>>);

fn curvature_claims(
    name: &str,
    (ngm, group): (&Group, &Group),
    (own, other): (Ratios, Ratios),
) -> Vec<Claim> {
    // Seeds that both have.
    let pairs: Vec<(&Vec<f64>, &Vec<f64>)> = ngm
        .seeds
        .iter()
        .zip(&own.1)
        .filter_map(|(seed, logs)| {
            Some((logs, &other.1[group.seeds.iter().position(|other| other == seed)?]))
        })
        .collect();
    let peaks: Vec<f64> = pairs.iter().map(|(own, other)| peak(own) - peak(other)).collect();
    let text = format!("the curvature of NGM-SGD grows less than that of {name} (highest R)");
    let measure = format!("ln of the highest R: NGM-SGD − {name}");
    let mut claims = vec![Claim::of_differences(("Figure 3e", text), &peaks, Side::Less, (&measure, 2))];

    let text = format!("NGM-SGD keeps a lower curvature ratio than {name} throughout the window");
    let at = |i: usize| {
        let differences: Vec<f64> = pairs.iter().map(|(own, other)| own[i] - other[i]).collect();
        let measure = format!("ln R at iteration {} after the switch, the worst: NGM-SGD − {name}", own.0[i]);
        Claim::of_differences(("Figure 3e", text.clone()), &differences, Side::Less, (&measure, 2))
    };
    // One time at which it is higher contradicts it; one at which it may be leaves it open.
    let all: Vec<Claim> = (1..own.0.len().min(other.0.len())).map(at).collect();
    let worst = [Verdict::Contradicted, Verdict::Undecided, Verdict::Holds];
    claims
        .extend(worst.iter().find_map(|verdict| all.iter().find(|claim| claim.verdict == *verdict)).cloned());
    claims
}

fn transitions(stream: &Stream<'_>) -> Table {
    let mut table = Table::new(
        "switches",
        "Stability gap (with the minimum of each seed, and in the paper's reading beside the paper's) and task-1 loss spike at each \
         switch: mean ± standard deviation over seeds.",
        ["optimizer", "switch", "SG (per seed)", "SG (mean curve)", "SG (paper)", "loss spike"],
    );
    for group in stream.finished() {
        let reading = group.paper();
        let paper = published(stream.benchmark, &group.spec.optimizer.name);
        for k in 1..group.curves[0].tasks() {
            let ours = reading.as_ref().and_then(|reading| reading.sg_per_transition[k - 1]);
            let paper = paper.as_ref().and_then(|row| row.sg_per_transition.get(k - 1)).copied();
            table.rows.push(vec![
                Cell::text(group.name()),
                Cell::text(format!("{k}→{}", k + 1)),
                metrics_table::estimate(group.estimate(sg(k)), 3),
                metrics_table::estimate(ours, 3),
                metrics_table::estimate(paper, 3),
                metrics_table::estimate(group.estimate(loss_spike(k)), 3),
            ]);
        }
    }
    table
}

fn curvature_table(stream: &Stream<'_>) -> Table {
    let mut table = Table::new(
        "curvature",
        "Curvature ratio R(t) = |λ(t)| / |λ(0)| in effective coordinates: geometric mean over seeds, and one standard deviation in \
         log space; |λ(0)| is the geometric mean at the switch; the residual (largest over seeds) says how far the power \
         iteration was from its end.",
        ["optimizer", "iterations after the switch", "R", "R low", "R high", "|λ|", "largest residual"],
    );
    for group in stream.finished() {
        let Some((times, ratios)) = log_ratios(stream, group) else { continue };
        let values = group.extra(CURVATURE_EFFECTIVE);
        let residuals = group.extra(CURVATURE_RESIDUAL);
        for (i, time) in times.iter().enumerate() {
            let ratio: Vec<f64> = ratios.iter().map(|seed| seed[i].exp()).collect();
            let eigenvalue: Vec<f64> = values.iter().map(|seed| seed[i].2).collect();
            let Some((mean, eigenvalue)) = geometric_mean(&ratio).zip(geometric_mean(&eigenvalue)) else {
                continue;
            };
            let residual =
                residuals.iter().filter_map(|seed| seed.get(i)).map(|row| row.2).fold(0.0, f64::max);
            table.rows.push(vec![
                Cell::text(group.name()),
                Cell::number(*time as f64, 0),
                Cell::number(mean.mean, 3),
                Cell::number(mean.lower(), 3),
                Cell::number(mean.upper(), 3),
                Cell::number(eigenvalue.mean, 3),
                Cell::number(residual, 5),
            ]);
        }
    }
    table
}

fn figure(stream: &Stream<'_>) -> Figure {
    let mut figure = Figure::new("mechanism", format!("{} around the switch 1→2", stream.label), 2);
    figure.caption = "Panels b to g of the paper's figure. Curvature: ratio in effective coordinates to its value at the switch, \
                      geometric mean ± one standard deviation in log space; dashed: 1. The rest: mean ± standard deviation over \
                      seeds; bars: at each switch; short lines across them: the paper's values."
        .to_string();
    let at = switch(stream);
    let after = window(stream).after.min(stream.settings.iterations) as f64;
    let position = |iteration: u64| {
        let t = iteration as f64 - at as f64;
        (-BEFORE..=after).contains(&t).then_some(t)
    };
    let marked = |series: Vec<Series>| Lines {
        series: series.into_iter().filter(|series| !series.x.is_empty()).collect(),
        marks: vec![Mark { at: 0.0, label: "switch".to_string() }],
        ..Lines::default()
    };
    let column = |y: &dyn Fn(&evenkeel_metrics::Point) -> Option<f64>| {
        let of = |group| mean_series(group, Spread::Deviation, |point| position(point.iteration), y);
        marked(stream.finished().map(of).collect())
    };
    let increase = marked(stream.finished().map(|group| loss_increase(group, at, position)).collect());
    let mut ratio = marked(stream.finished().filter_map(|group| ratio_series(stream, group)).collect());
    ratio.rules.push(Mark { at: 1.0, label: String::new() });
    let x = || Axis::new("iterations after the switch");
    let sg_bars = |group: &Group, k: usize| group.estimate(sg(k));
    let spikes = |group: &Group, k: usize| group.estimate(loss_spike(k));
    figure.panels = vec![
        Panel::new(
            "Task-1 accuracy",
            x(),
            Axis::new("task-1 accuracy (%)"),
            column(&|point| Some(point.task1_acc)),
        ),
        Panel::new("Gain", x(), Axis::new("gain"), column(&|point| point.gain)),
        Panel::new("Task-1 loss", x(), Axis::new("increase of task-1 loss"), increase),
        Panel::new("Curvature", x(), Axis::new("curvature ratio").log(), ratio),
        Panel::new("Stability gap", Axis::new("switch"), Axis::new("SG"), bars(stream, true, sg_bars)),
        Panel::new("Loss spike", Axis::new("switch"), Axis::new("loss spike"), bars(stream, false, spikes)),
    ];
    figure
}

/// Task-1 loss of each seed minus its value at the switch.
fn loss_increase(group: &Group, at: u64, position: impl Fn(u64) -> Option<f64>) -> Series {
    let before: Vec<Option<f64>> = group
        .curves
        .iter()
        .map(|curve| curve.points().iter().find(|point| point.iteration == at)?.task1_loss)
        .collect();
    let (mut x, mut values) = (Vec::new(), Vec::new());
    for (i, point) in group.curves[0].points().iter().enumerate() {
        let Some(t) = position(point.iteration) else { continue };
        let seeds = group.curves.iter().zip(&before);
        let increase: Option<Vec<f64>> =
            seeds.map(|(curve, before)| Some(curve.points().get(i)?.task1_loss? - (*before)?)).collect();
        if let Some(increase) = increase {
            x.push(t);
            values.push(increase);
        }
    }
    band(group.name(), x, &values, Spread::Deviation)
}

fn ratio_series(stream: &Stream<'_>, group: &Group) -> Option<Series> {
    let (times, ratios) = log_ratios(stream, group)?;
    let mut series = Series { name: group.name(), ..Series::default() };
    let mut edges = Band::default();
    for (i, time) in times.iter().enumerate() {
        let seeds: Vec<f64> = ratios.iter().map(|seed| seed[i].exp()).collect();
        let ratio = geometric_mean(&seeds)?;
        series.x.push(*time as f64);
        series.y.push(tidy(ratio.mean));
        edges.low.push(tidy(ratio.lower()));
        edges.high.push(tidy(ratio.upper()));
    }
    series.band = Some(edges);
    Some(series)
}

fn bars(stream: &Stream<'_>, with_paper: bool, of: impl Fn(&Group, usize) -> Option<Estimate>) -> Bars {
    let mut bars = Bars::default();
    for group in stream.finished() {
        let switches = 1..group.curves[0].tasks();
        bars.groups = switches.clone().map(|k| format!("{k}→{}", k + 1)).collect();
        let found: Vec<Option<Estimate>> = switches.map(|k| of(group, k)).collect();
        let paper = published(stream.benchmark, &group.spec.optimizer.name).filter(|_| with_paper);
        bars.series.push(BarSeries {
            name: group.name(),
            values: found.iter().map(|e| e.map_or(f64::NAN, |e| tidy(e.mean))).collect(),
            errors: Some(found.iter().map(|e| e.map_or(f64::NAN, |e| tidy(e.pm))).collect()),
            reference: paper.map(|row| row.sg_per_transition.iter().map(|sg| sg.mean).collect()),
            ..BarSeries::default()
        });
    }
    bars
}
