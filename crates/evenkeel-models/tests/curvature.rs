//! The curvature of a network under a gain.

use burn::module::Param;
use burn::tensor::{Device, Int, Tensor, TensorData};
use evenkeel::curvature::{PowerIteration, dominant_eigenvalue};
use evenkeel::gain::{Gain, GainConfig};
use evenkeel::nn::{Modulated, cross_entropy};
use evenkeel_models::Mlp;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const SAMPLES: usize = 8;
const INPUTS: usize = 4;
const CLASSES: usize = 3;

#[test]
fn a_relu_network_under_a_gain_obeys_corollary_1() {
    let device = Device::flex().autodiff();
    let sizes = [INPUTS, 16, 16, CLASSES];
    let plain = Mlp::new(&sizes, 0.5, 0.5, &mut ChaCha8Rng::seed_from_u64(3), &device);
    let g = 1.4;
    let gain = Gain::new(GainConfig::new().check().unwrap());
    gain.set(g);
    let mut worked_in = plain.clone();
    for layer in worked_in.hidden.iter_mut().chain([&mut worked_in.output]) {
        layer.weight = Param::from_data(layer.weight.val().mul_scalar(g).into_data(), &device);
    }
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let x: Vec<f32> = (0..SAMPLES * INPUTS).map(|_| rng.random_range(-1.5_f32..1.5)).collect();
    let y: Vec<i64> = (0..SAMPLES).map(|i| (i % CLASSES) as i64).collect();
    let x = Tensor::<2>::from_data(TensorData::new(x, [SAMPLES, INPUTS]), &device);
    let y = Tensor::<1, Int>::from_data(TensorData::new(y, [SAMPLES]), &device);
    let loss = |model: &Mlp| cross_entropy(model.forward(x.clone()), y.clone());
    let power = PowerIteration::new().with_steps(60);
    let in_base = dominant_eigenvalue(&plain.with_gain(&gain), loss, &power).unwrap();
    // Here the effective weights are the parameters of a model of its own.
    let in_effective = dominant_eigenvalue(&worked_in, loss, &power).unwrap();
    assert!(
        (in_base.value / in_effective.value / (g * g) - 1.0).abs() < 1e-3,
        "{in_base:?}, {in_effective:?}"
    );
}
