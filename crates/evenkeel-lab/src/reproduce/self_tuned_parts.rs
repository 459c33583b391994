//! Beyond the paper: what EvenKeel is made of, and how much depends on each of its constants.

use evenkeel_metrics::Side;
use evenkeel_report::figure::{Band, Dot, Lines, Series};
use evenkeel_report::{Axis, Figure, Panel};

use super::{Page, Result};
use crate::analysis::claims::Claim;
use crate::analysis::comparisons::{ALL_SEEN, DECIDES};
use crate::analysis::mean_curves::{BAND, tidy};
use crate::analysis::{Group, Lineup, Measure, Runs, tables};

pub(super) const RESULT: Result = Result::of_runs(
    "self-tuned-parts",
    "not in the paper",
    "our own optimizer without each of its parts, and with each constant a quarter to four times as large",
    include_str!("self_tuned_parts.rs"),
    page,
    include_str!("../../tuned/self_tuned_parts.toml"),
);

const OURS: &str = "even-keel";

/// How many points below the default setting count as a collapse. Fixed before the first run.
const COLLAPSE: f64 = 5.0;

/// The constants, as the names of their variants begin, and what is multiplied.
const CONSTANTS: [(&str, &str); 7] = [
    ("lr", "α"),
    ("memory", "1 − γ"),
    ("ceiling", "G − 1"),
    ("half-way", "h₀"),
    ("average", "1 − d"),
    ("calibration", "p, the power of H/L"),
    ("trust", "τ"),
];

/// How the names of variants end, and the factor.
const FACTORS: [(&str, f64); 4] = [("quarter", 0.25), ("half", 0.5), ("double", 2.0), ("fourfold", 4.0)];

fn page(runs: &Runs) -> Page {
    Page {
        paragraphs: vec![
            "Without the controller the gain stays at 1, without the average the trained weights are evaluated, without calibration the factor \
             H/L is left out, without ln C the entropy counts in nats, without trust no step is bounded, and with the gain on the \
             output the layers in front of it are not under the gain. Each constant is changed alone, by a factor of two and of four both ways; \
             where the rule has 1 − γ, 1 − d and G − 1, these are multiplied."
                .to_string(),
            format!(
                "The seeds are those that EvenKeel was developed on: this page explains the choice, `self-tuned` tests it. A setting collapses \
                 if it ends more than {COLLAPSE} points of accuracy on all seen tasks below the default."
            ),
        ],
        claims: runs.lineups.iter().flat_map(claims).collect(),
        tables: tables::beside_claims(&runs.lineups),
        figures: runs.lineups.iter().flat_map(|lineup| CONSTANTS.map(|constant| figure(lineup, constant))).collect(),
    }
}

fn claims(lineup: &Lineup) -> Vec<Claim> {
    let Some(ours) = lineup.find(OURS) else { return Vec::new() };
    let parts = [
        ("no-average", "has a larger gap than", Side::More, DECIDES),
        ("no-controller", "knows less of all seen tasks at the end than", Side::Less, ALL_SEEN),
        ("no-calibration", "has a larger gap than", Side::More, DECIDES),
        ("no-ln-c", "has a larger gap than", Side::More, DECIDES),
        ("no-trust", "knows less of all seen tasks at the end than", Side::Less, ALL_SEEN),
        ("gain-on-output", "knows less of all seen tasks at the end than", Side::Less, ALL_SEEN),
    ];
    let parts = parts.into_iter().filter_map(|(part, says, side, quantity)| {
        let without = lineup.find(part)?;
        let text = format!("{} {says} {}", without.name, ours.name);
        Some(Claim::ours(lineup, text, (without, ours), side, &Measure::named(quantity)))
    });
    let variants = CONSTANTS.iter().flat_map(|constant| FACTORS.map(|factor| name(constant.0, factor.0)));
    let robust = variants.filter_map(|name| {
        let variant = lineup.find(&name)?;
        let text = format!("{} does not collapse", variant.name);
        let (pair, side) = ((variant, ours), Side::Above(-COLLAPSE));
        Some(Claim::ours(lineup, text, pair, side, &Measure::named(ALL_SEEN)))
    });
    parts.chain(robust).collect()
}

fn name(constant: &str, factor: &str) -> String {
    format!("{constant}-{factor}")
}

/// Gap and accuracy over the factor on one constant.
fn figure(lineup: &Lineup, (constant, symbol): (&str, &str)) -> Figure {
    let title = format!("{symbol}, {}", lineup.label);
    let mut figure = Figure::new(format!("{constant} {}", lineup.label), title, 2);
    figure.caption = format!("Each setting over its seeds: {BAND}. The dot is the default.");
    let settings: Vec<(f64, &Group)> = {
        let varied =
            FACTORS.iter().filter_map(|(word, factor)| Some((*factor, lineup.find(&name(constant, word))?)));
        let mut all: Vec<_> = lineup.find(OURS).map(|ours| (1.0, ours)).into_iter().chain(varied).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    };
    for (title, label, quantity) in
        [("Stability gap", DECIDES, DECIDES), ("Accuracy on all seen tasks", "all seen, %", ALL_SEEN)]
    {
        let plot = Lines { series: vec![series(&settings, &Measure::named(quantity))], ..Lines::default() };
        let x = Axis::new(format!("factor on {symbol}")).log();
        figure.panels.push(Panel::new(title, x, Axis::new(label), plot));
    }
    figure
}

fn series(settings: &[(f64, &Group)], measure: &Measure<'_>) -> Series {
    let points: Vec<_> =
        settings.iter().filter_map(|(factor, group)| Some((*factor, group.interval(measure)?))).collect();
    let edge = |sign: f64| {
        let edge = points.iter().map(|(_, i)| tidy(i.mean + sign * i.standard_error().unwrap_or(f64::NAN)));
        edge.collect::<Vec<f64>>()
    };
    let band = Band { low: edge(-1.0), high: edge(1.0) };
    Series {
        name: "EvenKeel".to_string(),
        style: None,
        x: points.iter().map(|(factor, _)| *factor).collect(),
        y: points.iter().map(|(_, interval)| tidy(interval.mean)).collect(),
        band: band.low.iter().any(|edge| edge.is_finite()).then_some(band),
        dots: points
            .iter()
            .filter(|(factor, _)| *factor == 1.0)
            .map(|(x, i)| Dot::new(*x, tidy(i.mean)))
            .collect(),
    }
}
