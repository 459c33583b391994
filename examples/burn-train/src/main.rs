//! Two tasks in a row: the second brings two new classes while the data of the first is still trained on.
//!
//!     cargo run [FOLDER]
//!     evenkeel metrics FOLDER/curve.csv
//!
//! The curve shows how far the accuracy on the first task falls at the switch, and how long that lasts.

use std::path::PathBuf;

use burn::module::Module;
use burn::tensor::Device;
use burn_train_example::{Cnn, reference, train};
use evenkeel::gain::{Gain, GainConfig};
use evenkeel::monitor::StabilityGap;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "burn-train-run".into()));
    std::fs::create_dir_all(&folder)?;
    let device = Device::flex().autodiff();
    device.seed(0);

    let gain = Gain::new(GainConfig::new().with_eta(0.2).check()?);
    let curve = folder.join("curve.csv");
    let monitor = StabilityGap::create(&curve, 1, vec![reference(0..2), reference(2..4)])?;
    let network = Cnn::new(&gain, &device).watched(monitor.clone(), 1);
    let network = train(network, 0..2, 4, None, &folder.join("task1")).model;

    let network = network.train().fork(&device).watched(monitor, 2);
    train(network, 0..4, 4, None, &folder.join("task2"));
    println!("gain {:.3} at the end; evenkeel metrics {}", gain.value(), curve.display());
    Ok(())
}
