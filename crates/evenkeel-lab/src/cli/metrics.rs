//! `evenkeel metrics`: the tables of a folder, or of anyone's curves.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::error::BadInput;
use super::output::print;
use super::status::runs_in;
use crate::benchmark::OPTIMIZERS;
use crate::report::{Format, Summary, render};
use crate::store::StoredRun;

/// Compute the stability-gap metrics of runs, or of curve files of any program.
///
/// A curve file is CSV with a header; `iteration,task,task1_acc` are required (tasks from 1, accuracy in percent on the
/// test set of task 1), one file a seed.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    evenkeel metrics runs/split-mnist\n  \
    evenkeel metrics runs/split-mnist --format markdown\n  \
    evenkeel metrics seed0.csv seed1.csv seed2.csv --format json")]
pub(super) struct Args {
    /// A folder that `evenkeel run` wrote, or curve files.
    #[arg(required = true, value_name = "DIR|CURVE.csv")]
    paths: Vec<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let folders = args.paths.iter().filter(|path| path.is_dir()).count();
    let summary = if folders == 0 {
        Summary::of_files(&args.paths)?
    } else if folders == args.paths.len() {
        let mut runs = Vec::new();
        for dir in &args.paths {
            runs.extend(runs_of(dir)?);
        }
        Summary::of_runs(&runs)
    } else {
        return Err(BadInput("give folders or curve files, not both".into()).into());
    };
    print(&render(&summary, args.format))?;
    Ok(ExitCode::SUCCESS)
}

/// The runs of a folder, optimizers in the order of `evenkeel list`, then by name.
pub(super) fn runs_of(dir: &Path) -> anyhow::Result<Vec<StoredRun>> {
    let mut runs = runs_in(dir)?;
    let rank =
        |name: &str| OPTIMIZERS.iter().position(|(known, _)| *known == name).unwrap_or(OPTIMIZERS.len());
    runs.sort_by_cached_key(|run| {
        let spec = &run.record.spec;
        (spec.benchmark.clone(), rank(&spec.optimizer.name), spec.optimizer.name.clone(), spec.seed)
    });
    Ok(runs)
}
