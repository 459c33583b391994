//! Table 1, the gaps of each transition, and Figure 5.

use evenkeel_data::ScenarioType;
use evenkeel_metrics::Side;
use evenkeel_report::{Axis, Figure, Panel};

use super::measures::{all_sg, sg, slope};
use super::{Page, Result};
use crate::analysis::claims::{Basis, Claim, Paired, Test};
use crate::analysis::mean_curves::{BAND, over_training, task1_accuracy};
use crate::analysis::{Group, Lineup, Measure, Runs, noise_floor, tables};
use crate::paper::published;

pub(super) const RESULT: Result = Result::of_runs(
    "main",
    "Table 1, gaps per transition, Figure 5",
    "five benchmarks × four optimizers",
    include_str!("main_table.rs"),
    page,
    r#"
# Table 1, the gaps of each transition and Figure 5: joint training on every benchmark.
optimizers = ["ngm-sgd", "msgd", "adam", "sgd"]
seeds = 5
benchmarks = ["split-mnist", "rotated-mnist", "split-cifar10", "domain-cifar100", "split-mini-imagenet"]
"#,
);

/// How far below a baseline "competitive" still is, in points of accuracy on all seen tasks: the smallest difference by which a
/// user would choose.
const COMPETITIVE: f64 = 1.0;

/// A gap below this is "minimal": a tenth of the old accuracy.
const MINIMAL: f64 = 0.10;

/// A difference of gaps below this is none.
const SAME_GAP: f64 = 0.05;

pub(super) fn page(runs: &Runs) -> Page {
    Page {
        paragraphs: vec![
            "Joint training on every benchmark with four optimizers, the task-1 test set evaluated after every iteration."
                .to_string(),
        ],
        claims: runs.lineups.iter().flat_map(claims).collect(),
        tables: tables::beside_claims(&runs.lineups),
        figures: runs.lineups.iter().map(figure).collect(),
    }
}

fn claims(lineup: &Lineup) -> Vec<Claim> {
    let mut claims = Vec::new();
    if let Some(ngm) = lineup.find("ngm-sgd") {
        for other in ["msgd", "adam", "sgd"] {
            if let Some(group) = lineup.find(other) {
                claims.extend(against(lineup, ngm, group));
            }
        }
    }
    claims.extend(of_sgd(lineup));
    claims.extend(of_avg_acc(lineup));
    claims.extend(beyond_the_floor(lineup));
    if lineup.settings.stream.scenario() == ScenarioType::ClassIncremental {
        claims.extend(lineup.groups.iter().flat_map(|group| over_switches(lineup, group)));
    }
    if lineup.benchmark == "split-cifar10" {
        claims.extend(lineup.groups.iter().flat_map(|group| vehicles(lineup, group)));
        claims.extend(lineup.find("msgd").map(|msgd| transient(lineup, msgd)));
    }
    if lineup.benchmark == "split-mini-imagenet" {
        claims.extend(lineup.groups.iter().map(|group| no_return(lineup, group)));
    }
    claims
}

