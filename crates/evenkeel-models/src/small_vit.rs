//! A small vision transformer.

use burn::module::{Module, Param};
use burn::nn::{LayerNorm, LayerNormConfig, Linear};
use burn::tensor::activation::{gelu, softmax};
use burn::tensor::{Device, Tensor, TensorData};
use evenkeel::gain::Gain;
use evenkeel::nn::Modulated;
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Normal};
use serde::{Deserialize, Serialize};

use crate::architecture::{Architecture, BACKBONE, Frozen, HEAD, InputShape, NetworkSize};
use crate::state_dict::StateDict;
use crate::{ByAutodiff, ForwardPass, GainLinear};

/// Standard deviation of the initial positions.
const POSITION_STD: f64 = 0.02;

/// Standard deviation of the head's initial weights.
const HEAD_STD: f64 = 0.05;

/// Units between the two layers of a block's perceptron, per unit of the width.
const EXPANSION: usize = 2;

/// Attention looks at all pairs of patches: time and memory grow with the square of their number.
const MOST_PATCHES: usize = 1024;

/// Keys of a [`SmallVit`] in an experiment file.
///
/// | key | default | range | purpose |
/// |---|---|---|---|
/// | `patch` | 4 | 1 to 64, divides the sides of the images | side of the squares that an image is cut into |
/// | `width` | 128 | 1 to 4096, a multiple of `heads` | numbers per patch inside the network |
/// | `depth` | 4 | 1 to 64 | blocks of attention and perceptron |
/// | `heads` | 4 | 1 to 64 | attentions side by side in a block |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SmallVitConfig {
    /// Side of the patches in pixels.
    pub patch: usize,
    /// Numbers per patch inside the network.
    pub width: usize,
    /// Blocks of attention and perceptron.
    pub depth: usize,
    /// Attention heads per block.
    pub heads: usize,
}

impl Default for SmallVitConfig {
    fn default() -> Self {
        Self { patch: 4, width: 128, depth: 4, heads: 4 }
    }
}

/// A transformer on the patches of an image: linear embedding, learned positions, pre-norm blocks, mean over the patches, and a head
/// without bias and under a gain if one is given.
///
/// Its blocks compute what PyTorch's `TransformerEncoderLayer(width, heads, 2 * width, dropout=0, activation="gelu", batch_first=True,
/// norm_first=True)` computes. There is no dropout: training and evaluation are the same function.
///
/// Parameters in front of the head have paths that begin with `backbone.`, those of the head with `head.`.
///
/// Reference: Dosovitskiy et al., *An image is worth 16×16 words* (2021).
#[derive(Module, Debug)]
pub struct SmallVit {
    /// Everything in front of the head.
    pub backbone: VitBackbone,
    /// The linear head: the only modulated layer.
    pub head: GainLinear,
}

/// Images to features.
#[derive(Module, Debug)]
pub struct VitBackbone {
    /// Pixels of a patch to its numbers.
    pub embedding: Linear,
    /// What is added to the numbers of each patch, `[patches, width]`.
    pub positions: Param<Tensor<2>>,
    /// Attention and perceptron, in turns.
    pub blocks: Vec<VitBlock>,
    /// Normalisation after the last block.
    pub norm: LayerNorm,
    patch: usize,
}

/// `x + attention(norm(x))`, then `x + perceptron(norm(x))`.
#[derive(Module, Debug)]
pub struct VitBlock {
    /// In front of the attention.
    pub attention_norm: LayerNorm,
    /// Queries, keys and values beside each other, each of all heads.
    pub queries_keys_values: Linear,
    /// From what the heads have attended to, back to the width.
    pub projection: Linear,
    /// In front of the perceptron.
    pub perceptron_norm: LayerNorm,
    /// First layer of the perceptron.
    pub expansion: Linear,
    /// Second layer of the perceptron.
    pub contraction: Linear,
    heads: usize,
}

/// PyTorch's range for the weights, U(−1/√inputs, 1/√inputs); the biases are zero.
fn linear<R: Rng>(inputs: usize, outputs: usize, rng: &mut R, device: &Device) -> Linear {
    let bound = 1.0 / (inputs as f32).sqrt();
    let weights: Vec<f32> = (0..inputs * outputs).map(|_| rng.random_range(-bound..bound)).collect();
    Linear {
        weight: Param::from_data(TensorData::new(weights, [inputs, outputs]), device),
        bias: Some(Param::from_data(TensorData::new(vec![0.0_f32; outputs], [outputs]), device)),
    }
}

