//! The table of oracle resets and Figure 6.

use evenkeel_metrics::Estimate;
use evenkeel_report::figure::{BarSeries, Bars};
use evenkeel_report::{Axis, Figure, Panel};

use super::claim::{Claim, Side};
use super::curves::tidy;
use super::runs::{Group, Runs, Stream, avg_sg};
use super::{Page, metrics_table};
use crate::paper::{PaperRow, published};

pub(super) fn page(runs: &Runs) -> Page {
    let streams = runs.streams();
    Page {
        paragraphs: vec![
            "MSGD and Adam with their state cleared at each task switch, beside the same without: an oracle, since somebody has to \
             tell them of the switch."
                .to_string(),
        ],
        claims: streams.iter().flat_map(claims).collect(),
        tables: vec![
            metrics_table::beside_paper(&streams, paper_row),
            metrics_table::per_transition(&streams, paper_row),
            metrics_table::per_seed(&streams),
        ],
        figures: vec![figure(&streams)],
    }
}

fn paper_row(stream: &Stream<'_>, group: &Group) -> Option<PaperRow> {
    published(stream.benchmark, &group.spec.optimizer.name)
}

fn claims(stream: &Stream<'_>) -> Vec<Claim> {
    let (label, mut claims) = (&stream.label, Vec::new());
    let gap = |name: &str| published(stream.benchmark, name).map(|row| row.avg_sg.mean);
    for base in ["msgd", "adam"] {
        let reset = format!("{base}-reset");
        let Some(cleared) = stream.find(&reset) else { continue };
        if let Some(plain) = stream.find(base) {
            let text = format!(
                "{label}: a reset reduces the stability gap of {} (\"in most of the cases\")",
                plain.name()
            );
            let paper = gap(&reset).zip(gap(base)).map(|(reset, base)| reset < base);
            claims.push(
                Claim::compare(("reset table", text), (cleared, plain), Side::Less, ("avg-SG", 3), avg_sg)
                    .with_paper(paper),
            );
        }
        if let Some(ngm) = stream.find("ngm-sgd") {
            let text = format!("{label}: {} remains less stable than NGM-SGD", cleared.name());
            let paper = gap(&reset).zip(gap("ngm-sgd")).map(|(reset, ngm)| reset > ngm);
            claims.push(
                Claim::compare(("reset table", text), (cleared, ngm), Side::More, ("avg-SG", 3), avg_sg)
                    .with_paper(paper),
            );
        }
    }
    claims
}

fn figure(streams: &[Stream<'_>]) -> Figure {
    let mut figure = Figure::new("resets", "Stability gap at each switch, with and without a reset", 2);
    figure.caption = "Paper's reading, ± propagated from the standard deviation over seeds. NGM-SGD, which the paper draws as a dotted \
                      line, is a bar here."
        .to_string();
    for stream in streams {
        let mut bars = Bars::default();
        for name in ["ngm-sgd", "msgd", "msgd-reset", "adam", "adam-reset"] {
            let Some((group, reading)) = stream.find(name).and_then(|group| Some((group, group.paper()?)))
            else {
                continue;
            };
            let sg: &[Option<Estimate>] = &reading.sg_per_transition;
            bars.groups = (1..=sg.len()).map(|k| format!("{k}→{}", k + 1)).collect();
            bars.series.push(BarSeries {
                name: group.name(),
                values: sg.iter().map(|sg| sg.map_or(f64::NAN, |sg| tidy(sg.mean))).collect(),
                errors: Some(sg.iter().map(|sg| sg.map_or(f64::NAN, |sg| tidy(sg.pm))).collect()),
                ..BarSeries::default()
            });
        }
        figure.panels.push(Panel::new(stream.label.clone(), Axis::new("switch"), Axis::new("SG"), bars));
    }
    figure
}
