//! Slim ResNet-18.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use rand::Rng;

use super::{ConvNorm, GainLinear};
use crate::gain::Gain;
use crate::ops::{Blocked, average_pool, residual_block};

/// Side of the pooling window in front of the head.
const POOL: usize = 4;

/// Configuration of a [`SlimResNet`].
///
/// | field | default | purpose |
/// |---|---|---|
/// | `inputs` | 3 | channels of the images |
/// | `channels` | 20 | of the first stage; the others have 2, 4 and 8 times as many |
/// | `size` | 32 | height and width of the images (32 or 84 in the paper) |
/// | `outputs` | 10 | classes, of all tasks from the start |
/// | `head_std` | 0.05 | standard deviation of the head's initial weights |
#[derive(Debug, Clone, PartialEq)]
pub struct SlimResNetConfig {
    /// Channels of the images.
    pub inputs: usize,
    /// Channels of the first stage.
    pub channels: usize,
    /// Height and width of the images.
    pub size: usize,
    /// Number of classes.
    pub outputs: usize,
    /// Standard deviation of the head's initial weights.
    pub head_std: f64,
}

impl SlimResNetConfig {
    /// The paper's network for 32×32 images and ten classes.
    pub fn new() -> Self {
        Self { inputs: 3, channels: 20, size: 32, outputs: 10, head_std: 0.05 }
    }

    /// Sets the channels of the images.
    #[must_use]
    pub fn with_inputs(mut self, inputs: usize) -> Self {
        self.inputs = inputs;
        self
    }

    /// Sets the channels of the first stage.
    #[must_use]
    pub fn with_channels(mut self, channels: usize) -> Self {
        self.channels = channels;
        self
    }

    /// Sets height and width of the images.
    #[must_use]
    pub fn with_size(mut self, size: usize) -> Self {
        self.size = size;
        self
    }

    /// Sets the number of classes.
    #[must_use]
    pub fn with_outputs(mut self, outputs: usize) -> Self {
        self.outputs = outputs;
        self
    }

    /// Features in front of the head: 160 at 32×32, 640 at 84×84.
    pub fn features(&self) -> usize {
        let side = self.size.div_ceil(2).div_ceil(2).div_ceil(2) / POOL;
        8 * self.channels * side * side
    }

    /// Draws the weights from `rng`: the same generator state gives the same network.
    pub fn init<R: Rng>(&self, rng: &mut R, device: &Device) -> SlimResNet {
        let stem = ConvNorm::new(self.inputs, self.channels, 3, 1, rng, device);
        let mut blocks = Vec::with_capacity(8);
        let mut inputs = self.channels;
        for stage in 0..4 {
            let outputs = self.channels << stage;
            for block in 0..2 {
                let stride = if stage > 0 && block == 0 { 2 } else { 1 };
                blocks.push(ResidualBlock::new(inputs, outputs, stride, rng, device));
                inputs = outputs;
            }
        }
        let head = GainLinear::new(self.features(), self.outputs, self.head_std, rng, device);
        SlimResNet { backbone: Backbone { stem, blocks }, head }
    }
}

impl Default for SlimResNetConfig {
    fn default() -> Self {
        Self::new()
    }
}

/// ResNet-18 with 20 base channels, its head without bias and under a gain if one is given.
///
/// Parameters of the convolutional part have paths that begin with `backbone.`, those of the head with `head.`.
#[derive(Module, Debug)]
pub struct SlimResNet {
    /// The convolutional part.
    pub backbone: Backbone,
    /// The linear head: the only modulated layer.
    pub head: GainLinear,
}

/// Stem and eight residual blocks.
#[derive(Module, Debug)]
pub struct Backbone {
    /// 3×3 convolution on the image.
    pub stem: ConvNorm,
    /// Two blocks a stage.
    pub blocks: Vec<ResidualBlock>,
}

/// Two 3×3 convolutions around a shortcut.
#[derive(Module, Debug)]
pub struct ResidualBlock {
    /// First convolution, with the block's stride.
    pub first: ConvNorm,
    /// Second convolution.
    pub second: ConvNorm,
    /// 1×1 convolution where the shape changes.
    pub shortcut: Option<ConvNorm>,
}

impl ResidualBlock {
    fn new<R: Rng>(inputs: usize, outputs: usize, stride: usize, rng: &mut R, device: &Device) -> Self {
        let changes = inputs != outputs || stride != 1;
        Self {
            first: ConvNorm::new(inputs, outputs, 3, stride, rng, device),
            second: ConvNorm::new(outputs, outputs, 3, 1, rng, device),
            shortcut: changes.then(|| ConvNorm::new(inputs, outputs, 1, stride, rng, device)),
        }
    }

    fn train_blocked(&self, x: Blocked) -> Blocked {
        let shortcut = self.shortcut.as_ref().map(|shortcut| shortcut.input(false));
        let (y, moments) = residual_block(x, self.first.input(true), self.second.input(true), shortcut);
        let layers = [&self.first, &self.second].into_iter().chain(&self.shortcut);
        layers.zip(&moments).for_each(|(layer, moments)| layer.update_running(moments));
        y
    }

    fn forward(&self, x: Tensor<4>, training: bool) -> Tensor<4> {
        let y = self.first.forward(x.clone(), None, true, training);
        let residual = match &self.shortcut {
            Some(shortcut) => shortcut.forward(x, None, false, training),
            None => x,
        };
        self.second.forward(y, Some(residual), true, training)
    }
}

impl SlimResNet {
    /// Puts the head under `gain`.
    #[must_use]
    pub fn with_gain(mut self, gain: &Gain) -> Self {
        self.head = self.head.with_gain(gain);
        self
    }

    /// Images `[batch, inputs, size, size]` to logits `[batch, outputs]`.
    ///
    /// In training mode (BatchNorm by the batch) if the model is on an autodiff device, in evaluation mode after
    /// [`valid`](Module::valid). Training on the CPU runs on the project's kernels, everything else on Burn's operations.
    pub fn forward(&self, x: Tensor<4>) -> Tensor<2> {
        let training = self.head.weight.val().is_autodiff();
        if training && x.device() == Device::flex() {
            return self.train_on_kernels(x);
        }
        self.forward_on_burn(x, training)
    }

    /// Training mode on the CPU's kernels.
    pub fn train_on_kernels(&self, x: Tensor<4>) -> Tensor<2> {
        let x = self.backbone.stem.train_blocked(Blocked::from_images(x), true);
        let x = self.backbone.blocks.iter().fold(x, |x, block| block.train_blocked(x));
        self.head.forward(average_pool(x))
    }

    /// Burn's own operations, on any device.
    pub fn forward_on_burn(&self, x: Tensor<4>, training: bool) -> Tensor<2> {
        let x = self.backbone.stem.forward(x, None, true, training);
        let x = self.backbone.blocks.iter().fold(x, |x, block| block.forward(x, training));
        let [batch, channels, height, width] = x.dims();
        let (rows, columns) = (height / POOL, width / POOL);
        // Windows as dimensions of their own; what does not fill one is dropped.
        let windows = x
            .slice([0..batch, 0..channels, 0..rows * POOL, 0..columns * POOL])
            .reshape([batch * channels * rows, POOL, columns, POOL])
            .mean_dim(3)
            .mean_dim(1);
        self.head.forward(windows.reshape([batch, channels * rows * columns]))
    }
}
