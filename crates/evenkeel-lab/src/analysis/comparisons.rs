//! One optimizer against the others, on the same seeds.

use evenkeel_metrics::{Better, Evidence, QUANTITIES, Quantity, Side, Verdict, holm, quantity};
use serde::Serialize;

use super::groups::{Group, Lineup};
use super::measure::Measure;

/// The quantity that decides a comparison: one curve gives one claim.
pub const DECIDES: &str = "avg-SG";

/// The lowest accuracy on task 1 after the switches, which stands beside it.
pub const MINIMUM: &str = "avg-min-ACC";

/// How well new tasks are learnt, without which a small gap is no merit.
pub const NEWEST: &str = "newest task";

/// How well all tasks are known at the end.
pub const ALL_SEEN: &str = "all seen";

/// The reference minus another optimizer, over the seeds that both have; over all seeds where they are no pairs.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// The benchmark.
    pub benchmark: String,
    /// The optimizer that the others are compared with.
    pub reference: String,
    /// The other.
    pub against: String,
    /// Whether the seeds are pairs. If not, the means of all seeds are compared by Welch's test.
    pub paired: bool,
    /// The difference of every quantity that both have.
    pub differences: Vec<Difference>,
    /// Whether the reference has the smaller gap: Holm's adjustment is over the comparisons of the same table.
    pub verdict: Verdict,
    /// Adjusted p of that.
    pub adjusted_p: Option<f64>,
}

/// The difference of one quantity.
#[derive(Debug, Clone, Serialize)]
pub struct Difference {
    /// The quantity.
    pub quantity: &'static str,
    /// What its differences say of the reference being better.
    #[serde(flatten)]
    pub evidence: Evidence,
}

impl Comparison {
    /// The difference of one quantity.
    pub fn of(&self, quantity: &str) -> Option<&Evidence> {
        let found = self.differences.iter().find(|difference| difference.quantity == quantity);
        found.map(|difference| &difference.evidence)
    }
}

/// Differences on the seeds that both groups have, in the order of the seeds: (seed, first, second).
pub fn paired(a: &Group, b: &Group, measure: &Measure<'_>) -> Vec<(u64, f64, f64)> {
    let (Some(a), Some(b)) = (a.values(measure), b.values(measure)) else { return Vec::new() };
    let other = |seed: u64| b.iter().find(|(other, _)| *other == seed).map(|(_, value)| *value);
    a.iter().filter_map(|&(seed, value)| Some((seed, value, other(seed)?))).collect()
}

/// What the values of two groups, each with its seed, say of the first being on that side of the second.
pub(super) fn evidence(a: &[(u64, f64)], b: &[(u64, f64)], pairs: bool, side: Side) -> Option<Evidence> {
    let plain = |values: &[(u64, f64)]| -> Vec<f64> { values.iter().map(|(_, value)| *value).collect() };
    if !pairs {
        return Evidence::welch(&plain(a), &plain(b), side);
    }
    let other = |seed: u64| b.iter().find(|(other, _)| *other == seed).map(|(_, value)| *value);
    let differences: Vec<f64> = a.iter().filter_map(|&(seed, value)| Some(value - other(seed)?)).collect();
    Evidence::of(&differences, side)
}

fn difference(reference: &Group, other: &Group, quantity: &'static Quantity) -> Option<Difference> {
    let side = match quantity.better {
        Better::More => Side::More,
        Better::Less => Side::Less,
    };
    let values = |group: &Group| group.values(&quantity.into());
    let pairs = reference.pairs_with(other);
    let evidence = evidence(&values(reference)?, &values(other)?, pairs, side)?;
    Some(Difference { quantity: quantity.name, evidence })
}

/// The reference against every other group of a lineup.
pub fn comparisons(lineup: &Lineup, against: Option<&str>) -> Vec<Comparison> {
    let Some(reference) = lineup.reference(against) else { return Vec::new() };
    let others = lineup.groups.iter().filter(|group| group.name != reference.name);
    let mut comparisons: Vec<Comparison> = others
        .map(|other| Comparison {
            benchmark: lineup.label.clone(),
            reference: reference.name.clone(),
            against: other.name.clone(),
            paired: reference.pairs_with(other),
            differences: QUANTITIES
                .iter()
                .filter_map(|quantity| difference(reference, other, quantity))
                .collect(),
            verdict: Verdict::NotTested,
            adjusted_p: None,
        })
        .collect();
    debug_assert!(quantity(DECIDES).is_some(), "the deciding quantity is registered");
    let p: Vec<Option<f64>> = comparisons.iter().map(|c| c.of(DECIDES).and_then(|e| e.p)).collect();
    for (comparison, adjusted) in comparisons.iter_mut().zip(holm(&p)) {
        comparison.adjusted_p = adjusted;
        comparison.verdict = Verdict::of(comparison.of(DECIDES), adjusted);
    }
    comparisons
}
