//! The tables of a benchmark as data for every format.

use evenkeel_metrics::{Estimate, PairedDifference, Summary as Interval};
use evenkeel_report::{Cell, Table};

use super::figures::Group;
use super::summary::Summary;
use crate::store::{Status, StoredRun};

/// More runs than this are counted, not listed.
const MOST_RUNS: usize = 200;

/// A list of runs, a table of parameters, and the results.
pub(super) fn all(id: &str, groups: &[Group], summary: &Summary) -> Vec<Table> {
    if groups.is_empty() {
        return Vec::new();
    }
    let mut tables =
        vec![main(id, groups), transitions(id, groups), per_seed(id, groups), beyond(id, groups)];
    tables.extend(paired(id, summary));
    tables
}

fn estimate(value: Option<&Estimate>, digits: usize) -> Cell {
    value.map_or(Cell::Empty, |e| Cell::estimate(e.mean, e.pm, digits))
}

fn interval(value: Option<&Interval>, digits: usize) -> Cell {
    value.map_or(Cell::Empty, |s| Cell::interval(s.mean, s.ci95, digits))
}

/// Ours, the paper's, the difference, and whether mean ± spread of both overlap.
fn beside(ours: Option<&Estimate>, paper: Option<&Estimate>, digits: usize) -> [Cell; 4] {
    let (difference, overlap) = match ours.zip(paper) {
        Some((a, b)) => {
            let apart = (a.mean - b.mean).abs();
            (Cell::difference(a.mean - b.mean, digits), Cell::check(apart <= a.pm + b.pm))
        }
        None => (Cell::Empty, Cell::Empty),
    };
    [estimate(ours, digits), estimate(paper, digits), difference, overlap]
}

fn main(id: &str, groups: &[Group]) -> Table {
    let mut table = Table::new(
        format!("{id}-main"),
        "Main table beside the paper's: minimum on the mean curve over seeds, ± the spread over seeds as in the paper. \
         Overlap: mean ± spread of ours and of the paper have values in common.",
        ["optimizer", "seeds", "metric", "evenkeel", "paper", "difference", "overlap"],
    );
    for group in groups {
        let (row, paper) = (&group.row, group.row.paper.as_ref());
        let metrics = [
            ("avg-ACC", Some(&row.avg_acc), paper.map(|p| &p.avg_acc), 2),
            ("avg-min-ACC", Some(&row.avg_min_acc), paper.map(|p| &p.avg_min_acc), 2),
            ("WC-ACC", Some(&row.wc_acc), paper.map(|p| &p.wc_acc), 2),
            ("avg-SG", row.avg_sg.as_ref(), paper.map(|p| &p.avg_sg), 3),
        ];
        for (name, ours, paper, digits) in metrics {
            let mut cells =
                vec![Cell::text(&group.name), Cell::number(row.seeds as f64, 0), Cell::text(name)];
            cells.extend(beside(ours, paper, digits));
            table.rows.push(cells);
        }
    }
    table
}

fn transitions(id: &str, groups: &[Group]) -> Table {
    let mut table = Table::new(
        format!("{id}-transitions"),
        "Stability gap of each transition, the same reading.",
        ["optimizer", "transition", "evenkeel", "paper", "difference", "overlap"],
    );
    for group in groups {
        for (k, sg) in group.row.sg_per_transition.iter().enumerate() {
            let paper = group.row.paper.as_ref().and_then(|paper| paper.sg_per_transition.get(k));
            let mut cells = vec![Cell::text(&group.name), Cell::text(format!("{}→{}", k + 1, k + 2))];
            cells.extend(beside(sg.as_ref(), paper, 3));
            table.rows.push(cells);
        }
    }
    table
}

