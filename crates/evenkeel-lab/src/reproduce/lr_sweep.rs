//! The table of learning rates.

use evenkeel_metrics::Estimate;
use evenkeel_metrics::quadrature::pm_of_mean;
use evenkeel_report::figure::Heatmap;
use evenkeel_report::{Axis, Cell, Figure, Panel, Table};

use super::claim::{Claim, Side};
use super::runs::{Group, Runs, Stream, avg_acc, display_name, final_seen_acc};
use super::{Page, metrics_table};
use crate::paper::lr_sweep as published;

/// The optimizers and the learning rate that the paper chose for each (MSGD's is another on Rotated MNIST).
const CHOSEN: [(&str, f64); 4] = [("ngm-sgd", 0.01), ("msgd", 0.01), ("adam", 0.001), ("sgd", 0.1)];
/// The benchmark of the paper's table.
const PAPER_BENCHMARK: &str = "split-cifar10";

pub(super) fn page(runs: &Runs) -> Page {
    let streams = runs.streams();
    let mut figures: Vec<Figure> = streams.iter().map(figure).collect();
    if streams.iter().any(|stream| stream.benchmark == PAPER_BENCHMARK) {
        let paper = |optimizer: &str, lr: f64| score(&published(optimizer, lr));
        figures.push(heatmap("paper", "The paper's scores on Split CIFAR-10", &rates(&streams), paper));
    }
    Page {
        paragraphs: vec![
            "Task-1 accuracy after each task for five learning rates. Score = avg-ACC − its ±, both as the paper computes them: ± is \
             the standard deviation over seeds, combined in quadrature over tasks. A seed that diverged is counted as such and not in \
             the means."
                .to_string(),
            "The score looks at task 1 alone: a rate that is too small to learn the later tasks keeps it high. The last column has the \
             accuracy on all tasks at the end of training, which the paper's table does not."
                .to_string(),
        ],
        claims: streams.iter().flat_map(claims).collect(),
        tables: vec![table(&streams)],
        figures,
    }
}

/// `ngm-sgd-lr-1e-2` is NGM-SGD.
fn family(group: &Group) -> &str {
    group.spec.optimizer.name.split("-lr-").next().unwrap_or_default()
}

fn find<'a>(stream: &Stream<'a>, optimizer: &str, lr: f64) -> Option<&'a Group> {
    stream.finished().find(|group| family(group) == optimizer && group.spec.optimizer.rule.lr() == lr)
}

