//! The tables of one or several lineups as data for every format.

use evenkeel_metrics::{Estimate, Evidence, Interval, QUANTITIES, Quantity};
use evenkeel_report::{Cell, Table};

use super::comparisons::{self, Comparison, DECIDES};
use super::groups::{Group, Lineup, Origin};
use super::noise_floor;
use crate::paper::PaperRow;
use crate::store::{Status, StoredRun};

/// More runs than this are counted, not listed.
const MOST_RUNS: usize = 200;

/// Runs behind each number of the paper.
const PAPER_SEEDS: usize = 5;

/// The quantities whose differences a comparison shows.
const COMPARED: [&str; 8] =
    ["avg-ACC", "avg-min-ACC", "avg-SG", "newest task", "all seen", "online", "first 50", "time to learn"];

/// A caption, with what must stand beside the dips of sampled curves.
pub(super) fn caption<'a>(text: &str, lineups: impl IntoIterator<Item = &'a Lineup>) -> String {
    let mut notes: Vec<String> = lineups.into_iter().filter_map(Lineup::sampled).collect();
    notes.dedup();
    std::iter::once(text.to_string()).chain(notes).collect::<Vec<_>>().join(" ")
}

/// Every table of the results; the comparisons of each lineup are a family of their own.
pub fn all(lineups: &[Lineup], against: Option<&str>) -> Vec<Table> {
    with_comparisons(lineups, noise_floor::table(lineups), |id, lineup| compared(id, lineup, against))
}

/// The tables of a page that has claims: its verdicts are those of the claims, so the differences stand here without any.
pub fn beside_claims(lineups: &[Lineup]) -> Vec<Table> {
    with_comparisons(lineups, noise_floor::without_verdicts(lineups), differences)
}

fn with_comparisons(
    lineups: &[Lineup],
    noise_floor: Option<Table>,
    compare: impl Fn(String, &Lineup) -> Option<Table>,
) -> Vec<Table> {
    let mut tables = vec![mean_curve(lineups), per_seed(lineups), beyond(lineups)];
    tables.extend(noise_floor);
    for lineup in lineups {
        let id =
            if lineups.len() > 1 { format!("compared {}", lineup.label) } else { "compared".to_string() };
        tables.extend(compare(id, lineup));
    }
    tables.retain(|table| !table.rows.is_empty());
    tables
}

/// The first cells of a row: the benchmark where there are several, and the optimizer.
pub(super) fn start(lineups: &[Lineup], lineup: &Lineup, group: &Group) -> Vec<Cell> {
    let benchmark = (lineups.len() > 1).then(|| Cell::text(&lineup.label));
    benchmark.into_iter().chain([Cell::text(&group.name)]).collect()
}

pub(super) fn columns(lineups: &[Lineup], rest: impl IntoIterator<Item = String>) -> Vec<String> {
    let benchmark = (lineups.len() > 1).then(|| "benchmark".to_string());
    benchmark.into_iter().chain(["optimizer".to_string()]).chain(rest).collect()
}

/// `mean ± spread`, as the paper prints it.
pub fn estimate(value: Option<Estimate>, digits: usize) -> Cell {
    value.map_or(Cell::Empty, |value| Cell::estimate(value.mean, value.pm, digits))
}

/// Mean and interval; the mean alone where there is none.
pub fn interval(value: Option<Interval>, digits: usize) -> Cell {
    value.map_or(Cell::Empty, |value| Cell::interval(value.mean, value.ci95, digits))
}

/// A difference with its interval.
pub fn difference(evidence: Option<&Evidence>, digits: usize) -> Cell {
    evidence.map_or(Cell::Empty, |evidence| match evidence.interval.ci95 {
        Some([low, high]) => Cell::Interval { mean: evidence.interval.mean, low, high, digits, signed: true },
        None => Cell::difference(evidence.interval.mean, digits),
    })
}