/// What is said of NGM-SGD against one baseline.
fn against(lineup: &Lineup, ngm: &Group, group: &Group) -> Vec<Claim> {
    let (pair, name) = ((ngm, group), &group.name);
    let row = |group: &Group| published(&lineup.benchmark, &group.spec.optimizer.name);
    let rows = row(ngm).zip(row(group));
    let table = |says: fn(&crate::paper::PaperRow, &crate::paper::PaperRow) -> bool| {
        rows.as_ref().map(|(a, b)| says(a, b))
    };
    let compare = |id: &str, text: String, side: Side, quantity: &str| {
        Claim::compare(id, lineup, text, pair, side, &Measure::named(quantity))
    };
    let mut claims = vec![
        compare(
            "gap-against-baselines",
            format!("NGM-SGD has a smaller gap than {name}"),
            Side::Less,
            "avg-SG",
        )
        .with_table(table(|a, b| a.avg_sg.mean < b.avg_sg.mean)),
        compare(
            "wc-acc-best",
            format!("NGM-SGD has a higher worst-case accuracy than {name}"),
            Side::More,
            "WC-ACC",
        )
        .with_table(table(|a, b| a.wc_acc.mean > b.wc_acc.mean)),
        compare(
            "competitive-accuracy",
            format!("NGM-SGD's accuracy on all seen tasks is competitive with {name}'s"),
            Side::NotBelow(COMPETITIVE),
            "all seen",
        ),
        compare(
            "no-overall-gain",
            format!("NGM-SGD's accuracy on all seen tasks is no gain (of {COMPETITIVE} point) over {name}'s"),
            Side::Below(COMPETITIVE),
            "all seen",
        ),
        compare(
            "rapid-acquisition-kept",
            format!("NGM-SGD learns the newest task as well as {name}"),
            Side::NotBelow(COMPETITIVE),
            "newest task",
        ),
    ];
    if group.spec.optimizer.name != "sgd" {
        let text = format!("at the switches the task-1 loss of NGM-SGD rises less than {name}'s");
        claims.push(compare("loss-lower-at-switches", text, Side::Less, "loss spike"));
    }
    claims.extend(switches_in_table_2(lineup, ngm, group));
    claims
}

/// The switches at which the paper's Table 2 prints a value bold.
fn switches_in_table_2(lineup: &Lineup, ngm: &Group, group: &Group) -> Vec<Claim> {
    let best: &[usize] = match lineup.benchmark.as_str() {
        "split-mnist" => &[1, 4],
        "split-cifar10" => &[1, 2, 3, 4],
        "split-mini-imagenet" => &[1, 3, 4],
        "domain-cifar100" => &[2],
        _ => &[],
    };
    let name = &group.name;
    let better: &[usize] = match (lineup.benchmark.as_str(), group.spec.optimizer.name.as_str()) {
        ("split-mnist", "sgd") => &[2, 3],
        ("rotated-mnist", "sgd") | ("domain-cifar100", "msgd") => &[1],
        _ => &[],
    };
    let ours = best.iter().map(|&k| {
        let text = format!("at {k}→{} NGM-SGD has a smaller gap than {name}", k + 1);
        Claim::compare("per-switch-ngm-best", lineup, text, (ngm, group), Side::Less, &sg(k))
    });
    let theirs = better.iter().map(|&k| {
        let text = format!("at {k}→{} {name} has a smaller gap than NGM-SGD", k + 1);
        Claim::compare("per-switch-ngm-not-best", lineup, text, (ngm, group), Side::More, &sg(k))
    });
    ours.chain(theirs).collect()
}

/// SGD against the optimizers with memory.
fn of_sgd(lineup: &Lineup) -> Vec<Claim> {
    let Some(sgd) = lineup.find("sgd") else { return Vec::new() };
    let others = ["msgd", "adam"].into_iter().filter_map(|name| lineup.find(name));
    others
        .map(|group| {
            let gap = |group: &Group| {
                published(&lineup.benchmark, &group.spec.optimizer.name).map(|row| row.avg_sg.mean)
            };
            let text = format!("SGD has a smaller gap than {}", group.name);
            let measure = Measure::named("avg-SG");
            Claim::compare("sgd-against-momentum", lineup, text, (sgd, group), Side::Less, &measure)
                .with_table(gap(sgd).zip(gap(group)).map(|(sgd, other)| sgd < other))
        })
        .collect()
}

/// Who has the highest avg-ACC, where the paper prints one bold.
fn of_avg_acc(lineup: &Lineup) -> Vec<Claim> {
    let (id, best) = match lineup.benchmark.as_str() {
        "split-mnist" | "rotated-mnist" | "domain-cifar100" => ("avg-acc-adam-best", "adam"),
        "split-cifar10" | "split-mini-imagenet" => ("avg-acc-ngm-best", "ngm-sgd"),
        _ => return Vec::new(),
    };
    let Some(best) = lineup.find(best) else { return Vec::new() };
    let others = lineup.groups.iter().filter(|group| group.name != best.name);
    others
        .map(|group| {
            let text = format!("{} has a higher avg-ACC than {}", best.name, group.name);
            Claim::compare(id, lineup, text, (best, group), Side::More, &Measure::named("avg-ACC"))
        })
        .collect()
}

