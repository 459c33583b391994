//! Networks and images that a script and a test make alike (`fixtures/formula.py`).

use burn::module::Param;
use burn::tensor::{Device, TensorData};
use evenkeel_models::{ConvNorm, GainLinear, InputShape, SlimResNet};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The formula of the script.
pub(crate) fn formula(n: usize, seed: usize, scale: f64) -> Vec<f32> {
    let mix = |mut h: u32| {
        h = (h ^ (h >> 16)).wrapping_mul(0x45D_9F3B);
        h = (h ^ (h >> 16)).wrapping_mul(0x45D_9F3B);
        f64::from(h ^ (h >> 16)) / 2_f64.powi(31) - 1.0
    };
    (0..n).map(|i| (scale * mix((i * 1009 + seed * 7919 + 1) as u32)) as f32).collect()
}

fn fill(layer: &ConvNorm, seed: usize, device: &Device) -> ConvNorm {
    let mut layer = layer.clone();
    let shape = layer.weight.dims();
    let (len, fan) = (shape.iter().product(), shape[1] * shape[2] * shape[3]);
    let channels = shape[0];
    let plus_one = formula(channels, seed + 100, 0.2).iter().map(|v| 1.0 + v).collect::<Vec<f32>>();
    let weight = TensorData::new(formula(len, seed, 1.5 / (fan as f64).sqrt()), shape);
    let beta = TensorData::new(formula(channels, seed + 200, 0.1), [channels]);
    layer.weight = Param::from_data(weight, device);
    layer.gamma = Param::from_data(TensorData::new(plus_one, [channels]), device);
    layer.beta = Param::from_data(beta, device);
    layer
}

/// For images of 32×32 in three colours, with ten outputs.
pub(crate) fn formula_model(channels: usize, device: &Device) -> SlimResNet {
    let shape = InputShape { channels: 3, height: 32, width: 32 };
    let model = SlimResNet::new(shape, channels, 10, &mut ChaCha8Rng::seed_from_u64(0), device);
    let mut seeds = 0..;
    let backbone =
        model.backbone.map_layers(|layer| fill(layer, seeds.next().expect("there is no last one"), device));
    let head = TensorData::new(formula(80 * channels, 300, 0.1), [8 * channels, 10]);
    SlimResNet { backbone, head: GainLinear::from_weights(head, device) }
}
