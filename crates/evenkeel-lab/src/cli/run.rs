//! `evenkeel run`: an experiment, from the data to the table.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;

use super::error::BadInput;
use super::execute::{Processes, Work, begun, execute};
use super::metrics::runs_of;
use super::output::print;
use super::rehearsal;
use crate::analysis::{Format, Runs, Summary, terminal};
use crate::columns::{WIDTH, wrapped};
use crate::say::say;
use crate::spec::{CheckedExperiment, Experiment, Plan, suggest};
use crate::store::{Store, write_json};

/// Run a benchmark (or an experiment file) and print the table beside the paper's.
///
/// Each run is a process of its own, and its results are kept in DIR: the same command again does only what is missing,
/// and continues interrupted runs where they were. Progress goes to stderr, the table to stdout and to DIR/summary.json.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    evenkeel run split-mnist\n  \
    evenkeel run split-mnist --dry-run\n  \
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
    /// Number of seeds, a range A..B or a list A,B,C [default: 5].
    #[arg(long, value_name = "N|A..B|A,B,C")]
    seeds: Option<String>,
    /// Folder for the results [default: runs/BENCHMARK].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Override a setting (`batch=64`) or an optimizer's parameter (`lr=0.1` for all, `ngm-sgd.eta=0.3` for one).
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Iterations per task.
    #[arg(long, value_name = "N")]
    iterations: Option<u64>,
    /// Evaluate after every N iterations.
    #[arg(long, value_name = "N")]
    eval_every: Option<u64>,
    /// Evaluate on N random test images per task.
    #[arg(long, value_name = "N")]
    eval_samples: Option<usize>,
    /// Compute device: flex (the CPU, on this project's kernels), or ndarray, wgpu, cuda in a build with that feature [default:
    /// flex, or the experiment file's].
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// The optimizer that the others are compared with [default: the first of `evenkeel list` that runs].
    #[arg(long, value_name = "NAME")]
    against: Option<String>,
    /// Print the summary as JSON instead of the tables.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    processes: Processes,
}

impl Args {
    /// The experiments, with the command line's overrides on each.
    fn experiments(&self) -> anyhow::Result<Vec<CheckedExperiment>> {
        let is_file = Path::new(&self.experiment).extension().is_some_and(|e| e == "toml");
        let mut experiments = if is_file {
            Plan::load(Path::new(&self.experiment))?.parts
        } else {
            vec![Experiment::named(&self.experiment)?]
        };
        let changed = experiments.iter_mut().map(|experiment| self.change(experiment));
        let checked: Vec<CheckedExperiment> = changed.collect::<Result<_, _>>()?;
        if let Some(name) = &self.against {
            let named = checked.iter().flat_map(|experiment| &experiment.optimizers);
            let names: Vec<&str> = named.map(|optimizer| optimizer.name.as_str()).collect();
            if !names.contains(&name.as_str()) {
                let hint = suggest(name, &names);
                return Err(
                    BadInput(format!("--against {name}: it is not among the optimizers{hint}")).into()
                );
            }
        }
        Ok(checked)
    }

    fn change(&self, experiment: &mut Experiment) -> anyhow::Result<CheckedExperiment> {
        for (i, name) in self.optimizers.iter().enumerate() {
            if self.optimizers[..i].contains(name) {
                say!("note: --optimizers names {name} twice; it runs once");
            }
        }
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
        if let Some(device) = &self.device {
            settings.device.clone_from(device);
        }
        for assignment in &self.set {
            experiment.set(assignment)?;
        }
        Ok(experiment.check()?)
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
    if args.processes.dry_run() {
        print(&rehearsal::plan(&args.experiment, &store, &experiments, &args.processes)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    store.create().context("cannot use the folder for the results (--out)")?;
    // Fetched and checked once, before any worker needs it.
    let mut work = Work::default();
    for experiment in &experiments {
        work.add(experiment)?;
    }
    let title = args.experiment.as_str();
    let ended = execute(title, &store, &work, &args.processes)?;

    // The file tells of everything in the folder, as `evenkeel metrics` does; the table of this experiment.
    let against = args.against.as_deref();
    let everything = Runs::load(&runs_of(&out)?);
    let there =
        against.filter(|_| everything.lineups.iter().any(|lineup| lineup.reference(against).is_some()));
    write_json(&out.join("summary.json"), &Summary::of(&everything, there))?;
    if ended.stopped() {
        return Ok(ExitCode::from(130));
    }
    let these = Runs::load(&begun(&store, &work.specs)?);
    print(&terminal::render(&these, against, if args.json { Format::Json } else { Format::Table }))?;
    say!("{}", wrapped(&format!("`evenkeel report {}` makes a page of it", out.display()), WIDTH, 2));
    ended.into_result(&these)
}
