//! `evenkeel status`: how far the runs of a folder are.

use std::path::PathBuf;
use std::process::ExitCode;

use comfy_table::{Table, presets};
use evenkeel_metrics::read_curve;

use super::error::BadInput;
use super::output::print;
use crate::analysis::tables::status;
use crate::store::{Status, Store, StoredRun};

/// Show how far the runs in a folder are.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  evenkeel status runs/split-mnist")]
pub(super) struct Args {
    /// Folder that `evenkeel run` wrote.
    dir: PathBuf,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let runs = runs_in(&args.dir)?;
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    table.set_header(["benchmark", "optimizer", "seed", "status", "iteration", "task-1 acc", "seconds"]);
    for run in &runs {
        let spec = &run.record.spec;
        let (state, curve) = (status(run), read_curve(&run.curve_path()).ok());
        let last = curve.as_ref().and_then(|curve| curve.points().last());
        table.add_row([
            spec.benchmark.clone(),
            spec.optimizer.name.clone(),
            spec.seed.to_string(),
            state,
            last.as_ref().map_or("–".into(), |point| point.iteration.to_string()),
            last.map_or("–".into(), |point| format!("{:.2}", point.task1_acc)),
            format!("{:.1}", run.record.seconds),
        ]);
    }
    let done = runs.iter().filter(|run| run.record.status != Status::Unfinished).count();
    print(&format!("{table}\n{done} of {} runs ended\n", runs.len()))?;
    Ok(ExitCode::SUCCESS)
}

/// The runs of a folder; one that holds none is bad input.
pub(super) fn runs_in(dir: &std::path::Path) -> anyhow::Result<Vec<StoredRun>> {
    if !dir.is_dir() {
        return Err(BadInput(format!("{}: no such folder", dir.display())).into());
    }
    let runs = Store::new(dir).runs()?;
    if runs.is_empty() {
        return Err(BadInput(format!(
            "{}: holds no runs; name a folder that `evenkeel run` wrote",
            dir.display()
        ))
        .into());
    }
    Ok(runs)
}
