//! One run in one process: `evenkeel worker DIR`, which the runner (or a cluster scheduler) starts.
//!
//! The spec is read from `DIR/run.json`. Progress goes to stdout as one JSON object per line.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use evenkeel_metrics::Point;
use evenkeel_models::Architecture;
use serde::{Deserialize, Serialize};

use super::learner::Learner;
use super::prepare::{prepare, prepare_decoded};
use super::train::{self, Outcome, Watch};
use super::weights::{self, WeightsError};
use crate::spec::{CheckedRun, RunSpec};
use crate::store::claim::Claimed;
use crate::store::{RunWriter, StoreError};

/// What a worker tells its runner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Iterations done.
    pub iteration: u64,
    /// Iterations in all.
    pub total: u64,
    /// The task.
    pub task: usize,
    /// Accuracy on task 1 now.
    pub task1_acc: f64,
    /// Its minimum since the last switch (from task 2 on).
    pub minimum: Option<f64>,
    /// The gain.
    pub gain: Option<f64>,
}

/// Often enough for a progress bar, too seldom to cost anything.
const REPORT_EVERY: Duration = Duration::from_millis(100);

struct Reporter {
    total: u64,
    last: Option<Instant>,
    minimum: Option<(usize, f64)>,
    stop: Arc<AtomicBool>,
    /// Where the weights go at the end, if they are kept.
    weights: Option<(PathBuf, RunSpec)>,
}

impl Watch for Reporter {
    fn evaluated(&mut self, point: &Point) {
        if point.task > 1 {
            let lowest = match self.minimum {
                Some((task, lowest)) if task == point.task => lowest.min(point.task1_acc),
                _ => point.task1_acc,
            };
            self.minimum = Some((point.task, lowest));
        }
        if self.last.is_some_and(|last| last.elapsed() < REPORT_EVERY) && point.iteration < self.total {
            return;
        }
        self.last = Some(Instant::now());
        let progress = Progress {
            iteration: point.iteration,
            total: self.total,
            task: point.task,
            task1_acc: point.task1_acc,
            minimum: self.minimum.map(|(_, lowest)| lowest),
            gain: point.gain,
        };
        // A runner that has gone away is not this run's problem: it is told to stop in another way.
        if let Ok(line) = serde_json::to_string(&progress) {
            let _ = writeln!(std::io::stdout(), "{line}");
        }
    }

    fn must_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn trained<N: Architecture>(&mut self, learner: &Learner<N>) -> Result<(), WeightsError> {
        match &self.weights {
            Some((path, spec)) => weights::write(path, &learner.evaluated(), learner.gain(), spec),
            None => Ok(()),
        }
    }
}

/// How a worker works.
#[derive(Debug, Clone)]
pub struct Options {
    /// Time between checkpoints.
    pub checkpoint_every: Duration,
    /// Keep the weights at the end of the run.
    pub keep_weights: bool,
    /// The data, decoded and verified by the process that started this one; loaded from its source if absent.
    pub decoded: Option<PathBuf>,
    /// Token of a lease on the run that is known to be a dead machine's.
    pub dead_lease: Option<String>,
}

/// Runs what the folder describes. `None` if it is finished already.
pub fn run(
    dir: &Path,
    spec: &CheckedRun,
    options: &Options,
    stop: Arc<AtomicBool>,
) -> anyhow::Result<Option<Outcome>> {
    // Asked before the data is loaded: a second runner may try again and again.
    let dead = options.dead_lease.as_deref();
    let held = match Claimed::look(dir) {
        Claimed::Free => false,
        Claimed::Locked => true,
        Claimed::Leased(lease) => dead != Some(&lease.token),
    };
    if held {
        return Err(StoreError::Locked { path: dir.display().to_string() }.into());
    }
    let prepared = match &options.decoded {
        Some(path) => prepare_decoded(&spec.settings, spec.seed, path)?,
        None => prepare(&spec.settings, spec.seed, &mut evenkeel_data::source::Quiet)?,
    };
    if prepared.data_sha256 != spec.data_sha256 {
        anyhow::bail!("{}: the data has changed since this run was described", spec.settings.data);
    }
    let Some((store, checkpoint)) = RunWriter::open(dir, spec, prepared.stream.len(), dead)? else {
        return Ok(None);
    };
    let total = spec.settings.end_of(prepared.stream.len());
    let weights = options.keep_weights.then(|| (dir.join(weights::FILE), (**spec).clone()));
    let mut reporter = Reporter { total, last: None, minimum: None, stop, weights };
    let outcome = train::run(spec, &prepared, store, checkpoint, options.checkpoint_every, &mut reporter)?;
    Ok(Some(outcome))
}
