//! Task-1 accuracy, loss, gain and entropy over the whole of training.

use evenkeel_metrics::Point;
use evenkeel_report::figure::{Mark, Series};
use evenkeel_report::{Axis, Figure, Panel};

use super::{Drawn, MOST_CURVES};
use crate::analysis::mean_curves::{BAND, minimum_dots, over_training, switches};

/// A column of the curve where it was measured.
type Column = fn(&Point) -> Option<f64>;

const COLUMNS: [(&str, &str, Column); 4] = [
    ("Task-1 accuracy", "accuracy, %", |p| Some(p.task1_acc)),
    ("Task-1 loss", "cross-entropy, nats", |p| p.task1_loss),
    ("Gain", "gain g", |p| p.gain),
    ("Output entropy of the batch", "entropy H, nats", |p| p.entropy),
];

pub(super) fn figure(drawn: &Drawn<'_>) -> Option<Figure> {
    let groups = || drawn.lineup.finished().take(MOST_CURVES);
    if groups().next().is_none() && drawn.unfinished.is_empty() {
        return None;
    }
    let mut figure = Figure::new(format!("{}-curves", drawn.id), "Task-1 test accuracy, loss and gain", 2);
    let several = groups().any(|group| group.finished.len() > 1);
    let band = if several { format!("{BAND}; ") } else { String::new() };
    figure.caption = format!(
        "Measured on the test set of task 1 after every evaluation: {band}dots at each task's minimum of the mean curve, \
         dashed lines at task switches."
    );
    for (index, (title, label, column)) in COLUMNS.into_iter().enumerate() {
        let mut lines = over_training(groups(), column);
        if index == 0 {
            for (series, group) in lines.series.iter_mut().zip(groups()) {
                series.dots = minimum_dots(group);
            }
        }
        for run in drawn.unfinished {
            let points = run.curve.points().iter();
            let y: Vec<f64> = points.clone().map(|point| column(&point).unwrap_or(f64::NAN)).collect();
            if y.iter().any(|value| value.is_finite()) {
                let x = points.map(|point| point.iteration as f64).collect();
                lines.series.push(Series { name: run.name.clone(), x, y, ..Series::default() });
            }
            let seen = switches(&run.curve);
            if seen.len() > lines.marks.len() {
                let marks = seen.into_iter().zip(2..);
                lines.marks = marks.map(|(at, task)| Mark { at, label: format!("task {task}") }).collect();
            }
        }
        if lines.series.is_empty() {
            continue;
        }
        let y = if index == 1 { Axis::new(label).log() } else { Axis::new(label) };
        let span = if index == 0 { 2 } else { 1 };
        figure.panels.push(Panel::new(title, Axis::new("iteration"), y, lines).with_span(span));
    }
    Some(figure)
}