/// What is said of the gap itself, against runs without the switch: a minimum of a noisy curve is below its beginning by selection.
fn beyond_the_floor(lineup: &Lineup) -> Vec<Claim> {
    let mut claims = Vec::new();
    for group in ["msgd", "adam"].into_iter().filter_map(|name| lineup.find(name)) {
        let floors = noise_floor::floors(group);
        // All switches together, or the first if not all have controls.
        let floor = floors.iter().find(|floor| floor.switch == noise_floor::ALL).or(floors.first());
        let text = format!("{} loses more task-1 accuracy after a switch than without one", group.name);
        let basis = floor.map_or_else(no_control, |floor| excess(group, floor));
        claims.push(Claim::new("gap-persists-under-joint-training", lineup, text, basis));
    }
    if lineup.settings.stream.scenario() == ScenarioType::DomainIncremental {
        claims.extend(lineup.groups.iter().flat_map(|group| at_every_switch(lineup, group)));
    }
    if let Some(ngm) = lineup.find("ngm-sgd") {
        let rises = noise_floor::loss_rises(ngm);
        let values = rises.into_iter().map(|(seed, a)| Paired { seed, a, b: None }).collect::<Vec<_>>();
        let basis = if values.is_empty() {
            no_control()
        } else {
            above("loss spike beyond the control", ngm, values)
        };
        let text = "the task-1 loss of NGM-SGD rises more after a switch than without one";
        claims.push(Claim::new("loss-path-not-monotone", lineup, text, basis));
    }
    claims
}

/// A gap at each switch of a domain-incremental stream.
fn at_every_switch(lineup: &Lineup, group: &Group) -> Vec<Claim> {
    let (id, name) = ("domain-always-interferes", &group.name);
    let claim = |switch: &str, basis| {
        Claim::new(
            id,
            lineup,
            format!("{name} has a gap {switch} beyond that of training on without it"),
            basis,
        )
    };
    let floors = noise_floor::floors(group);
    let switches = floors.iter().filter(|floor| floor.switch != noise_floor::ALL);
    let claims: Vec<Claim> =
        switches.map(|floor| claim(&format!("at {}", floor.switch), excess(group, floor))).collect();
    if claims.is_empty() { vec![claim("at every switch", no_control())] } else { claims }
}

/// The gap at a switch less that of its control, above zero.
fn excess(group: &Group, floor: &noise_floor::Floor) -> Basis {
    let values = floor.values.iter().map(|pair| Paired { seed: pair.seed, a: pair.excess(), b: None });
    above(&format!("excess SG {}", floor.switch), group, values.collect())
}

fn above(quantity: &str, group: &Group, values: Vec<Paired>) -> Basis {
    let (quantity, a) = (quantity.to_string(), group.name.clone());
    Basis::Seeds(Test { quantity, a, b: None, side: Side::More, values, digits: 3 })
}

fn no_control() -> Basis {
    Basis::Nothing("no runs without a switch (reproduce --control makes them)".to_string())
}

