//! `evenkeel list`: what can be run.

use std::process::ExitCode;

use crate::benchmark::{BENCHMARKS, OPTIMIZERS};

/// List the benchmarks, and the optimizers with their parameters.
#[derive(clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_: &Args) -> anyhow::Result<ExitCode> {
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
        let mut shown = None;
        for benchmark in &BENCHMARKS {
            let Some(optimizer) = benchmark.optimizer(name) else { continue };
            let parameters = optimizer.rule.to_string();
            if shown.as_ref() != Some(&parameters) {
                println!("  {:14}   on {}: {parameters}", "", benchmark.name);
            }
            shown = Some(parameters);
        }
    }
    println!("\nParameters that are not shown are 0. Change any with --set, e.g. --set ngm-sgd.eta=0.3");
    Ok(ExitCode::SUCCESS)
}
