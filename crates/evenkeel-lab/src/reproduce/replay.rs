//! The table of experience replay.

use evenkeel_report::{Axis, Figure, Panel};

use super::claim::Claim;
use super::curves::{Spread, task1_accuracy};
use super::runs::{Group, Runs, Stream};
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
        let row = paper_row(stream, group);
        let name = group.name();
        let texts = [
            format!("{label}: NGM-SGD has a smaller stability gap than {name} (\"generally\")"),
            format!("{label}: NGM-SGD has a higher minimum accuracy than {name} (\"generally\")"),
        ];
        let both = ngm_row.as_ref().zip(row.as_ref());
        claims.extend(Claim::steadier("replay table", texts, (ngm, group), both));
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
