//! The table of γ and η.

use evenkeel_metrics::{Curve, Estimate};
use evenkeel_report::figure::Heatmap;
use evenkeel_report::{Axis, Cell, Figure, Panel, Table};

use super::claim::{Claim, Side};
use super::runs::{Group, Runs, Stream, avg_acc, avg_sg, final_seen_acc};
use super::{Page, metrics_table};
use crate::benchmark::Benchmark;
use crate::paper::gain_sweep as published;
use crate::spec::Rule;

/// The benchmark of the paper's table.
const PAPER_BENCHMARK: &str = "split-cifar10";

pub(super) fn page(runs: &Runs) -> Page {
    let streams = runs.streams();
    let mut figures: Vec<Figure> = streams
        .iter()
        .map(|stream| {
            let title = format!("Score of each γ and η on {}", stream.label);
            heatmap(stream.benchmark, &title, stream, |gamma, eta| ours(find(stream, gamma, eta)?))
        })
        .collect();
    if let Some(stream) = streams.iter().find(|stream| stream.benchmark == PAPER_BENCHMARK) {
        let paper = |gamma, eta| published(gamma, eta).map(|(acc, sg)| score(acc, sg));
        figures.push(heatmap("paper", "The paper's scores on Split CIFAR-10", stream, paper));
    }
    Page {
        paragraphs: vec![
            "NGM-SGD for three decays γ and five scales η of its gain. Score = (avg-ACC − its ±) − 100·(avg-SG + its ±), in the paper's \
             reading. Claims are decided by avg-ACC − 100·avg-SG of each seed."
                .to_string(),
            "The paper sweeps on Split CIFAR-10; for other benchmarks it names the η that it chose (Split MNIST: 0.4) without a table. The \
             score looks at task 1 alone, and a smaller gain learns the later tasks less: the last column has the accuracy on all \
             tasks at the end of training."
                .to_string(),
        ],
        claims: streams.iter().flat_map(claims).collect(),
        tables: vec![table(&streams)],
        figures,
    }
}

fn parameters(group: &Group) -> Option<(f64, f64)> {
    match group.spec.optimizer.rule {
        Rule::NgmSgd { gamma, eta, .. } => Some((gamma, eta)),
        _ => None,
    }
}

fn find<'a>(stream: &Stream<'a>, gamma: f64, eta: f64) -> Option<&'a Group> {
    stream.finished().find(|group| parameters(group) == Some((gamma, eta)))
}

fn score(acc: Estimate, sg: Estimate) -> f64 {
    (acc.mean - acc.pm) - 100.0 * (sg.mean + sg.pm)
}

fn ours(group: &Group) -> Option<f64> {
    let reading = group.paper()?;
    Some(score(reading.avg_acc, reading.avg_sg?))
}

/// The score of one seed, which has no ±.
fn seed_score(curve: &Curve) -> Option<f64> {
    Some(avg_acc(curve)? - 100.0 * avg_sg(curve)?)
}

fn claims(stream: &Stream<'_>) -> Vec<Claim> {
    let place = "γ–η table";
    let rule = Benchmark::named(stream.benchmark).and_then(|b| b.optimizer("ngm-sgd")).map(|o| o.rule);
    let Some(Rule::NgmSgd { gamma, eta, .. }) = rule else { return Vec::new() };
    let paper = |a: (f64, f64), b: (f64, f64)| {
        let score = |(gamma, eta)| published(gamma, eta).map(|(acc, sg)| score(acc, sg));
        let pair = score(a).zip(score(b)).filter(|_| stream.benchmark == PAPER_BENCHMARK);
        pair.map(|(a, b)| a > b)
    };
    let mut claims = Vec::new();
    let Some(chosen) = find(stream, gamma, eta) else {
        let text = format!("{}: (γ, η) = ({gamma}, {eta}) is the best combination", stream.label);
        return vec![Claim::undecided((place, text), "no run of it came to its end")];
    };
    let others = stream.finished().filter(|group| parameters(group) != Some((gamma, eta)));
    let scored = others.filter_map(|group| Some((group, ours(group)?)));
    if let Some((rival, _)) = scored.max_by(|a, b| a.1.total_cmp(&b.1)) {
        let (g, e) = parameters(rival).unwrap_or_default();
        let text = format!(
            "{}: (γ, η) = ({gamma}, {eta}) is the best combination (the best other: ({g}, {e}))",
            stream.label
        );
        claims.push(
            Claim::compare(
                (place, text),
                (chosen, rival),
                Side::More,
                ("avg-ACC − 100·avg-SG", 2),
                seed_score,
            )
            .with_paper(paper((gamma, eta), (g, e))),
        );
    }
    for (g, e) in [(0.9, 0.1), (0.8, 0.2)] {
        if let Some(ema) = find(stream, g, e).filter(|_| (g, e) != (gamma, eta)) {
            let text = format!(
                "{}: the moving average ({g}, {e}) is outperformed by ({gamma}, {eta})",
                stream.label
            );
            claims.push(
                Claim::compare(
                    (place, text),
                    (chosen, ema),
                    Side::More,
                    ("avg-ACC − 100·avg-SG", 2),
                    seed_score,
                )
                .with_paper(paper((gamma, eta), (g, e))),
            );
        }
    }
    claims
}

