//! Fast evaluation of slim ResNet-18 on the CPU.

use std::cell::RefCell;

use burn::backend::flex::FlexTensor;
use burn::module::RunningState;
use burn::tensor::Tensor;
use evenkeel_kernels::batch_norm::{EPSILON, Normaliser};
use evenkeel_kernels::{Buffer, ConvShape, Epilogue, PackedWeights, Path, Shape, conv, layout, pool};
use rayon::prelude::*;

use super::{ConvNorm, SlimResNet};
use crate::ops::on_cpu;

/// Blocks of images that go through the network together: enough for full Winograd tiles at 4×4 pixels, few enough for
/// the cache.
const BLOCKS: usize = 2;

/// Images in the layout of the kernels, converted once.
pub struct PackedImages {
    shape: Shape,
    data: Buffer,
}

impl PackedImages {
    /// From `[images][channels][height][width]`.
    pub fn pack(images: &[f32], channels: usize, height: usize, width: usize) -> Self {
        let path = Path::active();
        let shape = Shape::new(images.len() / (channels * height * width).max(1), channels, height, width);
        let mut data = Buffer::zeroed(shape.blocked_len(path));
        layout::to_blocked(path, &shape, images, &mut data);
        Self { shape, data }
    }

    /// Number of images.
    pub fn len(&self) -> usize {
        self.shape.batch
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.shape.batch == 0
    }
}

/// Logits of a [`SlimResNet`] in evaluation mode: BatchNorm folded into the convolutions, residual and ReLU in their
/// epilogue, a few images at a time through the whole network.
///
/// The same numbers as `model.valid().forward(images)` up to rounding. It holds the model as it was: training may go on while it
/// is evaluated.
pub struct ResNetEvaluator {
    stem: Folded,
    blocks: Vec<FoldedBlock>,
    /// Of the features in front of the pooling.
    last: Shape,
    head: FlexTensor,
    classes: usize,
    gain: f32,
}

struct Folded {
    conv: ConvShape,
    packed: PackedWeights,
    bias: Vec<f32>,
}

impl Folded {
    fn new(layer: &ConvNorm, input: Shape) -> Self {
        let path = Path::active();
        let values = |tensor: Tensor<1>| -> Vec<f32> { numbers(&on_cpu(tensor)).to_vec() };
        let running = |state: &RunningState<Tensor<1>>| values(state.value());
        let [outputs, _, kernel, _] = layer.weight.dims();
        let conv = match kernel {
            1 => ConvShape::one(input, outputs, layer.stride()),
            _ => ConvShape::three(input, outputs, layer.stride()),
        };
        let (gamma, beta) = (values(layer.gamma.val()), values(layer.beta.val()));
        let normaliser = Normaliser::of_running(
            &running(&layer.running_mean),
            &running(&layer.running_var),
            &gamma,
            &beta,
            EPSILON,
        );
        let weights = on_cpu(layer.weight.val());
        let weights = numbers(&weights);
        let mut folded = vec![0.0; weights.len()];
        normaliser.fold(weights, &mut folded);
        let mut packed = PackedWeights::new();
        packed.pack_forward(path, &conv, &folded);
        Self { conv, packed, bias: normaliser.shift().to_vec() }
    }

    fn run(&self, batch: usize, x: &[f32], residual: Option<&[f32]>, relu: bool, y: &mut Buffer) {
        let path = Path::active();
        let conv = self.conv.with_batch(batch);
        y.resize(conv.output().blocked_len(path));
        let epilogue = Epilogue { bias: Some(&self.bias), residual, relu, accumulate: false };
        conv::forward(path, &conv, x, &self.packed, y, epilogue);
    }
}

fn numbers(tensor: &FlexTensor) -> &[f32] {
    tensor.as_slice().expect("parameters are f32")
}

/// Activations of one thread; the memory is kept between calls.
#[derive(Default)]
struct Work {
    x: Buffer,
    middle: Buffer,
    side: Buffer,
    y: Buffer,
}

thread_local! {
    static WORK: RefCell<Work> = RefCell::default();
}

struct FoldedBlock {
    first: Folded,
    second: Folded,
    shortcut: Option<Folded>,
}

impl ResNetEvaluator {
    /// Of the model as it is now, for images of this size.
    pub fn new(model: &SlimResNet, height: usize, width: usize) -> Self {
        let [_, channels, ..] = model.backbone.stem.weight.dims();
        let chunk = BLOCKS * Path::active().lanes();
        let stem = Folded::new(&model.backbone.stem, Shape::new(chunk, channels, height, width));
        let mut last = stem.conv.output();
        let mut blocks = Vec::with_capacity(model.backbone.blocks.len());
        for block in &model.backbone.blocks {
            let first = Folded::new(&block.first, last);
            let shortcut = block.shortcut.as_ref().map(|layer| Folded::new(layer, last));
            last = first.conv.output();
            blocks.push(FoldedBlock { first, second: Folded::new(&block.second, last), shortcut });
        }
        let [_, classes] = model.head.weight.dims();
        let (head, gain) = (on_cpu(model.head.weight.val()), model.head.gain() as f32);
        Self { stem, blocks, last, head, classes, gain }
    }

    /// Logits `[images][classes]`, image by image.
    pub fn logits(&self, images: &PackedImages) -> Vec<f32> {
        let path = Path::active();
        let chunk = BLOCKS * path.lanes();
        assert_eq!(
            images.shape,
            self.stem.conv.with_batch(images.len()).input(),
            "images of the size it was made for"
        );
        let logits: Vec<Vec<f32>> = images
            .data
            .par_chunks(chunk * images.shape.image_len())
            .with_max_len(1)
            .enumerate()
            .map(|(i, data)| {
                let batch = (images.len() - i * chunk).min(chunk);
                // Taken, not borrowed: the thread may steal another piece of this loop while it waits inside.
                let mut work = WORK.take();
                let Work { x, middle, side, y } = &mut work;
                self.stem.run(batch, data, None, true, x);
                for block in &self.blocks {
                    block.first.run(batch, x, None, true, middle);
                    let residual = match &block.shortcut {
                        None => &*x,
                        Some(shortcut) => {
                            shortcut.run(batch, x, None, false, side);
                            &*side
                        }
                    };
                    block.second.run(batch, middle, Some(residual), true, y);
                    std::mem::swap(x, y);
                }
                let last = Shape { batch, ..self.last };
                let pooled = pool::pooled(&last);
                let mut averages = vec![0.0; pooled.blocked_len(path)];
                pool::average_pool(path, &last, x, &mut averages);
                WORK.set(work);
                let mut features = vec![0.0; batch * pooled.image_len()];
                layout::from_blocked(path, &pooled, &averages, &mut features);
                product(&features, numbers(&self.head), self.classes, self.gain)
            })
            .collect();
        logits.concat()
    }
}

/// `gain · features · head`, row by row: a hundredth of the work.
fn product(features: &[f32], head: &[f32], classes: usize, gain: f32) -> Vec<f32> {
    let inputs = head.len() / classes;
    let mut out = Vec::with_capacity(features.len() / inputs * classes);
    for row in features.chunks_exact(inputs) {
        let mut sums = vec![0.0_f32; classes];
        for (x, w) in row.iter().zip(head.chunks_exact(classes)) {
            for (sum, w) in sums.iter_mut().zip(w) {
                *sum += x * w;
            }
        }
        out.extend(sums.iter().map(|sum| gain * sum));
    }
    out
}
