//! The table of oracle resets and Figure 6.

use evenkeel_metrics::Side;
use evenkeel_report::figure::{BarSeries, Bars};
use evenkeel_report::{Axis, Figure, Panel};

use super::{Page, Result};
use crate::analysis::claims::Claim;
use crate::analysis::mean_curves::tidy;
use crate::analysis::{Group, Lineup, Measure, Runs, tables};
use crate::paper::published;

pub(super) const RESULT: Result = Result::of_runs(
    "oracle-reset",
    "reset table, Figure 6",
    "MSGD and Adam with their state cleared at each switch",
    include_str!("oracle_reset.rs"),
    page,
    r#"
# The table of momentum resets and Figure 6.
optimizers = ["ngm-sgd", "msgd", "msgd-reset", "adam", "adam-reset"]
seeds = 5
benchmarks = ["split-mnist", "rotated-mnist", "split-cifar10", "domain-cifar100", "split-mini-imagenet"]
"#,
);

fn page(runs: &Runs) -> Page {
    Page {
        paragraphs: vec![
            "MSGD and Adam with their state cleared at each task switch, beside the same without: an oracle, since somebody has to \
             tell them of the switch."
                .to_string(),
        ],
        claims: runs.lineups.iter().flat_map(claims).collect(),
        tables: tables::beside_claims(&runs.lineups),
        figures: vec![figure(&runs.lineups)],
    }
}

fn claims(lineup: &Lineup) -> Vec<Claim> {
    let (mut claims, measure) = (Vec::new(), Measure::named("avg-SG"));
    let gap =
        |group: &Group| published(&lineup.benchmark, &group.spec.optimizer.name).map(|row| row.avg_sg.mean);
    for (base, reset) in [("msgd", "msgd-reset"), ("adam", "adam-reset")] {
        let Some(cleared) = lineup.find(reset) else { continue };
        if let Some(plain) = lineup.find(base) {
            let text = format!("a reset reduces the gap of {} (\"in most of the cases\")", plain.name);
            let table = gap(cleared).zip(gap(plain)).map(|(reset, base)| reset < base);
            claims.push(
                Claim::compare("reset-reduces-gap", lineup, text, (cleared, plain), Side::Less, &measure)
                    .with_table(table),
            );
        }
        if let Some(ngm) = lineup.find("ngm-sgd") {
            let text = format!("NGM-SGD has a smaller gap than {}", cleared.name);
            let table = gap(ngm).zip(gap(cleared)).map(|(ngm, reset)| ngm < reset);
            claims.push(
                Claim::compare("reset-still-behind-ngm", lineup, text, (ngm, cleared), Side::Less, &measure)
                    .with_table(table),
            );
        }
    }
    claims
}

fn figure(lineups: &[Lineup]) -> Figure {
    let mut figure = Figure::new("resets", "Stability gap at each switch, with and without a reset", 2);
    figure.caption = "Paper's reading, ± propagated from the population deviation over seeds as in the paper. NGM-SGD, which the \
                      paper draws as a dotted line, is a bar here."
        .to_string();
    for lineup in lineups {
        let mut bars = Bars::default();
        for group in lineup.finished() {
            let Some(reading) = group.paper_reading() else { continue };
            let sg = &reading.sg_per_transition;
            bars.groups = (1..=sg.len()).map(|k| format!("{k}→{}", k + 1)).collect();
            bars.series.push(BarSeries {
                name: group.name.clone(),
                style: group.style(),
                values: sg.iter().map(|sg| sg.map_or(f64::NAN, |sg| tidy(sg.mean))).collect(),
                errors: Some(sg.iter().map(|sg| sg.map_or(f64::NAN, |sg| tidy(sg.pm))).collect()),
                ..BarSeries::default()
            });
        }
        figure.panels.push(Panel::new(lineup.label.clone(), Axis::new("switch"), Axis::new("SG"), bars));
    }
    figure
}
