//! Slim ResNet-18 against PyTorch (`fixtures/pytorch_resnet.py` made the numbers), and the kernels against Burn's operations.

#[path = "support/formula.rs"]
mod support;

use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor, TensorData};
use evenkeel::nn::cross_entropy;
use evenkeel::optim::SgdConfig;
use evenkeel_models::{Evaluator, InputShape, ResNetEvaluator, SlimResNet};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use support::{formula, formula_model};

/// Relative to the largest entry: eighteen layers in f32, Winograd among them.
const TOLERANCE: f64 = 1e-4;

#[derive(Deserialize)]
struct Fixture {
    batch: usize,
    outputs: usize,
    lr: f64,
    logits: Vec<f64>,
    loss: f64,
    gradients: Vec<[f64; 4]>,
    head_gradient: [f64; 4],
    running_mean: Vec<[f64; 4]>,
    running_var: Vec<[f64; 4]>,
    logits_after_step_in_eval: Vec<f64>,
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("fixtures/pytorch_resnet.json")).unwrap()
}

fn square(size: usize) -> InputShape {
    InputShape { channels: 3, height: size, width: size }
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().try_to_vec::<f32>().unwrap().iter().map(|v| f64::from(*v)).collect()
}

#[track_caller]
fn assert_close(what: &str, ours: &[f64], theirs: &[f64]) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    let scale = theirs.iter().fold(1e-6_f64, |m, v| m.max(v.abs()));
    for (a, b) in ours.iter().zip(theirs) {
        assert!((a - b).abs() <= TOLERANCE * scale, "{what}: {a} against {b} (scale {scale})");
    }
}

/// Sum, sum of magnitudes, first and last entry, all relative to the sum of magnitudes.
#[track_caller]
fn assert_digest(what: &str, tensor: &[f64], theirs: &[f64; 4]) {
    let sum_of = |f: fn(f64) -> f64| tensor.iter().map(|v| f(*v)).sum::<f64>();
    let ours = [sum_of(|v| v), sum_of(f64::abs), tensor[0], tensor[tensor.len() - 1]];
    assert_close(what, &ours, theirs);
}

#[test]
fn one_training_step_and_the_logits_agree_with_pytorch() {
    let (f, device) = (fixture(), Device::flex().autodiff());
    let mut model = formula_model(20, &device);
    let pixels = TensorData::new(formula(f.batch * 3 * 32 * 32, 400, 1.0), [f.batch, 3, 32, 32]);
    let x = Tensor::<4>::from_data(pixels.clone(), &device);
    let labels: Vec<i64> = (0..f.batch as i64).map(|i| i * 3 % f.outputs as i64).collect();
    let y = Tensor::<1, Int>::from_data(TensorData::new(labels, [f.batch]), &device);

    let logits = model.forward(x);
    assert_close("logits", &values(logits.clone()), &f.logits);
    let loss = cross_entropy(logits, y);
    assert_close("loss", &values(loss.clone()), &[f.loss]);
    let gradients = GradientsParams::from_grads(loss.backward(), &model);
    for (i, (layer, theirs)) in model.backbone.layers().zip(f.gradients.chunks(3)).enumerate() {
        let (mean, variance) = (layer.running_mean.value(), layer.running_var.value());
        assert_digest(&format!("running mean {i}"), &values(mean), &f.running_mean[i]);
        assert_digest(&format!("running variance {i}"), &values(variance), &f.running_var[i]);
        assert_digest(
            &format!("weight {i}"),
            &values(gradients.get::<4>(layer.weight.id).unwrap()),
            &theirs[0],
        );
        assert_digest(
            &format!("gamma {i}"),
            &values(gradients.get::<1>(layer.gamma.id).unwrap()),
            &theirs[1],
        );
        assert_digest(&format!("beta {i}"), &values(gradients.get::<1>(layer.beta.id).unwrap()), &theirs[2]);
    }
    let head = gradients.get::<2>(model.head.weight.id).unwrap();
    assert_digest("head", &values(head), &f.head_gradient);

    model = SgdConfig::new(f.lr).with_momentum(0.9).init().unwrap().step(f.lr, model, gradients);
    let logits = model.valid().forward(Tensor::from_data(pixels.clone(), &Device::flex()));
    assert_close("logits after the step, in evaluation", &values(logits), &f.logits_after_step_in_eval);
    let images = ResNetEvaluator::pack(pixels.as_slice().unwrap(), square(32), 0.0);
    let logits = ResNetEvaluator.logits(ResNetEvaluator::snapshot(&model, square(32)), &images);
    let logits: Vec<f64> = logits.iter().map(|v| f64::from(*v)).collect();
    assert_close("logits of the evaluator", &logits, &f.logits_after_step_in_eval);
}

/// The same model on Burn's own operations, for 32×32 and for sizes that leave odd maps and dropped windows.
#[test]
fn kernels_and_burns_operations_agree() {
    let device = Device::flex().autodiff();
    for (size, batch, channels) in [(32, 3, 4), (84, 2, 2)] {
        let mut rng = ChaCha8Rng::seed_from_u64(size as u64);
        let model = SlimResNet::new(square(size), channels, 10, &mut rng, &device);
        let pixels: Vec<f32> = (0..batch * 3 * size * size).map(|_| rng.random_range(-2.0..2.0)).collect();
        let x = Tensor::<4>::from_data(TensorData::new(pixels, [batch, 3, size, size]), &device);
        let y = Tensor::<1, Int>::from_data(TensorData::new(vec![1_i64; batch], [batch]), &device);
        let run = |kernels: bool| {
            // Running statistics are shared between clones: start each from its own copy.
            let model = model.valid().train();
            let logits = if kernels {
                model.train_on_kernels(x.clone())
            } else {
                model.forward_on_burn(x.clone(), true)
            };
            let mut out = vec![values(logits.clone())];
            let gradients = GradientsParams::from_grads(cross_entropy(logits, y.clone()).backward(), &model);
            for layer in model.backbone.layers() {
                out.push(values(gradients.get::<4>(layer.weight.id).unwrap()));
                out.push(values(gradients.get::<1>(layer.gamma.id).unwrap()));
                out.push(values(gradients.get::<1>(layer.beta.id).unwrap()));
                out.push(values(layer.running_mean.value()));
                out.push(values(layer.running_var.value()));
            }
            out
        };
        for (i, (ours, burn)) in run(true).iter().zip(run(false)).enumerate() {
            // The gradient of beta before another BatchNorm nearly cancels: compare with the size of its neighbours.
            let scale = burn.iter().fold(1e-3_f64, |m, v| m.max(v.abs()));
            for (a, b) in ours.iter().zip(&burn) {
                assert!(
                    (a - b).abs() <= 3e-4 * scale,
                    "size {size}, tensor {i}: {a} against {b} (scale {scale})"
                );
            }
        }
    }
}
