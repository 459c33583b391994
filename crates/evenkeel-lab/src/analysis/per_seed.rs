//! The raw material of a page: every number of every seed that a table or a verdict rests on.

use std::collections::BTreeSet;

use evenkeel_metrics::QUANTITIES;

use super::groups::{Lineup, Measure};

/// One value per row, with all its digits: `lineup,optimizer,seed,outcome,quantity,value`.
///
/// `more` are the measures that a result needs beside the registered quantities.
pub fn to_csv(lineups: &[Lineup], more: &[Measure<'_>]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |record: [&str; 6]| writer.write_record(record).expect("memory does not fail");
    write(["lineup", "optimizer", "seed", "outcome", "quantity", "value"]);
    let registered: Vec<Measure<'_>> = QUANTITIES.iter().map(Measure::from).collect();
    for lineup in lineups {
        for group in &lineup.groups {
            let diverged: BTreeSet<u64> = group.diverged.iter().map(|seed| seed.seed).collect();
            for measure in registered.iter().chain(more) {
                for (seed, value) in group.values(measure).unwrap_or_default() {
                    let outcome = if diverged.contains(&seed) { "diverged" } else { "finished" };
                    let (seed, value) = (seed.to_string(), value.to_string());
                    write([&lineup.label, &group.name, &seed, outcome, &measure.name, &value]);
                }
            }
        }
    }
    String::from_utf8(writer.into_inner().expect("memory does not fail")).expect("text in, text out")
}
