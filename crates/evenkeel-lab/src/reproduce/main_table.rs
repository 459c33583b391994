//! Table 1, the gaps of each transition, and Figure 5.

use evenkeel_metrics::Metrics;
use evenkeel_report::{Axis, Figure, Panel};

use super::claim::{Claim, Side};
use super::curves::{Spread, over_training, task1_accuracy};
use super::runs::{Group, Runs, Stream, avg_acc};
use super::{Page, metrics_table};
use crate::paper::{PaperRow, published};
use crate::spec::Scenario;

/// How far below the best baseline "competitive" still is, in points of avg-ACC.
const COMPETITIVE: f64 = 1.0;

pub(super) fn page(runs: &Runs) -> Page {
    let streams = runs.streams();
    Page {
        paragraphs: vec![
            "Joint training on every benchmark with four optimizers, the task-1 test set evaluated after every iteration."
                .to_string(),
        ],
        claims: streams.iter().flat_map(claims).collect(),
        tables: vec![
            metrics_table::beside_paper(&streams, paper_row),
            metrics_table::per_transition(&streams, paper_row),
            metrics_table::per_seed(&streams),
        ],
        figures: streams.iter().map(figure).collect(),
    }
}

fn paper_row(stream: &Stream<'_>, group: &Group) -> Option<PaperRow> {
    published(stream.benchmark, &group.spec.optimizer.name)
}

fn claims(stream: &Stream<'_>) -> Vec<Claim> {
    let Some(ngm) = stream.find("ngm-sgd") else { return Vec::new() };
    let (label, mut claims) = (&stream.label, Vec::new());
    let row = |name: &str| published(stream.benchmark, name);
    for other in ["msgd", "adam", "sgd"] {
        let Some(group) = stream.find(other) else { continue };
        let name = group.name();
        let rows = row("ngm-sgd").zip(row(other));
        let texts = [
            format!("{label}: NGM-SGD reduces the stability gap against {name}"),
            format!("{label}: NGM-SGD has a higher minimum accuracy than {name}"),
        ];
        let both = rows.as_ref().map(|(ngm, other)| (ngm, other));
        claims.extend(Claim::steadier("Table 1", texts, (ngm, group), both));
        let close = rows.map(|(ngm, other)| ngm.avg_acc.mean > other.avg_acc.mean - COMPETITIVE);
        let text = format!(
            "{label}: the accuracy is competitive with {name}'s (no more than {COMPETITIVE} point below)"
        );
        claims.push(competitive(text, ngm, group).with_paper(close));
    }
    if stream.settings.scenario == Scenario::Split {
        claims.push(first_is_largest(stream, ngm));
    }
    claims
}

fn competitive(text: String, ngm: &Group, group: &Group) -> Claim {
    let above = |curve: &evenkeel_metrics::Curve| avg_acc(curve);
    let pairs = ngm.seeds.iter().zip(&ngm.curves).filter_map(|(seed, curve)| {
        let i = group.seeds.iter().position(|other| other == seed)?;
        Some(above(curve)? - above(&group.curves[i])? + COMPETITIVE)
    });
    let differences: Vec<f64> = pairs.collect();
    let measure = format!("avg-ACC: NGM-SGD − {} + {COMPETITIVE}", group.name());
    Claim::of_differences(("abstract, Table 1", text), &differences, Side::More, (&measure, 2))
}

/// The largest gap at 1→2, by the transition that comes closest to it.
fn first_is_largest(stream: &Stream<'_>, ngm: &Group) -> Claim {
    let lead = |curve: &evenkeel_metrics::Curve| {
        let sg: Option<Vec<f64>> = Metrics::of(curve).ok()?.sg.into_iter().collect();
        let sg = sg?;
        let rest = sg[1..].iter().copied().reduce(f64::max)?;
        Some(sg[0] - rest)
    };
    let paper = published(stream.benchmark, "ngm-sgd").and_then(|row| {
        let (first, rest) = row.sg_per_transition.split_first()?;
        Some(rest.iter().all(|sg| first.mean > sg.mean))
    });
    Claim::of_differences(
        ("section 2.6", format!("{}: NGM-SGD's gap is largest at the switch 1→2", stream.label)),
        &ngm.each(lead).unwrap_or_default(),
        Side::More,
        ("SG 1→2 − the largest of the others", 3),
    )
    .with_paper(paper)
}

fn figure(stream: &Stream<'_>) -> Figure {
    let mut figure = Figure::new(format!("curves {}", stream.label), stream.label.clone(), 3);
    figure.caption = "Task-1 test accuracy, task-1 test loss and gain while the tasks are learnt one after the other: mean ± \
                      standard error over seeds; dots: the minimum within each task; dashed: task switches."
        .to_string();
    let x = || Axis::new("iteration");
    let loss = over_training(stream.finished(), Spread::Error, |point| point.task1_loss);
    let gain = over_training(stream.finished(), Spread::Error, |point| point.gain);
    figure.panels = vec![
        Panel::new("Task-1 accuracy", x(), Axis::new("accuracy (%)"), task1_accuracy(stream, Spread::Error)),
        Panel::new("Task-1 loss", x(), Axis::new("cross-entropy"), loss),
        Panel::new("Gain", x(), Axis::new("g"), gain),
    ];
    figure
}