impl VitBlock {
    fn new<R: Rng>(config: &SmallVitConfig, rng: &mut R, device: &Device) -> Self {
        let (width, norm) = (config.width, LayerNormConfig::new(config.width));
        Self {
            attention_norm: norm.init(device),
            queries_keys_values: linear(width, 3 * width, rng, device),
            projection: linear(width, width, rng, device),
            perceptron_norm: norm.init(device),
            expansion: linear(width, EXPANSION * width, rng, device),
            contraction: linear(EXPANSION * width, width, rng, device),
            heads: config.heads,
        }
    }

    /// Rows of all patches, `[batch · patches, width]`, to the same.
    fn forward(&self, x: Tensor<2>, batch: usize) -> Tensor<2> {
        let attended = self.attend(self.attention_norm.forward(x.clone()), batch);
        let x = x + self.projection.forward(attended);
        let expanded = self.expansion.forward(self.perceptron_norm.forward(x.clone()));
        x + self.contraction.forward(gelu(expanded))
    }

    /// `softmax(q kᵀ / √d) v` of every head.
    fn attend(&self, x: Tensor<2>, batch: usize) -> Tensor<2> {
        let ([rows, width], heads) = (x.dims(), self.heads);
        let (patches, size) = (rows / batch, width / heads);
        let [q, k, v] = self
            .queries_keys_values
            .forward(x)
            .reshape([batch, patches, 3, heads, size])
            .permute([2, 0, 3, 1, 4])
            .chunk(3, 0)
            .try_into()
            .expect("three of them");
        let [q, k, v] = [q, k, v].map(|part: Tensor<5>| part.reshape([batch, heads, patches, size]));
        let scores = q.matmul(k.swap_dims(2, 3)).div_scalar((size as f64).sqrt());
        softmax(scores, 3).matmul(v).swap_dims(1, 2).reshape([rows, width])
    }
}

impl VitBackbone {
    fn new<R: Rng>(config: &SmallVitConfig, shape: InputShape, rng: &mut R, device: &Device) -> Self {
        let SmallVitConfig { patch, width, depth, .. } = *config;
        let patches = patches(shape, patch);
        let normal = Normal::new(0.0, POSITION_STD).expect("a standard deviation");
        let embedding = linear(shape.channels * patch * patch, width, rng, device);
        let positions: Vec<f32> = (0..patches * width).map(|_| normal.sample(rng) as f32).collect();
        Self {
            embedding,
            positions: Param::from_data(TensorData::new(positions, [patches, width]), device),
            blocks: (0..depth).map(|_| VitBlock::new(config, rng, device)).collect(),
            norm: LayerNormConfig::new(width).init(device),
            patch,
        }
    }

    /// Flattened images `[batch, pixels]` to features `[batch, width]`.
    fn forward(&self, x: Tensor<2>, shape: InputShape) -> Tensor<2> {
        let ([batch, _], [patches, width]) = (x.dims(), self.positions.dims());
        let InputShape { channels, height, width: columns } = shape;
        let side = self.patch;
        // A row per patch: channels, rows and columns of its pixels, as `torch.nn.Unfold` has them.
        let rows = x
            .reshape([batch, channels, height / side, side, columns / side, side])
            .permute([0, 2, 4, 1, 3, 5])
            .reshape([batch * patches, channels * side * side]);
        let embedded = self.embedding.forward(rows).reshape([batch, patches, width]);
        let x = (embedded + self.positions.val().unsqueeze::<3>()).reshape([batch * patches, width]);
        let x = self.blocks.iter().fold(x, |x, block| block.forward(x, batch));
        self.norm.forward(x).reshape([batch, patches, width]).mean_dim(1).reshape([batch, width])
    }
}

fn patches(shape: InputShape, patch: usize) -> usize {
    (shape.height / patch) * (shape.width / patch)
}

impl Modulated for SmallVit {
    /// Puts the head under `gain`.
    fn with_gain(mut self, gain: &Gain) -> Self {
        self.head = self.head.with_gain(gain);
        self
    }