fn per_seed(id: &str, groups: &[Group]) -> Table {
    let mut table = Table::new(
        format!("{id}-per-seed"),
        "The usual reading: minimum of each seed's own curve, mean and 95 % interval (Student's t).",
        ["optimizer", "seeds", "avg-ACC", "avg-min-ACC", "WC-ACC", "avg-SG"],
    );
    for group in groups {
        let p = &group.row.per_seed;
        table.rows.push(vec![
            Cell::text(&group.name),
            Cell::number(group.row.seeds as f64, 0),
            interval(Some(&p.avg_acc), 2),
            interval(Some(&p.avg_min_acc), 2),
            interval(Some(&p.wc_acc), 2),
            interval(p.avg_sg.as_ref(), 3),
        ]);
    }
    table
}

fn beyond(id: &str, groups: &[Group]) -> Table {
    let mut table = Table::new(
        format!("{id}-beyond"),
        "What the paper's table cannot show: plasticity, and how wide and long the gap is (means over seeds and transitions).",
        ["optimizer", "new-task ACC", "all-seen ACC", "gap width", "recovery", "recovered", "loss spike"],
    );
    for Group { name, row, .. } in groups {
        let recovery = &row.gap.recovery;
        table.rows.push(vec![
            Cell::text(name),
            interval(row.new_task_acc.as_ref(), 2),
            interval(row.seen_acc.as_ref(), 2),
            Cell::number(row.gap.width.mean, 1),
            recovery.mean.map_or(Cell::Empty, |mean| Cell::number(mean, 1)),
            Cell::text(format!("{}/{}", recovery.recovered, recovery.of)),
            row.gap.loss_spike.as_ref().map_or(Cell::Empty, |spike| Cell::number(spike.mean, 3)),
        ]);
    }
    table
}

fn paired(id: &str, summary: &Summary) -> Option<Table> {
    let first = summary.comparisons.first()?;
    let mut table = Table::new(
        format!("{id}-paired"),
        format!("{} minus the others on the same seeds, 95 % paired bootstrap.", first.optimizer),
        ["against", "seeds", "avg-ACC", "avg-min-ACC", "avg-SG"],
    );
    let cell = |difference: &PairedDifference, digits: usize| {
        let [low, high] = difference.ci95;
        Cell::Interval { mean: difference.mean, low, high, digits, signed: true }
    };
    for c in &summary.comparisons {
        table.rows.push(vec![
            Cell::text(&c.against),
            Cell::number(c.avg_acc.n as f64, 0),
            cell(&c.avg_acc, 2),
            cell(&c.avg_min_acc, 2),
            c.avg_sg.as_ref().map_or(Cell::Empty, |d| cell(d, 3)),
        ]);
    }
    Some(table)
}

/// Every run with its state.
pub(super) fn runs(id: &str, runs: &[StoredRun]) -> Table {
    let shown = runs.len().min(MOST_RUNS);
    let note =
        if shown < runs.len() { format!(" (the first {shown} of {})", runs.len()) } else { String::new() };
    let mut table = Table::new(
        format!("{id}-runs"),
        format!("The runs{note}."),
        ["optimizer", "seed", "status", "parameters", "seconds", "folder"],
    );
    for run in &runs[..shown] {
        let spec = &run.record.spec;
        table.rows.push(vec![
            Cell::text(&spec.optimizer.name),
            Cell::number(spec.seed as f64, 0),
            Cell::text(status(run)),
            Cell::text(spec.optimizer.rule.to_string()),
            Cell::number(run.record.seconds, 1),
            Cell::text(run.path.file_name().unwrap_or_default().to_string_lossy()),
        ]);
    }
    table
}

/// How far a run is, in words.
pub(crate) fn status(run: &StoredRun) -> String {
    match &run.record.status {
        Status::Done => "done".into(),
        Status::Diverged { iteration, reason } => format!("diverged at {iteration}: {reason}"),
        Status::Unfinished if run.is_locked() => "running".into(),
        Status::Unfinished if run.curve_path().exists() => "stopped".into(),
        Status::Unfinished => "waiting".into(),
    }
}
