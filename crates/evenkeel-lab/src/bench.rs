//! The two workloads of the paper, timed: one training step and one evaluation.

use std::time::Instant;

use evenkeel_data::{DataSet, ImageShape, Images, Labelled, Loaded, Normalization};
use evenkeel_kernels::{InstructionSet, peak};
use evenkeel_models::{Architecture, Visit};
use serde::Serialize;

use crate::run::batches::{Batches, Draw};
use crate::run::device::training_device;
use crate::run::evaluate::TestSets;
use crate::run::learner::Learner;
use crate::run::prepare::{Prepared, cut, prepare};
use crate::run::progress::FetchProgress;
use crate::spec::{Experiment, RunSpec};

/// What was measured of one workload. Times are medians.
#[derive(Debug, Clone, Serialize)]
pub struct Measurement {
    /// `mlp` or `resnet`.
    pub workload: &'static str,
    /// Threads.
    pub threads: usize,
    /// Images per training step.
    pub batch: usize,
    /// Images per evaluation.
    pub evaluated: usize,
    /// Milliseconds of a training step alone. The batch is drawn on a thread of its own.
    pub train_ms: f64,
    /// Milliseconds of an evaluation alone.
    pub eval_ms: f64,
    /// Milliseconds of both, as a run has them: the evaluation beside the next step.
    pub iteration_ms: f64,
    /// Floating-point operations of a dense computation, per second.
    pub gflops: f64,
    /// The same as a fraction of the machine's measured peak with that many threads. What is skipped counts: it may be more than 1.
    pub of_peak: f64,
    /// Of the training step alone.
    pub train_of_peak: f64,
    /// Of the evaluation alone.
    pub eval_of_peak: f64,
    /// Largest memory of this process so far, in MiB, where the system tells.
    pub peak_memory_mib: Option<f64>,
}

/// One workload: NGM-SGD on the first task of its benchmark.
pub struct Workload {
    name: &'static str,
    spec: RunSpec,
    data: Prepared,
    evaluated: usize,
    /// Iterations that are not counted: caches and memory have to settle.
    warm_up: usize,
    /// Multiplications and additions of one image forward.
    flops: f64,
}

impl Workload {
    /// Training on 128 images of Split MNIST and evaluation of its task-1 test set. Fetches MNIST if it is not here: the time
    /// depends on how much of an image is black.
    pub fn mlp() -> anyhow::Result<Self> {
        let experiment = Experiment::named("split-mnist")?;
        let data = prepare(&experiment.settings, 0, &mut FetchProgress::default())?;
        let evaluated = data.stream.task(0).test.len();
        let flops = 2.0 * f64::from(784 * 400 + 400 * 400 + 400 * 10);
        Ok(Self { name: "mlp", spec: first_task(&experiment)?, data, evaluated, warm_up: 20, flops })
    }

    /// Training on 256 images of 32×32 and evaluation of 1,000, as in Split CIFAR-10. The pixels are random.
    pub fn resnet() -> anyhow::Result<Self> {
        let experiment = Experiment::named("split-cifar10")?;
        let shape = ImageShape::new(3, 32, 32);
        let random = |count: usize| -> anyhow::Result<Labelled> {
            let mut state = 1_u32;
            let pixels = (0..count * shape.len()).map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            });
            let images = Images::new(shape, pixels.collect())?;
            Ok(Labelled::new(images, (0..count).map(|i| (i % 10) as u16).collect(), 10)?)
        };
        let data = DataSet::new("random", random(2000)?, random(10_000)?)?;
        let loaded = Loaded { data, normalization: Normalization::cifar10(), sha256: None };
        Ok(Self {
            name: "resnet",
            spec: first_task(&experiment)?,
            data: cut(&experiment.settings, 0, loaded)?,
            evaluated: 1000,
            warm_up: 2,
            flops: resnet_flops(),
        })
    }

    /// The same with other numbers of images, to see how the time grows. No more are evaluated than there are.
    #[must_use]
    pub fn resized(mut self, batch: Option<usize>, evaluated: Option<usize>) -> Self {
        self.spec.settings.batch = batch.unwrap_or(self.spec.settings.batch);
        self.evaluated = evaluated.unwrap_or(self.evaluated).min(self.data.stream.task(0).test.len());
        self
    }

    /// Runs `iterations` iterations after a few to warm up, on a pool of `threads`: first steps and evaluations one after the other,
    /// then as a run has them, each evaluation beside the next step.
    pub fn measure(&self, threads: usize, iterations: usize) -> anyhow::Result<Measurement> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let time = Time { workload: self, iterations };
        let times = pool.install(|| self.spec.settings.model.visit(time))?;
        let [train_ms, eval_ms, iteration_ms] = times.map(median);
        let batch = self.spec.settings.batch;
        // Of so many images forward; backward costs twice as much.
        let gflops = |images: usize, ms: f64| self.flops * images as f64 / ms / 1e6;
        let all = gflops(3 * batch + self.evaluated, iteration_ms);
        // The machine's peak, whatever kernels are forced.
        let fastest = InstructionSet::available().pop().unwrap_or(InstructionSet::PORTABLE);
        let peak = peak::fma_gflops(fastest) * threads as f64;
        Ok(Measurement {
            workload: self.name,
            threads,
            batch,
            evaluated: self.evaluated,
            train_ms,
            eval_ms,
            iteration_ms,
            gflops: all,
            of_peak: all / peak,
            train_of_peak: gflops(3 * batch, train_ms) / peak,
            eval_of_peak: gflops(self.evaluated, eval_ms) / peak,
            peak_memory_mib: peak_memory_mib(),
        })
    }
}

