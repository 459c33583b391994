//! What stability costs: the gap against the accuracy on all tasks.

use evenkeel_report::figure::{ErrorPoint, Scatter, ScatterSeries};
use evenkeel_report::{Axis, Figure, Panel};

use super::{Drawn, MOST_CURVES};
use crate::analysis::comparisons::{ALL_SEEN, DECIDES};
use crate::analysis::mean_curves::tidy;
use crate::analysis::{Group, Measure};

pub(super) fn figure(drawn: &Drawn<'_>) -> Option<Figure> {
    let groups = drawn.lineup.finished().take(MOST_CURVES);
    let series: Vec<ScatterSeries> = groups.filter_map(|group| Some(series(group, point(group)?))).collect();
    if series.is_empty() {
        return None;
    }
    let mut figure = Figure::new(format!("{}-pareto", drawn.id), "What stability costs", 1);
    figure.leads = true;
    figure.caption = "Gap of each seed's own curve against accuracy on all tasks at the end; mean and Student's 95 % interval. Good is top \
                      left: a small gap, and everything learnt."
        .to_string();
    let plot = Scatter { series, ..Scatter::default() };
    let (x, y) = (Axis::new(format!("stability gap, {DECIDES}")), Axis::new(format!("{ALL_SEEN}, %")));
    figure.panels.push(Panel::new("Gap against accuracy on all tasks", x, y, plot));
    Some(figure)
}

/// Gap and accuracy of a group with their intervals, under its name.
pub fn point(group: &Group) -> Option<ErrorPoint> {
    let gap = group.interval(&Measure::named(DECIDES))?;
    let learnt = group.interval(&Measure::named(ALL_SEEN))?;
    // Half of the interval; a bound that was cut off at what is possible makes it the other half.
    let half = |ci: Option<[f64; 2]>, mean: f64| ci.map(|[low, high]| tidy((mean - low).max(high - mean)));
    Some(ErrorPoint {
        x: tidy(gap.mean),
        y: tidy(learnt.mean),
        x_error: half(gap.ci95, gap.mean),
        y_error: half(learnt.ci95, learnt.mean),
        label: group.name.clone(),
    })
}

/// One point in the colour of its group.
pub fn series(group: &Group, point: ErrorPoint) -> ScatterSeries {
    ScatterSeries { name: point.label.clone(), style: group.style(), points: vec![point], joined: false }
}
