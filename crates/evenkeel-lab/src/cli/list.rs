//! `evenkeel list`: what can be run.

use std::process::ExitCode;

use crate::benchmark::{BENCHMARKS, Benchmark, OPTIMIZERS};

/// List the benchmarks, and the optimizers with their parameters.
#[derive(clap::Args)]
pub(super) struct Args {}

pub(super) fn run() -> ExitCode {
    println!("Benchmarks");
    for benchmark in &BENCHMARKS {
        let settings = benchmark.settings();
        println!(
            "  {:14} {}; {} iterations a task, batch {}",
            benchmark.name, benchmark.summary, settings.iterations, settings.batch
        );
    }
    println!("\nOptimizers");
    for (name, summary) in OPTIMIZERS {
        println!("  {name:14} {summary}");
        let parameters = |benchmark: &Benchmark| benchmark.optimizer(name).map(|o| o.rule.to_string());
        let usual = parameters(&BENCHMARKS[0]);
        println!("  {:14}   {}", "", usual.as_deref().unwrap_or_default());
        for benchmark in &BENCHMARKS[1..] {
            let other = parameters(benchmark);
            if other != usual {
                println!("  {:14}   {} on {}", "", other.as_deref().unwrap_or_default(), benchmark.name);
            }
        }
    }
    println!("\nParameters that are not shown are 0. Change any with --set, e.g. --set ngm-sgd.eta=0.3");
    ExitCode::SUCCESS
}
