//! What BatchNorm does to averaged weights, for one seed:
//!
//! ```sh
//! cargo build --release -p evenkeel-lab -p evenkeel-models --example average_with_batch_norm
//! target/release/examples/average_with_batch_norm 1000
//! ```
//!
//! Trains slim ResNet-18 with EvenKeel on the first two tasks of Split CIFAR-10, and evaluates three networks after every step from the
//! switch on: the one that is trained, the average with its running statistics averaged alike, and the average with those of the trained
//! one.

use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor, TensorData};
use evenkeel::ema::EmaConfig;
use evenkeel::entropy::mean_entropy;
use evenkeel::nn::{Modulated, cross_entropy};
use evenkeel::optim::{EvenKeelConfig, Gradients};
use evenkeel_data::source::Quiet;
use evenkeel_data::{CropFlip, Sampler, StreamSpec, evaluation_subset};
use evenkeel_models::{Evaluator, InputShape, ResNetEvaluator, SlimResNet};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const BATCH: usize = 256;
const BEFORE: u64 = 400;
const AFTER: u64 = 200;
const IMAGES: usize = 1000;
const NETWORKS: [&str; 3] = ["trained", "average, its own statistics", "average, the trained one's"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seed: u64 = std::env::args().nth(1).map_or(Ok(1000), |seed| seed.parse())?;
    let loaded = evenkeel_data::load("cifar10", &mut Quiet)?;
    let stream = StreamSpec::named("split").expect("it is registered").cut(&loaded.data, seed)?;
    let sampler = Sampler::joint(seed);
    let shape = InputShape { channels: 3, height: 32, width: 32 };
    let device = Device::flex().autodiff();

    let mut method = EvenKeelConfig::new().init()?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut model = SlimResNet::new(shape, 20, stream.outputs(), &mut rng, &device).with_gain(method.gain());
    let ema = |average_buffers| EmaConfig::new(0.9).with_average_buffers(average_buffers).init(&model);
    let mut averages = [ema(true)?, ema(false)?];

    let test = &stream.task(0).test;
    let chosen = evaluation_subset(test, IMAGES, seed);
    let mut pixels = Vec::new();
    loaded.normalization.gather(test, chosen.iter().copied(), &mut pixels);
    let images = ResNetEvaluator::pack(&pixels, shape, 0.0);
    let labels: Vec<usize> = chosen.iter().map(|&i| test.label(i).into()).collect();
    let mut evaluator = ResNetEvaluator;
    let mut accuracy = |network: &SlimResNet| {
        let logits = evaluator.logits(ResNetEvaluator::snapshot(network, shape), &images);
        let rows = logits.chunks_exact(logits.len() / labels.len()).zip(&labels);
        let hits = rows
            .filter(|(row, label)| row.iter().enumerate().all(|(i, z)| i == **label || *z < row[**label]));
        100.0 * hits.count() as f64 / labels.len() as f64
    };

    let (mut x, mut y) = (Vec::new(), Vec::new());
    let mut curves: [Vec<f64>; 3] = Default::default();
    for iteration in 1..=BEFORE + AFTER {
        let task = if iteration <= BEFORE { 1 } else { 2 };
        let batch = sampler.in_task(&stream, task)?.batch(iteration, BATCH);
        let mut augmentation = sampler.augmentation(iteration);
        let augment = (CropFlip { padding: 4, flip: true }, &mut augmentation);
        stream.gather_augmented(&batch, augment, &loaded.normalization, &mut x, &mut y);
        let labels: Vec<i64> = y.iter().map(|label| i64::from(*label)).collect();
        let images = Tensor::<4>::from_data(TensorData::new(x.clone(), [BATCH, 3, 32, 32]), &device);
        let logits = model.forward(images);
        let targets = Tensor::<1, Int>::from_data(TensorData::new(labels, [BATCH]), &device);
        let loss = cross_entropy(logits.clone(), targets);
        let (value, entropy) = (f64::from(loss.clone().into_scalar::<f32>()), mean_entropy(&logits));
        let of = GradientsParams::from_grads(loss.backward(), &model);
        model = method.step(model, Gradients { loss: value, entropy, of }, 2 * task);
        for average in &mut averages {
            average.update(&model);
        }
        if iteration >= BEFORE {
            let trained = model.valid();
            let networks = [&trained, averages[0].module(), averages[1].module()];
            for (curve, network) in curves.iter_mut().zip(networks) {
                curve.push(accuracy(network));
            }
        }
        if iteration % 50 == 0 {
            eprintln!("{iteration} of {} iterations", BEFORE + AFTER);
        }
    }

    println!(
        "accuracy on task 1 (%): before the switch, its minimum and the mean over 20 and {AFTER} iterations after it"
    );
    for (name, curve) in NETWORKS.iter().zip(&curves) {
        let after = &curve[1..];
        let mean = |n: usize| after[..n].iter().sum::<f64>() / n as f64;
        let least = after.iter().copied().fold(f64::INFINITY, f64::min);
        println!("{name:30} {:6.1} {least:6.1} {:6.1} {:6.1}", curve[0], mean(20), mean(AFTER as usize));
    }
    Ok(())
}
