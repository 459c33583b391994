//! A learner that is stopped and resumed goes on as one that was not: gain, weights, losses and the curve.

use std::path::Path;

use burn::tensor::{Device, TensorData};
use burn_train_example::{Cnn, ITERATIONS, reference, train};
use evenkeel::gain::{Gain, GainConfig};
use evenkeel::monitor::StabilityGap;

const EPOCHS: usize = 4;
const STOPPED: usize = 2;

struct Outcome {
    gain: f64,
    head: TensorData,
    curve: String,
}

fn run(folder: &Path, epochs: usize, from: Option<usize>) -> Outcome {
    let device = Device::flex().autodiff();
    // A resumed program draws other initial weights: the checkpoint has to bring all that matters.
    device.seed(if from.is_some() { 77 } else { 0 });
    let gain = Gain::new(GainConfig::new().with_eta(0.2).check().unwrap());
    let path = folder.join("curve.csv");
    let references = vec![reference(0..2)];
    let monitor = match from {
        None => StabilityGap::create(&path, 5, references),
        Some(epoch) => StabilityGap::resume(&path, 5, references, (epoch * ITERATIONS) as u64),
    };
    let network = Cnn::new(&gain, &device).watched(monitor.unwrap(), 1);
    let result = train(network, 0..2, epochs, from, folder);
    assert!(result.error.is_none(), "{:?}", result.error);
    Outcome {
        gain: gain.value(),
        head: result.model.head.weight.base().into_data(),
        curve: std::fs::read_to_string(path).unwrap(),
    }
}

#[test]
fn a_resumed_learner_goes_on_as_an_uninterrupted_one() {
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let uninterrupted = run(whole.path(), EPOCHS, None);
    let stopped = run(parts.path(), STOPPED, None);
    let resumed = run(parts.path(), EPOCHS, Some(STOPPED));

    assert!(uninterrupted.curve.starts_with(&stopped.curve), "the same until then");
    assert!(stopped.gain > 1.01, "the gain has moved: {}", stopped.gain);
    assert_eq!(resumed.gain, uninterrupted.gain);
    assert_eq!(resumed.head, uninterrupted.head);
    assert_ne!(resumed.head, stopped.head);
    // Accuracy, loss and gain at every evaluation, before and after the interruption.
    assert_eq!(resumed.curve, uninterrupted.curve);
    assert_eq!(uninterrupted.curve.lines().count(), 1 + EPOCHS * ITERATIONS / 5);
}
