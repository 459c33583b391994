//! `evenkeel status`: how far the runs of a folder are.

use std::path::PathBuf;
use std::process::ExitCode;

use evenkeel_report::{Cell, Table};
use serde::Serialize;

use super::error::{BadInput, failure_if};
use super::output::print;
use crate::analysis::progress;
use crate::analysis::tables::{described, status};
use crate::columns;
use crate::say;
use crate::slurm::Queue;
use crate::store::{Status, Store, StoredRun, StoredRuns};
use crate::words::{plural, ranges};

/// Show how far the runs in a folder are: a line per optimizer.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    evenkeel status runs/split-mnist\n  \
    evenkeel status runs/split-mnist --runs")]
pub(super) struct Args {
    /// Folder that `evenkeel run` wrote.
    dir: PathBuf,
    /// A line per run.
    #[arg(long)]
    runs: bool,
    /// Print JSON, an object per run.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let StoredRuns { runs, unreadable } = runs_in(&args.dir)?;
    let code = failure_if(!unreadable.is_empty());
    if args.json {
        let all: Vec<State> = runs.iter().map(State::of).collect();
        print(&format!("{}\n", serde_json::to_string_pretty(&all)?))?;
        return Ok(code);
    }
    let table = if args.runs { every_run(&runs) } else { every_group(&runs) };
    let ended = runs.iter().filter(|run| run.record.status != Status::Unfinished).count();
    let text = columns::table(&table, columns::width());
    let queue = Queue::read(&args.dir).map(|queue| queue.describe() + "\n").unwrap_or_default();
    print(&format!("{text}\n{ended} of {} ended\n{queue}", plural(runs.len(), "run")))?;
    Ok(code)
}

/// One run, for programs.
#[derive(Serialize)]
struct State {
    benchmark: String,
    optimizer: String,
    parameters: String,
    seed: u64,
    status: String,
    iteration: u64,
    iterations: u64,
    task1_acc: Option<f64>,
    seconds: f64,
    seconds_left: Option<f64>,
    folder: String,
}

impl State {
    fn of(run: &StoredRun) -> Self {
        let spec = &run.record.spec;
        let curve = run.growing_curve().ok();
        let last = curve.and_then(|curve| curve.points().last().map(|last| (last.iteration, last.task1_acc)));
        let (_, total) = progress::iterations(run);
        let done = last.map_or(0, |(iteration, _)| iteration);
        let running = run.record.status == Status::Unfinished && run.is_claimed();
        Self {
            benchmark: spec.benchmark.clone(),
            optimizer: spec.optimizer.name.clone(),
            parameters: spec.optimizer.to_string(),
            seed: spec.seed,
            status: described(run),
            iteration: done,
            iterations: total,
            task1_acc: last.map(|(_, accuracy)| accuracy),
            seconds: run.record.seconds,
            seconds_left: running.then(|| progress::seconds_left(run, (done, total))).flatten(),
            folder: run.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        }
    }
}

fn every_run(runs: &[StoredRun]) -> Table {
    let columns = ["benchmark", "optimizer", "seed", "iteration", "task-1 acc", "seconds", "status"];
    let mut table = Table::new("status", "", columns);
    for state in runs.iter().map(State::of) {
        let iteration =
            if state.iteration == 0 { Cell::Empty } else { Cell::number(state.iteration as f64, 0) };
        table.rows.push(vec![
            Cell::text(state.benchmark),
            Cell::text(state.optimizer),
            Cell::number(state.seed as f64, 0),
            iteration,
            state.task1_acc.map_or(Cell::Empty, |acc| Cell::number(acc, 2)),
            Cell::number(state.seconds, 1),
            Cell::text(state.status),
        ]);
    }
    table
}

/// The words of a state that runs are counted by.
const STATES: [&str; 5] = ["done", "diverged", "running", "waiting", "stopped"];

fn every_group(runs: &[StoredRun]) -> Table {
    let mut groups: Vec<(&str, String, Vec<&StoredRun>)> = Vec::new();
    for run in runs {
        let spec = &run.record.spec;
        let name = spec.optimizer.name.clone();
        match groups.iter_mut().find(|(benchmark, known, _)| *benchmark == spec.benchmark && *known == name) {
            Some((_, _, runs)) => runs.push(run),
            None => groups.push((&spec.benchmark, name, vec![run])),
        }
    }
    let columns = ["benchmark", "optimizer", "runs", "done", "seconds", "seeds", "state"];
    let mut table = Table::new("status", "", columns);
    for (benchmark, name, runs) in groups {
        let words: Vec<String> = runs.iter().map(|run| status(run)).collect();
        let counts = STATES.iter().filter_map(|state| {
            let count = words.iter().filter(|word| word.starts_with(state)).count();
            (count > 0)
                .then(|| if count == runs.len() { (*state).to_string() } else { format!("{count} {state}") })
        });
        let mut seeds: Vec<u64> = runs.iter().map(|run| run.record.spec.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        let done = words.iter().filter(|word| *word == "done").count();
        table.rows.push(vec![
            Cell::text(benchmark),
            Cell::text(name),
            Cell::number(runs.len() as f64, 0),
            Cell::number(done as f64, 0),
            Cell::number(runs.iter().map(|run| run.record.seconds).sum(), 0),
            Cell::text(ranges(&seeds)),
            Cell::text(counts.collect::<Vec<_>>().join(", ")),
        ]);
    }
    table
}

/// The runs of a folder; one that holds none is bad input. Those that cannot be read are named.
pub(super) fn runs_in(dir: &std::path::Path) -> anyhow::Result<StoredRuns> {
    if !dir.is_dir() {
        return Err(BadInput(format!("{}: no such folder", dir.display())).into());
    }
    let mut found = Store::new(dir).runs()?;
    if found.runs.is_empty() {
        if let Some(error) = found.unreadable.pop() {
            return Err(error.into());
        }
        return Err(BadInput(format!(
            "{}: holds no runs; name a folder that `evenkeel run` wrote",
            dir.display()
        ))
        .into());
    }
    for error in &found.unreadable {
        say::error(format_args!("not counted: {error}"));
    }
    Ok(found)
}