fn table(streams: &[Stream<'_>]) -> Table {
    let mut table = Table::new(
        "gamma-eta",
        "NGM-SGD for each γ and η, in the paper's reading, beside the paper's numbers (Split CIFAR-10).",
        ["benchmark", "γ", "η", "source", "seeds", "diverged", "avg-ACC", "avg-SG", "score", "all tasks"],
    );
    for stream in streams {
        for group in &stream.groups {
            let Some((gamma, eta)) = parameters(group) else { continue };
            let start = |source: &str| {
                let words = [stream.label.clone(), gamma.to_string(), eta.to_string(), source.to_string()];
                words.map(Cell::text).to_vec()
            };
            let mut row = start("evenkeel");
            row.extend([group.curves.len(), group.diverged].map(|count| Cell::number(count as f64, 0)));
            if let Some(reading) = group.paper() {
                row.push(metrics_table::estimate(Some(reading.avg_acc), 2));
                row.push(metrics_table::estimate(reading.avg_sg, 3));
                row.push(ours(group).map_or(Cell::Empty, |score| Cell::number(score, 2)));
                row.push(metrics_table::estimate(group.estimate(final_seen_acc), 2));
            }
            table.rows.push(row);
            if let Some((acc, sg)) = published(gamma, eta).filter(|_| stream.benchmark == PAPER_BENCHMARK) {
                let mut row = start("paper");
                row.extend([Cell::Empty, Cell::Empty]);
                row.extend([Cell::estimate(acc.mean, acc.pm, 2), Cell::estimate(sg.mean, sg.pm, 3)]);
                row.extend([Cell::number(score(acc, sg), 2), Cell::Empty]);
                table.rows.push(row);
            }
        }
    }
    table
}

fn heatmap(id: &str, title: &str, stream: &Stream<'_>, score: impl Fn(f64, f64) -> Option<f64>) -> Figure {
    let axis = |of: fn((f64, f64)) -> f64| {
        let mut values: Vec<f64> =
            stream.groups.iter().filter_map(|group| parameters(group).map(of)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    };
    let (gammas, etas) = (axis(|(gamma, _)| gamma), axis(|(_, eta)| eta));
    let row = |gamma: &f64| etas.iter().map(|eta| score(*gamma, *eta).unwrap_or(f64::NAN)).collect();
    let map = Heatmap {
        x_names: etas.iter().map(ToString::to_string).collect(),
        y_names: gammas.iter().map(ToString::to_string).collect(),
        values: gammas.iter().map(row).collect(),
        label: "score".to_string(),
        digits: 1,
        low_is_good: false,
    };
    let mut figure = Figure::new(format!("scores {id}"), title, 1);
    figure.caption = "Score = (avg-ACC − ±) − 100·(avg-SG + ±).".to_string();
    figure.panels.push(Panel::new("", Axis::new("η"), Axis::new("γ"), map));
    figure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_best_combination_is_the_one_it_names() {
        let score = |gamma, eta| published(gamma, eta).map(|(acc, sg)| score(acc, sg)).unwrap();
        let best = score(0.9, 0.2);
        for gamma in [0.8, 0.9, 0.95] {
            for eta in [0.1, 0.2, 0.3, 0.4, 0.5] {
                assert!(score(gamma, eta) <= best, "{gamma} {eta}");
            }
        }
    }
}
