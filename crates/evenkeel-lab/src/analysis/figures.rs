//! The standard figures of a benchmark, in the paper's arrangement.

use evenkeel_metrics::{Curve, Estimate};
use evenkeel_report::figure::{BarSeries, Bars, Lines, Mark, Series};
use evenkeel_report::{Axis, Dash, Figure, Panel, Style};

use super::curves::{Averaged, MeanCurves, Measure};
use super::summary::Row;

/// A quantity of a group.
type Of = fn(&MeanCurves) -> &Averaged;

/// A finished group with its name in legends.
pub(super) struct Group {
    pub(super) name: String,
    pub(super) row: Row,
    pub(super) curves: MeanCurves,
}

/// A run that is not finished: drawn by itself.
pub(super) struct Unfinished {
    pub(super) name: String,
    pub(super) optimizer: String,
    pub(super) curve: Curve,
}

/// More curves than this cannot be told apart.
pub(super) const MOST_CURVES: usize = 8;

/// Share of a task's iterations before and after a switch that a zoom shows.
const ZOOM: (f64, f64) = (0.05, 0.3);

pub(super) fn all(id: &str, groups: &[Group], unfinished: &[Unfinished]) -> Vec<Figure> {
    let groups = &groups[..groups.len().min(MOST_CURVES)];
    let mut figures = Vec::new();
    if !groups.is_empty() || !unfinished.is_empty() {
        figures.push(curves(id, groups, unfinished));
    }
    figures.extend(zooms(id, groups));
    figures.extend(gaps(id, groups));
    figures
}

fn marks(groups: &[Group], unfinished: &[Unfinished]) -> Vec<Mark> {
    let of_curve = |curve: &Curve| -> Vec<f64> {
        let points = curve.points();
        let pairs = points.iter().zip(points.iter().skip(1));
        pairs.filter(|(a, b)| a.task != b.task).map(|(a, _)| a.iteration as f64).collect()
    };
    let all = groups.iter().map(|group| group.curves.switches.clone());
    let switches = all.chain(unfinished.iter().map(|run| of_curve(&run.curve))).max_by_key(Vec::len);
    let named = switches.unwrap_or_default().into_iter().enumerate();
    named.map(|(k, at)| Mark { at, label: format!("task {}", k + 2) }).collect()
}

fn curves(id: &str, groups: &[Group], unfinished: &[Unfinished]) -> Figure {
    let mut figure = Figure::new(format!("{id}-curves"), "Task-1 test accuracy, loss and gain", 3);
    let seeds = groups.iter().map(|group| group.row.seeds).max().unwrap_or(0);
    let band = if seeds > 1 { "mean ± standard error over seeds; " } else { "" };
    figure.caption = format!(
        "Measured on the test set of task 1 after every evaluation: {band}dots at each task's minimum of the mean curve, \
         dashed lines at task switches."
    );
    let quantities: [(&str, &str, Of, Measure); 4] = [
        ("Task-1 accuracy", "accuracy, %", |c| &c.accuracy, |p| Some(p.task1_acc)),
        ("Task-1 loss", "cross-entropy, nats", |c| &c.loss, |p| p.task1_loss),
        ("Gain", "gain g", |c| &c.gain, |p| p.gain),
        ("Output entropy of the batch", "entropy H, nats", |c| &c.entropy, |p| p.entropy),
    ];
    let switches = marks(groups, unfinished);
    for (index, (title, label, of, measure)) in quantities.into_iter().enumerate() {
        let mut series: Vec<Series> = Vec::new();
        for group in groups.iter().filter(|group| of(&group.curves).is_measured()) {
            let mut curve = of(&group.curves).series(&group.name, &group.curves.iterations);
            if index == 0 {
                curve.dots = group.curves.minimum_dots();
            }
            series.push(curve);
        }
        for run in unfinished {
            let value = |p| measure(p).unwrap_or(f64::NAN);
            let y: Vec<f64> = run.curve.points().iter().map(value).collect();
            if y.iter().any(|value| value.is_finite()) {
                let x = run.curve.points().iter().map(|p| p.iteration as f64).collect();
                let style = Style::known(&run.optimizer).map(alone);
                series.push(Series { name: run.name.clone(), style, x, y, ..Series::default() });
            }
        }
        if series.is_empty() {
            continue;
        }
        let mut y = Axis::new(label);
        if index == 1 {
            y = y.log();
        }
        let plot = Lines { series, marks: switches.clone(), ..Lines::default() };
        let span = if index == 0 { 3 } else { 1 };
        figure.panels.push(Panel::new(title, Axis::new("iteration"), y, plot).with_span(span));
    }
    figure
}

