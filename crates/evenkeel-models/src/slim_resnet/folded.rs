//! The convolutional part with BatchNorm folded into its weights, on the CPU's kernels.

use std::cell::RefCell;

use burn::backend::flex::FlexTensor;
use burn::module::RunningState;
use burn::tensor::{Tensor, TensorData};
use evenkeel::cpu::on_cpu;
use evenkeel_kernels::batch_norm::{EPSILON, Normaliser};
use evenkeel_kernels::{
    BatchShape, Buffer, ConvShape, Epilogue, InstructionSet, PackedWeights, conv, layout, pool,
};
use rayon::prelude::*;

use super::{Backbone, ConvNorm, ResidualBlock, SlimResNet};
use crate::architecture::{Frozen, InputShape};

/// Layers with more weights than this, which do not fit into a second-level cache, see several blocks of images at a time: their
/// weights come from further away, once for all of them. In front of them every block goes by itself, while its maps are in the cache.
const HEAVY: usize = 1 << 18;
/// Numbers of the last maps that go together.
const TOGETHER: usize = 1 << 19;
/// Most blocks that go together.
const BLOCKS: usize = 8;

/// Images in the layout of the kernels, converted once.
pub struct PackedImages {
    shape: BatchShape,
    data: Buffer,
}

impl PackedImages {
    /// From `[images][channels][height][width]`.
    pub fn pack(images: &[f32], shape: InputShape) -> Self {
        let set = InstructionSet::active();
        let batch = images.len() / shape.len().max(1);
        let shape = BatchShape::new(batch, shape.channels, shape.height, shape.width);
        let mut data = Buffer::zeroed(shape.blocked_len(set));
        layout::to_blocked(set, &shape, images, &mut data);
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

/// A backbone as it was, in evaluation mode: BatchNorm folded into the convolutions, residual and ReLU in their epilogue, a few
/// images at a time through the network.
pub struct FoldedBackbone {
    layers: Backbone<Folded>,
    /// How many residual blocks come before the first with heavy weights.
    light: usize,
    /// What flows out of them, for one block of images.
    middle: BatchShape,
    /// Of the maps in front of the pooling.
    last: BatchShape,
}

/// A convolution with its BatchNorm folded in.
struct Folded {
    conv: ConvShape,
    packed: PackedWeights,
    bias: Vec<f32>,
}

/// A layer read out of the network, to be folded on any thread.
struct Unfolded {
    conv: ConvShape,
    weights: FlexTensor,
    normaliser: Normaliser,
}

impl Unfolded {
    fn of(layer: &ConvNorm, input: BatchShape) -> Self {
        let values = |tensor: Tensor<1>| -> Vec<f32> {
            on_cpu(tensor).as_slice().expect("parameters are f32").to_vec()
        };
        let running = |state: &RunningState<Tensor<1>>| values(state.value());
        let [outputs, _, kernel, _] = layer.weight.dims();
        let conv = ConvShape::new(input, outputs, kernel, layer.stride());
        let (gamma, beta) = (values(layer.gamma.val()), values(layer.beta.val()));
        let normaliser = Normaliser::of_running(
            &running(&layer.running_mean),
            &running(&layer.running_var),
            &gamma,
            &beta,
            EPSILON,
        );
        Self { conv, weights: on_cpu(layer.weight.val()), normaliser }
    }

    fn fold(&self) -> Folded {
        let weights = self.weights.as_slice().expect("parameters are f32");
        let mut folded = vec![0.0; weights.len()];
        self.normaliser.fold(weights, &mut folded);
        let mut packed = PackedWeights::new();
        packed.pack_forward(InstructionSet::active(), &self.conv, &folded);
        Folded { conv: self.conv, packed, bias: self.normaliser.shift().to_vec() }
    }
}

impl Folded {
    fn run(&self, batch: usize, x: &[f32], residual: Option<&[f32]>, relu: bool, y: &mut Buffer) {
        let set = InstructionSet::active();
        let conv = self.conv.with_batch(batch);
        y.resize(conv.output().blocked_len(set));
        let epilogue = Epilogue { bias: Some(&self.bias), residual, relu, accumulate: false };
        conv::forward(set, &conv, x, &self.packed, y, epilogue);
    }
}

/// Activations of one thread; the memory is kept between calls.
#[derive(Default)]
struct Work {
    x: Buffer,
    middle: Buffer,
    side: Buffer,
    y: Buffer,
    /// Of the blocks that go on together.
    joined: Buffer,
}

thread_local! {
    static WORK: RefCell<Work> = RefCell::default();
}

impl ResidualBlock<Folded> {
    /// From `work.x` to `work.x`.
    fn run(&self, batch: usize, work: &mut Work) {
        let Work { x, middle, side, y, .. } = work;
        self.first.run(batch, x, None, true, middle);
        let residual = match &self.shortcut {
            None => &*x,
            Some(shortcut) => {
                shortcut.run(batch, x, None, false, side);
                &*side
            }
        };
        self.second.run(batch, middle, Some(residual), true, y);
        std::mem::swap(x, y);
    }
}

impl FoldedBackbone {
    /// Of the backbone as it is now, for images of this shape.
    pub fn new(backbone: &Backbone<ConvNorm>, shape: InputShape) -> Self {
        let lanes = InstructionSet::active().lanes();
        let input = BatchShape::new(lanes, shape.channels, shape.height, shape.width);
        let (layers, last) = backbone.follow(input, |layer, input| {
            let unfolded = Unfolded::of(layer, input);
            let output = unfolded.conv.output();
            (unfolded, output)
        });
        let unfolded: Vec<&Unfolded> = layers.layers().collect();
        let folded: Vec<Folded> = unfolded.into_par_iter().with_max_len(1).map(Unfolded::fold).collect();
        let mut folded = folded.into_iter();
        let layers = layers.map_layers(|_| folded.next().expect("each layer once, in the same order"));
        let heavy = |block: &ResidualBlock<Folded>| block.layers().any(|layer| layer.packed.len() > HEAVY);
        let light = layers.blocks.iter().position(heavy).unwrap_or(layers.blocks.len());
        let middle =
            light.checked_sub(1).map_or(&layers.stem, |block| &layers.blocks[block].second).conv.output();
        Self { layers, light, middle, last }
    }

    /// Features `[images][features]`, image by image.
    pub fn features(&self, images: &PackedImages) -> Vec<f32> {
        self.with_features(images, |features| features)
    }

    /// What `finish` makes of the features of a few images at a time, in the order of the images.
    pub(super) fn with_features(
        &self,
        images: &PackedImages,
        finish: impl Fn(Vec<f32>) -> Vec<f32> + Sync,
    ) -> Vec<f32> {
        let set = InstructionSet::active();
        let stem = &self.layers.stem;
        // As many blocks as every thread still has several times.
        let most = images.shape.blocks(set) / (2 * rayon::current_num_threads());
        let chunk = (TOGETHER / self.last.block_len(set)).clamp(1, most.clamp(1, BLOCKS)) * set.lanes();
        let (light, heavy) = self.layers.blocks.split_at(self.light);
        assert_eq!(
            images.shape,
            stem.conv.with_batch(images.len()).input(),
            "images of the size it was made for"
        );
        let finished: Vec<Vec<f32>> = images
            .data
            .par_chunks(chunk * images.shape.image_len())
            .with_max_len(1)
            .enumerate()
            .map(|(i, data)| {
                let batch = (images.len() - i * chunk).min(chunk);
                // Taken, not borrowed: the thread may steal another piece of this loop while it waits inside.
                let mut work = WORK.take();
                let mut middle = std::mem::take(&mut work.joined);
                let len = self.middle.block_len(set);
                middle.resize(batch.div_ceil(set.lanes()) * len);
                let blocks = data.chunks(images.shape.block_len(set)).zip(middle.chunks_exact_mut(len));
                for (block, (data, middle)) in blocks.enumerate() {
                    let batch = (batch - block * set.lanes()).min(set.lanes());
                    stem.run(batch, data, None, true, &mut work.x);
                    for block in light {
                        block.run(batch, &mut work);
                    }
                    middle.copy_from_slice(&work.x);
                }
                work.joined = std::mem::replace(&mut work.x, middle);
                for block in heavy {
                    block.run(batch, &mut work);
                }
                let last = BatchShape { batch, ..self.last };
                let pooled = pool::pooled(&last);
                let mut averages = vec![0.0; pooled.blocked_len(set)];
                pool::average_pool(set, &last, &work.x, &mut averages);
                WORK.set(work);
                let mut features = vec![0.0; batch * pooled.image_len()];
                layout::from_blocked(set, &pooled, &averages, &mut features);
                finish(features)
            })
            .collect();
        finished.concat()
    }
}

impl Frozen<SlimResNet> for FoldedBackbone {
    /// Features in evaluation mode and without gradients: the statistics of BatchNorm are frozen too, and the features of an image stay
    /// as they are.
    fn forward(&self, network: &SlimResNet, x: Tensor<2>) -> Tensor<2> {
        let (device, [batch, _], [features, _]) = (x.device(), x.dims(), network.head.weight.dims());
        let images: Vec<f32> = x.into_data().try_to_vec().expect("images are f32");
        let input = self.layers.stem.conv.input();
        let (channels, height, width) = (input.channels, input.height, input.width);
        let images = PackedImages::pack(&images, InputShape { channels, height, width });
        let values = self.features(&images);
        network.head.forward(Tensor::from_data(TensorData::new(values, [batch, features]), &device))
    }
}
