//! Accuracy on every task over training, as a heat map per optimizer: where all tasks were evaluated all the time.

use evenkeel_report::figure::Heatmap;
use evenkeel_report::{Axis, Figure, Panel};

use super::{Drawn, MOST_CURVES};
use crate::analysis::groups::Group;
use crate::analysis::mean_curves::mean_series;

/// Columns per task.
const PARTS: usize = 4;

pub(super) fn figure(drawn: &Drawn<'_>) -> Option<Figure> {
    let groups = drawn.lineup.finished().take(MOST_CURVES);
    let panels: Vec<Panel> = groups.filter_map(panel).collect();
    if panels.is_empty() {
        return None;
    }
    let mut figure = Figure::new(format!("{}-all-tasks", drawn.id), "Accuracy on every task", 2);
    figure.caption = format!(
        "Lowest accuracy in percent of the mean curve over seeds on the test set of each task (rows), within each of {PARTS} equal parts of \
         every task of the training (columns: the iteration at which a part ends). The first column of a task shows the gap of all \
         old tasks at the switch."
    );
    figure.panels = panels;
    Some(figure)
}

/// The heat map of one group; `None` unless every old task was evaluated at every evaluation.
fn panel(group: &Group) -> Option<Panel> {
    let curve = &group.finished.first()?.curve;
    let tasks = curve.tasks();
    if tasks < 2 {
        return None;
    }
    let (mut columns, mut groups): (Vec<(u64, u64)>, Vec<usize>) = (Vec::new(), Vec::new());
    for k in 1..=tasks {
        let iterations = &curve.iterations()[curve.task_range(k)];
        let parts = iterations.chunks(iterations.len().div_ceil(PARTS));
        groups.push(parts.len());
        columns.extend(parts.map(|part| (part[0], part[part.len() - 1])));
    }
    let mut values = Vec::with_capacity(tasks);
    for task in 1..=tasks {
        let series = mean_series(group, |point| Some(point.iteration as f64), |point| point.acc_of(task));
        let end = *curve.iterations()[curve.task_range(task)].last()?;
        let evaluated = curve.iterations().iter().filter(|iteration| **iteration >= end).count();
        // Only the ends of tasks were evaluated: no gap is to be seen in that.
        if series.x.iter().filter(|x| **x >= end as f64).count() < evaluated {
            return None;
        }
        let lowest = |(from, to): &(u64, u64)| {
            let within =
                series.x.iter().zip(&series.y).filter(|(x, _)| (*from as f64..=*to as f64).contains(*x));
            within.map(|(_, y)| *y).reduce(f64::min).unwrap_or(f64::NAN)
        };
        values.push(columns.iter().map(lowest).collect());
    }
    let map = Heatmap {
        x_names: columns.iter().map(|(_, to)| to.to_string()).collect(),
        y_names: (1..=tasks).map(|task| task.to_string()).collect(),
        values,
        label: "accuracy, %".to_string(),
        digits: 0,
        low_is_good: false,
        groups,
    };
    Some(Panel::new(&group.name, Axis::new("iteration"), Axis::new("task"), map))
}
