//! The appendix on layer freezing.

use evenkeel_metrics::Estimate;
use evenkeel_report::figure::Lines;
use evenkeel_report::{Axis, Cell, Figure, Panel, Table};

use super::claim::{Claim, Side, Verdict};
use super::curves::{Spread, band, task1_accuracy};
use super::runs::{Group, Runs, Stream, estimate, sg};
use super::{Page, metrics_table};
use crate::extra::TRAIN_ACC;
use crate::paper::{PaperRow, published};

const PLACE: &str = "appendix on layer freezing";
/// Training accuracy is that of one batch: averaged over so many iterations for the figure.
const SMOOTHING: usize = 10;

pub(super) fn page(runs: &Runs) -> Page {
    let streams = runs.streams();
    Page {
        paragraphs: vec![
            "MSGD whose convolutional part is frozen after task 1, beside MSGD and NGM-SGD. The paper does not say what becomes of \
             BatchNorm's statistics. Here they are frozen too (the running ones are used and no longer updated): the appendix asks \
             whether a stable feature extractor is enough, and with moving statistics the features of an image would still change. \
             Training accuracy is that of each batch before the update."
                .to_string(),
        ],
        claims: streams.iter().flat_map(claims).collect(),
        tables: vec![
            metrics_table::beside_paper(&streams, paper_row),
            metrics_table::per_transition(&streams, paper_row),
            train_table(&streams),
            metrics_table::per_seed(&streams),
        ],
        figures: streams.iter().map(figure).collect(),
    }
}

fn paper_row(stream: &Stream<'_>, group: &Group) -> Option<PaperRow> {
    published(stream.benchmark, &group.spec.optimizer.name)
}

/// Mean training accuracy of each seed in the tasks that `of` chooses.
fn train_acc(group: &Group, of: impl Fn(usize) -> bool) -> Vec<f64> {
    let mean = |rows: Vec<(u64, usize, f64)>| {
        let values: Vec<f64> =
            rows.iter().filter(|(_, task, _)| of(*task)).map(|(.., value)| *value).collect();
        evenkeel_metrics::stats::mean(&values)
    };
    group.extra(TRAIN_ACC).into_iter().map(mean).collect()
}

fn claims(stream: &Stream<'_>) -> Vec<Claim> {
    let Some((frozen, msgd)) = stream.find("msgd-frozen").zip(stream.find("msgd")) else { return Vec::new() };
    let mut claims = Vec::new();
    let later = |group: &Group| train_acc(group, |task| task > 1);
    let (a, b) = (later(frozen), later(msgd));
    let differences: Vec<f64> = frozen
        .seeds
        .iter()
        .zip(&a)
        .filter_map(|(seed, a)| Some(a - b[msgd.seeds.iter().position(|other| other == seed)?]))
        .collect();
    claims.push(Claim::of_differences(
        (PLACE, "freezing leads to lower training accuracy on later tasks".to_string()),
        &differences,
        Side::Less,
        ("training accuracy after task 1: MSGD-frozen − MSGD", 2),
    ));
    claims.extend(consistency(frozen, msgd));
    claims
}

/// "Does not consistently reduce the gap": one switch at which the gap grows bears it out, a smaller one at all contradicts it.
fn consistency(frozen: &Group, msgd: &Group) -> Option<Claim> {
    let text = "freezing does not consistently reduce the stability gap";
    let switches = 1..frozen.curves[0].tasks();
    let each: Vec<Claim> = switches
        .map(|k| {
            let measure = format!("SG {k}→{}", k + 1);
            let what = (PLACE, text.to_string());
            Claim::compare(what, (frozen, msgd), Side::More, (&measure, 3), sg(k))
        })
        .collect();
    let larger = each.iter().find(|claim| claim.verdict == Verdict::Holds);
    let open = each.iter().find(|claim| claim.verdict == Verdict::Undecided);
    larger.or(open).or(each.first()).cloned()
}

fn train_table(streams: &[Stream<'_>]) -> Table {
    let tasks =
        streams.iter().flat_map(Stream::finished).map(|group| group.curves[0].tasks()).max().unwrap_or(0);
    let mut columns = vec!["optimizer".to_string()];
    columns.extend((1..=tasks).map(|k| format!("task {k}")));
    let caption =
        "Training accuracy (%), mean over the iterations of each task; ± standard deviation over seeds.";
    let mut table = Table::new("training-accuracy", caption, columns);
    for group in streams.iter().flat_map(Stream::finished) {
        let mut row = vec![Cell::text(group.name())];
        row.extend((1..=tasks).map(|k| {
            let found: Option<Estimate> = estimate(&train_acc(group, |task| task == k));
            metrics_table::estimate(found, 2)
        }));
        table.rows.push(row);
    }
    table
}

fn figure(stream: &Stream<'_>) -> Figure {
    let mut figure = Figure::new("frozen", format!("Freezing the convolutional part on {}", stream.label), 2);
    figure.caption = format!(
        "a) Task-1 test accuracy, dots: the minimum within each task. b) Accuracy on the training batches, averaged over \
         {SMOOTHING} iterations. Mean ± standard deviation over seeds."
    );
    let a = task1_accuracy(stream, Spread::Deviation);
    let mut b = Lines { marks: a.marks.clone(), ..Lines::default() };
    for group in stream.finished() {
        let seeds = group.extra(TRAIN_ACC);
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
        b.series.push(band(group.name(), x, &values, Spread::Deviation));
    }
    let x = || Axis::new("iteration");
    figure.panels = vec![
        Panel::new("Task-1 accuracy", x(), Axis::new("task-1 accuracy (%)"), a),
        Panel::new("Training accuracy", x(), Axis::new("training accuracy (%)"), b),
    ];
    figure
}
