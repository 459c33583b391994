//! The paper's four metrics, ours beside the published, and the usual reading with intervals.

use evenkeel_metrics::{Estimate, Summary};
use evenkeel_report::{Cell, Table};

use super::runs::{Group, Stream};
use crate::paper::PaperRow;

const COLUMNS: [&str; 8] =
    ["benchmark", "optimizer", "source", "seeds", "avg-ACC", "avg-min-ACC", "WC-ACC", "avg-SG"];

/// The paper's reading of every optimizer, with the paper's row below it.
pub(super) fn beside_paper(
    streams: &[Stream<'_>],
    published: impl Fn(&Stream<'_>, &Group) -> Option<PaperRow>,
) -> Table {
    let mut table = Table::new(
        "metrics",
        "The paper's reading: minimum on the mean curve over seeds, ± propagated from the standard deviation over seeds.",
        COLUMNS,
    );
    for stream in streams {
        for group in stream.finished() {
            let Some(ours) = group.paper() else { continue };
            let name = |source: &str, seeds: usize| {
                let words = [stream.label.clone(), group.name(), source.to_string()];
                let mut row: Vec<Cell> = words.into_iter().map(Cell::text).collect();
                row.push(Cell::number(seeds as f64, 0));
                row
            };
            let cells = |values: [Option<Estimate>; 4]| {
                let digits = [2, 2, 2, 3];
                values.into_iter().zip(digits).map(|(value, digits)| estimate(value, digits))
            };
            let mut row = name("evenkeel", group.curves.len());
            row.extend(cells([Some(ours.avg_acc), Some(ours.avg_min_acc), Some(ours.wc_acc), ours.avg_sg]));
            table.rows.push(row);
            if let Some(paper) = published(stream, group) {
                let mut row = name("paper", PAPER_SEEDS);
                let values = [paper.avg_acc, paper.avg_min_acc, paper.wc_acc, paper.avg_sg];
                row.extend(cells(values.map(Some)));
                table.rows.push(row);
            }
        }
    }
    table
}

/// Runs behind each number of the paper.
const PAPER_SEEDS: usize = 5;

/// The usual reading of every optimizer, with Student's 95 % interval.
pub(super) fn per_seed(streams: &[Stream<'_>]) -> Table {
    let mut columns = vec!["benchmark", "optimizer", "seeds", "diverged", "avg-ACC", "avg-min-ACC"];
    columns.extend(["WC-ACC", "avg-SG", "newest task", "all tasks"]);
    let caption = "The usual reading: the minimum of each seed's own curve, then mean and Student's 95 % interval; with the \
                   accuracy on the newest task at its end (mean over tasks) and on all tasks at the end of training.";
    let mut table = Table::new("per-seed", caption, columns);
    for stream in streams {
        for group in &stream.groups {
            let mut row = vec![Cell::text(&stream.label), Cell::text(group.name())];
            row.push(Cell::number(group.curves.len() as f64, 0));
            row.push(Cell::number(group.diverged as f64, 0));
            if let Some(ours) = group.per_seed() {
                row.extend(
                    [ours.avg_acc, ours.avg_min_acc, ours.wc_acc].map(|value| interval(Some(value), 2)),
                );
                row.push(interval(ours.avg_sg, 3));
                row.extend([ours.new_task_acc, ours.seen_acc].map(|value| interval(value, 2)));
            }
            table.rows.push(row);
        }
    }
    table
}

/// SG of each transition, ours and the paper's.
pub(super) fn per_transition(
    streams: &[Stream<'_>],
    published: impl Fn(&Stream<'_>, &Group) -> Option<PaperRow>,
) -> Table {
    let most = streams.iter().flat_map(Stream::finished).map(|group| group.curves[0].tasks()).max();
    let mut columns: Vec<String> = ["benchmark", "optimizer", "source"].map(String::from).to_vec();
    columns.extend((1..most.unwrap_or(1)).map(|k| format!("SG {k}→{}", k + 1)));
    let caption = "Stability gap at each task switch, in the paper's reading.";
    let mut table = Table::new("transitions", caption, columns);
    for stream in streams {
        for group in stream.finished() {
            let Some(ours) = group.paper() else { continue };
            let name =
                |source: &str| [stream.label.clone(), group.name(), source.to_string()].map(Cell::text);
            let mut row = name("evenkeel").to_vec();
            row.extend(ours.sg_per_transition.iter().map(|sg| estimate(*sg, 3)));
            table.rows.push(row);
            let paper = published(stream, group).map(|row| row.sg_per_transition).unwrap_or_default();
            if !paper.is_empty() {
                let mut row = name("paper").to_vec();
                row.extend(paper.iter().map(|sg| estimate(Some(*sg), 3)));
                table.rows.push(row);
            }
        }
    }
    table
}

pub(super) fn estimate(value: Option<Estimate>, digits: usize) -> Cell {
    value.map_or(Cell::Empty, |value| Cell::estimate(value.mean, value.pm, digits))
}

pub(super) fn interval(value: Option<Summary>, digits: usize) -> Cell {
    value.map_or(Cell::Empty, |value| Cell::interval(value.mean, value.ci95, digits))
}
