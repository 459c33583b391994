//! `evenkeel work`: what is pending in a folder, on this machine and on any other that shares it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use super::error::BadInput;
use super::execute::{Processes, Work, execute, kernels};
use super::metrics::runs_of;
use super::status::runs_in;
use crate::analysis::{Runs, Summary};
use crate::program;
use crate::store::{Status, Store, StoredRun, write_json};

/// Do what is pending in a folder, until nothing is left.
///
/// Start any number of these on any number of machines that share the folder: each run is done by one of them, and what a
/// dead machine had begun is taken over from its last checkpoint after half a minute. `evenkeel run … --describe` (or
/// `evenkeel submit`) says what there is to do. All machines use the kernels of the one that described the runs, so that
/// they give the same numbers. SIGTERM and Ctrl-C save and stop.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    evenkeel run split-mnist --seeds 20 --describe\n  \
    evenkeel work runs/split-mnist                    here, and on every other machine\n  \
    evenkeel work runs/split-mnist --jobs 1 --threads 4")]
pub(super) struct Args {
    /// Folder with described runs.
    dir: PathBuf,
    #[command(flatten)]
    processes: Processes,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let store = Store::new(&args.dir);
    let runs = runs_in(&args.dir)?.runs;
    let mut processes = args.processes.clone();
    if processes.kernels.is_none() {
        processes.kernels = kernels_of(&runs)?;
    }
    let mut work = Work::default();
    let pending =
        runs.iter().filter(|run| run.record.status == Status::Unfinished && !run.record.spec.is_recorded());
    for run in pending {
        work.add_described(run.record.spec.clone())?;
    }
    let ended = execute(&args.dir.display().to_string(), &store, &work, &processes)?;
    if ended.stopped() {
        return Ok(ExitCode::from(130));
    }
    let found = runs_of(&args.dir)?;
    let everything = Runs::load(&found.runs);
    write_json(&args.dir.join("summary.json"), &Summary::of(&everything, None))?;
    ended.into_result(everything.damaged() || !found.unreadable.is_empty())
}

/// The kernels that the runs of a folder were begun with or described for, if this processor has them and there is no doubt.
fn kernels_of(runs: &[StoredRun]) -> Result<Option<String>, BadInput> {
    let named = runs.iter().map(|run| run.record.machine.kernels.as_str());
    let names: BTreeSet<&str> = named.filter(|name| !name.is_empty()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    match names[..] {
        [] => Ok(None),
        [one] => program::without_library(one).map_err(String::from).and_then(kernels).map(Some).map_err(|reason| {
            BadInput(format!(
                "the runs of this folder use the kernels '{one}': {reason}. Describe them anew for kernels that all machines \
                 have (--kernels), so that they give the same numbers"
            ))
        }),
        _ => Err(BadInput(format!(
            "the runs of this folder were begun with different kernels ({}), which round differently; choose one (--kernels)",
            names.join(", ")
        ))),
    }
}