    fn backbone() -> Option<&'static str> {
        Some(BACKBONE)
    }
}

impl Architecture for SmallVit {
    const SHOWN: &'static str = "small ViT";
    const SUMMARY: &'static str =
        "vision transformer of 4 blocks on patches of 4×4 pixels, its head under the gain";

    type Config = SmallVitConfig;
    type Evaluator = ForwardPass;
    type Trainer = ByAutodiff;

    fn check(config: &SmallVitConfig) -> Result<(), (&'static str, String)> {
        let SmallVitConfig { patch, width, depth, heads } = *config;
        for (key, value, most) in
            [("patch", patch, 64), ("width", width, 4096), ("depth", depth, 64), ("heads", heads, 64)]
        {
            if !(1..=most).contains(&value) {
                return Err((key, format!("must be in 1..={most}, got {value}")));
            }
        }
        if !width.is_multiple_of(heads) {
            return Err(("width", format!("must be a multiple of heads = {heads}, got {width}")));
        }
        Ok(())
    }

    fn accepts(config: &SmallVitConfig, shape: InputShape) -> Result<(), String> {
        let (patch, InputShape { height, width, .. }) = (config.patch, shape);
        let fits = |side: usize| side > 0 && side.is_multiple_of(patch);
        if !fits(height) || !fits(width) {
            return Err(format!(
                "small-vit with patches of {patch}×{patch} pixels needs images whose sides are multiples of {patch}, these have {height}×{width}"
            ));
        }
        let patches = patches(shape, patch);
        if patches > MOST_PATCHES {
            return Err(format!(
                "small-vit takes at most {MOST_PATCHES} patches per image, these have {patches}"
            ));
        }
        Ok(())
    }

    fn size(config: &SmallVitConfig, shape: InputShape, outputs: usize) -> NetworkSize {
        let number = |n: usize| n as f64;
        let (width, depth) = (number(config.width), number(config.depth));
        let patch = number(shape.channels * config.patch * config.patch);
        let patches = number(shape.height * shape.width) / number(config.patch * config.patch);
        // Queries, keys, values and their projection, then two layers of which one is wider.
        let block = (4.0 + 2.0 * number(EXPANSION)) * width * width;
        let attention = number(config.heads) * patches * patches;
        NetworkSize {
            weights: (patch + patches) * width + depth * block + width * number(outputs),
            kept_per_image: depth * (attention + (5.0 + number(EXPANSION)) * patches * width),
        }
    }

    fn init<R: Rng>(
        config: &SmallVitConfig,
        shape: InputShape,
        outputs: usize,
        rng: &mut R,
        device: &Device,
    ) -> Self {
        let backbone = VitBackbone::new(config, shape, rng, device);
        Self { backbone, head: GainLinear::new(config.width, outputs, HEAD_STD, rng, device) }
    }

    fn forward(&self, x: Tensor<2>, shape: InputShape) -> Tensor<2> {
        self.head.forward(self.backbone.forward(x, shape))
    }

    fn forward_still(&self, x: Tensor<2>, shape: InputShape) -> Tensor<2> {
        self.forward(x, shape)
    }

    fn gain(&self) -> f64 {
        self.head.gain()
    }

    fn modulated(&self) -> String {
        HEAD.to_string()
    }

    fn freeze_backbone(&self, shape: InputShape) -> Option<Box<dyn Frozen<Self>>> {
        Some(Box::new(FrozenVit { backbone: self.backbone.valid(), shape }))
    }

    /// The blocks have the names of a `torch.nn.TransformerEncoder` called `backbone.encoder`.
    fn state_dict(&self) -> StateDict {
        let mut tensors = StateDict::new();
        let weight_and_bias = |name: String| [format!("{name}.weight"), format!("{name}.bias")];
        tensors.linear(weight_and_bias("backbone.embedding".into()), &self.backbone.embedding);
        tensors.float("backbone.positions", self.backbone.positions.val());
        for (i, block) in self.backbone.blocks.iter().enumerate() {
            let name = |part: &str| format!("backbone.encoder.layers.{i}.{part}");
            let inputs = ["self_attn.in_proj_weight", "self_attn.in_proj_bias"].map(name);
            tensors.linear(inputs, &block.queries_keys_values);
            tensors.linear(weight_and_bias(name("self_attn.out_proj")), &block.projection);
            tensors.linear(weight_and_bias(name("linear1")), &block.expansion);
            tensors.linear(weight_and_bias(name("linear2")), &block.contraction);
            tensors.layer_norm(&name("norm1"), &block.attention_norm);
            tensors.layer_norm(&name("norm2"), &block.perceptron_norm);
        }
        tensors.layer_norm("backbone.encoder.norm", &self.backbone.norm);
        tensors.gain_linear("head", &self.head);
        tensors
    }
}

