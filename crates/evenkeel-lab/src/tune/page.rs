//! What a search found, for people: the section of a page, and text for a terminal.

use std::fmt::Write as _;

use evenkeel_report::{Cell, Section, Table};

use super::axis::shown;
use super::figures;
use super::outcome::{Budget, Outcome, Searched, Tried, shared_seeds};
use super::trials::Search;
use crate::analysis::comparisons::{ALL_SEEN, DECIDES};
use crate::analysis::tables::interval;
use crate::columns::{self, wrapped};
use crate::spec::plain;
use crate::words::{plural, ranges};

/// The section of a page.
pub fn section(outcome: &Outcome) -> Section {
    let mut section = Section::new("tune", format!("Tuning on {}", outcome.experiment));
    section.verdict = Some(verdict(outcome));
    section.cautions = cautions(outcome);
    section.paragraphs = vec![how(outcome)];
    section.commands.push(outcome.command.clone());
    section.ranking = Some(chosen(outcome));
    section.tables = vec![trials(outcome)];
    section.figures = figures::all(outcome);
    section
}

/// For a terminal of that width.
pub fn text(outcome: &Outcome, width: usize) -> String {
    let mut text = String::new();
    for table in [trials(outcome), chosen(outcome)] {
        let caption = wrapped(&table.caption, width, 0);
        let _ = writeln!(text, "{caption}\n\n{}", columns::table(&table, width));
    }
    for sentence in std::iter::once(&verdict(outcome)).chain(&cautions(outcome)) {
        let _ = writeln!(text, "{}", wrapped(sentence, width, 0));
    }
    text
}

fn verdict(outcome: &Outcome) -> String {
    let chosen = outcome.optimizers.iter().filter_map(|searched| {
        let chosen = searched.chosen.as_ref()?;
        Some(format!("{} {}", searched.shown, shown(chosen)))
    });
    let chosen: Vec<String> = chosen.collect();
    if chosen.is_empty() {
        "No trial is finished.".to_string()
    } else {
        format!("Chosen: {}.", chosen.join("; "))
    }
}

fn cautions(outcome: &Outcome) -> Vec<String> {
    let mut cautions = Vec::new();
    for searched in &outcome.optimizers {
        if !searched.at_edge.is_empty() {
            cautions.push(format!(
                "{}: the best {} is the lowest or the highest that was tried; search beyond it.",
                searched.shown,
                searched.at_edge.join(" and ")
            ));
        }
        let diverged =
            searched.trials.iter().filter(|trial| trial.scored.as_ref().is_some_and(|s| s.diverged > 0));
        let diverged = diverged.count();
        if diverged > 0 {
            cautions.push(format!(
                "{}: runs of {} diverged; they count as accuracy 0 and gap 1.",
                searched.shown,
                plural(diverged, "trial")
            ));
        }
    }
    if outcome.budget.is_none() {
        cautions.push(
            "The optimizers had different numbers of trials, which favours those with more.".to_string(),
        );
    }
    let shared = shared_seeds(&outcome.seeds);
    if !shared.is_empty() {
        let seeds = if shared.len() == 1 { "seed" } else { "seeds" };
        cautions.push(format!("The {seeds} {} of a default comparison were used here.", ranges(&shared)));
    }
    cautions.push(
        "A value that was chosen by looking seems better on these seeds than it is: compare on others. The test images are the same."
            .to_string(),
    );
    cautions
}

fn how(outcome: &Outcome) -> String {
    let kind = match outcome.search {
        Search::Grid => "Every combination of the values was tried".to_string(),
        Search::Random { seed, .. } => format!("Values were drawn at random (search seed {seed})"),
    };
    let rounds = match &outcome.rounds.seeds[..] {
        [seeds] => format!("each trial on {}", plural(*seeds, "seed")),
        rounds => {
            let rounds: Vec<String> = rounds.iter().map(ToString::to_string).collect();
            format!(
                "in rounds of {} seeds, after each of which the best third of each optimizer went on",
                rounds.join(", ")
            )
        }
    };
    let cost =
        |budget: Budget| format!("{} and {}", plural(budget.trials, "trial"), plural(budget.runs, "run"));
    let each = |searched: &Searched| format!("{}: {}", searched.shown, cost(searched.budget));
    let budget = outcome.budget.map_or_else(
        || outcome.optimizers.iter().map(each).collect::<Vec<_>>().join("; "),
        |budget| format!("{} for each optimizer", cost(budget)),
    );
    format!(
        "{kind}, {rounds}: {budget}. Tuning seeds {}. {}.",
        ranges(&outcome.seeds),
        upper(&outcome.equation)
    )
}

fn upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The chosen trial of each optimizer.
fn chosen(outcome: &Outcome) -> Table {
    let caption = "The best trial of each optimizer on the tuning seeds: mean and Student's 95 % interval (none for fewer than three runs).";
    let mut table = Table::new("tuned", caption, ["optimizer", "chosen", "score", ALL_SEEN, DECIDES]);
    for searched in &outcome.optimizers {
        let Some(best) = searched.best() else { continue };
        let mut row = vec![Cell::text(&searched.shown), Cell::text(shown(&best.values))];
        row.extend(parts(best));
        table.rows.push(row);
    }
    table
}

/// Score, accuracy and gap.
fn parts(trial: &Tried) -> [Cell; 3] {
    let scored = trial.scored.as_ref();
    [
        interval(scored.map(|scored| scored.score), 2),
        interval(scored.map(|scored| scored.all_seen), 2),
        interval(scored.map(|scored| scored.avg_sg), 3),
    ]
}

/// Every trial.
fn trials(outcome: &Outcome) -> Table {
    let mut keys: Vec<&String> = Vec::new();
    for key in
        outcome.optimizers.iter().flat_map(|searched| &searched.trials).flat_map(|trial| trial.values.keys())
    {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let several = outcome.rounds.seeds.len() > 1;
    let caption = format!("Every trial. {}.", upper(&outcome.equation));
    let first = std::iter::once("optimizer").chain(keys.iter().map(|key| key.as_str()));
    let last = ["runs", "diverged", "score", ALL_SEEN, DECIDES, "chosen"];
    let columns = first.chain(several.then_some("rounds")).chain(last);
    let mut table = Table::new("trials", caption, columns);
    for (searched, trial) in outcome.optimizers.iter().flat_map(each) {
        let value =
            |key: &&String| trial.values.get(*key).map_or(Cell::Empty, |value| Cell::text(plain(value)));
        let mut row = vec![Cell::text(&searched.shown)];
        row.extend(keys.iter().map(value));
        row.extend(several.then(|| Cell::number(trial.round as f64, 0)));
        let counts = trial.scored.as_ref().map(|scored| [scored.runs.len(), scored.diverged]);
        row.extend([0, 1].map(|i| counts.map_or(Cell::Empty, |counts| Cell::number(counts[i] as f64, 0))));
        row.extend(parts(trial));
        row.push(Cell::text(if trial.chosen { "chosen" } else { "" }));
        table.rows.push(row);
    }
    table
}

fn each(searched: &Searched) -> impl Iterator<Item = (&Searched, &Tried)> {
    searched.trials.iter().map(move |trial| (searched, trial))
}
