//! Figure 4: NGM-SGD without one of its parts.

use evenkeel_metrics::{Plasticity, Side};
use evenkeel_report::figure::{BarSeries, Bars, ErrorPoint, Scatter, ScatterSeries};
use evenkeel_report::{Axis, Cell, Figure, Panel};

use super::measures::{early_gain, gain_level};
use super::{Page, Result};
use crate::analysis::claims::{Basis, Claim, Paired, Test};
use crate::analysis::mean_curves::{BAND, over_training, task1_accuracy, tidy};
use crate::analysis::{Group, Lineup, Measure, Runs, tables};

pub(super) const RESULT: Result = Result::of_runs(
    "ablations",
    "Figure 4",
    "NGM-SGD against tonic gain, instantaneous gain and Entropy-LR",
    include_str!("ablations.rs"),
    page,
    r#"
# Figure 4: NGM-SGD without its entropy, without its memory, and with the signal on the learning rate.
benchmark = "split-mnist"
optimizers = ["ngm-sgd", "tonic", "instantaneous", "entropy-lr", "msgd"]
seeds = 5
eval_all_tasks = true      # the accuracy on all seen tasks, every iteration
"#,
);

/// How far below NGM-SGD an accuracy still counts as kept, in points.
const KEPT: f64 = 1.0;

fn page(runs: &Runs) -> Page {
    Page {
        paragraphs: vec![
            "Tonic gain: η = 0. Instantaneous gain: γ = 0, which with the same η also lowers η/(1−γ) from 4 to 0.4. Entropy-LR: the signal q \
             follows the gain equation, but multiplies the learning rate as q² and not the weights. MSGD is there because the \
             paper says that Entropy-LR resembles it. The paper prints no numbers for this figure."
                .to_string(),
        ],
        claims: runs.lineups.iter().flat_map(claims).collect(),
        tables: tables::beside_claims(&runs.lineups),
        figures: runs.lineups.iter().map(figure).collect(),
    }
}

fn claims(lineup: &Lineup) -> Vec<Claim> {
    let mut claims = Vec::new();
    let mut claim = |id: &str, (a, b): (&str, &str), says: &str, side: Side, quantity: &str| {
        if let Some((a, b)) = lineup.find(a).zip(lineup.find(b)) {
            let text = format!("{} {says} {}", a.name, b.name);
            claims.push(Claim::compare(id, lineup, text, (a, b), side, &Measure::named(quantity)));
        }
    };
    for part in ["tonic", "instantaneous"] {
        for other in ["ngm-sgd", "entropy-lr"] {
            let id = "tonic-instantaneous-small-gaps";
            claim(id, (part, other), "has a smaller gap than", Side::Less, "avg-SG");
        }
        let id = "tonic-instantaneous-keep-task-1";
        claim(id, (part, "ngm-sgd"), "keeps task 1 as well as", Side::NotBelow(KEPT), "avg-ACC");
        let id = "tonic-instantaneous-learn-less";
        claim(id, (part, "ngm-sgd"), "learns new tasks less well than", Side::Less, "newest task");
        let id = "entropy-lr-learns-more";
        claim(id, ("entropy-lr", part), "learns new tasks better than", Side::More, "newest task");
    }
    // Against tonic and instantaneous gain it is the first claim above.
    claim("entropy-lr-largest-gap", ("entropy-lr", "ngm-sgd"), "has a larger gap than", Side::More, "avg-SG");
    for other in ["tonic", "instantaneous", "entropy-lr"] {
        let id = "ngm-highest-cumulative";
        claim(id, ("ngm-sgd", other), "ends with a higher cumulative accuracy than", Side::More, "all seen");
    }
    claims.extend(resembles(lineup));
    claims.extend(not_sustained(lineup));
    let text = "with the same gradient and q = g, Entropy-LR moves the weights as NGM-SGD moves the effective weights";
    let cell = Cell::text("unit test entropy_lr_moves_as_far_as_the_effective_weights");
    claims.push(Claim::new("entropy-lr-matches-displacement", lineup, text, Basis::Identity(true, cell)));
    claims
}