fn rates(streams: &[Stream<'_>]) -> Vec<f64> {
    let mut rates: Vec<f64> = streams
        .iter()
        .flat_map(|stream| &stream.groups)
        .map(|group| group.spec.optimizer.rule.lr())
        .collect();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    rates
}

/// avg-ACC − its ±; `None` without accuracies.
fn score(ends: &[Estimate]) -> Option<f64> {
    let mean = evenkeel_metrics::stats::mean(&ends.iter().map(|end| end.mean).collect::<Vec<_>>());
    (!ends.is_empty()).then(|| mean - pm_of_mean(ends.iter().map(|end| end.pm)))
}

fn ours(stream: &Stream<'_>, optimizer: &str, lr: f64) -> Option<f64> {
    score(&find(stream, optimizer, lr)?.paper()?.ends)
}

fn claims(stream: &Stream<'_>) -> Vec<Claim> {
    let rates = rates(std::slice::from_ref(stream));
    let mut claims = Vec::new();
    for (optimizer, chosen) in CHOSEN {
        let name = display_name(optimizer);
        let text = format!("{}: {chosen} is the best learning rate of {name}", stream.label);
        let place = "learning-rate table";
        let best_by = |score: &dyn Fn(f64) -> Option<f64>| {
            let scored = rates.iter().filter_map(|lr| Some((*lr, score(*lr)?)));
            scored.filter(|(lr, _)| *lr != chosen).max_by(|a, b| a.1.total_cmp(&b.1))
        };
        let paper = (stream.benchmark == PAPER_BENCHMARK).then(|| {
            let score = |lr| score(&published(optimizer, lr));
            best_by(&score).zip(score(chosen)).map(|((_, other), chosen)| chosen > other)
        });
        let rival = best_by(&|lr| ours(stream, optimizer, lr));
        let pair =
            rival.and_then(|(lr, _)| Some((find(stream, optimizer, chosen)?, find(stream, optimizer, lr)?)));
        claims.push(
            match (pair, rival) {
                (Some(pair), Some((lr, _))) => {
                    let measure = format!("avg-ACC at {chosen} − at {lr}, the best other by score");
                    let claim = Claim::compare((place, text), pair, Side::More, ("avg-ACC", 2), avg_acc);
                    Claim { measure: format!("{measure} ({} seeds)", pair.0.seeds.len()), ..claim }
                }
                _ => Claim::undecided((place, text), "too few runs came to their end"),
            }
            .with_paper(paper.flatten()),
        );
    }
    claims
}

fn table(streams: &[Stream<'_>]) -> Table {
    let tasks =
        streams.iter().flat_map(Stream::finished).map(|group| group.curves[0].tasks()).max().unwrap_or(0);
    let mut columns: Vec<String> =
        ["benchmark", "lr", "optimizer", "source", "diverged"].map(String::from).to_vec();
    columns.extend((1..=tasks).map(|k| format!("T{k}")));
    columns.extend(["score", "all tasks"].map(String::from));
    let caption = "Task-1 accuracy after each task: mean ± standard deviation over seeds; score = avg-ACC − its ±; accuracy on all \
                   tasks at the end.";
    let mut table = Table::new("learning-rates", caption, columns);
    for stream in streams {
        for group in &stream.groups {
            let (lr, name) = (group.spec.optimizer.rule.lr(), family(group));
            let start = |source: &str, diverged: Cell| {
                vec![
                    Cell::text(&stream.label),
                    Cell::text(lr.to_string()),
                    Cell::text(display_name(name)),
                    Cell::text(source),
                    diverged,
                ]
            };
            let fill = |mut row: Vec<Cell>, ends: &[Estimate], all_tasks: Option<Estimate>| {
                row.extend((0..tasks).map(|k| metrics_table::estimate(ends.get(k).copied(), 2)));
                row.push(score(ends).map_or(Cell::Empty, |score| Cell::number(score, 2)));
                row.push(metrics_table::estimate(all_tasks, 2));
                row
            };
            let ends = group.paper().map(|reading| reading.ends).unwrap_or_default();
            let all_tasks = group.estimate(final_seen_acc);
            let diverged = Cell::number(group.diverged as f64, 0);
            table.rows.push(fill(start("evenkeel", diverged), &ends, all_tasks));
            if stream.benchmark == PAPER_BENCHMARK {
                let paper = published(name, lr);
                table.rows.push(fill(start("paper", Cell::Empty), &paper, None));
            }
        }
    }
    table
}

fn figure(stream: &Stream<'_>) -> Figure {
    let title = format!("Score of each learning rate on {}", stream.label);
    heatmap(stream.benchmark, &title, &rates(std::slice::from_ref(stream)), |optimizer, lr| {
        ours(stream, optimizer, lr)
    })
}

fn heatmap(id: &str, title: &str, rates: &[f64], score: impl Fn(&str, f64) -> Option<f64>) -> Figure {
    let row = |lr: &f64| CHOSEN.iter().map(|(name, _)| score(name, *lr).unwrap_or(f64::NAN)).collect();
    let map = Heatmap {
        x_names: CHOSEN.iter().map(|(name, _)| display_name(name)).collect(),
        y_names: rates.iter().map(ToString::to_string).collect(),
        values: rates.iter().map(row).collect(),
        label: "avg-ACC − ±".to_string(),
        digits: 1,
        low_is_good: false,
    };
    let mut figure = Figure::new(format!("scores {id}"), title, 1);
    figure.caption = "Score = avg-ACC − its ±; empty: every seed diverged.".to_string();
    figure.panels.push(Panel::new("", Axis::new("optimizer"), Axis::new("learning rate"), map));
    figure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_of_the_papers_rows_is_its_main_table() {
        // avg-ACC 90.630 ± 1.576 of NGM-SGD on Split CIFAR-10.
        let ends = published("ngm-sgd", 0.01);
        assert!((score(&ends).unwrap() - (90.630 - 1.576)).abs() < 2e-3);
        assert_eq!(score(&[]), None);
    }
}
