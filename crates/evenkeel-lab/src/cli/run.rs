//! `evenkeel run`: an experiment, from the data to the table.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;

use super::execute::{Processes, Work, begun, execute};
use super::metrics::runs_of;
use super::output::print;
use crate::experiment::{Experiment, Plan};
use crate::report::{Format, Summary, render};
use crate::store::{Store, write_json};

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
    #[command(flatten)]
    processes: Processes,
}

impl Args {
    /// The experiments, with the command line's overrides on each.
    fn experiments(&self) -> anyhow::Result<Vec<Experiment>> {
        let is_file = Path::new(&self.experiment).extension().is_some_and(|e| e == "toml");
        let mut experiments = if is_file {
            Plan::load(Path::new(&self.experiment))?.parts
        } else {
            vec![Experiment::named(&self.experiment)?]
        };
        for experiment in &mut experiments {
            self.change(experiment)?;
        }
        Ok(experiments)
    }

    fn change(&self, experiment: &mut Experiment) -> anyhow::Result<()> {
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
        Ok(())
    }

    /// The folder of an experiment file is named after the file.
    fn out(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| {
            let name = Path::new(&self.experiment).file_stem().unwrap_or_default();
            Path::new("runs").join(name)
        })
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let experiments = args.experiments()?;
    let out = args.out();
    let store = Store::new(&out);
    store.create().context("cannot use the folder for the results (--out)")?;
    // Fetched and checked once, before any worker needs it.
    let mut work = Work::default();
    for experiment in &experiments {
        work.add(experiment)?;
    }
    let title = args.experiment.as_str();
    let ended = execute(title, &store, &work, &args.processes)?;

    // The file tells of everything in the folder, as `evenkeel metrics` does; the table of this experiment.
    write_json(&out.join("summary.json"), &Summary::of_runs(&runs_of(&out)?))?;
    if ended.stopped() {
        return Ok(ExitCode::from(130));
    }
    print(&render(&Summary::of_runs(&begun(&store, &work.specs)?), Format::Table))?;
    ended.into_result()
}
