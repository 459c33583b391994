//! Figure 2: the scalar model under a gain.

use evenkeel::two_timescale::{Learner, TwoTimescaleConfig, TwoTimescaleRun};
use evenkeel_report::figure::{Dot, Lines, Mark, Series, Shade};
use evenkeel_report::{Axis, Cell, Color, Dash, Figure, Panel, Style, Table};

use super::{Analysis, Page, Result};
use crate::analysis::claims::{Basis, Claim};
use crate::analysis::mean_curves::tidy;
use crate::paper::claims::PaperClaim;

pub(super) const RESULT: Result = Result {
    name: "two-timescale",
    place: "Figure 2",
    summary: "a scalar model under a gain, beside fast and slow weights",
    experiment: r"
# Figure 2: a scalar model under a gain, beside fast and slow weights. No training and no data: only `evenkeel reproduce
# two-timescale` reads this file. The paper prints none of these values but g0 = 1; they are this project's.
t1 = 1.0
t2 = 2.0
switch = 100
steps = 300
w0 = 0.0
lr = 0.1
slow_lr = 0.1
fast_lr = 0.2
fast_decay = 0.9

[gain]
gamma = 0.9
eta = 0.2
g0 = 1.0
",
    source: include_str!("two_timescale.rs"),
    analysis: Analysis::OfFile(page),
};

const LANDSCAPE_POINTS: usize = 101;

fn page(file: &str) -> std::result::Result<Page, String> {
    let config: TwoTimescaleConfig = toml::from_str(file).map_err(|error| error.message().to_string())?;
    let run = |config: TwoTimescaleConfig| {
        config.check().and_then(|model| model.run()).map_err(|error| error.to_string())
    };
    // The gain multiplies the weight that is there already: it helps where the output has to grow, and only there.
    let back = TwoTimescaleConfig { t1: config.t2, t2: config.t1, ..config };
    let directions = [(config, run(config)?), (back, run(back)?)];
    Ok(Page {
        paragraphs: vec![
            "y = W·x with x = 1 has to follow a target that switches, under L = ½ (T − y)² and H = |∂L/∂g|: under a gain, with \
             fast and slow weights, and with slow weights alone. The paper prints none of the parameters; those of the \
             experiment file show its picture. It depends on the direction of the switch: a gain multiplies the weight that is \
             there, so it moves the output away from a smaller target. Both directions are computed."
                .to_string(),
        ],
        claims: directions.iter().flat_map(|(config, run)| claims(config, run)).collect(),
        tables: vec![table(&directions)],
        figures: directions.iter().map(|(config, run)| figure(config, run)).collect(),
    })
}

fn direction(config: &TwoTimescaleConfig) -> String {
    format!("{}→{}", config.t1, config.t2)
}

/// Sum of the losses after the switch.
fn loss_after(config: &TwoTimescaleConfig, run: &TwoTimescaleRun, learner: Learner) -> f64 {
    run.of(learner)[config.switch..].iter().map(|state| state.loss).sum()
}

/// A claim of Figure 2; the paper switches from a smaller to a larger target, the other direction is ours.
fn claim(id: &str, config: &TwoTimescaleConfig, text: &str, basis: Basis) -> Claim {
    Claim {
        text: text.to_string(),
        place: PaperClaim::named(id).place.clone(),
        of_paper: config.t1 < config.t2,
        lineup: format!("switch {}", direction(config)),
        basis,
        table: None,
    }
}

/// Root mean square distance of two outputs after the switch.
fn distance(config: &TwoTimescaleConfig, run: &TwoTimescaleRun, a: Learner, b: Learner) -> f64 {
    let (a, b) = (&run.of(a)[config.switch..], &run.of(b)[config.switch..]);
    let squares: Vec<f64> = a.iter().zip(b).map(|(a, b)| (a.effective - b.effective).powi(2)).collect();
    evenkeel_metrics::stats::mean(&squares).sqrt()
}

fn claims(config: &TwoTimescaleConfig, run: &TwoTimescaleRun) -> Vec<Claim> {
    // The whole of the adaptation: the time to a band around the target depends on how the output overshoots it.
    let loss = |learner| loss_after(config, run, learner);
    let (gain, slow) = (loss(Learner::GainModulated), loss(Learner::Slow));
    let apart = |learner| distance(config, run, learner, Learner::FastSlow);
    let (near, far) = (apart(Learner::GainModulated), apart(Learner::Slow));
    let (peak, landscape) = (run.peak(), run.landscape(LANDSCAPE_POINTS));
    let flatter = landscape.base_curvature / landscape.effective_curvature;
    let after = (peak.t as f64) - (config.switch as f64);
    let parts = run.of(Learner::GainModulated).iter().map(|state| state.effective.abs()).fold(0.0, f64::max);
    vec![
        claim(
            "toy-gain-adapts-faster",
            config,
            &format!(
                "under a gain the output adapts faster than with the slow weight (summed loss after the switch {gain:.3} against {slow:.3})"
            ),
            Basis::Exact(gain < slow, Cell::difference(gain - slow, 3)),
        ),
        claim(
            "toy-gain-approximates-fast-slow",
            config,
            &format!(
                "the gain-modulated output is nearer to the fast-slow one than the slow one is (RMS {near:.3} against {far:.3})"
            ),
            Basis::Exact(near < far, Cell::difference(near - far, 3)),
        ),
        claim(
            "toy-gain-peaks-after-switch",
            config,
            "the gain peaks after the switch (iterations after it)",
            Basis::Identity(after > 0.0 && peak.gain > config.gain.g0, Cell::number(after, 0)),
        ),
        claim(
            "peak-gain-flattens-and-scales",
            config,
            "at the peak the curvature is g² times smaller in effective coordinates (ratio over g²)",
            Basis::Identity(
                (flatter / peak.gain.powi(2) - 1.0).abs() < 1e-12,
                Cell::number(flatter / peak.gain.powi(2), 4),
            ),
        ),
        claim(
            "fast-slow-decomposition",
            config,
            "g·w = g₀·w + (g − g₀)·w (largest output)",
            Basis::Identity(parts.is_finite(), Cell::number(parts, 3)),
        ),
    ]
}

