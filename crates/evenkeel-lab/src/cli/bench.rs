//! `evenkeel bench`: how fast this machine runs the paper's workloads.

use std::process::ExitCode;

use clap::ValueEnum;
use evenkeel_kernels::InstructionSet;

use super::output::print;
use crate::bench::{Measurement, Workload};
use crate::run::machine::cores;

/// Time the paper's two workloads on this machine.
///
/// `mlp`: a training step on 128 images and an evaluation of the task-1 test set of Split MNIST. `resnet`: a training step of slim
/// ResNet-18 on 256 images of 32×32 and an evaluation of 1,000. Both are timed alone, and then as a run has them: each evaluation
/// beside the next step. Medians; nothing else should run. `bench/compare` times PyTorch beside it.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  evenkeel bench\n  evenkeel bench mlp --threads 1 --json")]
pub(super) struct Args {
    /// What to time [default: both].
    workloads: Vec<Which>,
    /// Threads [default: one per core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Iterations [default: 200 for mlp, 7 for resnet].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    iterations: Option<u16>,
    /// Images of a training step [default: the paper's, 128 for mlp, 256 for resnet].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    batch: Option<u16>,
    /// Images of an evaluation, at most the 2,115 of task 1 for mlp and 2,000 for resnet [default: 2115 for mlp, 1000 for resnet].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    evaluated: Option<u16>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    Mlp,
    Resnet,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let threads = args.threads.map_or_else(cores, usize::from);
    let chosen = if args.workloads.is_empty() { &[Which::Mlp, Which::Resnet][..] } else { &args.workloads };
    let mut all: Vec<Measurement> = Vec::new();
    for which in chosen {
        let (workload, usual) = match which {
            Which::Mlp => (Workload::mlp()?, 200),
            Which::Resnet => (Workload::resnet()?, 7),
        };
        let workload = workload.resized(args.batch.map(usize::from), args.evaluated.map(usize::from));
        let measurement = workload.measure(threads, args.iterations.map_or(usual, usize::from))?;
        if !args.json {
            print(&describe(&measurement))?;
        }
        all.push(measurement);
    }
    if args.json {
        print(&format!("{}\n", serde_json::to_string_pretty(&all)?))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(m: &Measurement) -> String {
    format!(
        "{}, {} threads, {}: {:.2} ms per iteration (train {} images {:.2}, eval {} images {:.2}); {:.0} GFLOP/s-equivalent, {:.2} of the FMA peak (train {:.2}, eval {:.2}){}\n",
        m.workload,
        m.threads,
        InstructionSet::active().name(),
        m.iteration_ms,
        m.batch,
        m.train_ms,
        m.evaluated,
        m.eval_ms,
        m.gflops,
        m.of_peak,
        m.train_of_peak,
        m.eval_of_peak,
        m.peak_memory_mib.map(|mib| format!("; {mib:.0} MiB at most")).unwrap_or_default()
    )
}
