//! The table of experience replay.

use evenkeel_metrics::{Metrics, Side, stats};
use evenkeel_report::{Axis, Figure, Panel};

use super::{Page, Result};
use crate::analysis::claims::{Basis, Claim, Paired, Test};
use crate::analysis::mean_curves::{BAND, task1_accuracy};
use crate::analysis::{Group, Lineup, Measure, Runs, tables};

pub(super) const RESULT: Result = Result::of_runs(
    "replay",
    "experience-replay table",
    "replay buffers of the paper's sizes, six optimizers",
    include_str!("replay.rs"),
    page,
    r#"
# The table of experience replay: a class-balanced buffer, half of each batch from it.
optimizers = ["ngm-sgd", "sgd", "adam", "adam-reset", "msgd", "msgd-reset"]
seeds = 5

[[part]]
benchmark = "split-mnist"
replay = 1000

[[part]]
benchmark = "rotated-mnist"
replay = 2000

[[part]]
benchmark = "split-cifar10"
replay = 1000

[[part]]
benchmark = "split-cifar10"
replay = 3000

[[part]]
benchmark = "domain-cifar100"
replay = 1000

[[part]]
benchmark = "domain-cifar100"
replay = 5000

[[part]]
benchmark = "split-mini-imagenet"
replay = 1000

[[part]]
benchmark = "split-mini-imagenet"
replay = 5000
"#,
);

/// The small buffer of the paper.
const SMALL: usize = 1000;

fn page(runs: &Runs) -> Page {
    let mut claims: Vec<Claim> = runs.lineups.iter().flat_map(claims).collect();
    claims.extend(larger_buffers(&runs.lineups));
    Page {
        paragraphs: vec![
            "Experience replay: half of each batch from the current task, half from a class-balanced buffer that is rebuilt after \
             each task. The paper says only that a batch is a \"homogeneous mixture\"; halves reproduce its 1K row on Split MNIST, \
             a uniform draw from task and buffer does not."
                .to_string(),
        ],
        claims,
        tables: tables::beside_claims(&runs.lineups),
        figures: vec![figure(&runs.lineups)],
    }
}

fn claims(lineup: &Lineup) -> Vec<Claim> {
    let (mut claims, gap) = (Vec::new(), Measure::named("avg-SG"));
    let published = |group: &Group| group.published().map(|row| row.avg_sg.mean);
    if let Some(ngm) = lineup.find("ngm-sgd") {
        for group in lineup.groups.iter().filter(|group| group.name != ngm.name) {
            let oracle = group.spec.optimizer.reset;
            let id = if oracle { "replay-ngm-against-resets" } else { "replay-gap-against-baselines" };
            let text = format!("NGM-SGD has a smaller gap than {}", group.name);
            let table = published(ngm).zip(published(group)).map(|(ngm, other)| ngm < other);
            claims.push(Claim::compare(id, lineup, text, (ngm, group), Side::Less, &gap).with_table(table));
        }
        if let Some(adam) = lineup.find("adam").filter(|_| lineup.benchmark == "domain-cifar100") {
            let text = "Adam has a smaller gap than NGM-SGD";
            claims.push(Claim::compare(
                "replay-domain-adam-better",
                lineup,
                text,
                (adam, ngm),
                Side::Less,
                &gap,
            ));
        }
    }
    for (base, reset) in [("msgd", "msgd-reset"), ("adam", "adam-reset")] {
        if let Some((plain, cleared)) = lineup.find(base).zip(lineup.find(reset)) {
            let text = format!("a reset makes the gap of {} smaller (\"mixed effects\")", plain.name);
            let table = published(cleared).zip(published(plain)).map(|(reset, base)| reset < base);
            claims.push(
                Claim::compare("replay-reset-mixed", lineup, text, (cleared, plain), Side::Less, &gap)
                    .with_table(table),
            );
        }
    }
    claims.extend(lineup.groups.iter().filter_map(|group| transient_or_steady(lineup, group)));
    claims
}

/// What is lost for good at a switch minus what is lost and regained, mean over switches, in points.
fn steady_minus_transient() -> Measure<'static> {
    Measure::new("steady loss − transient loss", 2, |seed| {
        let Metrics { ends, minima, .. } = Metrics::of(&seed.curve).ok()?;
        let per_switch = minima.iter().zip(&ends).zip(&ends[1..]);
        let values: Vec<f64> =
            per_switch.map(|((minimum, before), after)| (before - after) - (after - minimum)).collect();
        Some(stats::mean(&values))
    })
}

fn transient_or_steady(lineup: &Lineup, group: &Group) -> Option<Claim> {
    let hard =
        ["split-cifar10", "domain-cifar100", "split-mini-imagenet"].contains(&lineup.benchmark.as_str());
    if group.spec.optimizer.reset || (hard && lineup.settings.replay != Some(SMALL)) {
        return None;
    }
    let (id, side, what) = if hard {
        ("replay-small-buffer-steady-forgetting", Side::More, "more is lost for good than is regained")
    } else {
        ("replay-gap-visible-on-mnist", Side::Less, "the transient drop exceeds what is lost for good")
    };
    let text = format!("{}: {what}", group.name);
    Some(Claim::of_group(id, lineup, text, group, side, &steady_minus_transient()))
}

/// A larger buffer against the small one, on the same benchmark and seeds.
fn larger_buffers(lineups: &[Lineup]) -> Vec<Claim> {
    let (mut claims, measure) = (Vec::new(), Measure::named("avg-ACC"));
    let is_small = |lineup: &&Lineup| lineup.settings.replay == Some(SMALL);
    for small in lineups.iter().filter(is_small) {
        let same =
            |large: &&Lineup| large.benchmark == small.benchmark && large.settings.replay > Some(SMALL);
        for large in lineups.iter().filter(same) {
            for group in large.groups.iter().filter(|group| !group.spec.optimizer.reset) {
                let Some(before) = small.find(&group.spec.optimizer.name) else { continue };
                let pairs = crate::analysis::comparisons::paired(group, before, &measure).into_iter();
                let test = Test {
                    quantity: measure.name.clone(),
                    a: group.name.clone(),
                    b: Some(format!("{} with {SMALL}", group.name)),
                    side: Side::More,
                    values: pairs.map(|(seed, a, b)| Paired { seed, a, b: Some(b) }).collect(),
                    digits: measure.digits,
                };
                let text =
                    format!("{}: the larger buffer keeps task 1 better than {SMALL} examples", group.name);
                claims.push(Claim::new("replay-larger-buffer-recovers", large, text, Basis::Seeds(test)));
            }
        }
    }
    claims
}

fn figure(lineups: &[Lineup]) -> Figure {
    let mut figure = Figure::new("replay", "Task-1 accuracy under experience replay", 2);
    figure.caption =
        format!("Line and band: {BAND}; dots: the minimum within each task; dashed: task switches.");
    for lineup in lineups {
        let y = Axis::new("task-1 accuracy (%)");
        figure.panels.push(Panel::new(
            lineup.label.clone(),
            Axis::new("iteration"),
            y,
            task1_accuracy(lineup),
        ));
    }
    figure
}
