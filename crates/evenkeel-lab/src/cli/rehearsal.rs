//! `--dry-run`: what would run, how long it would take, how much disk it would fill.
//!
//! Speed and size come from finished runs of the same protocol in the folder; where there are none, a few iterations are
//! run in a temporary folder. Nothing is fetched, and nothing is written to the folder of the results.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

use evenkeel_data::sets;
use evenkeel_data::source::{self, Presence};

use super::execute::{Processes, Work};
use crate::analysis::progress;
use crate::columns::{self, wrapped};
use crate::run::runner;
use crate::spec::{CheckedExperiment, RunSpec};
use crate::store::{Status, Store, StoredRun};
use crate::words::{plural, ranges};

/// Iterations per task of a rehearsal: enough to get warm, few enough to wait for.
const ITERATIONS: u64 = 4;

/// What an iteration costs.
#[derive(Clone, Copy)]
struct Cost {
    seconds: f64,
    bytes: f64,
    /// Whether it was found by running a few iterations now.
    rehearsed: bool,
}

/// What the experiments would do, in words.
pub(super) fn plan(
    title: &str,
    store: &Store,
    experiments: &[CheckedExperiment],
    processes: &Processes,
) -> anyhow::Result<String> {
    let mut text = format!("{title}: nothing is run, and nothing is written to {}\n", store.dir().display());
    let (mut seconds, mut bytes, mut unknown, mut to_do) = (0.0, 0.0, 0, 0);
    let mut known: Vec<(String, Option<Cost>)> = Vec::new();
    for experiment in experiments {
        let Planned { specs, iterations, missing } = planned(experiment)?;
        let mut pending = Vec::new();
        for spec in &specs {
            if store.is_pending(spec)? {
                pending.push(spec);
            }
        }
        to_do += pending.len();
        let names: Vec<&str> =
            experiment.optimizers.iter().map(|optimizer| optimizer.name.as_str()).collect();
        writeln!(
            text,
            "  {}: {}, {} to do: {} with seeds {}; {iterations} iterations each",
            experiment.benchmark,
            plural(specs.len(), "run"),
            pending.len(),
            names.join(", "),
            ranges(&experiment.seeds)
        )?;
        if missing {
            writeln!(text, "  {} is not here: it would be fetched first", experiment.settings.data)?;
        }
        let Some(first) = pending.first() else { continue };
        // Parts of a sweep differ in numbers, not in speed.
        let key = format!("{} {}", experiment.benchmark, experiment.settings.model.name());
        let found = known.iter().find(|(other, _)| *other == key).map(|(_, cost)| *cost);
        let cost = match found {
            Some(cost) => cost,
            None if missing => None,
            None => measured(store, first, iterations)?.or(rehearsed(first, processes)?),
        };
        known.push((key, cost));
        let all = pending.len() as f64 * iterations as f64;
        match cost {
            Some(cost) => (seconds, bytes) = (seconds + all * cost.seconds, bytes + all * cost.bytes),
            None => unknown += pending.len(),
        }
    }
    let jobs = processes.jobs(to_do);
    if to_do > unknown {
        let rehearsed = known.iter().filter_map(|(_, cost)| *cost).any(|cost| cost.rehearsed);
        let how =
            if rehearsed { "a few iterations that were run now" } else { "finished runs in the folder" };
        writeln!(
            text,
            "  about {} with {jobs} at once, about {} of disk; by {how}",
            progress::shown(seconds / jobs as f64),
            size(bytes)
        )?;
    }
    if unknown > 0 {
        writeln!(
            text,
            "  how long {} would take is not known before the data is here",
            plural(unknown, "run")
        )?;
    }
    Ok(text.lines().map(|line| wrapped(line, columns::width(), 4) + "\n").collect())
}

/// The runs of an experiment before anything is fetched.
struct Planned {
    specs: Vec<RunSpec>,
    iterations: u64,
    /// Whether its data would have to be fetched.
    missing: bool,
}

fn planned(experiment: &CheckedExperiment) -> anyhow::Result<Planned> {
    let settings = &experiment.settings;
    let missing = match sets::find(&settings.data) {
        Ok(set) => matches!(source::presence(set)?, Presence::Missing | Presence::Corrupt),
        Err(_) => false,
    };
    if missing {
        let tasks = settings.stream.tasks(evenkeel_data::classes(&settings.data).unwrap_or(0));
        return Ok(Planned { specs: experiment.expand(None), iterations: settings.end_of(tasks), missing });
    }
    let mut work = Work::default();
    work.add(experiment)?;
    let iterations = work.iterations().first().copied().unwrap_or(0);
    Ok(Planned { specs: work.specs, iterations, missing })
}

/// From a finished run of the same benchmark and settings.
fn measured(store: &Store, spec: &RunSpec, iterations: u64) -> anyhow::Result<Option<Cost>> {
    if !store.dir().is_dir() {
        return Ok(None);
    }
    let runs = store.runs()?.runs;
    let alike = runs.iter().find(|run| {
        let known = &run.record.spec;
        run.record.status == Status::Done
            && known.benchmark == spec.benchmark
            && known.settings == spec.settings
    });
    Ok(alike.map(|run| cost(run, iterations, false)))
}

/// From a few iterations in a temporary folder.
fn rehearsed(spec: &RunSpec, processes: &Processes) -> anyhow::Result<Option<Cost>> {
    let folder = tempfile::tempdir()?;
    let mut short = spec.clone();
    short.settings.iterations = ITERATIONS;
    (short.settings.task_iterations, short.settings.drift) = (None, None);
    let store = Store::new(folder.path());
    let stop = AtomicBool::new(false);
    let mut iterations = 0;
    let tally = runner::run(&store, std::slice::from_ref(&short), &processes.for_one(), &stop, |event| {
        if let runner::Event::Progress(_, report) = event {
            iterations = report.total;
        }
    })?;
    let done =
        store.runs()?.runs.pop().filter(|run| run.record.status == Status::Done && tally.failed.is_empty());
    Ok(done.filter(|_| iterations > 0).map(|run| cost(&run, iterations, true)))
}

fn cost(run: &StoredRun, iterations: u64, rehearsed: bool) -> Cost {
    let size = run.curve_path().metadata().map_or(0, |metadata| metadata.len());
    let per = |value: f64| value / iterations.max(1) as f64;
    Cost { seconds: per(run.record.seconds), bytes: per(size as f64), rehearsed }
}

fn size(bytes: f64) -> String {
    if bytes < 1e6 { format!("{:.0} kB", bytes / 1e3) } else { format!("{:.1} MB", bytes / 1e6) }
}
