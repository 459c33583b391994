//! The stability gap of anybody's training: reference sets, evaluated while a model trains, in a file that `evenkeel metrics` reads.

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use burn::tensor::{Int, Tensor};
use evenkeel_metrics::{Point, write_header, write_point};

use crate::nn::cross_entropy;

/// The fixed images (or whatever a model takes) of one task, with their labels.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use evenkeel::monitor::Reference;
/// let device = Device::flex();
/// let first_task = Reference { x: Tensor::<4>::zeros([2, 3, 32, 32], &device), y: Tensor::from_data([0, 1], &device) };
/// assert_eq!(first_task.x.dims()[0], first_task.y.dims()[0]);
/// ```
#[derive(Debug, Clone)]
pub struct Reference<X> {
    /// What the model is given.
    pub x: X,
    /// The class of each.
    pub y: Tensor<1, Int>,
}

/// What a training step may tell the monitor besides.
///
/// ```
/// use evenkeel::monitor::StepInfo;
/// let told = StepInfo { gain: Some(1.2), ..StepInfo::default() };
/// assert_eq!(told.train_loss, None);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct StepInfo {
    /// The gain after the step.
    pub gain: Option<f64>,
    /// Mean output entropy of the batch in nats.
    pub entropy: Option<f64>,
    /// Loss of the batch.
    pub train_loss: Option<f64>,
}

/// Evaluates reference sets every so many iterations and appends a row to a curve file.
///
/// It is called after every step: in a loop of your own, or from `TrainStep::optimize` in burn-train. Clones write to the same file, so a
/// model may have one as a field (`#[module(skip)]`). The file is what `evenkeel metrics`, `report` and `serve` take: the iteration,
/// the task, accuracy and loss on the first task, the accuracies of the others as they are met, and gain, entropy and training loss
/// where they are known. Task ends are read off the last row of a task: let `every` divide the iterations of a task.
///
/// ```
/// use burn::{module::Module, nn::LinearConfig, tensor::{Device, Tensor}};
/// use evenkeel::monitor::{Reference, StabilityGap, StepInfo};
///
/// let device = Device::flex();
/// let model = LinearConfig::new(4, 2).init(&device.clone().autodiff());
/// let task = |class: i64| Reference { x: Tensor::<2>::ones([3, 4], &device), y: Tensor::from_data([class; 3], &device) };
/// # let folder = std::env::temp_dir().join(format!("evenkeel-monitor-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("curve.csv");
/// let gap = StabilityGap::create(&path, 2, vec![task(0), task(1)])?;
/// for iteration in 1..=8 {
///     // … a step of training …
///     let task = if iteration <= 4 { 1 } else { 2 };
///     let still = model.valid();
///     gap.after_step(task, StepInfo::default(), |x| still.forward(x.clone()))?;
/// }
/// let curve = std::fs::read_to_string(&path)?;
/// assert_eq!(curve.lines().count(), 1 + 4);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct StabilityGap<X> {
    shared: Arc<Mutex<Shared>>,
    every: u64,
    references: Arc<Vec<Reference<X>>>,
}

#[derive(Debug)]
struct Shared {
    file: File,
    iteration: u64,
}

impl<X> StabilityGap<X> {
    /// Begins a new curve at `path`; one reference set per task, the first task's first.
    pub fn create(path: &Path, every: u64, references: Vec<Reference<X>>) -> io::Result<Self> {
        let mut file = File::create(path)?;
        write_header(&mut file, references.len())?;
        Self::new(file, 0, every, references)
    }

    /// Goes on with the curve at `path` after `iteration`, where a checkpoint was made: later rows are cut off, to be measured again.
    pub fn resume(
        path: &Path,
        every: u64,
        references: Vec<Reference<X>>,
        iteration: u64,
    ) -> io::Result<Self> {
        let mut kept = String::new();
        for line in BufReader::new(File::open(path)?).lines() {
            let line = line?;
            let row = line.split(',').next().and_then(|cell| cell.parse::<u64>().ok());
            if row.is_none_or(|row| row <= iteration) {
                kept.push_str(&line);
                kept.push('\n');
            }
        }
        let mut file = File::create(path)?;
        file.write_all(kept.as_bytes())?;
        Self::new(file, iteration, every, references)
    }

    fn new(file: File, iteration: u64, every: u64, references: Vec<Reference<X>>) -> io::Result<Self> {
        if every == 0 || references.is_empty() {
            let message = "a monitor needs a reference set and at least one iteration between evaluations";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let shared = Arc::new(Mutex::new(Shared { file, iteration }));
        Ok(Self { shared, every, references: Arc::new(references) })
    }

    /// Iterations so far.
    pub fn iteration(&self) -> u64 {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).iteration
    }

    /// Counts a step of training in `task` (from 1), and evaluates the tasks met so far if it is time; `forward` gives the logits of
    /// the model in evaluation mode.
    pub fn after_step(
        &self,
        task: usize,
        info: StepInfo,
        forward: impl Fn(&X) -> Tensor<2>,
    ) -> io::Result<()> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.iteration += 1;
        if !shared.iteration.is_multiple_of(self.every) {
            return Ok(());
        }
        let seen = self.references.iter().take(task).map(|reference| evaluate(reference, &forward));
        let seen: Vec<Evaluation> = seen.collect();
        let Some(first) = seen.first() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "tasks count from 1"));
        };
        let mut point = Point::new(shared.iteration, task, first.accuracy());
        point.task1_loss = Some(first.loss);
        (point.gain, point.entropy, point.train_loss) = (info.gain, info.entropy, info.train_loss);
        let (hits, total) = seen.iter().fold((0, 0), |(hits, total), of| (hits + of.hits, total + of.total));
        point.seen_acc = Some(100.0 * hits as f64 / total as f64);
        point.task_acc = seen[1..].iter().map(|of| Some(of.accuracy())).collect();
        write_point(&mut shared.file, &point, self.references.len())
    }
}

/// What a reference set says about a model.
struct Evaluation {
    hits: i64,
    total: i64,
    loss: f64,
}

impl Evaluation {
    fn accuracy(&self) -> f64 {
        100.0 * self.hits as f64 / self.total as f64
    }
}

fn evaluate<X>(reference: &Reference<X>, forward: &impl Fn(&X) -> Tensor<2>) -> Evaluation {
    let logits = forward(&reference.x);
    let [total, _] = logits.dims();
    let predicted = logits.clone().argmax(1).reshape([total]);
    let hits = predicted.equal(reference.y.clone()).int().sum().into_scalar();
    let loss = cross_entropy(logits, reference.y.clone()).into_data().iter::<f64>().sum();
    Evaluation { hits, total: total as i64, loss }
}
