//! Runs a list of specs and shows how it goes: what `run` and `reproduce` have in common.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use evenkeel_data::Loaded;
use evenkeel_kernels::InstructionSet;

use super::error::{BadInput, failure_if};
use super::interrupt;
use crate::columns::{WIDTH, wrapped};
use crate::run::machine::cores;
use crate::run::prepare::{PrepareError, cut};
use crate::run::progress::{FetchProgress, RunProgress};
use crate::run::runner::{self, Event, Failure, Options};
use crate::say::say;
use crate::spec::{CheckedExperiment, RunSpec, Settings};
use crate::store::{Store, StoredRun};
use crate::words::plural;

/// How many processes, and what each may use.
#[derive(clap::Args, Clone)]
pub(super) struct Processes {
    /// Runs at once [default: one per core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Threads per run; they change the speed, never a number [default: the cores that the jobs leave, at least 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Seconds between checkpoints of a run.
    #[arg(long, value_name = "S", default_value_t = 30.0, value_parser = seconds)]
    checkpoint_seconds: f64,
    /// Keep the weights at the end of each run, as weights.safetensors in its folder (see `evenkeel export`).
    #[arg(long)]
    keep_weights: bool,
    /// Instruction set of the kernels: portable, avx2 or avx512; the last digits of every number depend on it [default: the widest
    /// that the processor has].
    #[arg(long, value_name = "NAME", value_parser = kernels)]
    pub(super) kernels: Option<String>,
    /// Run nothing: say what would run, how long it would take and how much disk it would fill.
    #[arg(long)]
    dry_run: bool,
}

