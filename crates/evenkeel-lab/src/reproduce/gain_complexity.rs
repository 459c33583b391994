//! Figure 7: the mean gain of the first three tasks.

use evenkeel_metrics::{Curve, Summary};
use evenkeel_report::figure::{ErrorPoint, Scatter, ScatterSeries};
use evenkeel_report::{Axis, Cell, Figure, Panel, Table};

use super::claim::{Claim, Side};
use super::curves::tidy;
use super::runs::{Group, Runs, Stream};
use super::{Page, metrics_table};
use crate::paper::gain_slope;
use crate::spec::Scenario;

/// The paper fits the first three tasks.
const TASKS: usize = 3;

pub(super) fn page(runs: &Runs) -> Page {
    let streams = runs.streams();
    let pairs: Vec<(&Stream<'_>, &Group)> =
        streams.iter().filter_map(|stream| Some((stream, stream.find("ngm-sgd")?))).collect();
    Page {
        paragraphs: vec![
            "The mean of NGM-SGD's gain over all iterations of a task, for the first three tasks, and the slope of a line fitted \
             through the three means: of each seed, then averaged."
                .to_string(),
        ],
        claims: pairs.iter().map(|(stream, group)| claim(stream, group)).collect(),
        tables: vec![table(&pairs)],
        figures: vec![figure(&pairs)],
    }
}

/// Mean gain in task `k`.
fn mean_gain(k: usize) -> impl Fn(&Curve) -> Option<f64> {
    move |curve| {
        if k > curve.tasks() {
            return None;
        }
        let gains: Option<Vec<f64>> =
            curve.points()[curve.task_range(k)].iter().map(|point| point.gain).collect();
        gains.map(|gains| evenkeel_metrics::stats::mean(&gains))
    }
}

/// Least-squares slope over tasks 1, 2, 3.
fn slope(curve: &Curve) -> Option<f64> {
    let means: Vec<f64> = (1..=TASKS).map(|k| mean_gain(k)(curve)).collect::<Option<_>>()?;
    let (x, y) = ((TASKS + 1) as f64 / 2.0, evenkeel_metrics::stats::mean(&means));
    let offsets = || (1..=TASKS).map(|k| k as f64 - x);
    let covariance: f64 = offsets().zip(&means).map(|(dx, mean)| dx * (mean - y)).sum();
    Some(covariance / offsets().map(|dx| dx * dx).sum::<f64>())
}

fn grows(stream: &Stream<'_>) -> bool {
    stream.settings.scenario == Scenario::Split
}

fn claim(stream: &Stream<'_>, group: &Group) -> Claim {
    let (word, side) = if grows(stream) { ("positive", Side::More) } else { ("negative", Side::Less) };
    let text = format!("{}: the mean gain over the first three tasks has a {word} slope", stream.label);
    let values = group.each(slope).unwrap_or_default();
    let paper = gain_slope(stream.benchmark).map(|slope| (slope > 0.0) == grows(stream));
    Claim::of_differences(("Figure 7", text), &values, side, ("slope", 4)).with_paper(paper)
}

fn table(pairs: &[(&Stream<'_>, &Group)]) -> Table {
    let mut table = Table::new(
        "gain",
        "Mean gain of each task, ± standard deviation over seeds, and the slope of its linear fit with Student's 95 % interval.",
        ["benchmark", "seeds", "task 1", "task 2", "task 3", "slope", "slope in the paper"],
    );
    for (stream, group) in pairs {
        let mut row = vec![Cell::text(&stream.label), Cell::number(group.curves.len() as f64, 0)];
        row.extend((1..=TASKS).map(|k| metrics_table::estimate(group.estimate(mean_gain(k)), 3)));
        let slopes = group.each(slope).and_then(|slopes| Summary::of(&slopes));
        row.push(metrics_table::interval(slopes, 4));
        row.push(gain_slope(stream.benchmark).map_or(Cell::Empty, |slope| Cell::number(slope, 4)));
        table.rows.push(row);
    }
    table
}

fn figure(pairs: &[(&Stream<'_>, &Group)]) -> Figure {
    let mut figure = Figure::new("gain-across-tasks", "Mean gain of the first three tasks", 2);
    figure.caption = "NGM-SGD; mean ± standard deviation over seeds.".to_string();
    for (title, class_incremental) in [("Class-incremental", true), ("Domain-incremental", false)] {
        let mut scatter = Scatter::default();
        for (stream, group) in pairs.iter().filter(|(stream, _)| grows(stream) == class_incremental) {
            let point = |k: usize| {
                let gain = group.estimate(mean_gain(k))?;
                let (y, y_error) = (tidy(gain.mean), Some(tidy(gain.pm)));
                Some(ErrorPoint { x: k as f64, y, y_error, ..ErrorPoint::default() })
            };
            scatter.series.push(ScatterSeries {
                name: stream.label.clone(),
                points: (1..=TASKS).filter_map(point).collect(),
                joined: true,
                ..ScatterSeries::default()
            });
        }
        if !scatter.series.is_empty() {
            figure.panels.push(Panel::new(title, Axis::new("task"), Axis::new("mean gain"), scatter));
        }
    }
    figure
}

#[cfg(test)]
mod tests {
    use evenkeel_metrics::Point;

    use super::*;

    #[test]
    fn the_slope_is_that_of_the_line_through_the_means() {
        // Means 2, 2.5 and 4: (4 − 2) / 2.
        let gains = [[1.0, 3.0], [2.0, 3.0], [4.0, 4.0]];
        let points = gains.iter().flatten().enumerate().map(|(i, gain)| {
            let mut point = Point::new(i as u64 + 1, i / 2 + 1, 50.0);
            point.gain = Some(*gain);
            point
        });
        let curve = Curve::new(points.collect()).unwrap();
        assert!((slope(&curve).unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(mean_gain(4)(&curve), None);
    }
}