/// The style of a single run: the colour of its optimizer, another dash than the mean's.
fn alone(style: Style) -> Style {
    let dash = if style.dash == Dash::Solid { Dash::Dotted } else { Dash::Solid };
    Style { dash, ..style }
}

fn zooms(id: &str, groups: &[Group]) -> Option<Figure> {
    let switches = &groups.first()?.curves.switches;
    let length = *switches.first()?;
    let mut figure =
        Figure::new(format!("{id}-switches"), "Each switch from near", switches.len().clamp(1, 2));
    figure.caption =
        "Task-1 test accuracy around each task switch; iteration 0 is the last one of the old task. \
        Mean ± standard error over seeds, a dot at the minimum of the mean curve."
            .to_string();
    for (k, switch) in switches.iter().enumerate() {
        let shifted = |group: &Group| {
            let x: Vec<f64> = group.curves.iterations.iter().map(|i| i - switch).collect();
            let mut series = group.curves.accuracy.series(&group.name, &x);
            let dots = group.curves.minimum_dots();
            series.dots = dots.into_iter().skip(k).take(1).collect();
            for dot in &mut series.dots {
                dot.x -= switch;
            }
            series
        };
        let same = |group: &&Group| group.curves.switches.get(k) == Some(switch);
        let series: Vec<Series> = groups.iter().filter(same).map(shifted).collect();
        let (from, to) = (-(length * ZOOM.0).max(1.0), (length * ZOOM.1).max(2.0));
        // A minimum far from the switch is not in the picture: no dot at its edge.
        let series = series.into_iter().map(|mut series| {
            series.dots.retain(|dot| dot.x <= to);
            series
        });
        let plot = Lines {
            series: series.collect(),
            marks: vec![Mark { at: 0.0, label: String::new() }],
            ..Lines::default()
        };
        let x = Axis::new("iterations after the switch").with_range(from, to);
        let title = format!("Task {} → {}", k + 1, k + 2);
        figure.panels.push(Panel::new(title, x, Axis::new("task-1 accuracy, %"), plot));
    }
    Some(figure)
}

fn gaps(id: &str, groups: &[Group]) -> Option<Figure> {
    let transitions =
        groups.iter().map(|group| group.row.sg_per_transition.len()).max().filter(|n| *n > 0)?;
    let names: Vec<String> = (1..=transitions).map(|k| format!("{k}→{}", k + 1)).collect();
    let mut figure = Figure::new(format!("{id}-gaps"), "Stability gap and loss spike at each switch", 2);
    let published = groups.iter().any(|group| group.row.paper.is_some());
    let lines = if published { "; lines are the paper's values" } else { "" };
    figure.caption = format!(
        "a: stability gap of each transition, the paper's reading (minimum on the mean curve, ± as in the paper){lines}. b: highest task-1 loss after a switch minus the loss before it, mean ± standard \
        deviation over seeds."
    );
    let pick = |estimates: &[Option<Estimate>], of: fn(&Estimate) -> f64| -> Vec<f64> {
        estimates.iter().map(|estimate| estimate.as_ref().map_or(f64::NAN, of)).collect()
    };
    let gap = groups.iter().map(|group| {
        let paper = group.row.paper.as_ref().filter(|paper| !paper.sg_per_transition.is_empty());
        BarSeries {
            name: group.name.clone(),
            values: pick(&group.row.sg_per_transition, |estimate| estimate.mean),
            errors: Some(pick(&group.row.sg_per_transition, |estimate| estimate.pm)),
            reference: paper.map(|paper| paper.sg_per_transition.iter().map(|sg| sg.mean).collect()),
            ..BarSeries::default()
        }
    });
    let plot = Bars { groups: names.clone(), series: gap.collect() };
    let transition = || Axis::new("transition");
    figure.panels.push(Panel::new("Stability gap", transition(), Axis::new("SG"), plot));
    let spikes = groups.iter().map(|group| BarSeries {
        name: group.name.clone(),
        values: group.curves.loss_spikes.iter().map(|(mean, _)| *mean).collect(),
        errors: Some(group.curves.loss_spikes.iter().map(|(_, sd)| *sd).collect()),
        ..BarSeries::default()
    });
    let plot = Bars { groups: names, series: spikes.collect() };
    if plot.series.iter().any(|series| series.values.iter().any(|value| value.is_finite())) {
        figure.panels.push(Panel::new(
            "Task-1 loss spike",
            transition(),
            Axis::new("loss increase, nats"),
            plot,
        ));
    }
    Some(figure)
}