/// The paper's reading of every optimizer, with the paper's row below it.
pub fn mean_curve(lineups: &[Lineup]) -> Table {
    let transitions = lineups.iter().map(Lineup::tasks).max().unwrap_or(0).max(1);
    let metrics = ["source", "seeds", "avg-ACC", "avg-min-ACC", "WC-ACC", "avg-SG"].map(String::from);
    let gaps = (1..transitions).map(|k| format!("SG {k}→{}", k + 1));
    let caption = "Minimum on the mean curve over seeds, as the paper reads it; ± is the population deviation over seeds, combined as \
                   the paper does. It is no confidence interval.";
    let caption = self::caption(caption, lineups);
    let mut table = Table::new("mean-curve", caption, columns(lineups, metrics.into_iter().chain(gaps)));
    let cells = |values: [Option<Estimate>; 4]| {
        values
            .into_iter()
            .zip([2, 2, 2, 3])
            .map(|(value, digits)| estimate(value, digits))
            .collect::<Vec<_>>()
    };
    for lineup in lineups {
        for group in lineup.finished() {
            let Some(ours) = group.paper_reading() else { continue };
            let mut row = start(lineups, lineup, group);
            let source = if group.origin == Origin::Runs { "evenkeel" } else { "yours" };
            row.extend([Cell::text(source), Cell::number(group.seeds() as f64, 0)]);
            row.extend(cells([Some(ours.avg_acc), Some(ours.avg_min_acc), Some(ours.wc_acc), ours.avg_sg]));
            row.extend(ours.sg_per_transition.iter().map(|sg| estimate(*sg, 3)));
            table.rows.push(row);
            if let Some(PaperRow { avg_acc, avg_min_acc, wc_acc, avg_sg, sg_per_transition }) =
                group.published()
            {
                let mut row = start(lineups, lineup, group);
                row.extend([Cell::text("paper"), Cell::number(PAPER_SEEDS as f64, 0)]);
                row.extend(cells([avg_acc, avg_min_acc, wc_acc, avg_sg].map(Some)));
                row.extend(sg_per_transition.iter().map(|sg| estimate(Some(*sg), 3)));
                table.rows.push(row);
            }
        }
    }
    table
}

/// The paper's four metrics of each seed's own curve.
pub fn per_seed(lineups: &[Lineup]) -> Table {
    let caption = "Minimum of each seed's own curve: mean over seeds and Student's 95 % interval (none for fewer than three seeds). A \
                   diverged seed counts as the worst value.";
    quantities("per-seed", caption, lineups, |quantity| quantity.in_paper)
}

/// What the paper's tables cannot show.
pub fn beyond(lineups: &[Lineup]) -> Table {
    let caption = "What the paper's tables cannot show: how well the new tasks are learnt, and how wide and long the gap is. Mean over \
                   seeds and Student's 95 % interval.";
    quantities("beyond", caption, lineups, |quantity| !quantity.in_paper)
}

fn quantities(id: &str, caption: &str, lineups: &[Lineup], wanted: fn(&Quantity) -> bool) -> Table {
    let groups = || lineups.iter().flat_map(|lineup| &lineup.groups);
    let shown: Vec<&'static Quantity> = QUANTITIES
        .iter()
        .filter(|quantity| wanted(quantity))
        .filter(|quantity| groups().any(|group| group.values(&(*quantity).into()).is_some()))
        .collect();
    let names = shown.iter().map(|quantity| quantity.name.to_string());
    let first = ["seeds", "diverged"].map(String::from);
    let caption = self::caption(caption, lineups);
    let mut table = Table::new(id, caption, columns(lineups, first.into_iter().chain(names)));
    for lineup in lineups {
        for group in &lineup.groups {
            let mut row = start(lineups, lineup, group);
            row.extend([group.seeds(), group.diverged.len()].map(|n| Cell::number(n as f64, 0)));
            row.extend(
                shown.iter().map(|quantity| interval(group.interval(&(*quantity).into()), quantity.digits)),
            );
            table.rows.push(row);
        }
    }
    table
}

