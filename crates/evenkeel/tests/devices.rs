//! The first steps on any device are those on `flex` up to rounding: NGM-SGD, Adam, and the average of the weights.
//!
//!     EVENKEEL_TEST_DEVICE=ndarray cargo test -p evenkeel --features ndarray
//!     EVENKEEL_TEST_DEVICE=wgpu cargo test -p evenkeel --features wgpu

mod device;

use burn::module::{Module, Param};
use burn::optim::GradientsParams;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Int, Tensor, TensorData};
use device::device;
use evenkeel::ema::EmaConfig;
use evenkeel::entropy::{mean_entropy, mean_entropy_tensor};
use evenkeel::nn::{cross_entropy, modulate};
use evenkeel::optim::{AdamConfig, NgmSgdConfig};

const STEPS: usize = 10;
/// Relative to the largest weight: ten steps of rounding in f32.
const TOLERANCE: f32 = 1e-4;

#[derive(Module, Debug)]
struct Perceptron {
    hidden: Param<Tensor<2>>,
    output: Param<Tensor<2>>,
}

/// Numbers between −1 and 1 without a pattern that a network would see.
fn numbers(n: usize, seed: usize) -> Vec<f32> {
    (0..n).map(|i| (((i * 7919 + seed * 104_729) % 2003) as f32 / 1001.0) - 1.0).collect()
}

impl Perceptron {
    fn new(device: &Device) -> Self {
        let weights = |shape: [usize; 2], seed| {
            let values =
                numbers(shape[0] * shape[1], seed).into_iter().map(|v| 0.3 * v).collect::<Vec<f32>>();
            Param::from_data(TensorData::new(values, shape), device)
        };
        Self { hidden: weights([12, 20], 1), output: weights([20, 4], 2) }
    }

    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        relu(x.matmul(self.hidden.val())).matmul(self.output.val())
    }

    fn values(&self) -> Vec<f32> {
        let values = |weight: &Param<Tensor<2>>| weight.base().into_data().try_to_vec::<f32>().unwrap();
        [values(&self.hidden), values(&self.output)].concat()
    }
}

fn batch(step: usize, device: &Device) -> (Tensor<2>, Tensor<1, Int>) {
    let labels: Vec<i64> = (0..16).map(|i| ((i * 5 + step) % 4) as i64).collect();
    (
        Tensor::from_data(TensorData::new(numbers(16 * 12, 10 + step), [16, 12]), device),
        Tensor::from_data(TensorData::new(labels, [16]), device),
    )
}

/// Weights, averaged weights and gain after a few steps.
fn train(ngm: bool, device: &Device) -> (Vec<f32>, Vec<f32>, f64) {
    let mut sgd = NgmSgdConfig::new(0.1).with_eta(0.3).init().unwrap();
    let mut adam = AdamConfig::new(0.01).init().unwrap();
    let mut model = Perceptron::new(device);
    if ngm {
        model = modulate(model, sgd.gain(), ".*").unwrap();
    }
    let mut ema = EmaConfig::new(0.8).init(&model).unwrap();
    for step in 0..STEPS {
        let (x, y) = batch(step, device);
        let logits = model.forward(x);
        let entropy = mean_entropy(&logits);
        let gradients = GradientsParams::from_grads(cross_entropy(logits, y).backward(), &model);
        model = if ngm { sgd.step(model, gradients, entropy) } else { adam.step(0.01, model, gradients) };
        ema.update(&model);
    }
    (model.values(), ema.module().values(), sgd.gain().value())
}

#[track_caller]
fn assert_close(ours: &[f32], theirs: &[f32]) {
    let scale = theirs.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
    for (a, b) in ours.iter().zip(theirs) {
        assert!((a - b).abs() <= TOLERANCE * scale, "{a} and {b}, relative to {scale}");
    }
}

#[test]
fn the_first_steps_are_those_on_flex() {
    for ngm in [true, false] {
        let (here, flex) = (train(ngm, &device()), train(ngm, &Device::flex().autodiff()));
        assert_close(&here.0, &flex.0);
        assert_close(&here.1, &flex.1);
        assert!((here.2 - flex.2).abs() < 1e-5, "gain {} and {}", here.2, flex.2);
        assert_ne!(here.0, Perceptron::new(&device()).values(), "it has learned something");
    }
}

#[test]
fn the_entropy_is_that_on_flex() {
    let logits = |device: &Device| {
        Tensor::<2>::from_data(TensorData::new(numbers(60, 3), [12, 5]), device).mul_scalar(8.0)
    };
    let (here, flex) = (logits(&device()), mean_entropy(&logits(&Device::flex())));
    assert!((mean_entropy(&here) - flex).abs() < 1e-5);
    let tensor: f64 = mean_entropy_tensor(here).into_data().iter::<f64>().sum();
    assert!((tensor - flex).abs() < 1e-5);
}
