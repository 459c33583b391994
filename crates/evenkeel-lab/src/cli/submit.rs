//! `evenkeel submit`: an experiment as jobs of a cluster.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::Context as _;

use super::error::BadInput;
use super::output::print;
use super::selection::Selection;
use crate::say::say;
use crate::slurm::{Job, Limits, Queue};

/// Hand an experiment to a cluster.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    scheduler: Scheduler,
}

#[derive(clap::Subcommand)]
enum Scheduler {
    Slurm(Slurm),
}

/// Describe the runs of an experiment and submit an array of `evenkeel work` to Slurm, and a job for the report after it.
///
/// The folder of results has to be on a file system that all nodes share. Jobs stop in time before their limit and queue again;
/// preempted ones and those of failed nodes are queued again by Slurm; every run goes on where its last checkpoint was.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    evenkeel submit slurm split-mnist --seeds 20 --tasks 8\n  \
    evenkeel submit slurm split-cifar10 --tasks 20 --cpus 2 --time 04:00:00\n  \
    evenkeel submit slurm my-experiment.toml --nodes 2 --partition long --dry-run\n  \
    evenkeel status runs/split-mnist")]
struct Slurm {
    #[command(flatten)]
    selection: Selection,
    /// Jobs of the array; each does one run after the other.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    tasks: u16,
    /// Whole nodes instead of tasks: on each as many runs at once as it has cores.
    #[arg(long, value_name = "N", conflicts_with_all = ["tasks", "cpus"], value_parser = clap::value_parser!(u16).range(1..=10_000))]
    nodes: Option<u16>,
    /// Cores of each task.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    cpus: u16,
    /// Time limit of a job, as sbatch takes it; a job that reaches it queues again.
    #[arg(long, value_name = "TIME", value_parser = word)]
    time: Option<String>,
    /// Partition.
    #[arg(long, value_name = "NAME", value_parser = word)]
    partition: Option<String>,
    /// GPUs of each task.
    #[arg(long, value_name = "N")]
    gpus: Option<u16>,
    /// Seconds between checkpoints of a run.
    #[arg(long, value_name = "S", default_value_t = 30.0, value_parser = super::execute::seconds)]
    checkpoint_seconds: f64,
    /// Kernels for all nodes: portable, avx2 or avx512 [default: the widest that this machine has].
    #[arg(long, value_name = "NAME", value_parser = super::execute::kernels)]
    kernels: Option<String>,
    /// Print the job scripts and change nothing.
    #[arg(long)]
    dry_run: bool,
}

/// What may stand in a line of a job script without changing it.
fn word(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_:.,".contains(c);
    if !text.is_empty() && text.chars().all(fits) {
        Ok(text.to_string())
    } else {
        Err("letters, digits and -_:., only".to_string())
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let Scheduler::Slurm(args) = &args.scheduler;
    let out = args.selection.out();
    let limits = Limits {
        tasks: args.nodes.unwrap_or(args.tasks),
        cpus: args.nodes.is_none().then_some(args.cpus),
        time: args.time.clone(),
        partition: args.partition.clone(),
        gpus: args.gpus,
        checkpoint_seconds: args.checkpoint_seconds,
    };
    let program = crate::program::command().context("cannot tell where this program is")?;
    if args.dry_run {
        let experiments = args.selection.experiments()?;
        let job = Job { name: args.selection.name(), program, dir: std::path::absolute(&out)?, limits };
        let runs: usize =
            experiments.iter().map(|experiment| experiment.optimizers.len() * experiment.seeds.len()).sum();
        say!("{runs} runs; nothing is written or submitted (--dry-run)");
        print(&format!("{}\n{}", job.work_script(), job.report_script()))?;
        return Ok(ExitCode::SUCCESS);
    }
    if Queue::read(&out).is_some_and(|queue| queue.is_busy()) {
        let message =
            "the jobs of this folder are still in the queue; wait for them, or end them with scancel";
        return Err(BadInput(format!("{}: {message}", out.display())).into());
    }
    let (store, work) = args.selection.prepare(&args.selection.experiments()?, args.kernels.clone())?;
    store.describe_all(&work.specs)?;
    let dir: PathBuf = store.dir().canonicalize()?;
    let job = Job { name: args.selection.name(), program, dir, limits };
    let queue = job.submit(sbatch)?;
    say!(
        "{} runs described in {}; job {} with {} tasks, report in job {}; `evenkeel status {}` tells how far they are",
        work.specs.len(),
        out.display(),
        queue.work,
        job.limits.tasks,
        queue.report,
        out.display()
    );
    Ok(ExitCode::SUCCESS)
}

/// Submits a script; the number of its job.
fn sbatch(script: &Path, options: &[String]) -> anyhow::Result<String> {
    let output = Command::new("sbatch")
        .arg("--parsable")
        .args(options)
        .arg(script)
        .output()
        .context("cannot start sbatch: is Slurm on this machine?")?;
    if !output.status.success() {
        anyhow::bail!(
            "sbatch refused {}: {}",
            script.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    // "JOB" or "JOB;CLUSTER".
    let answer = String::from_utf8_lossy(&output.stdout);
    Ok(answer.trim().split(';').next().unwrap_or_default().to_string())
}
