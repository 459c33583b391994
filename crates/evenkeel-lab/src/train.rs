//! The training loop with continual evaluation, top to bottom.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor};
use evenkeel::entropy::mean_entropy;
use evenkeel::nn::cross_entropy;
use evenkeel::optim::OptimError;
use evenkeel_data::{Normalization, Shape, Stream};
use evenkeel_metrics::Point;
use thiserror::Error;

use crate::batches::Batches;
use crate::checkpoint::Checkpoint;
use crate::curvature::{CurvatureProbe, ProbeError};
use crate::evaluate::TestSets;
use crate::extra::TRAIN_ACC;
use crate::learner::{Learner, StateError};
use crate::pending::Pending;
use crate::spec::RunSpec;
use crate::store::{RunWriter, Status, StoreError};
use crate::weights::WeightsError;

/// Why training stopped before its end.
#[derive(Debug, Error)]
pub enum TrainError {
    /// The optimizer's parameters.
    #[error(transparent)]
    Optimizer(#[from] OptimError),
    /// A state that does not fit the model.
    #[error("the checkpoint does not fit this model: {0}")]
    State(#[from] StateError),
    /// A curvature.
    #[error("curvature: {0}")]
    Curvature(#[from] ProbeError),
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
    fn trained(&mut self, _learner: &Learner) -> Result<(), WeightsError> {
        Ok(())
    }
}

/// Runs `spec` on `stream` from its beginning, or from `checkpoint`, to its end.
pub fn run(
    spec: &RunSpec,
    stream: &Stream,
    normalization: &Normalization,
    store: RunWriter,
    checkpoint: Option<Checkpoint>,
    checkpoint_every: Duration,
    watch: &mut dyn Watch,
) -> Result<Outcome, TrainError> {
    let done = checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.header.iteration);
    let iterations = done + 1..=spec.settings.iterations * stream.len() as u64;
    std::thread::scope(|scope| {
        let batches = Batches::start(scope, spec, stream, normalization, iterations.clone());
        let data = (stream, normalization, batches);
        train(spec, iterations, data, store, checkpoint, checkpoint_every, watch)
    })
}

fn train(
    spec: &RunSpec,
    iterations: RangeInclusive<u64>,
    (stream, normalization, batches): (&Stream, &Normalization, Batches),
    mut store: RunWriter,
    checkpoint: Option<Checkpoint>,
    checkpoint_every: Duration,
    watch: &mut dyn Watch,
) -> Result<Outcome, TrainError> {
    let settings = &spec.settings;
    let device = Device::flex().autodiff();
    let mut tests = TestSets::new(stream, settings, spec.seed, normalization);
    let mut learner = Learner::new(spec, stream, &device)?;
    if let Some(checkpoint) = checkpoint {
        learner = learner.load(checkpoint.weights, checkpoint.optimizer)?;
    }
    let mut probe = CurvatureProbe::new(spec, stream, normalization, &device);
    let clock = Clock::new(store.seconds_before());
    let mut last_checkpoint = Instant::now();
    let mut pending: Option<Pending> = None;

    for iteration in iterations {
        let task = settings.task_of(iteration);
        let task_starts = (iteration - 1).is_multiple_of(settings.iterations);
        let task_ends = iteration.is_multiple_of(settings.iterations);
        if task_starts && task > 1 && spec.optimizer.reset {
            learner.reset_optimizer();
        }

        // The evaluation after the step before, and this step: beside each other where there are two threads, else in this
        // order, so that the step finds nobody else at the weights.
        let batch = batches.take(&device);
        let frozen = spec.optimizer.freeze && task > 1;
        let (evaluated, stepped) = rayon::join(
            || pending.take().map(|pending| pending.evaluate(&mut tests)),
            || step(learner, batch, stream.shape(), frozen, settings.train_acc),
        );
        if let Some(point) = evaluated
            && let Err(reason) = record(&point, &mut store, watch)?
        {
            return diverged(store, point.iteration, reason, clock.seconds());
        }
        let seen;
        (learner, seen) = stepped;
        if !seen.loss.is_finite() {
            let reason = format!("the training loss is {}", seen.loss);
            return diverged(store, iteration, reason, clock.seconds());
        }
        if let Some(accuracy) = seen.accuracy {
            store.append_extra(iteration, task, TRAIN_ACC, accuracy)?;
        }

        // The evaluation after the update: now if something depends on it, else beside the next step.
        if task_ends || iteration.is_multiple_of(settings.eval_every) {
            let all_tasks = task_ends || settings.eval_all_tasks;
            pending = Some(Pending::new(&learner, stream.shape(), iteration, task, all_tasks, &seen));
        }
        let due = probe.as_mut().filter(|probe| probe.is_due(iteration));
        let stop = watch.must_stop();
        let save = task_ends || stop || last_checkpoint.elapsed() >= checkpoint_every;
        if (save || due.is_some())
            && let Some(pending) = pending.take()
        {
            let point = pending.evaluate(&mut tests);
            if let Err(reason) = record(&point, &mut store, watch)? {
                return diverged(store, iteration, reason, clock.seconds());
            }
        }

        if let Some(probe) = due {
            for (quantity, value) in probe.measure(&learner)? {
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

/// What a training step saw of its batch, before the update.
pub(crate) struct Seen {
    pub loss: f64,
    pub entropy: f64,
    /// In percent, if it was asked for.
    pub accuracy: Option<f64>,
}

/// Forward with W = g·w, backward, step, gain. Nothing is updated if the loss is not finite.
pub(crate) fn step(
    learner: Learner,
    (x, y): (Tensor<2>, Tensor<1, Int>),
    shape: Shape,
    frozen: bool,
    with_accuracy: bool,
) -> (Learner, Seen) {
    let model = learner.model();
    let logits = if frozen { model.forward_frozen(x, shape) } else { model.forward(x, shape) };
    let entropy = mean_entropy(&logits);
    let accuracy = with_accuracy.then(|| batch_accuracy(&logits, &y));
    let loss = cross_entropy(logits, y);
    let seen = Seen { loss: f64::from(loss.clone().into_scalar::<f32>()), entropy, accuracy };
    if !seen.loss.is_finite() {
        return (learner, seen);
    }
    let gradients = GradientsParams::from_grads(loss.backward(), learner.model());
    (learner.step(gradients, entropy), seen)
}

/// Keeps the point, or says why the run cannot go on.
fn record(
    point: &Point,
    store: &mut RunWriter,
    watch: &mut dyn Watch,
) -> Result<Result<(), String>, StoreError> {
    if let Some(loss) = point.task1_loss.filter(|loss| !loss.is_finite()) {
        return Ok(Err(format!("the task-1 loss is {loss}")));
    }
    store.append(point)?;
    watch.evaluated(point);
    Ok(Ok(()))
}

/// Percentage of a batch that is predicted right.
fn batch_accuracy(logits: &Tensor<2>, y: &Tensor<1, Int>) -> f64 {
    let [batch, _] = logits.dims();
    let predicted = logits.clone().argmax(1).reshape([batch]);
    let hits: i64 = predicted.equal(y.clone()).int().sum().into_scalar();
    100.0 * hits as f64 / batch as f64
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
