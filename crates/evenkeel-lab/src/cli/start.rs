//! `evenkeel` alone: what to do next.

use std::process::ExitCode;

use super::output::print;

const NEXT: &str = "\
evenkeel measures the stability gap: how far the accuracy on old tasks drops
when training goes on to a new one.

A first look, without any download (less than a minute):
  evenkeel run split-digits --seeds 3
  evenkeel report runs/split-digits          then open report.html

The paper's experiment on MNIST (11 MB are fetched; minutes):
  evenkeel run split-mnist --dry-run         what it would do, how long it takes
  evenkeel run split-mnist
  evenkeel serve runs/split-mnist            watch it in a browser

More:
  evenkeel list                              benchmarks, optimizers, data
  evenkeel reproduce --list                  every result of the paper
  evenkeel metrics mine-*.csv                metrics for curves of your own
  evenkeel --help

With cargo, write `cargo run --release --` for `evenkeel`, or install it once:
  cargo install --path crates/evenkeel-lab
";

pub(super) fn run() -> anyhow::Result<ExitCode> {
    print(NEXT)?;
    Ok(ExitCode::SUCCESS)
}
