//! The training loop with continual evaluation, top to bottom.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use evenkeel::optim::OptimError;
use evenkeel_metrics::Point;
use evenkeel_models::{Architecture, Visit};
use thiserror::Error;

use super::batches::{Batches, Draw};
use super::checkpoint::Checkpoint;
use super::device::training_device;
use super::evaluate::TestSets;
use super::learner::{Learner, StateError};
use super::pending::Pending;
use super::prepare::Prepared;
use super::probes::{ProbeError, ProbeSpecs};
use super::weights::WeightsError;
use crate::spec::{CheckedRun, RunSpec};
use crate::store::{RunWriter, Status, StoreError};

/// Why training stopped before its end.
#[derive(Debug, Error)]
pub enum TrainError {
    /// The optimizer's parameters.
    #[error(transparent)]
    Optimizer(#[from] OptimError),
    /// A state that does not fit the model.
    #[error("the checkpoint does not fit this model: {0}")]
    State(#[from] StateError),
    /// A probe.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// The run directory.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file of the weights.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

/// How a call of [`run`] ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The run is over, well or not.
    Ended(Status),
    /// It was told to stop, and saved its state first.
    Interrupted {
        /// Iterations done.
        iteration: u64,
    },
}

/// What the caller of [`run`] watches and decides while it goes on.
pub trait Watch {
    /// Called after each evaluation.
    fn evaluated(&mut self, point: &Point);
    /// Asked after each iteration.
    fn must_stop(&self) -> bool;
    /// Called with what was learnt, before the run is marked as done.
    fn trained<N: Architecture>(&mut self, _learner: &Learner<N>) -> Result<(), WeightsError> {
        Ok(())
    }
}

/// Runs `spec` on its data from its beginning, or from `checkpoint`, to its end.
pub fn run<W: Watch>(
    spec: &CheckedRun,
    data: &Prepared,
    store: RunWriter,
    checkpoint: Option<Checkpoint>,
    checkpoint_every: Duration,
    watch: &mut W,
) -> Result<Outcome, TrainError> {
    let done = checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.header.iteration);
    let iterations = done + 1..=spec.settings.end_of(data.stream.len());
    std::thread::scope(|scope| {
        let batches = Batches::start(scope, spec, data, iterations.clone());
        let run = Run { spec, data, batches, iterations, store, checkpoint, checkpoint_every, watch };
        spec.settings.model.visit(run)
    })
}

/// What a run needs, before it is known which network is trained.
struct Run<'a, W> {
    spec: &'a RunSpec,
    data: &'a Prepared,
    batches: Batches,
    iterations: RangeInclusive<u64>,
    store: RunWriter,
    checkpoint: Option<Checkpoint>,
    checkpoint_every: Duration,
    watch: &'a mut W,
}

impl<W: Watch> Visit for Run<'_, W> {
    type Output = Result<Outcome, TrainError>;

    fn visit<N: Architecture>(self, config: &N::Config) -> Self::Output {
        let Self { spec, data, batches, iterations, mut store, checkpoint, checkpoint_every, watch } = self;
        let settings = &spec.settings;
        let device = training_device(&settings.device);
        let mut tests = TestSets::<N>::new(spec, data);
        let mut learner = Learner::<N>::new(config, spec, data, &device)?;
        if let Some(checkpoint) = checkpoint {
            learner = learner.load(checkpoint.weights, &checkpoint.optimizer)?;
        }
        let probes = ProbeSpecs::start::<N>(spec, data, &device);
        let with_accuracy = probes.iter().any(|probe| probe.needs_batch_accuracy());
        let clock = Clock::new(store.seconds_before());
        let mut last_checkpoint = Instant::now();
        let mut pending: Option<Pending<N>> = None;

        for iteration in iterations {
            let task = settings.task_of(iteration);
            let task_starts = iteration == settings.end_of(task - 1) + 1;
            // A control is evaluated where its switch would be, as its run is there.
            let task_ends = iteration == settings.end_of(task) || settings.held_from() == Some(iteration);
            if task_starts && task > 1 && spec.optimizer.reset {
                learner.reset();
            }
            if task > 1 && spec.optimizer.freeze {
                learner.freeze();
            }

            // The evaluation after the step before, and this step: beside each other where there are two threads, else in this
            // order, so that the step finds nobody else at the weights.
            let (batch, draw) = (batches.take(&device), Draw::new(spec, data, iteration));
            let (evaluated, stepped) = rayon::join(
                || pending.take().map(|pending| pending.evaluate(&mut tests)),
                || learner.step(batch, draw, with_accuracy, &device),
            );
            if let Some(point) = evaluated
                && let Err(reason) = record(&point, &mut store, watch)?
            {
                return diverged(store, point.iteration, reason, clock.seconds());
            }
            let seen;
            (learner, seen) = match stepped {
                Ok(stepped) => stepped,
                Err(error) => return diverged(store, iteration, error.to_string(), clock.seconds()),
            };

            // The evaluation after the update: now if something depends on it, else beside the next step.
            if task_ends || settings.evaluates(iteration) {
                let all_tasks = task_ends || settings.eval_all_tasks;
                pending = Some(Pending::new(&learner, &tests, iteration, task, all_tasks, &seen));
            }
            let stop = watch.must_stop();
            let save = task_ends || stop || last_checkpoint.elapsed() >= checkpoint_every;
            if save && let Some(pending) = pending.take() {
                let point = pending.evaluate(&mut tests);
                if let Err(reason) = record(&point, &mut store, watch)? {
                    return diverged(store, iteration, reason, clock.seconds());
                }
            }
            for probe in probes.iter().filter(|probe| probe.is_due(iteration)) {
                for (quantity, value) in probe.measure(&learner, &seen)? {
                    store.append_extra(iteration, task, quantity, value)?;
                }
            }
            if save {
                store.checkpoint(iteration, clock.seconds(), learner.save()?)?;
                last_checkpoint = Instant::now();
            }
            if stop {
                return Ok(Outcome::Interrupted { iteration });
            }
        }
        watch.trained(&learner)?;
        store.finish(Status::Done, clock.seconds())?;
        Ok(Outcome::Ended(Status::Done))
    }
}

/// Keeps the point, or says why the run cannot go on.
fn record(
    point: &Point,
    store: &mut RunWriter,
    watch: &mut impl Watch,
) -> Result<Result<(), String>, StoreError> {
    if let Some(loss) = point.task1_loss.filter(|loss| !loss.is_finite()) {
        return Ok(Err(format!("the task-1 loss is {loss}")));
    }
    store.append(point)?;
    watch.evaluated(point);
    Ok(Ok(()))
}

/// Ends the run with a recorded reason; other runs go on.
fn diverged(store: RunWriter, iteration: u64, reason: String, seconds: f64) -> Result<Outcome, TrainError> {
    let status = Status::Diverged { iteration, reason };
    store.finish(status.clone(), seconds)?;
    Ok(Outcome::Ended(status))
}

/// Seconds of training, those before a restart included.
struct Clock {
    before: f64,
    start: Instant,
}

impl Clock {
    fn new(before: f64) -> Self {
        Self { before, start: Instant::now() }
    }

    fn seconds(&self) -> f64 {
        self.before + self.start.elapsed().as_secs_f64()
    }
}