fn table(directions: &[(TwoTimescaleConfig, TwoTimescaleRun)]) -> Table {
    let mut columns =
        vec!["switch", "learner", "summed loss after the switch", "largest loss after the switch"];
    columns.extend(["iterations to half way", "to 10 %", "to 5 %", "peak gain", "iterations to the peak"]);
    let mut table =
        Table::new("learners", "How each learner follows the switch, in both directions.", columns);
    for (config, run) in directions {
        for learner in Learner::ALL {
            let after = &run.of(learner)[config.switch..];
            let largest = after.iter().map(|state| state.loss).fold(0.0, f64::max);
            let time = |fraction| {
                run.adaptation_time(learner, fraction).map_or(Cell::Empty, |t| Cell::number(t as f64, 0))
            };
            let mut row = vec![Cell::text(direction(config)), Cell::text(learner.to_string())];
            row.push(Cell::number(loss_after(config, run, learner), 3));
            row.push(Cell::number(largest, 3));
            row.extend([0.5, 0.1, 0.05].map(time));
            if learner == Learner::GainModulated {
                let peak = run.peak();
                row.push(Cell::number(peak.gain, 3));
                row.push(Cell::number((peak.t - config.switch) as f64, 0));
            }
            table.rows.push(row);
        }
    }
    table
}

fn figure(config: &TwoTimescaleConfig, run: &TwoTimescaleRun) -> Figure {
    let name = direction(config);
    let mut figure = Figure::new(format!("switch {name}"), format!("The scalar model, switch {name}"), 2);
    figure.caption = "Left: output of each learner; shaded: after the switch; dashed: time of the highest gain. Right: the loss at \
                      that time as a function of the base weight and of the effective weight; dots: the learners, with the \
                      next gradient step of each."
        .to_string();
    let peak = run.peak();
    let mut left = Lines {
        shades: vec![Shade { from: config.switch as f64, to: config.steps as f64, label: String::new() }],
        marks: vec![Mark { at: peak.t as f64, label: "peak gain".to_string() }],
        ..Lines::default()
    };
    let series = |name: String, x: Vec<f64>, y: Vec<f64>| Series { name, x, y, ..Series::default() };
    let times = || (0..config.steps).map(|t| t as f64).collect::<Vec<_>>();
    for learner in Learner::ALL {
        let y = run.of(learner).iter().map(|state| tidy(state.effective)).collect();
        // The paper's colours.
        let style = match learner {
            Learner::GainModulated => Style::new(Color::Orange, Dash::Solid),
            Learner::FastSlow => Style::new(Color::Blue, Dash::Dashed),
            Learner::Slow => Style::new(Color::Purple, Dash::DashDot),
        };
        left.series.push(Series { style: Some(style), ..series(learner.to_string(), times(), y) });
    }
    let target = run.slow.iter().map(|state| state.target).collect();
    left.series.push(series("target".to_string(), times(), target));

    let landscape = run.landscape(LANDSCAPE_POINTS);
    let weights = || landscape.points.iter().map(|point| tidy(point.weight)).collect::<Vec<_>>();
    let base = landscape.points.iter().map(|point| tidy(point.base_loss)).collect();
    let effective = landscape.points.iter().map(|point| tidy(point.effective_loss)).collect();
    let mut effective = series("effective coordinates".to_string(), weights(), effective);
    for state in &landscape.learners {
        let (x, y) = (state.effective, state.loss);
        let to = x + (state.target - x).signum() * state.step;
        effective.dots.push(Dot { x, y, arrow_to: Some([to, 0.5 * (state.target - to).powi(2)]) });
    }
    let right = Lines {
        series: vec![series("base coordinates".to_string(), weights(), base), effective],
        ..Lines::default()
    };
    figure.panels = vec![
        Panel::new("", Axis::new("iteration"), Axis::new("output y"), left),
        Panel::new(format!("g = {:.2}", landscape.gain), Axis::new("weight"), Axis::new("loss"), right),
    ];
    figure
}
