//! Slim ResNet-18, the paper's network for colour images.
//!
//! | file | what |
//! |---|---|
//! | `backbone` | the structure: which layers there are, and what flows into which |
//! | `conv_norm` | the layer: a convolution with its BatchNorm |
//! | `folded` | the backbone with BatchNorm folded into its weights, for evaluation and for a frozen backbone |
//! | `evaluator` | logits of test images while training goes on |

mod backbone;
mod conv_norm;
mod evaluator;
mod folded;

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use evenkeel::gain::Gain;
use evenkeel::nn::Modulated;
use evenkeel::optim::LayerInputs;
use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::architecture::{Architecture, BACKBONE, Frozen, HEAD, InputShape, NetworkSize};
use crate::ops::{Blocked, average_pool, residual_block};
use crate::state_dict::StateDict;
use crate::{ByAutodiff, GainLinear};

pub use backbone::{Backbone, ConvPlan, ResidualBlock};
pub use conv_norm::ConvNorm;
pub use evaluator::{ResNetEvaluator, ResNetSnapshot};
pub use folded::{FoldedBackbone, PackedImages};

/// Side of the pooling window in front of the head.
const POOL: usize = 4;

/// Channels of the first stage.
const CHANNELS: usize = 20;

/// Standard deviation of the head's initial weights.
const HEAD_STD: f64 = 0.05;

/// Three halvings, rounded up, must leave a window of 4×4.
const SMALLEST_IMAGE: usize = 25;

/// Keys of a [`SlimResNet`] in an experiment file: there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SlimResNetConfig {}

/// ResNet-18 with 20 base channels, its head without bias and under a gain if one is given.
///
/// Parameters of the convolutional part have paths that begin with `backbone.`, those of the head with `head.`.
#[derive(Module, Debug)]
pub struct SlimResNet {
    /// The convolutional part.
    pub backbone: Backbone<ConvNorm>,
    /// The linear head: the only modulated layer.
    pub head: GainLinear,
}

impl ResidualBlock<ConvNorm> {
    fn train_blocked(&self, x: Blocked) -> Blocked {
        let shortcut = self.shortcut.as_ref().map(|shortcut| shortcut.parameters(false));
        let (y, moments) =
            residual_block(x, self.first.parameters(true), self.second.parameters(true), shortcut);
        self.layers().zip(&moments).for_each(|(layer, moments)| layer.update_running(moments));
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
    /// A network with `channels` in its first stage; the paper's has 20.
    pub fn new<R: Rng>(
        shape: InputShape,
        channels: usize,
        outputs: usize,
        rng: &mut R,
        device: &Device,
    ) -> Self {
        let plan = Backbone::plan(shape.channels, channels);
        let backbone = plan.map_layers(|plan| ConvNorm::new(*plan, rng, device));
        let head = GainLinear::new(features(shape, channels), outputs, HEAD_STD, rng, device);
        Self { backbone, head }
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
        self.head.forward(pooled(x))
    }
}

/// What comes into the head: means over windows.
fn pooled(x: Tensor<4>) -> Tensor<2> {
    let [batch, channels, height, width] = x.dims();
    let (rows, columns) = (height / POOL, width / POOL);
    // Windows as dimensions of their own; what does not fill one is dropped.
    let windows = x
        .slice([0..batch, 0..channels, 0..rows * POOL, 0..columns * POOL])
        .reshape([batch * channels * rows, POOL, columns, POOL])
        .mean_dim(3)
        .mean_dim(1);
    windows.reshape([batch, channels * rows * columns])
}

/// Features in front of the head: 160 at 32×32, 640 at 84×84.
fn features(shape: InputShape, channels: usize) -> usize {
    // What flows through the network: channels, and the side of the maps.
    let (_, (channels, side)) = Backbone::plan(shape.channels, channels)
        .follow((shape.channels, shape.height), |plan, (_, side)| {
            ((), (plan.outputs, side.div_ceil(plan.stride)))
        });
    channels * (side / POOL) * (side / POOL)
}

impl Modulated for SlimResNet {
    /// Puts the head under `gain`.
    fn with_gain(mut self, gain: &Gain) -> Self {
        self.head = self.head.with_gain(gain);
        self
    }

    fn backbone() -> Option<&'static str> {
        Some(BACKBONE)
    }
}

impl Architecture for SlimResNet {
    const SHOWN: &'static str = "slim ResNet-18";
    const SUMMARY: &'static str =
        "ResNet-18 with 20 base channels, its head under the gain; square images of at least 25×25";

    type Config = SlimResNetConfig;
    type Evaluator = ResNetEvaluator;
    type Trainer = ByAutodiff;

    fn check(_: &SlimResNetConfig) -> Result<(), (&'static str, String)> {
        Ok(())
    }

    fn accepts(_: &SlimResNetConfig, shape: InputShape) -> Result<(), String> {
        let InputShape { height, width, .. } = shape;
        if height != width || height < SMALLEST_IMAGE {
            return Err(format!(
                "slim-resnet18 needs square images of at least 25×25 pixels, these have {height}×{width}"
            ));
        }
        Ok(())
    }

    fn size(_: &SlimResNetConfig, shape: InputShape, outputs: usize) -> NetworkSize {
        let (mut weights, mut kept) = (0, 0);
        let start = (shape.channels, shape.height);
        Backbone::plan(shape.channels, CHANNELS).follow(start, |plan, (_, side)| {
            let side = side.div_ceil(plan.stride);
            weights += plan.kernel * plan.kernel * plan.inputs * plan.outputs;
            kept += plan.outputs * side * side;
            ((), (plan.outputs, side))
        });
        weights += features(shape, CHANNELS) * outputs;
        NetworkSize { weights: weights as f64, kept_per_image: kept as f64 }
    }