/// Entropy-LR is on MSGD's side of the middle between NGM-SGD and MSGD.
fn resembles(lineup: &Lineup) -> Option<Claim> {
    let gap = Measure::named("avg-SG");
    let of = |name: &str| lineup.find(name).and_then(|group| group.values(&gap));
    let (own, ngm, msgd) = (of("entropy-lr")?, of("ngm-sgd")?, of("msgd")?);
    let find = |values: &[(u64, f64)], seed: u64| {
        values.iter().find(|(other, _)| *other == seed).map(|(_, value)| *value)
    };
    let values = own.iter().filter_map(|&(seed, a)| {
        Some(Paired { seed, a, b: Some(f64::midpoint(find(&ngm, seed)?, find(&msgd, seed)?)) })
    });
    let test = Test {
        quantity: gap.name,
        a: "Entropy-LR".to_string(),
        b: Some("the middle of NGM-SGD and MSGD".to_string()),
        side: Side::More,
        values: values.collect(),
        digits: 3,
    };
    let text = "the gap of Entropy-LR is nearer to MSGD's than to NGM-SGD's";
    Some(Claim::new("entropy-lr-resembles-msgd", lineup, text, Basis::Seeds(test)))
}

/// After a switch the rise of the gain lasts shorter without memory, relative to its own size.
fn not_sustained(lineup: &Lineup) -> Option<Claim> {
    let (own, ngm) = lineup.find("instantaneous").zip(lineup.find("ngm-sgd"))?;
    let lasts = Measure::new("share of the gain's rise that is left at the end of task 2", 3, |seed| {
        let before = gain_level(&seed.curve, 1)?;
        let (early, late) = (early_gain(&seed.curve, 2)? - before, gain_level(&seed.curve, 2)? - before);
        Some(late / early).filter(|share| share.is_finite())
    });
    let text = "after a switch the rise of the gain lasts shorter without memory than with it";
    Some(Claim::compare("instantaneous-gain-not-sustained", lineup, text, (own, ngm), Side::Less, &lasts))
}

fn figure(lineup: &Lineup) -> Figure {
    let mut figure = Figure::new("ablations", format!("Ablations on {}", lineup.label), 2);
    figure.caption = format!(
        "a) Task-1 test accuracy, dots: minimum within each task. b) Accuracy on the test images of all tasks seen so far. c) Accuracy \
         on the newest task at its end. d) avg-SG of each seed's own curve against the final accuracy on all seen tasks. Bands and \
         error bars: {BAND}."
    );
    let x = || Axis::new("iteration");
    let seen = over_training(lineup.finished(), |point| point.seen_acc);
    figure.panels = vec![
        Panel::new("Task-1 accuracy", x(), Axis::new("task-1 accuracy (%)"), task1_accuracy(lineup)),
        Panel::new("All seen tasks", x(), Axis::new("cumulative accuracy (%)"), seen),
        Panel::new(
            "Newest task",
            Axis::new("task"),
            Axis::new("accuracy on the newest task (%)"),
            newest(lineup),
        ),
        Panel::new(
            "Trade-off",
            Axis::new("avg-SG"),
            Axis::new("final cumulative accuracy (%)"),
            trade_off(lineup),
        ),
    ];
    figure
}

fn newest(lineup: &Lineup) -> Bars {
    let tasks = lineup.tasks();
    let mut bars = Bars { groups: (2..=tasks).map(|k| format!("T{k}")).collect(), series: Vec::new() };
    for group in lineup.finished() {
        let of = |k: usize| {
            let measure = Measure::new("newest task", 2, move |seed| {
                Plasticity::of(&seed.curve).new_task.get(k - 1).copied().flatten()
            });
            group.interval(&measure)
        };
        let found: Vec<_> = (2..=tasks).map(of).collect();
        let error = |one: &Option<evenkeel_metrics::Interval>| one.and_then(|one| one.standard_error());
        bars.series.push(BarSeries {
            name: group.name.clone(),
            style: group.style(),
            values: found.iter().map(|one| one.map_or(f64::NAN, |one| tidy(one.mean))).collect(),
            errors: Some(found.iter().map(|one| error(one).map_or(f64::NAN, tidy)).collect()),
            ..BarSeries::default()
        });
    }
    bars
}

fn trade_off(lineup: &Lineup) -> Scatter {
    let mut scatter = Scatter::default();
    let of = |group: &Group, quantity: &str| group.interval(&Measure::named(quantity));
    for group in lineup.finished() {
        if let Some((gap, accuracy)) = of(group, "avg-SG").zip(of(group, "all seen")) {
            let point = ErrorPoint {
                x: tidy(gap.mean),
                y: tidy(accuracy.mean),
                x_error: gap.standard_error().map(tidy),
                y_error: accuracy.standard_error().map(tidy),
                ..ErrorPoint::default()
            };
            let (name, points) = (group.name.clone(), vec![point]);
            scatter.series.push(ScatterSeries {
                name,
                points,
                style: group.style(),
                ..ScatterSeries::default()
            });
        }
    }
    scatter
}
