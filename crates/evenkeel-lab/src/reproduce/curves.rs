//! Mean curves over seeds as lines of a figure.

use evenkeel_metrics::{Curve, MeanCurve, Metrics, Point};
use evenkeel_report::figure::{Band, Dot, Lines, Mark, Series};

use super::runs::{Group, Stream};

/// What the band around a mean shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spread {
    /// Standard deviation over seeds.
    Deviation,
    /// Standard error of the mean.
    Error,
}

/// A mean with its band at each of `x`; one list of values a position, over seeds.
pub(super) fn band(name: String, x: Vec<f64>, values: &[Vec<f64>], spread: Spread) -> Series {
    let mut series = Series { name, x, ..Series::default() };
    let mut edges = Band::default();
    for seeds in values {
        let mean = evenkeel_metrics::stats::mean(seeds);
        let sd = evenkeel_metrics::stats::population_sd(seeds);
        let half = match spread {
            Spread::Deviation => sd,
            Spread::Error => sd / (seeds.len() as f64).sqrt(),
        };
        series.y.push(tidy(mean));
        edges.low.push(tidy(mean - half));
        edges.high.push(tidy(mean + half));
    }
    series.band = Some(edges);
    series
}

/// The mean over seeds of one column of the curves, over the iterations for which `x` gives a position.
pub(super) fn mean_series(
    group: &Group,
    spread: Spread,
    x: impl Fn(&Point) -> Option<f64>,
    y: impl Fn(&Point) -> Option<f64>,
) -> Series {
    let mut positions = Vec::new();
    let mut values = Vec::new();
    let first = group.curves.first().map_or(&[][..], Curve::points);
    for (i, point) in first.iter().enumerate() {
        let Some(position) = x(point) else { continue };
        let seeds: Option<Vec<f64>> =
            group.curves.iter().map(|curve| curve.points().get(i).and_then(&y)).collect();
        if let Some(seeds) = seeds {
            positions.push(position);
            values.push(seeds);
        }
    }
    band(group.name(), positions, &values, spread)
}

/// One column of the curves of several optimizers over all iterations, with the task switches.
pub(super) fn over_training<'a>(
    groups: impl Iterator<Item = &'a Group>,
    spread: Spread,
    y: impl Fn(&Point) -> Option<f64>,
) -> Lines {
    let mut lines = Lines::default();
    for group in groups {
        let series = mean_series(group, spread, |point| Some(point.iteration as f64), &y);
        if lines.marks.is_empty() {
            lines.marks = switches(group);
        }
        if !series.x.is_empty() {
            lines.series.push(series);
        }
    }
    lines
}

/// Task-1 accuracy over all iterations, with a dot at the minimum of each task's mean curve.
pub(super) fn task1_accuracy(stream: &Stream<'_>, spread: Spread) -> Lines {
    let mut lines = over_training(stream.finished(), spread, |point| Some(point.task1_acc));
    for (series, group) in lines.series.iter_mut().zip(stream.finished()) {
        let minima = MeanCurve::of(&group.curves).ok().and_then(|mean| Metrics::of(&mean.curve).ok());
        if let Some(metrics) = minima {
            let dots = metrics.minimum_iterations.iter().zip(&metrics.minima);
            series.dots = dots.map(|(x, y)| Dot::new(*x as f64, tidy(*y))).collect();
        }
    }
    lines
}

fn switches(group: &Group) -> Vec<Mark> {
    let Some(curve) = group.curves.first() else { return Vec::new() };
    let ends: Vec<u64> = curve.task_ends().map(|end| end.iteration).collect();
    let marks = ends[..ends.len().saturating_sub(1)].iter();
    marks.map(|end| Mark { at: *end as f64, label: String::new() }).collect()
}

/// Five significant digits: figures need no more, and the files stay small.
pub(super) fn tidy(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}
