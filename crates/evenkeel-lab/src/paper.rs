//! The paper's published numbers, and its claims.

pub mod claims;

use evenkeel_metrics::Estimate;
use serde::{Deserialize, Serialize};

use crate::run::probes::ProbeSpecs;
use crate::spec::{Benchmark, RunSpec, Settings, optimizers};

const MAIN: &str = include_str!("../paper/main.csv");
const ORACLE_RESET: &str = include_str!("../paper/oracle_reset.csv");
const REPLAY: &str = include_str!("../paper/replay.csv");
const GAIN_SLOPE: &str = include_str!("../paper/gain_slope.csv");
const LR_SWEEP: &str = include_str!("../paper/lr_sweep_split_cifar10.csv");
const GAIN_SWEEP: &str = include_str!("../paper/gamma_eta_sweep_split_cifar10.csv");
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
    /// Only in the table of replay.
    #[serde(default)]
    buffer: Option<usize>,
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
    let transitions = rows::<TransitionRow>(PER_TRANSITION)
        .filter(|row| row.benchmark == benchmark && row.optimizer == optimizer)
        .map(|row| estimate(row.sg, row.sg_pm));
    Some(PaperRow { sg_per_transition: transitions.collect(), ..row.into() })
}

/// The paper's row for a benchmark with a replay buffer and an optimizer.
pub fn published_replay(benchmark: &str, buffer: usize, optimizer: &str) -> Option<PaperRow> {
    let mut table = rows::<TableRow>(REPLAY);
    let same = |row: &TableRow| {
        row.benchmark == benchmark && row.buffer == Some(buffer) && row.optimizer == optimizer
    };
    table.find(same).map(PaperRow::from)
}

fn estimate(mean: f64, pm: f64) -> Estimate {
    Estimate { mean, pm }
}

impl From<TableRow> for PaperRow {
    fn from(row: TableRow) -> Self {
        Self {
            avg_acc: estimate(row.avg_acc, row.avg_acc_pm),
            avg_min_acc: estimate(row.avg_min_acc, row.avg_min_acc_pm),
            wc_acc: estimate(row.wc_acc, row.wc_acc_pm),
            avg_sg: estimate(row.avg_sg, row.avg_sg_pm),
            sg_per_transition: Vec::new(),
        }
    }
}

/// The paper's slope of the mean gain over the first three tasks (Figure 7).
pub fn gain_slope(benchmark: &str) -> Option<f64> {
    #[derive(Deserialize)]
    struct Slope {
        benchmark: String,
        slope: f64,
    }
    rows::<Slope>(GAIN_SLOPE).find(|row| row.benchmark == benchmark).map(|row| row.slope)
}

/// The paper's task-1 accuracy after each task at a learning rate, on Split CIFAR-10.
pub fn lr_sweep(optimizer: &str, lr: f64) -> Vec<Estimate> {
    #[derive(Deserialize)]
    struct Accuracy {
        lr: f64,
        optimizer: String,
        task1_acc: f64,
        task1_acc_pm: f64,
    }
    rows::<Accuracy>(LR_SWEEP)
        .filter(|row| row.optimizer == optimizer && row.lr == lr)
        .map(|row| estimate(row.task1_acc, row.task1_acc_pm))
        .collect()
}

/// The paper's avg-ACC and avg-SG at a decay γ and a scale η, on Split CIFAR-10.
pub fn gain_sweep(gamma: f64, eta: f64) -> Option<(Estimate, Estimate)> {
    #[derive(Deserialize)]
    struct Cell {
        gamma: f64,
        eta: f64,
        avg_acc: f64,
        avg_acc_pm: f64,
        avg_sg: f64,
        avg_sg_pm: f64,
    }
    rows::<Cell>(GAIN_SWEEP)
        .find(|row| row.gamma == gamma && row.eta == eta)
        .map(|row| (estimate(row.avg_acc, row.avg_acc_pm), estimate(row.avg_sg, row.avg_sg_pm)))
}

/// The paper's row for a run, if the run follows the paper's protocol, evaluation after every iteration included (on a
/// subset or on all test images).
pub fn comparable(spec: &RunSpec) -> Option<PaperRow> {
    let benchmark = Benchmark::named(&spec.benchmark)?;
    let protocol = |settings: &Settings| Settings {
        eval_samples: None,
        eval_all_tasks: false,
        probes: ProbeSpecs::default(),
        ..settings.clone()
    };
    let same = |settings: &Settings| protocol(&spec.settings) == protocol(settings);
    let known = optimizers::on(benchmark, &spec.optimizer.name).as_ref() == Some(&spec.optimizer);
    let usual = benchmark.settings();
    let row = match spec.settings.replay {
        None => published(&spec.benchmark, &spec.optimizer.name),
        Some(buffer) => published_replay(&spec.benchmark, buffer, &spec.optimizer.name),
    };
    row.filter(|_| known && same(&Settings { replay: spec.settings.replay, ..usual }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Experiment;

    #[test]
    fn rows_of_both_tables_are_found() {
        let ngm = published("split-mnist", "ngm-sgd").unwrap();
        assert_eq!((ngm.avg_min_acc.mean, ngm.avg_min_acc.pm), (97.570, 0.465));
        assert_eq!(ngm.sg_per_transition.len(), 4);
        let reset = published("rotated-mnist", "adam-reset").unwrap();
        assert_eq!((reset.avg_acc.mean, reset.sg_per_transition.len()), (95.545, 0));
        assert!(published("split-fashion", "ngm-sgd").is_none());
        let replay = published_replay("split-mnist", 1000, "msgd").unwrap();
        assert_eq!(replay.avg_min_acc.mean, 52.712);
        assert!(published_replay("split-mnist", 999, "msgd").is_none());
        assert_eq!(gain_slope("rotated-mnist"), Some(-0.0663));
        assert_eq!(lr_sweep("ngm-sgd", 0.01).len(), 5);
        assert_eq!(gain_sweep(0.9, 0.2).unwrap().0.mean, 90.630);
    }

    #[test]
    fn another_protocol_has_no_published_row() {
        let mut experiment = Experiment::named("split-mnist").unwrap();
        assert!(comparable(&experiment.check().unwrap().expand(None)[0]).is_some());
        experiment.set("eval_samples=500").unwrap();
        assert!(comparable(&experiment.check().unwrap().expand(None)[0]).is_some());
        experiment.set("lr=0.02").unwrap();
        assert!(comparable(&experiment.check().unwrap().expand(None)[0]).is_none());
    }
}
