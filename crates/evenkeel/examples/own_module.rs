//! NGM-SGD on a module of your own: two tasks in a row, watched at every iteration.
//!
//!     cargo run --release -p evenkeel --example own_module
//!
//! The "data" are two Gaussian clouds per task in 16 dimensions. Task 2 brings two new classes while the data of task 1
//! is still trained on; the printed column is the accuracy on task 1, which dips at the switch.

use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor, TensorData, activation::relu};
use evenkeel::entropy::mean_entropy;
use evenkeel::nn::{cross_entropy, modulate};
use evenkeel::optim::NgmSgdConfig;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Any Burn module will do; nothing in it knows about the gain.
#[derive(Module, Debug)]
struct MyModel {
    features: Linear,
    head: Linear,
}

impl MyModel {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        self.head.forward(relu(self.features.forward(x)))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::flex().autodiff();
    device.seed(0);
    let model = MyModel {
        features: LinearConfig::new(16, 64).with_bias(false).init(&device),
        head: LinearConfig::new(64, 4).with_bias(false).init(&device),
    };

    let mut ngm = NgmSgdConfig::new(0.1).with_eta(0.4).init()?;
    let mut model = modulate(model, ngm.gain(), "weight$")?; // every weight matrix: W = g·w
    let mut rng = ChaCha8Rng::seed_from_u64(1);

    for iteration in 1..=120 {
        let classes = if iteration <= 60 { 2 } else { 4 };
        let (x, y) = draw(&mut rng, classes, 64, &device);
        let logits = model.forward(x);
        let entropy = mean_entropy(&logits);
        let gradients = cross_entropy(logits, y).backward();
        let gradients = GradientsParams::from_grads(gradients, &model);
        model = ngm.step(model, gradients, entropy);

        if iteration % 5 == 0 {
            let (x, y) = draw(&mut ChaCha8Rng::seed_from_u64(2), 2, 500, &device);
            let hits = model.valid().forward(x.without_autodiff()).argmax(1).squeeze_dim::<1>(1).equal(y);
            let accuracy = 100.0 * hits.float().mean().into_scalar::<f32>();
            println!(
                "iteration {iteration:3}  task-1 accuracy {accuracy:5.1} %  gain {:.3}",
                ngm.gain().value()
            );
        }
    }
    Ok(())
}

/// A batch from `classes` clouds, one per corner of a simplex, with unit noise.
fn draw(rng: &mut ChaCha8Rng, classes: usize, n: usize, device: &Device) -> (Tensor<2>, Tensor<1, Int>) {
    let labels: Vec<i64> = (0..n).map(|_| rng.random_range(0..classes as i64)).collect();
    let features: Vec<f32> = labels
        .iter()
        .flat_map(|&label| (0..16).map(move |d| f32::from(u8::from(i64::from(d) % 4 == label))))
        .map(|mean| mean + rng.random_range(-1.0..1.0))
        .collect();
    (
        Tensor::from_data(TensorData::new(features, [n, 16]), device),
        Tensor::from_data(TensorData::new(labels, [n]), device),
    )
}
