//! The table of experience replay.

use evenkeel_report::{Axis, Figure, Panel};

use super::claim::{Claim, Side};
use super::curves::{Spread, task1_accuracy};
use super::runs::{Group, Runs, Stream, avg_min_acc, avg_sg};
use super::{Page, metrics_table};
use crate::paper::{PaperRow, published_replay};

pub(super) fn page(runs: &Runs) -> Page {
    let streams = runs.streams();
    Page {
        paragraphs: vec![
            "Experience replay: half of each batch from the current task, half from a class-balanced buffer that is rebuilt after \
             each task. The paper says only that a batch is a \"homogeneous mixture\"; halves reproduce its 1K row on Split MNIST, \
             a uniform draw from task and buffer does not."
                .to_string(),
        ],
        claims: streams.iter().flat_map(claims).collect(),
        tables: vec![metrics_table::beside_paper(&streams, paper_row), metrics_table::per_seed(&streams)],
        figures: vec![figure(&streams)],
    }
}

fn paper_row(stream: &Stream<'_>, group: &Group) -> Option<PaperRow> {
    published_replay(stream.benchmark, stream.settings.replay?, &group.spec.optimizer.name)
}

fn claims(stream: &Stream<'_>) -> Vec<Claim> {
    let Some(ngm) = stream.find("ngm-sgd") else { return Vec::new() };
    let (label, mut claims) = (&stream.label, Vec::new());
    let ngm_row = paper_row(stream, ngm);
    for group in stream.finished().filter(|group| group.spec.optimizer.name != "ngm-sgd") {
        let rows = ngm_row.as_ref().zip(paper_row(stream, group));
        let name = group.name();
        claims.push(
            Claim::compare(
                (
                    "replay table",
                    format!("{label}: NGM-SGD has a smaller stability gap than {name} (\"generally\")"),
                ),
                (ngm, group),
                Side::Less,
                ("avg-SG", 3),
                avg_sg,
            )
            .with_paper(rows.as_ref().map(|(ngm, other)| ngm.avg_sg.mean < other.avg_sg.mean)),
        );
        claims.push(
            Claim::compare(
                (
                    "replay table",
                    format!("{label}: NGM-SGD has a higher minimum accuracy than {name} (\"generally\")"),
                ),
                (ngm, group),
                Side::More,
                ("avg-min-ACC", 2),
                avg_min_acc,
            )
            .with_paper(rows.as_ref().map(|(ngm, other)| ngm.avg_min_acc.mean > other.avg_min_acc.mean)),
        );
    }
    claims
}

fn figure(streams: &[Stream<'_>]) -> Figure {
    let mut figure = Figure::new("replay", "Task-1 accuracy under experience replay", 2);
    figure.caption =
        "Mean ± standard error over seeds; dots: the minimum within each task; dashed: task switches."
            .to_string();
    for stream in streams {
        let lines = task1_accuracy(stream, Spread::Error);
        let y = Axis::new("task-1 accuracy (%)");
        figure.panels.push(Panel::new(stream.label.clone(), Axis::new("iteration"), y, lines));
    }
    figure
}
