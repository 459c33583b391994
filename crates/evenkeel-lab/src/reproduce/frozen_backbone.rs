//! The appendix on layer freezing.

use evenkeel_metrics::{Side, stats};
use evenkeel_report::figure::Lines;
use evenkeel_report::{Axis, Cell, Figure, Panel, Table};

use super::measures::sg;
use super::{Page, Result};
use crate::analysis::claims::Claim;
use crate::analysis::mean_curves::{BAND, band, task1_accuracy};
use crate::analysis::{Lineup, Measure, Runs, tables};
use crate::run::probes::train_acc::TRAIN_ACC;

pub(super) const RESULT: Result = Result::of_runs(
    "frozen-backbone",
    "appendix on layer freezing",
    "MSGD with the convolutional part frozen after task 1",
    include_str!("frozen_backbone.rs"),
    page,
    r#"
# The appendix on layer freezing: only the head trains after task 1. The convolutional part is frozen as a whole, its
# BatchNorm statistics included: features of an image then no longer change, which is what the appendix asks about.
benchmark = "split-cifar10"
optimizers = ["ngm-sgd", "msgd", "msgd-frozen"]
seeds = 5
train_acc = true
"#,
);

/// Training accuracy is that of one batch: averaged over so many iterations for the figure.
const SMOOTHING: usize = 10;

/// A gap that is smaller by no more than this is not reduced.
const SAME_GAP: f64 = 0.05;

fn page(runs: &Runs) -> Page {
    Page {
        paragraphs: vec![
            "MSGD whose convolutional part is frozen after task 1, beside MSGD and NGM-SGD. The paper does not say what becomes of \
             BatchNorm's statistics. Here they are frozen too (the running ones are used and no longer updated): the appendix asks \
             whether a stable feature extractor is enough, and with moving statistics the features of an image would still change. \
             Training accuracy is that of each batch before the update."
                .to_string(),
        ],
        claims: runs.lineups.iter().flat_map(claims).collect(),
        tables: tables::beside_claims(&runs.lineups).into_iter().chain([train_table(&runs.lineups)]).collect(),
        figures: runs.lineups.iter().map(figure).collect(),
    }
}