    fn init<R: Rng>(
        _: &SlimResNetConfig,
        shape: InputShape,
        outputs: usize,
        rng: &mut R,
        device: &Device,
    ) -> Self {
        Self::new(shape, CHANNELS, outputs, rng, device)
    }

    fn forward(&self, x: Tensor<2>, shape: InputShape) -> Tensor<2> {
        SlimResNet::forward(self, shape.unflatten(x))
    }

    fn forward_still(&self, x: Tensor<2>, shape: InputShape) -> Tensor<2> {
        self.forward_on_burn(shape.unflatten(x), false)
    }

    fn tells_layer_inputs() -> bool {
        true
    }

    fn layer_inputs(&self, x: Tensor<2>, shape: InputShape) -> Option<Vec<LayerInputs>> {
        let Backbone { stem, blocks } = &self.backbone;
        let x = shape.unflatten(x);
        let mut told = vec![stem.inputs(&x)];
        let mut x = stem.forward(x, None, true, false);
        for block in blocks {
            told.extend([&block.first].into_iter().chain(&block.shortcut).map(|layer| layer.inputs(&x)));
            told.push(block.second.inputs(&block.first.forward(x.clone(), None, true, false)));
            x = block.forward(x, false);
        }
        told.push(LayerInputs::of_linear(self.head.weight.id, pooled(x)));
        Some(told)
    }

    fn gain(&self) -> f64 {
        self.head.gain()
    }

    fn modulated(&self) -> String {
        HEAD.to_string()
    }

    fn freeze_backbone(&self, shape: InputShape) -> Option<Box<dyn Frozen<Self>>> {
        Some(Box::new(FoldedBackbone::new(&self.backbone, shape)))
    }

    fn state_dict(&self) -> StateDict {
        let mut tensors = StateDict::new();
        for (path, layer) in self.backbone.paths().zip(self.backbone.layers()) {
            let name = |part: &str| format!("backbone.{path}.{part}");
            tensors.float(name("conv.weight"), layer.weight.val());
            tensors.float(name("bn.weight"), layer.gamma.val());
            tensors.float(name("bn.bias"), layer.beta.val());
            tensors.float(name("bn.running_mean"), layer.running_mean.value());
            tensors.float(name("bn.running_var"), layer.running_var.value());
            // PyTorch's `load_state_dict` asks for it; with a fixed momentum it changes nothing.
            tensors.integer(name("bn.num_batches_tracked"), 0);
        }
        tensors.gain_linear("head", &self.head);
        tensors
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::TensorData;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::architecture::Evaluator;
    use crate::state_dict::Values;

    const SHAPE: InputShape = InputShape { channels: 3, height: 32, width: 32 };

    fn images(rng: &mut ChaCha8Rng, n: usize, device: &Device) -> Tensor<2> {
        let values: Vec<f32> = (0..n * SHAPE.len()).map(|_| rng.random_range(-1.0..1.0)).collect();
        Tensor::from_data(TensorData::new(values, [n, SHAPE.len()]), device)
    }

    /// A network with few channels whose running statistics are not what they begin with.
    fn model(channels: usize, device: &Device) -> SlimResNet {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let model = SlimResNet::new(SHAPE, channels, 10, &mut rng, device);
        drop(model.forward_on_burn(SHAPE.unflatten(images(&mut rng, 4, device)), true));
        model
    }

    #[test]
    fn the_head_sees_160_features_at_32_and_640_at_84() {
        assert_eq!(features(SHAPE, CHANNELS), 160);
        assert_eq!(features(InputShape { height: 84, width: 84, ..SHAPE }, CHANNELS), 640);
    }

    #[test]
    fn a_resnet_has_the_names_of_a_state_dict() {
        let tensors = model(CHANNELS, &Device::flex()).state_dict();
        // Stem, eight blocks of two, three shortcuts: six tensors each; and the head.
        assert_eq!(tensors.tensors.len(), (1 + 16 + 3) * 6 + 1);
        assert_eq!(tensors.get("backbone.blocks.2.shortcut.conv.weight").unwrap().shape, [40, 20, 1, 1]);
        assert_eq!(tensors.get("head.weight").unwrap().shape, [10, 160]);
        let mean = &tensors.get("backbone.stem.bn.running_mean").unwrap().values;
        assert!(matches!(mean, Values::F32(mean) if mean.iter().any(|v| *v != 0.0)));
    }

    #[test]
    fn frozen_it_gives_what_the_evaluation_gives_and_only_the_head_learns() {
        let device = Device::flex().autodiff();
        let model = model(4, &device);
        let x = images(&mut ChaCha8Rng::seed_from_u64(5), 5, &device);
        let frozen = model.freeze_backbone(SHAPE).expect("it has a backbone");
        let logits = frozen.forward(&model, x.clone());
        let values: Vec<f32> = x.into_data().try_to_vec().unwrap();
        let evaluated = ResNetEvaluator
            .logits(ResNetEvaluator::snapshot(&model, SHAPE), &ResNetEvaluator::pack(&values, SHAPE, 0.0));
        let ours: Vec<f32> = logits.clone().into_data().try_to_vec().unwrap();
        for (a, b) in ours.iter().zip(&evaluated) {
            assert!((a - b).abs() < 1e-5, "{a} against {b}");
        }
        let gradients = logits.square().sum().backward();
        assert!(model.head.weight.val().grad(&gradients).is_some());
        assert!(model.backbone.layers().all(|layer| layer.weight.val().grad(&gradients).is_none()));
    }
}
