//! The paper's published numbers.

use evenkeel_metrics::Estimate;
use serde::{Deserialize, Serialize};

use crate::benchmark::Benchmark;
use crate::spec::{RunSpec, Settings};

const MAIN: &str = include_str!("../paper/main.csv");
const ORACLE_RESET: &str = include_str!("../paper/oracle_reset.csv");
const PER_TRANSITION: &str = include_str!("../paper/stability_gap_per_transition.csv");

/// One row of the paper's tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PaperRow {
    /// avg-ACC.
    pub avg_acc: Estimate,
    /// avg-min-ACC.
    pub avg_min_acc: Estimate,
    /// WC-ACC.
    pub wc_acc: Estimate,
    /// avg-SG.
    pub avg_sg: Estimate,
    /// SG of each transition; empty for the reset variants, for which the paper does not give it.
    pub sg_per_transition: Vec<Estimate>,
}

#[derive(Deserialize)]
struct TableRow {
    benchmark: String,
    optimizer: String,
    avg_acc: f64,
    avg_acc_pm: f64,
    avg_min_acc: f64,
    avg_min_acc_pm: f64,
    wc_acc: f64,
    wc_acc_pm: f64,
    avg_sg: f64,
    avg_sg_pm: f64,
}

#[derive(Deserialize)]
struct TransitionRow {
    benchmark: String,
    optimizer: String,
    sg: f64,
    sg_pm: f64,
}

fn rows<T: serde::de::DeserializeOwned>(table: &str) -> impl Iterator<Item = T> {
    csv::Reader::from_reader(table.as_bytes())
        .into_deserialize()
        .map(|row| row.expect("the paper's tables are part of the program"))
}

/// The paper's row for a benchmark and an optimizer.
pub fn published(benchmark: &str, optimizer: &str) -> Option<PaperRow> {
    let mut tables = rows::<TableRow>(MAIN).chain(rows(ORACLE_RESET));
    let row = tables.find(|row| row.benchmark == benchmark && row.optimizer == optimizer)?;
    let estimate = |mean, pm| Estimate { mean, pm };
    let transitions = rows::<TransitionRow>(PER_TRANSITION)
        .filter(|row| row.benchmark == benchmark && row.optimizer == optimizer)
        .map(|row| estimate(row.sg, row.sg_pm));
    Some(PaperRow {
        avg_acc: estimate(row.avg_acc, row.avg_acc_pm),
        avg_min_acc: estimate(row.avg_min_acc, row.avg_min_acc_pm),
        wc_acc: estimate(row.wc_acc, row.wc_acc_pm),
        avg_sg: estimate(row.avg_sg, row.avg_sg_pm),
        sg_per_transition: transitions.collect(),
    })
}

/// The paper's row for a run, if the run follows the paper's protocol, evaluation after every iteration included (on a
/// subset or on all test images).
pub fn comparable(spec: &RunSpec) -> Option<PaperRow> {
    let benchmark = Benchmark::named(&spec.benchmark)?;
    let protocol =
        |settings: &Settings| Settings { eval_samples: None, eval_all_tasks: false, ..settings.clone() };
    let same = protocol(&spec.settings) == protocol(&benchmark.settings())
        && benchmark.optimizer(&spec.optimizer.name).as_ref() == Some(&spec.optimizer);
    same.then(|| published(&spec.benchmark, &spec.optimizer.name))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    #[test]
    fn rows_of_both_tables_are_found() {
        let ngm = published("split-mnist", "ngm-sgd").unwrap();
        assert_eq!((ngm.avg_min_acc.mean, ngm.avg_min_acc.pm), (97.570, 0.465));
        assert_eq!(ngm.sg_per_transition.len(), 4);
        let reset = published("rotated-mnist", "adam-reset").unwrap();
        assert_eq!((reset.avg_acc.mean, reset.sg_per_transition.len()), (95.545, 0));
        assert!(published("split-fashion", "ngm-sgd").is_none());
    }

    #[test]
    fn another_protocol_has_no_published_row() {
        let mut experiment = Experiment::named("split-mnist").unwrap();
        assert!(comparable(&experiment.expand(None)[0]).is_some());
        experiment.set("eval_samples=500").unwrap();
        assert!(comparable(&experiment.expand(None)[0]).is_some());
        experiment.set("lr=0.02").unwrap();
        assert!(comparable(&experiment.expand(None)[0]).is_none());
    }
}
