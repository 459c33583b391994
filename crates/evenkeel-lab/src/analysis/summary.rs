//! The metrics of a group of runs: `summary.json`.

use std::collections::HashSet;
use std::path::Path;

use evenkeel_metrics::{
    Curve, CurveFileError, Estimate, GapSummary, PairedDifference, PaperReading, PerSeed, ReadingError,
    Summary as Interval, paired_bootstrap, read_curve,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::paper::{self, PaperRow};
use crate::spec::RunSpec;
use crate::store::{Status, StoredRun};

/// Resamples of a paired bootstrap: its interval is stable to the second digit.
const RESAMPLES: usize = 10_000;

/// Why a summary cannot be made.
#[derive(Debug, Error)]
pub enum SummaryError {
    /// A curve file.
    #[error(transparent)]
    Curve(#[from] CurveFileError),
    /// Curves that do not fit together.
    #[error("{group}: {error}")]
    Reading {
        /// The optimizer, or the files.
        group: String,
        /// Why.
        error: ReadingError,
    },
}

/// Metrics of one optimizer on one benchmark. Accuracies are in percent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The benchmark.
    pub benchmark: String,
    /// The optimizer.
    pub optimizer: String,
    /// Its parameters, as `key=value`.
    pub parameters: String,
    /// How many seeds the row averages over.
    pub seeds: usize,
    /// Which ones; empty for curves of another program.
    pub seed_list: Vec<u64>,
    /// avg-ACC, minimum on the mean curve, ± as in the paper; so the next three.
    pub avg_acc: Estimate,
    /// avg-min-ACC.
    pub avg_min_acc: Estimate,
    /// WC-ACC.
    pub wc_acc: Estimate,
    /// avg-SG.
    pub avg_sg: Option<Estimate>,
    /// SG of each transition, the paper's reading.
    pub sg_per_transition: Vec<Option<Estimate>>,
    /// The same four with the minimum of each seed's own curve.
    pub per_seed: PerSeedRow,
    /// Accuracy on the newest task at its end, mean over tasks.
    pub new_task_acc: Option<Interval>,
    /// Accuracy on the test images of all tasks at the end of training.
    pub seen_acc: Option<Interval>,
    /// Width, recovery time and loss spike of the gap, mean over transitions.
    pub gap: GapSummary,
    /// De Lange's min-ACC and WC-ACC over all tasks, where every task was evaluated at every iteration.
    pub all_task: Option<AllTask>,
    /// The published row, if this is the paper's protocol.
    pub paper: Option<PaperRow>,
}

/// The usual reading: metrics of each seed, then mean, sample standard deviation and Student's 95 % interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PerSeedRow {
    /// avg-ACC.
    pub avg_acc: Interval,
    /// avg-min-ACC.
    pub avg_min_acc: Interval,
    /// WC-ACC.
    pub wc_acc: Interval,
    /// avg-SG.
    pub avg_sg: Option<Interval>,
    /// SG of each transition.
    pub sg_per_transition: Vec<Option<Interval>>,
}

/// De Lange's metrics over all tasks at the end of training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AllTask {
    /// min-ACC.
    pub min_acc: Interval,
    /// WC-ACC.
    pub wc_acc: Interval,
}

/// A run that a summary does not count, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The optimizer.
    pub optimizer: String,
    /// The seed.
    pub seed: u64,
    /// Unfinished, diverged, or a curve that cannot be read.
    pub reason: String,
}

/// First optimizer minus another, over the seeds that both have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The benchmark.
    pub benchmark: String,
    /// The first optimizer of the benchmark.
    pub optimizer: String,
    /// What it is compared with.
    pub against: String,
    /// Difference of avg-ACC.
    pub avg_acc: PairedDifference,
    /// Difference of avg-min-ACC.
    pub avg_min_acc: PairedDifference,
    /// Difference of avg-SG.
    pub avg_sg: Option<PairedDifference>,
}

/// All rows of a folder: the contents of `summary.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// One row an optimizer.
    pub rows: Vec<Row>,
    /// Paired comparisons with the first row of each benchmark.
    pub comparisons: Vec<Comparison>,
    /// Runs that are not counted.
    pub left_out: Vec<LeftOut>,
}

/// Runs that differ in their seed only.
struct Group<'a> {
    spec: RunSpec,
    runs: Vec<&'a StoredRun>,
}

impl Summary {
    /// The summary of stored runs, in the order in which they are given. Unfinished and failed runs are named, not counted.
    pub fn of_runs(runs: &[StoredRun]) -> Self {
        Self::of_runs_with(runs, |_, _, _| {})
    }

