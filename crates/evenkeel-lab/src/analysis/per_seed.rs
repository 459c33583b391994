//! The raw material of a page: every number of every seed that a table or a verdict rests on.

use std::collections::{BTreeSet, HashSet};

use evenkeel_metrics::QUANTITIES;

use super::claims::{Basis, Judged};
use super::groups::Lineup;
use super::measure::Measure;
use super::noise_floor;

/// One value per row, with all its digits: `lineup,optimizer,seed,outcome,quantity,value`.
///
/// Every registered quantity of every group, and whatever else the claims of the page compare.
pub fn to_csv(lineups: &[Lineup], judged: &[Judged]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut written = HashSet::new();
    let mut write = |lineup: &str, optimizer: &str, seed: u64, outcome: &str, quantity: &str, value: f64| {
        let name = (lineup.to_string(), optimizer.to_string(), seed, quantity.to_string());
        if written.insert(name) {
            let (seed, value) = (seed.to_string(), value.to_string());
            let record = [lineup, optimizer, &seed, outcome, quantity, &value];
            writer.write_record(record).expect("memory does not fail");
        }
    };
    for lineup in lineups {
        for group in &lineup.groups {
            let diverged: BTreeSet<u64> = group.diverged.iter().map(|seed| seed.seed).collect();
            for quantity in QUANTITIES {
                for (seed, value) in group.values(&Measure::from(quantity)).unwrap_or_default() {
                    let outcome = if diverged.contains(&seed) { "diverged" } else { "finished" };
                    write(&lineup.label, &group.name, seed, outcome, quantity.name, value);
                }
            }
            for floor in noise_floor::floors(group) {
                for pair in &floor.values {
                    let outcome = if diverged.contains(&pair.seed) { "diverged" } else { "finished" };
                    let values =
                        [("SG", pair.sg), ("control SG", pair.control), ("excess SG", pair.excess())];
                    for (name, value) in values {
                        let quantity = format!("{name} {}", floor.switch);
                        write(&lineup.label, &group.name, pair.seed, outcome, &quantity, value);
                    }
                }
            }
        }
    }
    for claim in judged.iter().map(|one| &one.claim) {
        let Basis::Seeds(test) = &claim.basis else { continue };
        for value in &test.values {
            let outcome = |name: &str| outcome_of(lineups, &claim.lineup, name, value.seed);
            write(&claim.lineup, &test.a, value.seed, outcome(&test.a), &test.quantity, value.a);
            if let (Some(name), Some(b)) = (&test.b, value.b) {
                write(&claim.lineup, name, value.seed, outcome(name), &test.quantity, b);
            }
        }
    }
    let rows = writer.into_inner().expect("memory does not fail");
    format!(
        "lineup,optimizer,seed,outcome,quantity,value\n{}",
        String::from_utf8(rows).expect("text in, text out")
    )
}

/// How a seed of a group ended.
fn outcome_of(lineups: &[Lineup], lineup: &str, name: &str, seed: u64) -> &'static str {
    let groups = lineups.iter().filter(|known| known.label == lineup).flat_map(|known| &known.groups);
    let mut diverged = groups.filter(|group| group.name == name).flat_map(|group| &group.diverged);
    if diverged.any(|one| one.seed == seed) { "diverged" } else { "finished" }
}
