//! Series of numbers to a curve.

use std::path::Path;

use evenkeel_metrics::{Curve, Point};

use super::{ImportError, LoggedRun, Roles, Series, Timeline};
use crate::analysis::own_curves::in_percent;

/// The curve of a run: a point wherever the accuracy on task 1 was logged, beside it what was logged at the same step.
///
/// Accuracies of Avalanche lie between 0 and 1, whatever `fraction` says; of others that must be said.
pub fn curve_of(
    path: &Path,
    run: &LoggedRun,
    roles: &Roles,
    timeline: &Timeline,
    fraction: bool,
) -> Result<Curve, ImportError> {
    let error = |problem: String| ImportError::new(path, problem);
    let series = |name: &String| &run.series[name];
    let accuracy: Vec<&Series> = roles.accuracy.iter().map(series).collect();
    let steps: Vec<u64> = accuracy[0].keys().copied().collect();
    // What is said counts more than what is known by its name.
    let task = roles.task.as_ref().filter(|_| timeline.task_iterations.is_empty()).map(series);
    let placed = timeline.place(run, &steps, task).map_err(error)?;
    let at =
        |name: &Option<String>, step: u64| name.as_ref().and_then(|name| series(name).get(&step).copied());
    let mut points: Vec<Point> = Vec::with_capacity(steps.len());
    for (step, (iteration, task)) in placed {
        let point = Point {
            task1_loss: at(&roles.loss, step),
            seen_acc: at(&roles.seen, step),
            train_loss: at(&roles.train_loss, step),
            task_acc: accuracy[1..].iter().map(|series| series.get(&step).copied()).collect(),
            ..Point::new(iteration, task, accuracy[0][&step])
        };
        // Two evaluations at the end of a task are of the same weights.
        points.pop_if(|before| before.iteration == iteration);
        points.push(point);
    }
    let iterations: Vec<u64> = points.iter().map(|point| point.iteration).collect();
    let curve = Curve::new(points).map_err(|fault| {
        let row = fault.row.checked_sub(1).and_then(|row| iterations.get(row));
        let place = row.map(|iteration| format!("iteration {iteration}: ")).unwrap_or_default();
        error(format!("{}: {place}{}", run.name, fault.fault))
    })?;
    let known = run.fraction || roles.accuracy[0].starts_with("Top1_Acc");
    in_percent(curve, fraction || known).map_err(|problem| error(format!("{}: {problem}", run.name)))
}
