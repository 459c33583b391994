//! A convolutional network of one's own under NGM-SGD in burn-train: what changes for the sake of the gain is marked with `(gain)`.

use std::path::Path;
use std::sync::Arc;

use burn::data::dataloader::batcher::Batcher;
use burn::data::dataloader::{DataLoader, DataLoaderBuilder};
use burn::data::dataset::InMemDataset;
use burn::grad_clipping::GradientClippingConfig;
use burn::lr_scheduler::cosine::CosineAnnealingLrSchedulerConfig;
use burn::lr_scheduler::module_lr_scheduler::ModuleLearningRate;
use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::{BatchNorm, BatchNormConfig, Linear, LinearConfig, PaddingConfig2d};
use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Int, Tensor, TensorData};
use burn::train::checkpoint::KeepLastNCheckpoints;
use burn::train::logger::InMemoryMetricLogger;
use burn::train::metric::LossMetric;
use burn::train::{
    ClassificationOutput, InferenceStep, Learner, LearningResult, SupervisedTraining, TrainOutput, TrainStep,
};
use evenkeel::entropy::mean_entropy;
use evenkeel::gain::Gain;
use evenkeel::monitor::{Reference, StabilityGap, StepInfo};
use evenkeel::nn::{cross_entropy, modulate};
use evenkeel::optim::{NgmSgdConfig, SgdConfig, group};

const SIDE: usize = 8;
const CLASSES: usize = 4;
const BATCH: usize = 32;
/// Iterations per epoch.
pub const ITERATIONS: usize = 10;

/// A small CNN. The gain is a field like any other: records keep it.
#[derive(Module, Debug)]
pub struct Cnn {
    conv: Conv2d,
    norm: BatchNorm,
    pub head: Linear,
    pub gain: Gain, // (gain)
    #[module(skip)]
    monitor: Option<StabilityGap<Tensor<4>>>,
    #[module(skip)]
    task: usize,
}

impl Cnn {
    /// A network whose head is under `gain`.
    pub fn new(gain: &Gain, device: &Device) -> Self {
        let conv = Conv2dConfig::new([1, 8], [3, 3]).with_padding(PaddingConfig2d::Same).with_bias(false);
        let network = Self {
            conv: conv.init(device),
            norm: BatchNormConfig::new(8).init(device),
            head: LinearConfig::new(8 * SIDE * SIDE, CLASSES).with_bias(false).init(device),
            gain: gain.clone(),
            monitor: None,
            task: 1,
        };
        modulate(network, gain, r"^head\.").expect("it has a head") // (gain)
    }

    /// The same network, watched while it learns `task`.
    pub fn watched(mut self, monitor: StabilityGap<Tensor<4>>, task: usize) -> Self {
        (self.monitor, self.task) = (Some(monitor), task);
        self
    }

    fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        let features = relu(self.norm.forward(self.conv.forward(images)));
        self.head.forward(features.flatten(1, 3))
    }

    fn classify(&self, batch: Batch) -> ClassificationOutput {
        let logits = self.forward(batch.images);
        let loss = cross_entropy(logits.clone(), batch.labels.clone());
        ClassificationOutput::new(loss, logits, batch.labels)
    }
}

impl TrainStep for Cnn {
    type Input = Batch;
    type Output = ClassificationOutput;

    fn step(&self, batch: Batch) -> TrainOutput<ClassificationOutput> {
        let item = self.classify(batch);
        let gradients = item.loss.backward();
        self.gain.update(mean_entropy(&item.output)); // (gain) after the backward pass: the next forward pass sees it
        TrainOutput::new(self, gradients, item)
    }

    /// burn-train's own step, and then a look at the reference sets.
    fn optimize(
        self,
        optimizer: &mut ModuleOptimizer,
        lr: ModuleLearningRate,
        gradients: GradientsParams,
    ) -> Self {
        let model = optimizer.step(lr, self, gradients);
        if let Some(monitor) = &model.monitor {
            let still = model.valid();
            let info = StepInfo { gain: Some(model.gain.value()), ..StepInfo::default() };
            let written = monitor.after_step(model.task, info, |images| still.forward(images.clone()));
            written.expect("the curve can be written");
        }
        model
    }
}

impl InferenceStep for Cnn {
    type Input = Batch;
    type Output = ClassificationOutput;

