//! Fixtures that PyTorch made: a small MLP, its batches, and its weights after the first and the last step of each optimizer.

use std::collections::BTreeMap;

use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::{Device, Int, Tensor, TensorData};
use evenkeel::nn::cross_entropy;
use evenkeel_models::{GainLinear, Mlp};
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct Fixture {
    sizes: Vec<usize>,
    batch: usize,
    x: Vec<Vec<f32>>,
    y: Vec<Vec<i64>>,
    initial: Vec<Vec<f32>>,
    cases: BTreeMap<String, Case>,
}

/// Weights of each layer after the first and the last step.
#[derive(Deserialize)]
struct Case {
    weights: [Vec<Vec<f32>>; 2],
}

impl Fixture {
    pub(crate) fn new(json: &str) -> Self {
        serde_json::from_str(json).unwrap()
    }

    pub(crate) fn steps(&self) -> usize {
        self.x.len()
    }

    pub(crate) fn model(&self, device: &Device) -> Mlp {
        let layer = |i: usize| {
            let shape = [self.sizes[i], self.sizes[i + 1]];
            GainLinear::from_weights(TensorData::new(self.initial[i].clone(), shape), device)
        };
        let last = self.initial.len() - 1;
        Mlp::from_layers((0..last).map(layer).collect(), layer(last))
    }

    pub(crate) fn batch(&self, step: usize, device: &Device) -> (Tensor<2>, Tensor<1, Int>) {
        let x = TensorData::new(self.x[step].clone(), [self.batch, self.sizes[0]]);
        let y = TensorData::new(self.y[step].clone(), [self.batch]);
        (Tensor::from_data(x, device), Tensor::from_data(y, device))
    }

    /// Deviation of the model's worst layer from PyTorch's after `step`; `None` if the fixture does not have that step.
    pub(crate) fn deviation(&self, case: &str, step: usize, model: &Mlp) -> Option<f32> {
        let [first, last] = &self.cases[case].weights;
        let theirs = match step {
            0 => first,
            s if s + 1 == self.steps() => last,
            _ => return None,
        };
        let ours = model.layers().map(|layer| values(layer.weight.val()));
        ours.zip(theirs).map(|(ours, theirs)| deviation(&ours, theirs)).max_by(f32::total_cmp)
    }

    /// Deviations after the first and the last step with this optimizer.
    pub(crate) fn train(&self, case: &str, lr: f64, mut optimizer: ModuleOptimizer) -> [f32; 2] {
        let device = Device::flex().autodiff();
        let mut model = self.model(&device);
        let mut deviations = Vec::new();
        for step in 0..self.steps() {
            let (x, y) = self.batch(step, &device);
            let gradients = cross_entropy(model.forward(x), y).backward();
            let gradients = GradientsParams::from_grads(gradients, &model);
            model = optimizer.step(lr, model, gradients);
            deviations.extend(self.deviation(case, step, &model));
        }
        deviations.try_into().unwrap()
    }
}

/// The largest difference, relative to the largest entry of `theirs`; NaN if there is one.
pub(crate) fn deviation(ours: &[f32], theirs: &[f32]) -> f32 {
    assert_eq!(ours.len(), theirs.len());
    let scale = theirs.iter().fold(1e-6_f32, |m, v| m.max(v.abs()));
    let differences = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs() / scale);
    differences.max_by(f32::total_cmp).unwrap()
}

pub(crate) fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_to_vec().unwrap()
}
