//! Times one training step (batch 256, forward and backward, no optimizer) and one evaluation (1,000 images,
//! BatchNorm folded) of slim ResNet-18 on random data.
//!
//! `cargo run --release -p evenkeel-kernels --example resnet_skeleton -- [size] [batch] [evaluated]`

mod clock;
mod evaluator;
mod network;

use evenkeel_kernels::Path;
use network::{Network, Profile};
use std::time::Instant;

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The least disturbed of several times.
pub(crate) fn best(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn main() {
    let number = |index: usize, default: usize| {
        std::env::args().nth(index).map_or(default, |text| text.parse().expect("a number"))
    };
    let (size, batch, evaluated) = (number(1, 32), number(2, 256), number(3, 1000));
    let path = Path::active();
    let peak = clock::peak_gflops(path.lanes());
    println!("path {}, FMA peak {peak:.0} GFLOP/s a thread, {size}×{size} images", path.name());
    let mut network = Network::new(path, batch, size);
    let mut evaluator = network.evaluator(evaluated);
    let train_gflop = 3.0 * network.flops() / 1e9;
    let eval_gflop = network.flops() / 1e9 * evaluated as f64 / batch as f64;

    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let measure = |name: &str, gflop: f64, work: &mut dyn FnMut(&mut Profile)| {
                work(&mut Profile::default());
                let (mut wall, mut cpu, mut profiles) = (Vec::new(), Vec::new(), Vec::new());
                for _ in 0..7 {
                    let mut profile = Profile::default();
                    let (start, begun) = (Instant::now(), clock::thread_ms());
                    work(&mut profile);
                    wall.push(start.elapsed().as_secs_f64() * 1e3);
                    cpu.push(clock::thread_ms() - begun);
                    profiles.push(profile);
                }
                // One thread: its own CPU time, which other jobs do not disturb. More: the wall clock.
                let times = if threads == 1 { cpu } else { wall.clone() };
                let (ms, best) = (median(times.clone()), best(&times));
                let rate = gflop / ms * 1e3;
                println!(
                    "{name}, {threads} thread(s): {ms:.0} ms (best {best:.0}, wall {:.0}), {rate:.0} GFLOP/s-equivalent, {:.2} of peak",
                    median(wall),
                    rate / (peak * threads as f64)
                );
                if threads == 1 {
                    Profile::print(&profiles, peak);
                }
            };
            measure("train", train_gflop, &mut |profile| network.train(profile));
            measure("evaluation", eval_gflop, &mut |profile| evaluator.run(profile));
        });
    }
}