    fn step(&self, batch: Batch) -> ClassificationOutput {
        self.classify(batch)
    }
}

/// Images with their labels.
#[derive(Debug, Clone)]
pub struct Batch {
    images: Tensor<4>,
    labels: Tensor<1, Int>,
}

/// An image: a bright stripe, whose place is its class, in noise.
#[derive(Debug, Clone)]
pub struct Image {
    pixels: Vec<f32>,
    label: i64,
}

#[derive(Clone)]
struct Stack;

impl Batcher<Image, Batch> for Stack {
    fn batch(&self, images: Vec<Image>, device: &Device) -> Batch {
        let n = images.len();
        let labels: Vec<i64> = images.iter().map(|image| image.label).collect();
        let pixels: Vec<f32> = images.into_iter().flat_map(|image| image.pixels).collect();
        Batch {
            images: Tensor::from_data(TensorData::new(pixels, [n, 1, SIDE, SIDE]), device),
            labels: Tensor::from_data(TensorData::new(labels, [n]), device),
        }
    }
}

/// `n` images of the given classes; the same `seed` gives the same images.
pub fn images(classes: std::ops::Range<i64>, n: usize, seed: u64) -> Vec<Image> {
    // A generator of 64 bits (Knuth's constants) is all the chance that an example needs.
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut uniform = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1_u64 << 24) as f32
    };
    let count = classes.end - classes.start;
    let image = |i: usize| {
        let label = classes.start + i as i64 % count;
        let noise = |pixel: usize| {
            let stripe = (pixel / SIDE) as i64 / 2 == label;
            uniform() + if stripe { 0.15 } else { 0.0 }
        };
        Image { pixels: (0..SIDE * SIDE).map(noise).collect(), label }
    };
    (0..n).map(image).collect()
}

/// The reference set of a task: two classes, on the device of evaluation.
pub fn reference(classes: std::ops::Range<i64>) -> Reference<Tensor<4>> {
    let Batch { images, labels } = Stack.batch(images(classes, 64, 99), &Device::flex());
    Reference { x: images, y: labels }
}

fn loader(images: Vec<Image>) -> Arc<dyn DataLoader<Batch>> {
    DataLoaderBuilder::new(Stack).batch_size(BATCH).build(InMemDataset::new(images))
}

/// NGM-SGD with momentum on the convolution, clipped; what a learner takes. The gain comes with it.
pub fn optimizer(network: &Cnn, config: &NgmSgdConfig) -> ModuleOptimizer {
    let clipping = || GradientClippingConfig::Norm(1.0).init();
    let backbone = group(network, "^(conv|norm)").expect("it has a backbone");
    let momentum = SgdConfig::new(config.lr).with_momentum(0.9).build().expect("valid parameters");
    let head = config.build().expect("valid parameters");
    let optimizer = ModuleOptimizer::from(head).with_grad_clipping(clipping());
    optimizer.with_group(backbone, momentum, Some(clipping()))
}

/// Trains `network` on images of `classes` up to `epochs`, from the checkpoint of an epoch if one is given.
pub fn train(
    network: Cnn,
    classes: std::ops::Range<i64>,
    epochs: usize,
    from: Option<usize>,
    folder: &Path,
) -> LearningResult<Cnn> {
    let config = NgmSgdConfig::new(0.05);
    // The schedule is as long as the whole training, whether it is interrupted or not.
    let schedule = CosineAnnealingLrSchedulerConfig::new(config.lr, 8 * ITERATIONS).init();
    let optimizer = optimizer(&network, &config);
    let learner = Learner::new(network, optimizer, schedule.expect("a valid schedule"));
    let data = loader(images(classes.clone(), BATCH * ITERATIONS, 1));
    let mut training = SupervisedTraining::new(folder, data, loader(images(classes, BATCH, 2)))
        .num_epochs(epochs)
        .with_default_checkpointers()
        .with_checkpointing_strategy(KeepLastNCheckpoints::new(epochs))
        .with_metric_logger(InMemoryMetricLogger::new())
        .metric_train_numeric(LossMetric::new())
        .metric_valid_numeric(LossMetric::new())
        .with_application_logger(None);
    if let Some(epoch) = from {
        training = training.checkpoint(epoch);
    }
    training.launch(learner)
}
