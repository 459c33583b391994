//! The perceptron and the residual network learn on any device what they learn on `flex`, up to rounding.
//!
//!     EVENKEEL_TEST_DEVICE=ndarray cargo test -p evenkeel-models --features ndarray --test devices
//!     EVENKEEL_TEST_DEVICE=wgpu cargo test -p evenkeel-models --features wgpu --test devices

use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor, TensorData};
use evenkeel::entropy::mean_entropy;
use evenkeel::nn::cross_entropy;
use evenkeel::optim::NgmSgdConfig;
use evenkeel_models::{Architecture, Evaluator, InputShape, Mlp, MlpConfig, SlimResNet, SlimResNetConfig};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

mod device;

const CLASSES: usize = 4;

/// Losses of a few steps and logits of the evaluator afterwards.
fn train<N: Architecture>(
    config: &N::Config,
    shape: InputShape,
    steps: usize,
    device: &Device,
) -> (Vec<f64>, Vec<f32>) {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut ngm = NgmSgdConfig::new(0.05).init().unwrap();
    let mut model = N::init(config, shape, CLASSES, &mut rng, device).with_gain(ngm.gain());
    let (batch, mut losses) = (6, Vec::new());
    let mut images = || (0..batch * shape.len()).map(|_| rng.random_range(-1.0..1.0)).collect::<Vec<f32>>();
    for _ in 0..steps {
        let x = Tensor::from_data(TensorData::new(images(), [batch, shape.len()]), device);
        let labels: Vec<i64> = (0..batch).map(|i| (i % CLASSES) as i64).collect();
        let logits = model.forward(x, shape);
        let entropy = mean_entropy(&logits);
        let loss = cross_entropy(logits, Tensor::from_data(TensorData::new(labels, [batch]), device));
        losses.push(loss.clone().into_scalar::<f32>().into());
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        model = ngm.step(model, gradients, entropy);
    }
    let images = N::Evaluator::pack(&images(), shape, 0.0);
    (losses, N::Evaluator::default().logits(N::Evaluator::snapshot(&model, shape), &images))
}

fn check<N: Architecture>(config: &N::Config, shape: InputShape, steps: usize, tolerance: f64) {
    let here = train::<N>(config, shape, steps, &device::device());
    let flex = train::<N>(config, shape, steps, &Device::flex().autodiff());
    assert!(here.0.iter().all(|loss| loss.is_finite()));
    for (a, b) in here.0.iter().zip(&flex.0) {
        assert!((a - b).abs() < tolerance, "losses {:?} and {:?}", here.0, flex.0);
    }
    let scale = flex.1.iter().fold(0.0_f32, |most, z| most.max(z.abs()));
    for (a, b) in here.1.iter().zip(&flex.1) {
        assert!(f64::from((a - b).abs()) < tolerance * f64::from(scale), "logits {a} and {b}");
    }
}

#[test]
fn the_perceptron() {
    let shape = InputShape { channels: 1, height: 6, width: 6 };
    check::<Mlp>(&MlpConfig { hidden: vec![24, 16] }, shape, 10, 1e-4);
}

#[test]
fn the_residual_network() {
    let shape = InputShape { channels: 3, height: 32, width: 32 };
    check::<SlimResNet>(&SlimResNetConfig::default(), shape, 2, 1e-2);
}
