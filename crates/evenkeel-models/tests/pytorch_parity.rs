//! Forward pass, gradients and steps against PyTorch (`fixtures/pytorch_parity.py` made the numbers).

mod support;

use std::collections::BTreeMap;

use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::Device;
use evenkeel::entropy::mean_entropy;
use evenkeel::nn::{Modulated, cross_entropy};
use evenkeel::optim::{AdamConfig, NgmSgdConfig, SgdConfig};
use serde::Deserialize;
use support::{Fixture, deviation, values};

/// Relative to the largest entry of the tensor; the sums here have at most six terms.
const TOLERANCE: f32 = 2e-6;

const JSON: &str = include_str!("fixtures/pytorch_parity.json");

/// What this fixture has beyond the weights.
#[derive(Deserialize)]
struct Extra {
    first: First,
    cases: BTreeMap<String, Gains>,
}

#[derive(Deserialize)]
struct First {
    logits: Vec<f32>,
    loss: f32,
    entropy: f64,
    gradients: Vec<Vec<f32>>,
}

/// The gain after each step.
#[derive(Deserialize)]
struct Gains {
    gain: Option<Vec<f64>>,
}

fn extra() -> Extra {
    serde_json::from_str(JSON).unwrap()
}

#[track_caller]
fn assert_close(what: &str, ours: &[f32], theirs: &[f32]) {
    let deviation = deviation(ours, theirs);
    assert!(deviation <= TOLERANCE, "{what}: {deviation} from PyTorch: {ours:?} against {theirs:?}");
}

#[test]
fn forward_pass_loss_entropy_and_gradients() {
    let (f, first, device) = (Fixture::new(JSON), extra().first, Device::flex().autodiff());
    let model = f.model(&device);
    let (x, y) = f.batch(0, &device);
    let logits = model.forward(x);
    assert_close("logits", &values(logits.clone()), &first.logits);
    assert!((mean_entropy(&logits) - first.entropy).abs() < 1e-6);
    let loss = cross_entropy(logits, y);
    assert_close("loss", &values(loss.clone()), &[first.loss]);
    let gradients = GradientsParams::from_grads(loss.backward(), &model);
    for (i, layer) in model.layers().enumerate() {
        let gradient = gradients.get::<2>(layer.weight.id).unwrap();
        assert_close(&format!("gradient {i}"), &values(gradient), &first.gradients[i]);
    }
}

#[track_caller]
fn check_baseline(case: &str, lr: f64, optimizer: ModuleOptimizer) {
    let deviations = Fixture::new(JSON).train(case, lr, optimizer);
    for deviation in deviations {
        assert!(
            deviation <= TOLERANCE,
            "{case}: {deviations:?} from PyTorch after the first and the last step"
        );
    }
}

#[test]
fn every_baseline_takes_the_steps_of_pytorch() {
    let sgd = SgdConfig::new(0.1);
    let msgd = sgd.clone().with_momentum(0.9);
    let adam = AdamConfig::new(0.01);
    check_baseline("sgd", sgd.lr, sgd.init().unwrap());
    check_baseline("sgd-weight-decay", sgd.lr, sgd.clone().with_weight_decay(0.2).init().unwrap());
    check_baseline("msgd", sgd.lr, msgd.init().unwrap());
    check_baseline("msgd-nesterov", sgd.lr, msgd.clone().with_nesterov(true).init().unwrap());
    check_baseline("msgd-dampening", sgd.lr, msgd.clone().with_dampening(0.5).init().unwrap());
    check_baseline("adam", adam.lr, adam.init().unwrap());
    check_baseline("adam-beta2-0.99", adam.lr, adam.clone().with_beta2(0.99).init().unwrap());
    check_baseline("adam-weight-decay", adam.lr, adam.clone().with_weight_decay(0.2).init().unwrap());
}

#[test]
fn ngm_sgd_takes_the_steps_of_the_paper_in_pytorch() {
    let (f, device) = (Fixture::new(JSON), Device::flex().autodiff());
    let gains = extra().cases["ngm-sgd"].gain.clone().unwrap();
    let mut ngm = NgmSgdConfig::new(0.1).with_eta(0.4).init().unwrap();
    let mut model = f.model(&device).with_gain(ngm.gain());
    assert_eq!(gains.len(), f.steps());
    for (step, gain) in gains.into_iter().enumerate() {
        let (x, y) = f.batch(step, &device);
        let logits = model.forward(x);
        let entropy = mean_entropy(&logits);
        let gradients = GradientsParams::from_grads(cross_entropy(logits, y).backward(), &model);
        model = ngm.step(model, gradients, entropy);
        assert!((ngm.gain().value() - gain).abs() < 1e-6);
        if let Some(deviation) = f.deviation("ngm-sgd", step, &model) {
            assert!(deviation <= TOLERANCE, "step {}: {deviation} from PyTorch", step + 1);
        }
    }
}
