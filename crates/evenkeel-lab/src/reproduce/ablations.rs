//! Figure 4: NGM-SGD without one of its parts.

use evenkeel_metrics::Plasticity;
use evenkeel_report::figure::{BarSeries, Bars, ErrorPoint, Scatter, ScatterSeries};
use evenkeel_report::{Axis, Cell, Figure, Panel, Table};

use super::claim::{Claim, Side};
use super::curves::{Spread, over_training, task1_accuracy, tidy};
use super::runs::{Runs, Stream, avg_sg, estimate, final_seen_acc, new_task_acc};
use super::{Page, metrics_table};

pub(super) fn page(runs: &Runs) -> Page {
    let streams = runs.streams();
    Page {
        paragraphs: vec![
            "Tonic gain: η = 0. Instantaneous gain: γ = 0. Entropy-LR: the signal q follows the gain equation, but multiplies \
             the learning rate as q² and not the weights. The paper prints no numbers for this figure."
                .to_string(),
        ],
        claims: streams.iter().flat_map(claims).collect(),
        tables: vec![table(&streams), metrics_table::per_seed(&streams)],
        figures: streams.iter().map(figure).collect(),
    }
}

fn claims(stream: &Stream<'_>) -> Vec<Claim> {
    let Some(ngm) = stream.find("ngm-sgd") else { return Vec::new() };
    let mut claims = Vec::new();
    let mut claim = |place: &str, text: &str, name: &str, side, measure, value: fn(&_) -> _| {
        if let Some(group) = stream.find(name) {
            claims.push(Claim::compare((place, text.to_string()), (group, ngm), side, measure, value));
        }
    };
    for (name, shown) in [("tonic", "Tonic gain"), ("instantaneous", "Instantaneous gain")] {
        let smaller = format!("{shown} has a smaller stability gap than NGM-SGD");
        claim("Figure 4a, d", &smaller, name, Side::Less, ("avg-SG", 3), avg_sg);
        let cumulative = format!("{shown} ends with a lower cumulative accuracy than NGM-SGD");
        claim("Figure 4b, d", &cumulative, name, Side::Less, ("accuracy on all tasks", 2), final_seen_acc);
        let new = format!("{shown} learns new tasks less well than NGM-SGD");
        claim("Figure 4c", &new, name, Side::Less, ("accuracy on the newest task", 2), new_task_acc);
    }
    let larger = "Entropy-LR has a larger stability gap than NGM-SGD";
    claim("Figure 4d", larger, "entropy-lr", Side::More, ("avg-SG", 3), avg_sg);
    let stronger = "Entropy-LR learns new tasks better than NGM-SGD";
    claim("Figure 4c", stronger, "entropy-lr", Side::More, ("accuracy on the newest task", 2), new_task_acc);
    claims
}

fn table(streams: &[Stream<'_>]) -> Table {
    let mut table = Table::new(
        "ablations",
        "avg-SG in the paper's reading (minimum on the mean curve) and in the usual one; accuracies at task ends, mean ± \
         standard deviation over seeds.",
        [
            "optimizer",
            "seeds",
            "avg-SG (mean curve)",
            "avg-SG (per seed)",
            "final cumulative accuracy",
            "newest task",
        ],
    );
    for group in streams.iter().flat_map(Stream::finished) {
        let per_seed = group.per_seed().and_then(|reading| reading.avg_sg);
        table.rows.push(vec![
            Cell::text(group.name()),
            Cell::number(group.curves.len() as f64, 0),
            metrics_table::estimate(group.paper().and_then(|reading| reading.avg_sg), 3),
            metrics_table::interval(per_seed, 3),
            metrics_table::estimate(group.estimate(final_seen_acc), 2),
            metrics_table::estimate(group.estimate(new_task_acc), 2),
        ]);
    }
    table
}

fn figure(stream: &Stream<'_>) -> Figure {
    let mut figure = Figure::new("ablations", format!("Ablations on {}", stream.label), 2);
    figure.caption = "a) Task-1 test accuracy, dots: minimum within each task. b) Accuracy on the test images of all tasks seen so \
                      far. c) Accuracy on the newest task at its end. d) avg-SG (paper's reading) against the final cumulative \
                      accuracy. Mean ± standard deviation over seeds."
        .to_string();
    let seen = over_training(stream.finished(), Spread::Deviation, |point| point.seen_acc);
    let x = || Axis::new("iteration");
    figure.panels = vec![
        Panel::new(
            "Task-1 accuracy",
            x(),
            Axis::new("task-1 accuracy (%)"),
            task1_accuracy(stream, Spread::Deviation),
        ),
        Panel::new("All seen tasks", x(), Axis::new("cumulative accuracy (%)"), seen),
        Panel::new(
            "Newest task",
            Axis::new("task"),
            Axis::new("accuracy on the newest task (%)"),
            newest(stream),
        ),
        Panel::new(
            "Trade-off",
            Axis::new("avg-SG"),
            Axis::new("final cumulative accuracy (%)"),
            trade_off(stream),
        ),
    ];
    figure
}

fn newest(stream: &Stream<'_>) -> Bars {
    let mut bars = Bars::default();
    for group in stream.finished() {
        let tasks = group.curves[0].tasks();
        bars.groups = (2..=tasks).map(|k| format!("T{k}")).collect();
        let of =
            |k: usize| group.estimate(|curve| Plasticity::of(curve).new_task.get(k - 1).copied().flatten());
        let found: Vec<_> = (2..=tasks).map(of).collect();
        bars.series.push(BarSeries {
            name: group.name(),
            values: found.iter().map(|e| e.map_or(f64::NAN, |e| tidy(e.mean))).collect(),
            errors: Some(found.iter().map(|e| e.map_or(f64::NAN, |e| tidy(e.pm))).collect()),
            ..BarSeries::default()
        });
    }
    bars
}

fn trade_off(stream: &Stream<'_>) -> Scatter {
    let mut scatter = Scatter::default();
    for group in stream.finished() {
        let gap = group.paper().and_then(|reading| reading.avg_sg);
        let accuracy = group.each(final_seen_acc).and_then(|values| estimate(&values));
        if let Some((gap, accuracy)) = gap.zip(accuracy) {
            let point = ErrorPoint {
                x: tidy(gap.mean),
                y: tidy(accuracy.mean),
                x_error: Some(tidy(gap.pm)),
                y_error: Some(tidy(accuracy.pm)),
                ..ErrorPoint::default()
            };
            scatter.series.push(ScatterSeries {
                name: group.name(),
                points: vec![point],
                ..ScatterSeries::default()
            });
        }
    }
    scatter
}
