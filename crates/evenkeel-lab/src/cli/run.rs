//! `evenkeel run`: an experiment, from the data to the table.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Context as _;

use super::error::BadInput;
use super::interrupt;
use super::metrics::runs_of;
use super::output::print;
use crate::experiment::Experiment;
use crate::machine::cores;
use crate::progress::{FetchProgress, RunProgress};
use crate::report::{Format, Summary, render};
use crate::runner::{self, Failure, Options};
use crate::spec::RunSpec;
use crate::store::{Store, StoredRun, write_json};
use crate::stream::prepare;

/// Run a benchmark (or an experiment file) and print the table beside the paper's.
///
/// Each run is a process of its own, and its results are kept in DIR: the same command again does only what is missing,
/// and continues interrupted runs where they were. Progress goes to stderr, the table to stdout and to DIR/summary.json.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    evenkeel run split-mnist\n  \
    evenkeel run split-mnist --optimizers ngm-sgd,msgd --seeds 20\n  \
    evenkeel run rotated-mnist --seeds 5..10 --out runs/more-seeds\n  \
    evenkeel run split-mnist --set ngm-sgd.eta=0.3 --set batch=64\n  \
    evenkeel run split-mnist --set replay=1000\n  \
    evenkeel run my-experiment.toml --jobs 1 --threads 2")]
pub(super) struct Args {
    /// Name of a benchmark (`evenkeel list`) or an experiment file (.toml).
    #[arg(value_name = "BENCHMARK|FILE.toml")]
    experiment: String,
    /// Optimizers, separated by commas [default: ngm-sgd,msgd,adam,sgd].
    #[arg(long, value_delimiter = ',')]
    optimizers: Vec<String>,
    /// Number of seeds, or a range A..B [default: 5].
    #[arg(long, value_name = "N|A..B")]
    seeds: Option<String>,
    /// Folder for the results [default: runs/BENCHMARK].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Runs at once [default: one a core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Threads a run; they change the speed, never a number [default: the cores that the jobs leave, at least 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Override a setting (`batch=64`) or an optimizer's parameter (`lr=0.1` for all, `ngm-sgd.eta=0.3` for one).
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Iterations a task.
    #[arg(long, value_name = "N")]
    iterations: Option<u64>,
    /// Evaluate after every N iterations.
    #[arg(long, value_name = "N")]
    eval_every: Option<u64>,
    /// Evaluate on N random test images a task.
    #[arg(long, value_name = "N")]
    eval_samples: Option<usize>,
    /// Compute device.
    #[arg(long, value_name = "NAME", default_value = "flex")]
    device: String,
    /// Seconds between checkpoints of a run.
    #[arg(long, value_name = "S", default_value_t = 30.0, value_parser = seconds)]
    checkpoint_seconds: f64,
    /// Keep the weights at the end of each run, as weights.safetensors in its folder (see `evenkeel export`).
    #[arg(long)]
    keep_weights: bool,
}

/// A time to wait: finite, not negative.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    if Duration::try_from_secs_f64(seconds).is_ok() {
        Ok(seconds)
    } else {
        Err("must be at least 0".to_string())
    }
}

impl Args {
    fn experiment(&self) -> anyhow::Result<Experiment> {
        let is_file = Path::new(&self.experiment).extension().is_some_and(|e| e == "toml");
        let mut experiment = if is_file {
            Experiment::load(Path::new(&self.experiment))?
        } else {
            Experiment::named(&self.experiment)?
        };
        if !self.optimizers.is_empty() {
            experiment.set_optimizers(&self.optimizers)?;
        }
        if let Some(seeds) = &self.seeds {
            experiment.set_seeds(seeds)?;
        }
        let settings = &mut experiment.settings;
        settings.iterations = self.iterations.unwrap_or(settings.iterations);
        settings.eval_every = self.eval_every.unwrap_or(settings.eval_every);
        settings.eval_samples = self.eval_samples.or(settings.eval_samples);
        settings.device.clone_from(&self.device);
        for assignment in &self.set {
            experiment.set(assignment)?;
        }
        experiment.check()?;
        Ok(experiment)
    }

    /// The folder of an experiment file is named after the file.
    fn out(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| {
            let name = Path::new(&self.experiment).file_stem().unwrap_or_default();
            Path::new("runs").join(name)
        })
    }

    fn options(&self, pending: usize) -> Options {
        let cores = cores();
        let jobs = self.jobs.map_or(cores, usize::from).min(pending.max(1));
        let threads = self.threads.map_or((cores / jobs).max(1), usize::from);
        Options {
            jobs,
            threads,
            checkpoint_every: Duration::from_secs_f64(self.checkpoint_seconds),
            keep_weights: self.keep_weights,
        }
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let experiment = args.experiment()?;
    let out = args.out();
    let store = Store::new(&out);
    store.create().context("cannot use the folder for the results (--out)")?;
    // Fetched and checked once, before any worker needs it.
    let prepared = prepare(&experiment.settings, &mut FetchProgress::default())?;
    let specs = experiment.expand(prepared.data_sha256.as_deref());
    let iterations = experiment.settings.iterations * prepared.stream.len() as u64;
    drop(prepared);

    let mut pending = HashMap::new();
    for (index, spec) in specs.iter().enumerate() {
        if store.is_pending(spec)? {
            pending.insert(index, iterations);
        }
    }
    let options = args.options(pending.len());
    eprintln!(
        "{}: {} runs of {iterations} iterations, {} to do, {} at once; results in {}",
        experiment.benchmark,
        specs.len(),
        pending.len(),
        options.jobs,
        out.display()
    );
    let stop = interrupt::flag()?;
    let mut progress = RunProgress::new(&specs, pending);
    let tally = runner::run(&store, &specs, options, &stop, |event| progress.on(&event))?;
    progress.close();

    // The file tells of everything in the folder, as `evenkeel metrics` does; the table of this experiment.
    write_json(&out.join("summary.json"), &Summary::of_runs(&runs_of(&out)?))?;
    if tally.interrupted || stop.load(Ordering::Relaxed) {
        eprintln!("stopped; every run is saved. The same command goes on where it was.");
        return Ok(ExitCode::from(130));
    }
    print(&render(&Summary::of_runs(&begun(&store, &specs)?), Format::Table))?;
    if let Some(Failure { message, .. }) = tally.failed.first() {
        let (count, all) = (tally.failed.len(), specs.len());
        let message = format!(
            "{count} of {all} runs failed, the first with: {message}; the same command tries them again"
        );
        if tally.failed.iter().all(|failure| failure.bad_input) {
            return Err(BadInput(message).into());
        }
        anyhow::bail!(message);
    }
    Ok(ExitCode::SUCCESS)
}

/// The runs of this experiment that have a folder, in the experiment's order.
fn begun(store: &Store, specs: &[RunSpec]) -> anyhow::Result<Vec<StoredRun>> {
    let mut runs = Vec::new();
    for spec in specs {
        if let Some(record) = store.record(spec)? {
            runs.push(StoredRun { path: store.run_dir(spec), record });
        }
    }
    Ok(runs)
}
