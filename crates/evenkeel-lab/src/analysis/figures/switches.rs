//! Task-1 accuracy around each task switch.

use evenkeel_report::figure::{Lines, Mark, Series};
use evenkeel_report::{Axis, Figure, Panel, Plot};

use super::{Drawn, MOST_CURVES};
use crate::analysis::groups::Group;
use crate::analysis::mean_curves::{BAND, mean_series, minimum_dots, switches};

/// Share of a task's iterations before and after a switch that a panel shows.
const ZOOM: (f64, f64) = (0.05, 0.3);

pub(super) fn figure(drawn: &Drawn<'_>) -> Option<Figure> {
    let groups: Vec<&Group> = drawn.lineup.finished().take(MOST_CURVES).collect();
    let all = switches(&groups.first()?.finished[0].curve);
    let length = *all.first()?;
    let mut figure =
        Figure::new(format!("{}-switches", drawn.id), "Each switch from near", all.len().clamp(1, 2));
    figure.caption = format!(
        "Task-1 test accuracy around each task switch; iteration 0 is the last one of the old task. Line and band: {BAND}; a dot \
         at the minimum of the mean curve. All panels have one scale."
    );
    (figure.leads, figure.shared_range) = (true, true);
    let (from, to) = (-(length * ZOOM.0).max(1.0), (length * ZOOM.1).max(2.0));
    for (k, switch) in all.iter().enumerate() {
        let shifted = |group: &&Group| -> Series {
            let mut series = mean_series(
                group,
                |point| Some(point.iteration as f64 - switch),
                |point| Some(point.task1_acc),
            );
            series.dots = minimum_dots(group).into_iter().skip(k).take(1).collect();
            for dot in &mut series.dots {
                dot.x -= switch;
            }
            // A minimum far from the switch is not in the picture: no dot at its edge.
            series.dots.retain(|dot| dot.x <= to);
            series
        };
        let plot = Lines {
            series: groups.iter().map(shifted).collect(),
            marks: vec![Mark { at: 0.0, label: String::new() }],
            ..Lines::default()
        };
        let x = Axis::new("iterations after the switch").with_range(from, to);
        let title = format!("Task {} → {}", k + 1, k + 2);
        figure.panels.push(Panel::new(title, x, Axis::new("task-1 accuracy, %"), plot));
    }
    share_range(&mut figure, (from, to));
    Some(figure)
}

/// One vertical range for all panels, so that a dip of two points does not look like a collapse.
fn share_range(figure: &mut Figure, (from, to): (f64, f64)) {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for panel in &figure.panels {
        let Plot::Lines(lines) = &panel.plot else { continue };
        for series in &lines.series {
            let band = |i: usize| series.band.as_ref().map(|band| [band.low[i], band.high[i]]);
            for (i, _) in series.x.iter().enumerate().filter(|(_, x)| (from..=to).contains(*x)) {
                for value in [series.y[i]].into_iter().chain(band(i).into_iter().flatten()) {
                    if value.is_finite() {
                        (low, high) = (low.min(value), high.max(value));
                    }
                }
            }
        }
    }
    if low < high {
        let margin = 0.03 * (high - low);
        for panel in &mut figure.panels {
            panel.y.range = Some([low - margin, high + margin]);
        }
    }
}