/// Times a workload with the network that its spec names: milliseconds of each training step, evaluation and iteration.
struct Time<'a> {
    workload: &'a Workload,
    iterations: usize,
}

impl Visit for Time<'_> {
    type Output = anyhow::Result<[Vec<f64>; 3]>;

    fn visit<N: Architecture>(self, config: &N::Config) -> Self::Output {
        let Workload { spec, data, warm_up, evaluated, .. } = self.workload;
        let mut spec = spec.clone();
        spec.settings.eval_samples = Some(*evaluated);
        let spec = &spec;
        let device = training_device(&spec.settings.device);
        let mut tests = TestSets::<N>::new(spec, data);
        let mut learner = Learner::<N>::new(config, spec, data, &device)?;
        let total = (warm_up + self.iterations) as u64;
        let milliseconds = |start: Instant| start.elapsed().as_secs_f64() * 1e3;
        let [mut train, mut eval, mut both] = [const { Vec::new() }; 3];
        std::thread::scope(|scope| -> anyhow::Result<()> {
            let batches = Batches::start(scope, spec, data, 1..=2 * total);
            for iteration in 1..=2 * total {
                let start = Instant::now();
                let (batch, draw) = (batches.take(&device), Draw::new(spec, data, iteration));
                if iteration <= total {
                    (learner, _) = learner.step(batch, draw, false, &device)?;
                    train.push(milliseconds(start));
                    let start = Instant::now();
                    let snapshot = tests.snapshot(learner.model());
                    tests.evaluate(1, vec![snapshot]);
                    eval.push(milliseconds(start));
                } else {
                    let before = tests.snapshot(learner.model());
                    let (_, stepped) = rayon::join(
                        || tests.evaluate(1, vec![before]),
                        || learner.step(batch, draw, false, &device),
                    );
                    (learner, _) = stepped?;
                    both.push(milliseconds(start));
                }
            }
            Ok(())
        })?;
        Ok([train, eval, both].map(|times| times[*warm_up..].to_vec()))
    }
}

/// The experiment's first run, whose first task never ends: however many iterations are timed, all are alike.
fn first_task(experiment: &Experiment) -> anyhow::Result<RunSpec> {
    let mut spec = experiment.check()?.expand(None).remove(0);
    spec.settings.iterations = u64::MAX;
    Ok(spec)
}

/// Slim ResNet-18 at 32×32: stem, then per stage the 3×3 convolutions of two blocks and the 1×1 shortcut.
fn resnet_flops() -> f64 {
    let conv =
        |inputs: usize, outputs: usize, taps: usize, side: usize| inputs * outputs * taps * side * side;
    let mut total = conv(3, 20, 9, 32);
    let mut inputs = 20;
    for (stage, outputs) in [20, 40, 80, 160].into_iter().enumerate() {
        let side = 32 >> stage;
        total += conv(inputs, outputs, 9, side) + 3 * conv(outputs, outputs, 9, side);
        total += if inputs == outputs { 0 } else { conv(inputs, outputs, 1, side) };
        inputs = outputs;
    }
    2.0 * total as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// High-water mark of the resident memory (Linux).
fn peak_memory_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_of_iterations_leaves_the_first_task() {
        let spec = first_task(&Experiment::named("split-mnist").unwrap()).unwrap();
        assert_eq!(spec.settings.task_of(1_000_000_000), 1);
    }
}
