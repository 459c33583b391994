//! Mean curves over seeds with their band: the one place where figures get them from.
//!
//! Every band is the standard error of the mean with the sample deviation, s/√n; there is none for a single seed.

use evenkeel_metrics::{Curve, Interval, MeanCurve, Metrics, Point};
use evenkeel_report::figure::{Band, Dot, Lines, Mark, Series};

use super::groups::{Group, Lineup};

/// What captions say of the bands.
pub const BAND: &str = "mean ± standard error over seeds (sample deviation)";

/// A mean with its band at each of `x`; one list of values per position, over seeds.
pub fn band(name: impl Into<String>, x: Vec<f64>, values: &[Vec<f64>]) -> Series {
    let mut series = Series { name: name.into(), x, ..Series::default() };
    let mut edges = Band::default();
    for seeds in values {
        let interval = Interval::of(seeds);
        let mean = interval.map_or(f64::NAN, |interval| interval.mean);
        let half = interval.and_then(|interval| interval.standard_error()).unwrap_or(f64::NAN);
        series.y.push(tidy(mean));
        edges.low.push(tidy(mean - half));
        edges.high.push(tidy(mean + half));
    }
    series.band = edges.low.iter().any(|edge| edge.is_finite()).then_some(edges);
    series
}

/// The mean over the finished seeds of one column of the curves, over the iterations for which `x` gives a position.
pub fn mean_series(
    group: &Group,
    x: impl Fn(&Point) -> Option<f64>,
    y: impl Fn(&Point) -> Option<f64>,
) -> Series {
    let mut positions = Vec::new();
    let mut values = Vec::new();
    let first = group.finished.first().into_iter().flat_map(|seed| seed.curve.points().iter());
    for (i, point) in first.enumerate() {
        let Some(position) = x(&point) else { continue };
        // A mean over some of the seeds would jump where their number changes.
        let seeds: Option<Vec<f64>> =
            group.finished.iter().map(|seed| seed.curve.points().get(i).as_ref().and_then(&y)).collect();
        if let Some(seeds) = seeds.filter(|seeds| seeds.iter().all(|value| value.is_finite())) {
            positions.push(position);
            values.push(seeds);
        }
    }
    Series { style: group.style(), ..band(group.name.clone(), positions, &values) }
}

/// One column of the curves of several groups over all iterations, with the task switches.
pub fn over_training<'a>(
    groups: impl Iterator<Item = &'a Group>,
    y: impl Fn(&Point) -> Option<f64>,
) -> Lines {
    let mut lines = Lines::default();
    for group in groups {
        let series = mean_series(group, |point| Some(point.iteration as f64), &y);
        if lines.marks.is_empty() {
            lines.marks = switch_marks(group);
        }
        if !series.x.is_empty() {
            lines.series.push(series);
        }
    }
    lines
}

/// Task-1 accuracy over all iterations, with a dot at the minimum of each task's mean curve.
pub fn task1_accuracy(lineup: &Lineup) -> Lines {
    let mut lines = over_training(lineup.finished(), |point| Some(point.task1_acc));
    for (series, group) in lines.series.iter_mut().zip(lineup.finished()) {
        series.dots = minimum_dots(group);
    }
    lines
}

/// A dot at each task's minimum of the mean curve over the finished seeds.
pub fn minimum_dots(group: &Group) -> Vec<Dot> {
    let curves: Vec<&Curve> = group.finished.iter().map(|seed| &seed.curve).collect();
    let minima = MeanCurve::of(&curves).ok().and_then(|mean| Metrics::of(&mean.curve).ok());
    minima.map_or(Vec::new(), |metrics| {
        let dots = metrics.minimum_iterations.iter().zip(&metrics.minima);
        dots.map(|(x, y)| Dot::new(*x as f64, tidy(*y))).collect()
    })
}

/// Last iteration of each task but the last.
pub fn switches(curve: &Curve) -> Vec<f64> {
    let ends: Vec<f64> = curve.task_ends().map(|end| end.iteration as f64).collect();
    ends[..ends.len().saturating_sub(1)].to_vec()
}

/// Marks at the switches of a group.
pub fn switch_marks(group: &Group) -> Vec<Mark> {
    let switches = group.finished.first().map_or(Vec::new(), |seed| switches(&seed.curve));
    let named = switches.into_iter().zip(2..);
    named.map(|(at, task)| Mark { at, label: format!("task {task}") }).collect()
}

/// Five significant digits: figures need no more, and the files stay small.
pub fn tidy(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}