/// The backbone as it was, without gradients.
struct FrozenVit {
    backbone: VitBackbone,
    shape: InputShape,
}

impl Frozen<SmallVit> for FrozenVit {
    fn forward(&self, network: &SmallVit, x: Tensor<2>) -> Tensor<2> {
        let features = self.backbone.forward(x.without_autodiff(), self.shape);
        // Beside a head that learns, features without autodiff are constants.
        network.head.forward(features)
    }
}

#[cfg(test)]
mod tests {
    use burn::optim::GradientsParams;
    use burn::tensor::Int;
    use evenkeel::curvature::in_f64;
    use evenkeel::gain::GainConfig;
    use evenkeel::nn::cross_entropy;
    use evenkeel::optim::AdamConfig;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::architecture::Evaluator;

    const GREY: InputShape = InputShape { channels: 1, height: 28, width: 28 };
    const COLOUR: InputShape = InputShape { channels: 3, height: 32, width: 32 };
    const CLASSES: usize = 3;

    /// Bars on black, whose slope is the class, with noise.
    fn bars(
        rng: &mut ChaCha8Rng,
        n: usize,
        shape: InputShape,
        device: &Device,
    ) -> (Tensor<2>, Tensor<1, Int>) {
        let (mut pixels, mut labels) = (Vec::with_capacity(n * shape.len()), Vec::with_capacity(n));
        for _ in 0..n {
            let class = rng.random_range(0..CLASSES);
            let (slope, offset) = (class as f32 - 1.0, rng.random_range(-3.0..3.0_f32));
            labels.push(class as i64);
            for i in 0..shape.len() {
                let (row, column) = (i % (shape.height * shape.width) / shape.width, i % shape.width);
                let (y, x) =
                    (row as f32 - shape.height as f32 / 2.0, column as f32 - shape.width as f32 / 2.0);
                let on_the_bar = (y - slope * x - offset).abs() < 2.0;
                pixels.push(f32::from(u8::from(on_the_bar)) + rng.random_range(-0.1..0.1));
            }
        }
        (
            Tensor::from_data(TensorData::new(pixels, [n, shape.len()]), device),
            Tensor::from_data(TensorData::new(labels, [n]), device),
        )
    }

    fn small() -> SmallVitConfig {
        SmallVitConfig { width: 32, depth: 2, heads: 2, ..SmallVitConfig::default() }
    }

    fn model(config: &SmallVitConfig, shape: InputShape, device: &Device) -> SmallVit {
        SmallVit::init(config, shape, CLASSES, &mut ChaCha8Rng::seed_from_u64(7), device)
    }

    fn values(tensor: Tensor<2>) -> Vec<f32> {
        tensor.into_data().try_to_vec().unwrap()
    }

    #[test]
    fn it_learns_bars_in_thirty_steps() {
        for shape in [GREY, COLOUR] {
            let device = Device::flex().autodiff();
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let mut model = model(&small(), shape, &device);
            let mut adam = AdamConfig::new(0.003).init().unwrap();
            let mut losses = Vec::new();
            for _ in 0..30 {
                let (x, y) = bars(&mut rng, 32, shape, &device);
                let loss = cross_entropy(model.forward(x, shape), y);
                losses.push(loss.clone().into_scalar::<f32>());
                model = adam.step(0.003, model.clone(), GradientsParams::from_grads(loss.backward(), &model));
            }
            let mean = |losses: &[f32]| losses.iter().sum::<f32>() / losses.len() as f32;
            assert!(mean(&losses[25..]) < 0.5 * mean(&losses[..5]), "{shape:?}: {losses:?}");
        }
    }

