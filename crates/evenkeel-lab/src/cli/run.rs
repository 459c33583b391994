//! `evenkeel run`: an experiment, from the data to the table.

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use super::controls::WithControls;
use super::embedded::{OnEvent, Ran};
use super::error::BadInput;
use super::execute::{Processes, begun, execute, execute_with};
use super::metrics::runs_of;
use super::output::print;
use super::rehearsal;
use super::selection::Selection;
use crate::analysis::{Format, Runs, Summary, terminal};
use crate::columns::{WIDTH, wrapped};
use crate::say::say;
use crate::spec::{CheckedExperiment, suggest};
use crate::store::{Store, write_json};
use crate::words::plural;

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
    evenkeel run split-mnist --control\n  \
    evenkeel run my-experiment.toml --jobs 1 --threads 2")]
pub(super) struct Args {
    #[command(flatten)]
    selection: Selection,
    /// The optimizer that the others are compared with [default: the first of `evenkeel list` that runs].
    #[arg(long, value_name = "NAME")]
    against: Option<String>,
    #[command(flatten)]
    controls: WithControls,
    /// Only describe the runs, for `evenkeel work` on this and other machines.
    #[arg(long)]
    describe: bool,
    /// Print the summary as JSON instead of the tables.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    processes: Processes,
}

impl Args {
    /// The experiments; the optimizer to compare with is among their optimizers.
    fn experiments(&self) -> anyhow::Result<Vec<CheckedExperiment>> {
        let checked = self.selection.experiments()?;
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
        self.controls.beside(checked)
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (selection, experiments) = (&args.selection, args.experiments()?);
    let title = selection.experiment();
    if args.processes.dry_run() {
        print(&rehearsal::plan(title, &Store::new(selection.out()), &experiments, &args.processes)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (store, work) = selection.prepare(&experiments, args.processes.kernels.clone())?;
    let out = store.dir();
    if args.describe {
        store.describe_all(&work.specs)?;
        say!("{} described; `evenkeel work {}` does them", plural(work.specs.len(), "run"), out.display());
        return Ok(ExitCode::SUCCESS);
    }
    let ended = execute(title, &store, &work, &args.processes)?;
    let against = args.against.as_deref();
    let unreadable = summarise(&store, against)?;
    if ended.stopped() {
        return Ok(ExitCode::from(130));
    }
    let these = Runs::load(&begun(&store, &work.specs)?);
    print(&terminal::render(&these, against, if args.json { Format::Json } else { Format::Table }))?;
    say!("{}", wrapped(&format!("`evenkeel report {}` makes a page of it", out.display()), WIDTH, 2));
    ended.into_result(these.damaged() || unreadable)
}

/// Writes summary.json: it tells of everything in the folder, as `evenkeel metrics` does, and not only of this experiment. True if a run
/// cannot be read.
fn summarise(store: &Store, against: Option<&str>) -> anyhow::Result<bool> {
    let found = runs_of(store.dir())?;
    let everything = Runs::load(&found.runs);
    let there =
        against.filter(|_| everything.lineups.iter().any(|lineup| lineup.reference(against).is_some()));
    write_json(&store.dir().join("summary.json"), &Summary::of(&everything, there))?;
    Ok(!found.unreadable.is_empty())
}

/// The same for another program: see [`embedded::run`](super::embedded::run).
pub(super) fn embedded(args: &Args, stop: &AtomicBool, on_event: &mut OnEvent<'_>) -> anyhow::Result<Ran> {
    let (store, work) = args.selection.prepare(&args.experiments()?, args.processes.kernels.clone())?;
    let ended = execute_with(&store, &work, &args.processes, stop, |event| {
        on_event(&work.specs, work.iterations(), event);
    })?;
    summarise(&store, args.against.as_deref())?;
    let stopped = ended.stopped();
    if !stopped {
        ended.into_result(false)?;
    }
    Ok(Ran { dir: store.dir().to_path_buf(), stopped })
}