/// The reference against the others, with a verdict on each.
fn compared(id: String, lineup: &Lineup, against: Option<&str>) -> Option<Table> {
    let comparisons = comparisons::comparisons(lineup, against);
    let reference = &comparisons.first()?.reference;
    let mut table = difference_table(id, lineup, &comparisons)?;
    table.caption = format!(
        "{} The verdict is on {reference} having the smaller {DECIDES}; p is adjusted by Holm over this table.",
        table.caption
    );
    table.columns.extend(["Holm's p", "smaller gap"].map(String::from));
    for (row, comparison) in table.rows.iter_mut().zip(&comparisons) {
        row.extend([p_value(comparison.adjusted_p), Cell::text(comparison.verdict.word())]);
    }
    Some(table)
}

/// The reference against the others, without verdicts.
fn differences(id: String, lineup: &Lineup) -> Option<Table> {
    let mut table = difference_table(id, lineup, &comparisons::comparisons(lineup, None))?;
    table.caption += " What is certain of it stands in the table of claims.";
    Some(table)
}

fn difference_table(id: String, lineup: &Lineup, comparisons: &[Comparison]) -> Option<Table> {
    let reference = &comparisons.first()?.reference;
    let unpaired = if comparisons.iter().all(|comparison| comparison.paired) {
        ""
    } else {
        " Where the seeds are no pairs (unpaired), the means of all seeds are compared by Welch's test."
    };
    let caption = format!(
        "{reference} minus the others on the same seeds ({}), Student's 95 % interval.{unpaired}",
        lineup.label
    );
    let compared: Vec<&str> = COMPARED
        .into_iter()
        .filter(|name| comparisons.iter().any(|comparison| comparison.of(name).is_some()))
        .collect();
    let caption = self::caption(&caption, [lineup]);
    let mut table = Table::new(id, caption, ["against", "seeds"].into_iter().chain(compared.iter().copied()));
    for comparison in comparisons {
        let seeds = comparison.differences.first().map_or(0, |difference| difference.evidence.interval.n);
        let unpaired = if comparison.paired { "" } else { " (unpaired)" };
        let against = format!("{}{unpaired}", comparison.against);
        let mut row = vec![Cell::text(against), Cell::number(seeds as f64, 0)];
        row.extend(compared.iter().map(|name| {
            let digits = evenkeel_metrics::quantity(name).map_or(2, |quantity| quantity.digits);
            difference(comparison.of(name), digits)
        }));
        table.rows.push(row);
    }
    Some(table)
}

/// The p of a test, where there is one.
pub fn p_value(p: Option<f64>) -> Cell {
    p.map_or(Cell::Empty, |p| Cell::P { p })
}

/// Every run with its state.
pub fn runs(id: &str, runs: &[StoredRun]) -> Table {
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
            Cell::text(described(run)),
            Cell::text(spec.optimizer.to_string()),
            Cell::number(run.record.seconds, 1),
            Cell::text(run.path.file_name().unwrap_or_default().to_string_lossy()),
        ]);
    }
    table
}

/// How far a run is, and what it is if it is a control.
pub fn described(run: &StoredRun) -> String {
    match run.record.spec.settings.hold {
        Some(last) => format!("control of {last}→{}: {}", last + 1, status(run)),
        None => status(run),
    }
}

/// How far a run is, in words.
pub fn status(run: &StoredRun) -> String {
    match &run.record.status {
        Status::Done => "done".into(),
        Status::Diverged { iteration, reason } => format!("diverged at {iteration}: {reason}"),
        Status::Unfinished if run.is_claimed() => "running".into(),
        Status::Unfinished if run.curve_path().exists() => "stopped".into(),
        Status::Unfinished => "waiting".into(),
    }
}