    #[test]
    fn evaluation_is_the_forward_pass_under_the_gain_of_the_snapshot() {
        for shape in [GREY, COLOUR] {
            let device = Device::flex().autodiff();
            let gain = Gain::new(GainConfig::new().check().unwrap());
            gain.set(1.6);
            let model = model(&small(), shape, &device).with_gain(&gain);
            // More images than go through the network together.
            let (x, _) = bars(&mut ChaCha8Rng::seed_from_u64(2), 300, shape, &device);
            let expected = values(model.forward(x.clone(), shape));
            let images = <ForwardPass as Evaluator<SmallVit>>::pack(&values(x.clone()), shape, 0.0);
            let snapshot = ForwardPass::snapshot(&model, shape);
            gain.set(3.0);
            let ours = ForwardPass.logits(snapshot, &images);
            let largest = expected.iter().fold(0.0_f32, |m, v| m.max(v.abs()));
            for (a, b) in ours.iter().zip(&expected) {
                assert!((a - b).abs() <= 1e-5 * largest, "{a} against {b}");
            }
            assert_eq!(ours.len(), expected.len());
            // And in f64, as a curvature needs it.
            let wide = in_f64(&model);
            let x = x.cast(burn::tensor::DType::F64);
            let wide: Vec<f64> = wide.forward_still(x, shape).into_data().try_to_vec().unwrap();
            for (a, b) in wide.iter().zip(&expected) {
                assert!(
                    (a / 3.0 * 1.6 - f64::from(*b)).abs() <= 1e-5 * f64::from(largest),
                    "{a} against {b}"
                );
            }
        }
    }

    #[test]
    fn frozen_it_gives_the_same_logits_and_only_the_head_learns() {
        let device = Device::flex().autodiff();
        let model = model(&small(), GREY, &device);
        let (x, _) = bars(&mut ChaCha8Rng::seed_from_u64(3), 4, GREY, &device);
        let logits = model.freeze_backbone(GREY).expect("it has a backbone").forward(&model, x.clone());
        for (a, b) in values(logits.clone()).iter().zip(values(model.forward(x, GREY))) {
            assert!((a - b).abs() < 1e-6, "{a} against {b}");
        }
        let gradients = logits.square().sum().backward();
        assert!(model.head.weight.val().grad(&gradients).is_some());
        assert!(model.backbone.embedding.weight.val().grad(&gradients).is_none());
    }

    #[test]
    fn the_defaults_fit_the_benchmarks_and_bad_keys_are_named() {
        let config = SmallVitConfig::default();
        assert_eq!(SmallVit::check(&config), Ok(()));
        let square = |side| InputShape { channels: 3, height: side, width: side };
        for side in [28, 32, 84] {
            assert_eq!(SmallVit::accepts(&config, square(side)), Ok(()));
        }
        let reason = SmallVit::accepts(&config, square(30)).unwrap_err();
        assert!(reason.ends_with("multiples of 4, these have 30×30"), "{reason}");
        assert!(SmallVit::accepts(&SmallVitConfig { patch: 1, ..config }, square(84)).is_err());
        for (key, bad) in [
            ("patch", SmallVitConfig { patch: 0, ..config }),
            ("width", SmallVitConfig { width: 130, ..config }),
            ("depth", SmallVitConfig { depth: 65, ..config }),
            ("heads", SmallVitConfig { heads: 0, ..config }),
        ] {
            assert_eq!(SmallVit::check(&bad).unwrap_err().0, key);
        }
    }

    #[test]
    fn its_blocks_have_the_names_and_shapes_of_a_transformer_encoder() {
        let tensors = model(&SmallVitConfig::default(), COLOUR, &Device::flex()).state_dict();
        assert_eq!(tensors.tensors.len(), 3 + 4 * 12 + 2 + 1);
        for (name, shape) in [
            ("backbone.embedding.weight", vec![128, 48]),
            ("backbone.positions", vec![64, 128]),
            ("backbone.encoder.layers.3.self_attn.in_proj_weight", vec![384, 128]),
            ("backbone.encoder.layers.0.linear1.weight", vec![256, 128]),
            ("backbone.encoder.norm.bias", vec![128]),
            ("head.weight", vec![3, 128]),
        ] {
            assert_eq!(tensors.get(name).unwrap().shape, shape, "{name}");
        }
    }
}