/// How the gap changes from switch to switch of a class-incremental stream.
fn over_switches(lineup: &Lineup, group: &Group) -> Vec<Claim> {
    let lead = Measure::new("SG 1→2 − the largest later SG", 3, |seed| {
        let sg = all_sg(&seed.curve)?;
        Some(sg[0] - sg[1..].iter().copied().reduce(f64::max)?)
    });
    let decline = Measure::new("slope of SG after 1→2", 3, |seed| {
        let sg = all_sg(&seed.curve)?;
        (sg.len() > 2).then(|| slope(&sg[1..]))
    });
    let paper = published(&lineup.benchmark, &group.spec.optimizer.name).map(|row| row.sg_per_transition);
    let paper: Option<Vec<f64>> =
        paper.filter(|gaps| gaps.len() > 2).map(|gaps| gaps.iter().map(|gap| gap.mean).collect());
    let (first, later) = (
        format!("{}: the gap is largest at 1→2", group.name),
        format!("{}: after 1→2 the gap keeps shrinking", group.name),
    );
    vec![
        Claim::of_group("gap-largest-at-first-switch", lineup, first, group, Side::More, &lead)
            .with_table(paper.as_ref().map(|gaps| gaps[1..].iter().all(|gap| gaps[0] > *gap))),
        Claim::of_group("gap-diminishes-later", lineup, later, group, Side::Less, &decline)
            .with_table(paper.as_ref().map(|gaps| slope(&gaps[1..]) < 0.0)),
    ]
}

/// The last switch against the two before it.
fn last_against_middle() -> Measure<'static> {
    Measure::new("SG 4→5 − mean of SG 2→3 and 3→4", 3, |seed| {
        let sg = all_sg(&seed.curve)?;
        (sg.len() == 4).then(|| sg[3] - f64::midpoint(sg[1], sg[2]))
    })
}

/// What is said of animals and vehicles in Split CIFAR-10.
fn vehicles(lineup: &Lineup, group: &Group) -> Vec<Claim> {
    let animals = Measure::new("largest of SG 1→2, 2→3, 3→4", 3, |seed| {
        all_sg(&seed.curve)?.get(..3)?.iter().copied().reduce(f64::max)
    });
    let little = format!("{}: the gap stays below {MINIMAL} while animals are added", group.name);
    let back = format!("{}: the gap reappears when vehicles return", group.name);
    vec![
        Claim::of_group(
            "cifar10-animals-forget-little",
            lineup,
            little,
            group,
            Side::Below(MINIMAL),
            &animals,
        ),
        Claim::of_group("cifar10-vehicles-return", lineup, back, group, Side::More, &last_against_middle()),
    ]
}

fn no_return(lineup: &Lineup, group: &Group) -> Claim {
    let text = format!("{}: the gap does not reappear at the last switch", group.name);
    let last = last_against_middle();
    Claim::of_group("mini-imagenet-no-return", lineup, text, group, Side::Below(SAME_GAP), &last)
}

/// Most of the drop is regained by the end of the task.
fn transient(lineup: &Lineup, msgd: &Group) -> Claim {
    let regained = Measure::new("share of the drop that is regained", 3, |seed| {
        let metrics = evenkeel_metrics::Metrics::of(&seed.curve).ok()?;
        let shares: Vec<f64> = metrics
            .minima
            .iter()
            .zip(&metrics.ends)
            .zip(&metrics.ends[1..])
            .map(|((minimum, before), after)| (after - minimum) / (before - minimum))
            .collect();
        let mean = evenkeel_metrics::stats::mean(&shares);
        mean.is_finite().then_some(mean)
    });
    let text = "MSGD regains most of the drop by the end of the task";
    Claim::of_group("gap-is-transient", lineup, text, msgd, Side::Above(0.5), &regained)
}

fn figure(lineup: &Lineup) -> Figure {
    let mut figure = Figure::new(format!("curves {}", lineup.label), lineup.label.clone(), 3);
    figure.caption = format!(
        "Task-1 test accuracy, task-1 test loss and gain while the tasks are learnt one after the other: {BAND}; dots: the minimum \
         within each task; dashed: task switches."
    );
    let x = || Axis::new("iteration");
    figure.panels = vec![
        Panel::new("Task-1 accuracy", x(), Axis::new("accuracy (%)"), task1_accuracy(lineup)),
        Panel::new(
            "Task-1 loss",
            x(),
            Axis::new("cross-entropy"),
            over_training(lineup.finished(), |p| p.task1_loss),
        ),
        Panel::new("Gain", x(), Axis::new("g"), over_training(lineup.finished(), |p| p.gain)),
    ];
    figure
}
