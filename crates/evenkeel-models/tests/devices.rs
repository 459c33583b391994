//! The perceptron and the residual network learn on any device what they learn on `flex`, up to rounding: by NGM-SGD and by Adam,
//! with an average of the weights beside them.
//!
//!     EVENKEEL_TEST_DEVICE=ndarray cargo test -p evenkeel-models --features ndarray --test devices
//!     EVENKEEL_TEST_DEVICE=wgpu cargo test -p evenkeel-models --features wgpu --test devices

use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor, TensorData};
use evenkeel::ema::EmaConfig;
use evenkeel::entropy::mean_entropy;
use evenkeel::nn::cross_entropy;
use evenkeel::optim::{AdamConfig, NgmSgdConfig};
use evenkeel_models::{Architecture, Evaluator, InputShape, Mlp, MlpConfig, SlimResNet, SlimResNetConfig};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

mod device;

const CLASSES: usize = 4;
/// Few and small images: `.ci/check_devices` builds for the compiler's speed and not for that of the devices. But more than two: the
/// statistics of BatchNorm over so few make differences of a hundredth out of those in the last digits.
const BATCH: usize = 4;
const NGM_SGD_RATE: f64 = 0.01;
/// Adam's first step has about the same size for every weight, and rounding decides the sign of the least gradients: a small one.
const ADAM_RATE: f64 = 1e-4;

#[derive(Debug, Clone, Copy)]
enum By {
    NgmSgd,
    Adam,
}

/// What is compared between devices.
struct Learnt {
    /// Losses of a few steps.
    losses: Vec<f64>,
    /// Logits of the evaluator before and afterwards.
    before: Vec<f32>,
    logits: Vec<f32>,
    /// The same of the averaged weights.
    averaged: Vec<f32>,
}

fn train<N: Architecture>(
    by: By,
    config: &N::Config,
    shape: InputShape,
    steps: usize,
    device: &Device,
) -> Learnt {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut ngm = NgmSgdConfig::new(NGM_SGD_RATE).init().unwrap();
    let mut adam = AdamConfig::new(ADAM_RATE).init().unwrap();
    let mut model = N::init(config, shape, CLASSES, &mut rng, device);
    if let By::NgmSgd = by {
        model = model.with_gain(ngm.gain());
    }
    let mut ema = EmaConfig::new(0.5).init(&model).unwrap();
    let (batch, mut losses, untrained) = (BATCH, Vec::new(), model.clone());
    let mut images = || (0..batch * shape.len()).map(|_| rng.random_range(-1.0..1.0)).collect::<Vec<f32>>();
    for _ in 0..steps {
        let x = Tensor::from_data(TensorData::new(images(), [batch, shape.len()]), device);
        let labels: Vec<i64> = (0..batch).map(|i| (i % CLASSES) as i64).collect();
        let logits = model.forward(x, shape);
        let entropy = mean_entropy(&logits);
        let loss = cross_entropy(logits, Tensor::from_data(TensorData::new(labels, [batch]), device));
        losses.push(loss.clone().into_scalar::<f32>().into());
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        model = match by {
            By::NgmSgd => ngm.step(model, gradients, entropy),
            By::Adam => adam.step(ADAM_RATE, model, gradients),
        };
        ema.update(&model);
    }
    let images = N::Evaluator::pack(&images(), shape, 0.0);
    let logits = |model: &N| N::Evaluator::default().logits(N::Evaluator::snapshot(model, shape), &images);
    Learnt { losses, before: logits(&untrained), logits: logits(&model), averaged: logits(ema.module()) }
}

fn furthest(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).fold(0.0, |most, (a, b)| most.max((a - b).abs()))
}

fn check<N: Architecture>(config: &N::Config, shape: InputShape, steps: usize, tolerance: f64) {
    for by in [By::NgmSgd, By::Adam] {
        let here = train::<N>(by, config, shape, steps, &device::device());
        let flex = train::<N>(by, config, shape, steps, &Device::flex().autodiff());
        assert!(here.losses.iter().all(|loss| loss.is_finite()));
        for (a, b) in here.losses.iter().zip(&flex.losses) {
            assert!((a - b).abs() < tolerance, "{by:?}: losses {:?} and {:?}", here.losses, flex.losses);
        }
        for (of_here, of_flex) in [(&here.logits, &flex.logits), (&here.averaged, &flex.averaged)] {
            let scale = of_flex.iter().fold(0.0_f32, |most, z| most.max(z.abs()));
            let apart = furthest(of_here, of_flex) / scale;
            println!("{by:?}: {apart:e} of the largest logit");
            assert!(f64::from(apart) < tolerance, "{by:?}: logits {of_here:?} and {of_flex:?}");
            // A step that was left out would show.
            let moved = furthest(&flex.before, of_flex) / scale;
            assert!(f64::from(moved) > 3.0 * tolerance, "{by:?}: nothing was learnt, {moved}");
        }
        assert_ne!(here.logits, here.averaged, "{by:?}: the average lags behind");
    }
}

#[test]
fn the_perceptron() {
    let shape = InputShape { channels: 1, height: 6, width: 6 };
    check::<Mlp>(&MlpConfig { hidden: vec![24, 16] }, shape, 10, 1e-4);
}

#[test]
fn the_residual_network() {
    let shape = InputShape { channels: 3, height: 25, width: 25 };
    check::<SlimResNet>(&SlimResNetConfig::default(), shape, 2, 1e-2);
}