/// Mean training accuracy of a seed in the tasks that `wanted` chooses.
fn train_acc(name: &str, wanted: impl Fn(usize) -> bool + 'static) -> Measure<'static> {
    Measure::new(name, 2, move |seed| {
        let rows = seed.recorded(TRAIN_ACC);
        let values: Vec<f64> =
            rows.iter().filter(|(_, task, _)| wanted(*task)).map(|(.., value)| *value).collect();
        (!values.is_empty()).then(|| stats::mean(&values))
    })
}

fn claims(lineup: &Lineup) -> Vec<Claim> {
    let Some((frozen, msgd)) = lineup.find("msgd-frozen").zip(lineup.find("msgd")) else { return Vec::new() };
    let later = train_acc("training accuracy after task 1", |task| task > 1);
    let text = "freezing leads to lower training accuracy on later tasks";
    let mut claims =
        vec![Claim::compare("frozen-learns-less", lineup, text, (frozen, msgd), Side::Less, &later)];
    for k in 1..lineup.tasks() {
        let text = format!("freezing does not reduce the gap at {k}→{} by more than {SAME_GAP}", k + 1);
        let pair = (frozen, msgd);
        claims.push(Claim::compare(
            "frozen-does-not-help-consistently",
            lineup,
            text,
            pair,
            Side::Above(-SAME_GAP),
            &sg(k),
        ));
    }
    let gap = Measure::named("avg-SG");
    let half = Measure::named("avg-SG");
    let half = Measure { of: Box::new(move |seed| Some(0.5 * (half.of)(seed)?)), ..Measure::named("avg-SG") };
    claims.extend(more_than_half(lineup, &gap, &half));
    if let Some(ngm) = lineup.find("ngm-sgd") {
        let text = "NGM-SGD has a smaller gap than MSGD-frozen";
        claims.push(Claim::compare("ngm-against-frozen", lineup, text, (ngm, frozen), Side::Less, &gap));
        let text = "NGM-SGD learns the newest task better than MSGD-frozen";
        let newest = Measure::named("newest task");
        claims.push(Claim::compare("ngm-against-frozen", lineup, text, (ngm, frozen), Side::More, &newest));
    }
    claims
}

/// More than half of MSGD's gap remains when only the head can change.
fn more_than_half(lineup: &Lineup, gap: &Measure<'_>, half: &Measure<'_>) -> Option<Claim> {
    use crate::analysis::claims::{Basis, Paired, Test};
    let (frozen, msgd) = lineup.find("msgd-frozen").zip(lineup.find("msgd"))?;
    let (own, other) = (frozen.values(gap)?, msgd.values(half)?);
    let find = |seed: u64| other.iter().find(|(known, _)| *known == seed).map(|(_, value)| *value);
    let values = own.iter().filter_map(|&(seed, a)| Some(Paired { seed, a, b: Some(find(seed)?) }));
    let test = Test {
        quantity: "avg-SG".to_string(),
        a: frozen.name.clone(),
        b: Some(format!("half of {}'s", msgd.name)),
        side: Side::More,
        values: values.collect(),
        digits: 3,
    };
    let text = "more than half of MSGD's gap remains when only the head can change";
    Some(Claim::new("gap-sits-in-head", lineup, text, Basis::Seeds(test)))
}

fn train_table(lineups: &[Lineup]) -> Table {
    let tasks = lineups.iter().map(Lineup::tasks).max().unwrap_or(0);
    let mut columns = vec!["optimizer".to_string()];
    columns.extend((1..=tasks).map(|k| format!("task {k}")));
    let caption =
        "Training accuracy (%), mean over the iterations of each task; Student's 95 % interval over seeds.";
    let mut table = Table::new("training-accuracy", caption, columns);
    for group in lineups.iter().flat_map(Lineup::finished) {
        let mut row = vec![Cell::text(&group.name)];
        row.extend(
            (1..=tasks)
                .map(|k| tables::interval(group.interval(&train_acc("train", move |task| task == k)), 2)),
        );
        table.rows.push(row);
    }
    table
}

fn figure(lineup: &Lineup) -> Figure {
    let mut figure = Figure::new("frozen", format!("Freezing the convolutional part on {}", lineup.label), 2);
    figure.caption = format!(
        "a) Task-1 test accuracy, dots: the minimum within each task. b) Accuracy on the training batches, averaged over \
         {SMOOTHING} iterations. Line and band: {BAND}."
    );
    let a = task1_accuracy(lineup);
    let mut b = Lines { marks: a.marks.clone(), ..Lines::default() };
    for group in lineup.finished() {
        let seeds = group.recorded(TRAIN_ACC);
        let shortest = seeds.iter().map(Vec::len).min().unwrap_or(0);
        let (mut x, mut values) = (Vec::new(), Vec::new());
        for start in (0..shortest).step_by(SMOOTHING) {
            let range = start..(start + SMOOTHING).min(shortest);
            x.push(seeds[0][range.end - 1].0 as f64);
            let mean = |seed: &Vec<(u64, usize, f64)>| {
                let values: Vec<f64> = seed[range.clone()].iter().map(|row| row.2).collect();
                evenkeel_metrics::stats::mean(&values)
            };
            values.push(seeds.iter().map(mean).collect());
        }
        b.series.push(band(group.name.clone(), x, &values));
    }
    let x = || Axis::new("iteration");
    figure.panels = vec![
        Panel::new("Task-1 accuracy", x(), Axis::new("task-1 accuracy (%)"), a),
        Panel::new("Training accuracy", x(), Axis::new("training accuracy (%)"), b),
    ];
    figure
}
