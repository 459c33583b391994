//! Beyond the paper: the optimizer of our own, with one setting for every stream.

use evenkeel_metrics::Side;
use evenkeel_report::{Axis, Figure, Panel};

use super::{Page, Result};
use crate::analysis::claims::Claim;
use crate::analysis::comparisons::{ALL_SEEN, DECIDES};
use crate::analysis::mean_curves::{BAND, task1_accuracy};
use crate::analysis::{Group, Lineup, Measure, Runs, tables};

pub(super) const RESULT: Result = Result::of_runs(
    "self-tuned",
    "not in the paper",
    "our own optimizer, one setting for every stream, against NGM-SGD and SGD",
    include_str!("self_tuned.rs"),
    page,
    include_str!("../../tuned/self_tuned.toml"),
);

const OURS: &str = "even-keel";

fn page(runs: &Runs) -> Page {
    Page {
        paragraphs: vec![
            "EvenKeel with its one setting against NGM-SGD with the paper's setting for each stream where it has one (Rotated MNIST: also with \
             the learning rate that `evenkeel tune` chose on seeds from 1000 on; on Split MNIST it chose the paper's), and against SGD and an \
             average of its weights at their defaults. The setting of EvenKeel (version 2) was chosen on Split MNIST, Rotated MNIST and CLINC150 with \
             seeds from 1000 on, and written down before its first run on any other seed or stream (`docs/even-keel.md`)."
                .to_string(),
        ],
        claims: runs.lineups.iter().flat_map(against_everybody).collect(),
        tables: tables::beside_claims(&runs.lineups),
        figures: runs.lineups.iter().map(figure).collect(),
    }
}

/// Gap and accuracy of our own against each other rule.
pub(super) fn against_everybody(lineup: &Lineup) -> Vec<Claim> {
    let Some(ours) = lineup.find(OURS) else { return Vec::new() };
    let others = lineup.finished().filter(|group| group.name != ours.name);
    others.flat_map(|other| against(lineup, ours, other)).collect()
}

fn against(lineup: &Lineup, ours: &Group, other: &Group) -> [Claim; 2] {
    let (pair, name) = ((ours, other), &other.name);
    let gap = format!("{} has a smaller gap than {name}", ours.name);
    let learnt = format!("{} knows more of all seen tasks at the end than {name}", ours.name);
    [
        Claim::ours(lineup, gap, pair, Side::Less, &Measure::named(DECIDES)),
        Claim::ours(lineup, learnt, pair, Side::More, &Measure::named(ALL_SEEN)),
    ]
}

fn figure(lineup: &Lineup) -> Figure {
    let mut figure = Figure::new(format!("curves {}", lineup.label), lineup.label.clone(), 1);
    figure.caption =
        format!("Task-1 test accuracy: {BAND}; dots: the minimum within each task; dashed: task switches.");
    let (x, y) = (Axis::new("iteration"), Axis::new("accuracy (%)"));
    figure.panels = vec![Panel::new("Task-1 accuracy", x, y, task1_accuracy(lineup))];
    figure
}