    /// The same, and shows each group of seeds to `each` while its curves are in memory: one group at a time.
    pub fn of_runs_with(runs: &[StoredRun], mut each: impl FnMut(&RunSpec, &Row, &[Curve])) -> Self {
        let mut summary = Self::default();
        let mut groups: Vec<Group<'_>> = Vec::new();
        let mut counted = HashSet::new();
        for run in runs {
            // A copy of a run in another folder is not another seed.
            if !counted.insert(&run.record.id) {
                continue;
            }
            match &run.record.status {
                Status::Unfinished => summary.leave_out(run, "unfinished".to_string()),
                Status::Diverged { iteration, reason } => {
                    summary.leave_out(run, format!("diverged at iteration {iteration}: {reason}"));
                }
                Status::Done => {
                    let key = run.record.spec.without_seed();
                    match groups.iter_mut().find(|group| group.spec == key) {
                        Some(group) => group.runs.push(run),
                        None => groups.push(Group { spec: key, runs: vec![run] }),
                    }
                }
            }
        }
        let mut readings = Vec::new();
        for mut group in groups {
            group.runs.sort_by_key(|run| run.record.spec.seed);
            let (mut seeds, mut curves) = (Vec::new(), Vec::new());
            for run in group.runs {
                match read_curve(&run.curve_path()) {
                    Ok(curve) => {
                        seeds.push(run.record.spec.seed);
                        curves.push(curve);
                    }
                    Err(error) => summary.leave_out(run, error.to_string()),
                }
            }
            if curves.is_empty() {
                continue;
            }
            let name = &group.spec.optimizer.name;
            let (mut row, reading) = match row(name, &curves) {
                Ok(row) => row,
                Err(error) => {
                    let left_out =
                        |&seed: &u64| LeftOut { optimizer: name.clone(), seed, reason: error.to_string() };
                    summary.left_out.extend(seeds.iter().map(left_out));
                    continue;
                }
            };
            row.benchmark.clone_from(&group.spec.benchmark);
            row.parameters = group.spec.optimizer.rule.to_string();
            row.paper = paper::comparable(&group.spec);
            row.seed_list.clone_from(&seeds);
            each(&group.spec, &row, &curves);
            summary.rows.push(row);
            readings.push((group.spec, seeds, reading));
        }
        for (i, (spec, seeds, reading)) in readings.iter().enumerate() {
            // Against the first row of the same protocol.
            let first = readings[..i].iter().find(|(first, ..)| first.settings == spec.settings);
            if let Some((first, first_seeds, first_reading)) = first {
                let (a, b) = (paired(first_reading, first_seeds, seeds), paired(reading, seeds, first_seeds));
                summary.comparisons.extend(compare(first, &a, spec, &b));
            }
        }
        summary
    }

    fn leave_out(&mut self, run: &StoredRun, reason: String) {
        let spec = &run.record.spec;
        self.left_out.push(LeftOut { optimizer: spec.optimizer.name.clone(), seed: spec.seed, reason });
    }

    /// The summary of curve files of any program: one file a seed, all of one method.
    pub fn of_files(paths: &[impl AsRef<Path>]) -> Result<Self, SummaryError> {
        let curves: Vec<Curve> =
            paths.iter().map(|path| read_curve(path.as_ref())).collect::<Result<_, _>>()?;
        let (row, _) = row("curves", &curves)?;
        Ok(Self { rows: vec![row], ..Self::default() })
    }
}

fn row(name: &str, curves: &[Curve]) -> Result<(Row, PerSeed), SummaryError> {
    let bad = |error| SummaryError::Reading { group: name.to_string(), error };
    let paper = PaperReading::of(curves).map_err(bad)?;
    let per_seed = PerSeed::of(curves).map_err(bad)?;
    let all_task = per_seed.all_task_min_acc.zip(per_seed.all_task_wc_acc);
    let row = Row {
        benchmark: String::new(),
        optimizer: name.to_string(),
        parameters: String::new(),
        seeds: paper.seeds,
        seed_list: Vec::new(),
        avg_acc: paper.avg_acc,
        avg_min_acc: paper.avg_min_acc,
        wc_acc: paper.wc_acc,
        avg_sg: paper.avg_sg,
        sg_per_transition: paper.sg_per_transition,
        per_seed: PerSeedRow {
            avg_acc: per_seed.avg_acc,
            avg_min_acc: per_seed.avg_min_acc,
            wc_acc: per_seed.wc_acc,
            avg_sg: per_seed.avg_sg,
            sg_per_transition: per_seed.sg_per_transition.clone(),
        },
        new_task_acc: per_seed.new_task_acc,
        seen_acc: per_seed.seen_acc,
        gap: per_seed.gap,
        all_task: all_task.map(|(min_acc, wc_acc)| AllTask { min_acc, wc_acc }),
        paper: None,
    };
    Ok((row, per_seed))
}

/// Metrics of the seeds that are also in `other`: avg-ACC, avg-min-ACC, avg-SG.
fn paired(reading: &PerSeed, seeds: &[u64], other: &[u64]) -> [Vec<Option<f64>>; 3] {
    let common = || seeds.iter().zip(&reading.metrics).filter(|(seed, _)| other.contains(seed));
    [
        common().map(|(_, m)| Some(m.avg_acc)).collect(),
        common().map(|(_, m)| Some(m.avg_min_acc)).collect(),
        common().map(|(_, m)| m.avg_sg).collect(),
    ]
}

/// `None` with fewer than two common seeds: a difference of one pair has no interval.
fn compare(
    first: &RunSpec,
    a: &[Vec<Option<f64>>; 3],
    spec: &RunSpec,
    b: &[Vec<Option<f64>>; 3],
) -> Option<Comparison> {
    let difference = |i: usize| {
        let (a, b): (Option<Vec<f64>>, Option<Vec<f64>>) =
            (a[i].iter().copied().collect(), b[i].iter().copied().collect());
        paired_bootstrap(&a?, &b?, RESAMPLES, 0).ok()
    };
    Some(Comparison {
        benchmark: spec.benchmark.clone(),
        optimizer: first.optimizer.name.clone(),
        against: spec.optimizer.name.clone(),
        avg_acc: difference(0)?,
        avg_min_acc: difference(1)?,
        avg_sg: difference(2),
    })
}
