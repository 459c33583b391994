//! `evenkeel list`: what can be run.

use std::fmt::Write as _;
use std::process::ExitCode;

use super::output::print;
use crate::spec::{BENCHMARKS, Benchmark, optimizers};

/// List the benchmarks, and the optimizers with their parameters.
#[derive(clap::Args)]
pub(super) struct Args {}

pub(super) fn run() -> anyhow::Result<ExitCode> {
    let mut text = String::new();
    writeln!(text, "Benchmarks")?;
    for benchmark in BENCHMARKS {
        let settings = benchmark.settings();
        writeln!(
            text,
            "  {:14} {}; {} iterations per task, batch {}",
            benchmark.name, benchmark.summary, settings.iterations, settings.batch
        )?;
    }
    writeln!(text, "\nOptimizers")?;
    for (name, summary) in optimizers::all() {
        writeln!(text, "  {name:14} {summary}")?;
        let parameters = |benchmark: &Benchmark| optimizers::on(benchmark, name).map(|o| o.to_string());
        let usual = parameters(&BENCHMARKS[0]);
        writeln!(text, "  {:14}   {}", "", usual.as_deref().unwrap_or_default())?;
        for benchmark in &BENCHMARKS[1..] {
            let other = parameters(benchmark);
            if other != usual {
                writeln!(
                    text,
                    "  {:14}   {} on {}",
                    "",
                    other.as_deref().unwrap_or_default(),
                    benchmark.name
                )?;
            }
        }
    }
    writeln!(
        text,
        "\nParameters that are not shown are 0. Change any with --set, e.g. --set ngm-sgd.eta=0.3"
    )?;
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}
