//! Forward pass, gradients and steps against PyTorch (`fixtures/pytorch_parity.py` made the numbers).

use std::collections::BTreeMap;

use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor, TensorData};
use evenkeel::entropy::mean_entropy;
use evenkeel::nn::{Modulated, cross_entropy};
use evenkeel::optim::{AdamConfig, NgmSgdConfig, RuleOptimizer, SgdConfig};
use evenkeel_models::{GainLinear, Mlp};
use serde::Deserialize;

/// Relative to the largest entry of the tensor; the sums here have at most six terms.
const TOLERANCE: f32 = 2e-6;

#[derive(Deserialize)]
struct Fixture {
    sizes: Vec<usize>,
    batch: usize,
    x: Vec<Vec<f32>>,
    y: Vec<Vec<i64>>,
    initial: Vec<Vec<f32>>,
    first: First,
    cases: BTreeMap<String, Case>,
}

#[derive(Deserialize)]
struct First {
    logits: Vec<f32>,
    loss: f32,
    entropy: f64,
    gradients: Vec<Vec<f32>>,
}

/// Weights after the first and the last step; the gain after each.
#[derive(Deserialize)]
struct Case {
    weights: [Vec<Vec<f32>>; 2],
    gain: Option<Vec<f64>>,
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("fixtures/pytorch_parity.json")).unwrap()
}

impl Fixture {
    fn model(&self, device: &Device) -> Mlp {
        let layer = |i: usize| {
            let shape = [self.sizes[i], self.sizes[i + 1]];
            GainLinear::from_weights(TensorData::new(self.initial[i].clone(), shape), device)
        };
        let last = self.initial.len() - 1;
        Mlp { hidden: (0..last).map(layer).collect(), output: layer(last) }
    }

    fn batch(&self, step: usize, device: &Device) -> (Tensor<2>, Tensor<1, Int>) {
        let x = TensorData::new(self.x[step].clone(), [self.batch, self.sizes[0]]);
        let y = TensorData::new(self.y[step].clone(), [self.batch]);
        (Tensor::from_data(x, device), Tensor::from_data(y, device))
    }
}

#[track_caller]
fn assert_close(what: &str, ours: &[f32], theirs: &[f32]) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    let scale = theirs.iter().fold(1e-6_f32, |m, v| m.max(v.abs()));
    for (a, b) in ours.iter().zip(theirs) {
        assert!((a - b).abs() <= TOLERANCE * scale, "{what}: {a} against PyTorch's {b}");
    }
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_to_vec().unwrap()
}

fn weights(model: &Mlp) -> Vec<Vec<f32>> {
    model.layers().map(|layer| values(layer.weight.val())).collect()
}

#[test]
fn forward_pass_loss_entropy_and_gradients() {
    let (f, device) = (fixture(), Device::flex().autodiff());
    let model = f.model(&device);
    let (x, y) = f.batch(0, &device);
    let logits = model.forward(x);
    assert_close("logits", &values(logits.clone()), &f.first.logits);
    assert!((mean_entropy(&logits) - f.first.entropy).abs() < 1e-6);
    let loss = cross_entropy(logits, y);
    assert_close("loss", &values(loss.clone()), &[f.first.loss]);
    let gradients = GradientsParams::from_grads(loss.backward(), &model);
    for (i, layer) in model.layers().enumerate() {
        let gradient = gradients.get::<2>(layer.weight.id).unwrap();
        assert_close(&format!("gradient {i}"), &values(gradient), &f.first.gradients[i]);
    }
}

fn check_baseline(case: &str, mut optimizer: RuleOptimizer) {
    let (f, device) = (fixture(), Device::flex().autodiff());
    let expected = &f.cases[case].weights;
    let mut model = f.model(&device);
    for step in 0..f.x.len() {
        let (x, y) = f.batch(step, &device);
        let gradients = cross_entropy(model.forward(x), y).backward();
        let gradients = GradientsParams::from_grads(gradients, &model);
        model = optimizer.step(model, gradients);
        let expected = match step {
            0 => &expected[0],
            s if s + 1 == f.x.len() => &expected[1],
            _ => continue,
        };
        for (i, (ours, theirs)) in weights(&model).iter().zip(expected).enumerate() {
            assert_close(&format!("{case}, step {}, layer {i}", step + 1), ours, theirs);
        }
    }
}

#[test]
fn every_baseline_takes_the_steps_of_pytorch() {
    let sgd = SgdConfig::new(0.1);
    let msgd = sgd.clone().with_momentum(0.9);
    let adam = AdamConfig::new(0.01);
    check_baseline("sgd", sgd.init().unwrap());
    check_baseline("sgd-weight-decay", sgd.clone().with_weight_decay(0.2).init().unwrap());
    check_baseline("msgd", msgd.init().unwrap());
    check_baseline("msgd-nesterov", msgd.clone().with_nesterov(true).init().unwrap());
    check_baseline("msgd-dampening", msgd.clone().with_dampening(0.5).init().unwrap());
    check_baseline("adam", adam.init().unwrap());
    check_baseline("adam-beta2-0.99", adam.clone().with_beta2(0.99).init().unwrap());
    check_baseline("adam-weight-decay", adam.clone().with_weight_decay(0.2).init().unwrap());
}

#[test]
fn ngm_sgd_takes_the_steps_of_the_paper_in_pytorch() {
    let (f, device) = (fixture(), Device::flex().autodiff());
    let case = &f.cases["ngm-sgd"];
    let mut ngm = NgmSgdConfig::new(0.1).with_eta(0.4).init().unwrap();
    let mut model = f.model(&device).with_gain(ngm.gain());
    for step in 0..f.x.len() {
        let (x, y) = f.batch(step, &device);
        let logits = model.forward(x);
        let entropy = mean_entropy(&logits);
        let gradients = GradientsParams::from_grads(cross_entropy(logits, y).backward(), &model);
        model = ngm.step(model, gradients, entropy);
        assert!((ngm.gain().value() - case.gain.as_ref().unwrap()[step]).abs() < 1e-6);
        if step == 0 || step + 1 == f.x.len() {
            let expected = &case.weights[usize::from(step > 0)];
            for (i, (ours, theirs)) in weights(&model).iter().zip(expected).enumerate() {
                assert_close(&format!("step {}, layer {i}", step + 1), ours, theirs);
            }
        }
    }
}