/// Kernels that this processor can run.
pub(super) fn kernels(name: &str) -> Result<String, String> {
    let available: Vec<&str> = InstructionSet::available().into_iter().map(InstructionSet::name).collect();
    if available.contains(&name) {
        Ok(name.to_string())
    } else {
        Err(format!("this processor has {}", available.join(", ")))
    }
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

impl Processes {
    /// Whether nothing is to be run.
    pub(super) fn dry_run(&self) -> bool {
        self.dry_run
    }

    /// How many of so many runs go on at once.
    pub(super) fn jobs(&self, pending: usize) -> usize {
        self.jobs.map_or(cores(), usize::from).min(pending.max(1))
    }

    /// What a single run gets that is tried out: as much as each of many.
    pub(super) fn for_one(&self) -> Options {
        Options { jobs: 1, keep_weights: false, ..self.options(usize::MAX, HashMap::new()) }
    }

    fn options(&self, pending: usize, decoded: HashMap<String, PathBuf>) -> Options {
        let cores = cores();
        let jobs = self.jobs(pending);
        let threads = self.threads.map_or((cores / jobs).max(1), usize::from);
        Options {
            jobs,
            threads,
            checkpoint_every: Duration::from_secs_f64(self.checkpoint_seconds),
            keep_weights: self.keep_weights,
            kernels: self.kernels.clone(),
            decoded,
        }
    }
}

/// Runs to do, each with its number of iterations, and their data.
#[derive(Default)]
pub(super) struct Work {
    pub(super) specs: Vec<RunSpec>,
    iterations: Vec<u64>,
    decoded: Decoded,
}

/// Data sets that this process has decoded and verified for all of its workers, in files that go with it.
#[derive(Default)]
struct Decoded {
    folder: Option<tempfile::TempDir>,
    files: HashMap<String, PathBuf>,
}

impl Decoded {
    /// Writes a data set for the workers. Where that cannot be (a full disk), each worker loads it by itself.
    fn keep(&mut self, key: String, data: &Loaded) {
        if self.folder.is_none() {
            self.folder = tempfile::tempdir().ok();
        }
        if let Some(folder) = &self.folder {
            let path = folder.path().join(format!("{}.data", self.files.len()));
            if data.save(&path).is_ok() {
                self.files.insert(key, path);
            }
        }
    }

    /// The data set of the settings, from its source the first time.
    fn load(&mut self, settings: &Settings) -> Result<Loaded, PrepareError> {
        let key = settings.data_key();
        if let Some(data) = self.files.get(&key).and_then(|path| Loaded::read(path).ok()) {
            return Ok(data);
        }
        let data =
            evenkeel_data::load_with(&settings.data, &settings.data_options, &mut FetchProgress::default())?;
        self.keep(key, &data);
        Ok(data)
    }
}

impl Work {
    /// Iterations of each run.
    pub(super) fn iterations(&self) -> &[u64] {
        &self.iterations
    }

    /// Forgets the runs, not their data.
    pub(super) fn clear(&mut self) {
        self.specs.clear();
        self.iterations.clear();
    }

    /// Adds the runs of an experiment. Its data is fetched and checked here, before the first iteration of any.
    pub(super) fn add(&mut self, experiment: &CheckedExperiment) -> Result<(), PrepareError> {
        let settings = &experiment.settings;
        let known = self.specs.iter().position(|known| known.settings == *settings);
        let (sha256, iterations) = if let Some(known) = known {
            (self.specs[known].data_sha256.clone(), self.iterations[known])
        } else {
            let seed = experiment.seeds.first().copied().unwrap_or(0);
            let prepared = cut(settings, seed, self.decoded.load(settings)?)?;
            (prepared.data_sha256, settings.end_of(prepared.stream.len()))
        };
        let specs = experiment.expand(sha256.as_deref());
        self.iterations.extend(specs.iter().map(|_| iterations));
        self.specs.extend(specs);
        Ok(())
    }

    /// Adds a run that is described in the folder already.
    pub(super) fn add_described(&mut self, spec: RunSpec) -> anyhow::Result<()> {
        let checked = spec.check()?;
        let same = |known: &RunSpec| known.settings == checked.settings;
        let iterations = if let Some(known) = self.specs.iter().position(same) {
            self.iterations[known]
        } else {
            let data = self.decoded.load(&checked.settings)?;
            checked.settings.end_of(cut(&checked.settings, checked.seed, data)?.stream.len())
        };
        self.iterations.push(iterations);
        self.specs.push(spec);
        Ok(())
    }
}

/// How it went.
pub(super) struct Ended {
    stopped: bool,
    failed: Vec<Failure>,
    all: usize,
}

impl Ended {
    pub(super) fn stopped(&self) -> bool {
        self.stopped
    }

    /// Whether a run failed.
    pub(super) fn failed(&self) -> bool {
        !self.failed.is_empty()
    }

    /// The runs that failed as one error; where something is `damaged`, that is a failure too.
    pub(super) fn into_result(self, damaged: bool) -> anyhow::Result<ExitCode> {
        let Some(Failure { message, .. }) = self.failed.first() else { return Ok(failure_if(damaged)) };
        let (count, all) = (self.failed.len(), self.all);
        let message = format!(
            "{count} of {all} runs failed, the first with: {message}; the same command tries them again"
        );
        if self.failed.iter().all(|failure| failure.bad_input) {
            return Err(BadInput(message).into());
        }
        anyhow::bail!(message);
    }
}

/// Does what is missing in the store.
pub(super) fn execute(
    title: &str,
    store: &Store,
    work: &Work,
    processes: &Processes,
) -> anyhow::Result<Ended> {
    let mut pending = HashMap::new();
    for (index, (spec, iterations)) in work.specs.iter().zip(&work.iterations).enumerate() {
        if store.is_pending(spec)? {
            pending.insert(index, *iterations);
        }
    }
    let options = processes.options(pending.len(), work.decoded.files.clone());
    let begin = format!(
        "{title}: {}, {} iterations in all, {} to do, {} at once; results in {}",
        plural(work.specs.len(), "run"),
        work.iterations.iter().sum::<u64>(),
        pending.len(),
        options.jobs,
        store.dir().display()
    );
    say!("{}", wrapped(&begin, WIDTH, 2));
    let stop = interrupt::flag()?;
    let mut progress = RunProgress::new(&work.specs, pending);
    let ended = watched(store, work, &options, &stop, |event| progress.on(&event))?;
    progress.close();
    if ended.stopped {
        say!("stopped; every run is saved. The same command goes on where it was.");
    }
    Ok(ended)
}

/// Does what is missing in the store, without a word.
pub(super) fn execute_with(
    store: &Store,
    work: &Work,
    processes: &Processes,
    stop: &AtomicBool,
    on_event: impl FnMut(Event),
) -> anyhow::Result<Ended> {
    let mut pending = 0;
    for spec in &work.specs {
        pending += usize::from(store.is_pending(spec)?);
    }
    let options = processes.options(pending, work.decoded.files.clone());
    watched(store, work, &options, stop, on_event)
}

fn watched(
    store: &Store,
    work: &Work,
    options: &Options,
    stop: &AtomicBool,
    on_event: impl FnMut(Event),
) -> anyhow::Result<Ended> {
    let tally = runner::run(store, &work.specs, options, stop, on_event)?;
    let stopped = tally.interrupted || stop.load(Ordering::Relaxed);
    Ok(Ended { stopped, failed: tally.failed, all: work.specs.len() })
}

/// The runs of an experiment that have a folder, in the experiment's order.
pub(super) fn begun(store: &Store, specs: &[RunSpec]) -> anyhow::Result<Vec<StoredRun>> {
    let mut runs = Vec::new();
    for spec in specs {
        if let Some(record) = store.record(spec)? {
            runs.push(StoredRun { path: store.run_dir(spec), record });
        }
    }
    Ok(runs)
}
