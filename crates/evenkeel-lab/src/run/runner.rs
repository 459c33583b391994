//! Runs a list of specs in worker processes, as many at once as there are jobs.
//!
//! A worker that crashes, diverges or is killed touches no other run. Workers watch their standard input and stop, with
//! their state saved, when it closes: on Ctrl-C, and also when this process dies.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use super::worker::Progress;
use crate::program;
use crate::spec::RunSpec;
use crate::store::claim::{Claimed, LEASE, LeaseWatch};
use crate::store::{Status, Store, StoreError};

/// Exit code of a worker that was told to stop and saved its state.
pub const EXIT_INTERRUPTED: u8 = 10;
/// Exit code of a worker that found its run locked by another process.
pub const EXIT_LOCKED: u8 = 11;

/// How often the stop flag, and runs that another process works on, are looked at.
const POLL: Duration = Duration::from_millis(200);

/// How long a worker that is told to stop may take to save its state. One that was itself stopped (SIGSTOP) never would.
const GRACE: Duration = Duration::from_secs(20);

/// How often a worker that has closed its output is asked whether it has ended.
const LAST_MOMENT: Duration = Duration::from_millis(5);

/// How to run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Worker processes at once.
    pub jobs: usize,
    /// Threads per worker.
    pub threads: usize,
    /// Time between checkpoints.
    pub checkpoint_every: Duration,
    /// Keep the weights at the end of each run.
    pub keep_weights: bool,
    /// The instruction set of the kernels, by name; each worker's own choice if `None`.
    pub kernels: Option<String>,
    /// Data that this process has decoded and verified, by [`data_key`](crate::spec::Settings::data_key): workers need not do so again.
    pub decoded: HashMap<String, PathBuf>,
}

/// What happens while runs go on; `usize` is the index of the spec.
#[derive(Debug)]
pub enum Event {
    /// A worker was started.
    Started(usize),
    /// A worker reports.
    Progress(usize, Progress),
    /// Another process works on this run.
    Elsewhere(usize),
    /// A run came to its end, here or elsewhere.
    Ended(usize, Status),
    /// A worker failed.
    Failed(usize, Failure),
    /// A worker stopped because it was told to.
    Stopped(usize),
}

/// Why a worker failed.
#[derive(Debug, Clone)]
pub struct Failure {
    /// Its message.
    pub message: String,
    /// Whether it blames its input: exit code 2.
    pub bad_input: bool,
}

/// How it went.
#[derive(Debug, Default)]
pub struct Tally {
    /// Failures of runs.
    pub failed: Vec<Failure>,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

/// The running workers, by process id.
type Workers = Mutex<HashMap<u32, Child>>;

enum Exit {
    Ended,
    Stopped,
    Locked,
    Failed(Failure),
}

impl Exit {
    fn failed(message: impl Into<String>) -> Self {
        Exit::Failed(Failure { message: message.into(), bad_input: false })
    }
}

/// Runs what is pending of `specs`, and tells `on_event`. Returns when nothing is left to do, or after a stop.
pub fn run(
    store: &Store,
    specs: &[RunSpec],
    options: &Options,
    stop: &AtomicBool,
    mut on_event: impl FnMut(Event),
) -> Result<Tally, StoreError> {
    let mut pending = VecDeque::new();
    for (index, spec) in specs.iter().enumerate() {
        if store.is_pending(spec)? {
            store.describe(spec)?;
            pending.push_back(index);
        }
    }
    let mut tally = Tally::default();
    let workers: Workers = Mutex::new(HashMap::new());
    let mut told: Option<Instant> = None;
    let queue = Mutex::new(pending);
    std::thread::scope(|scope| {
        let (sender, events) = mpsc::channel();
        for _ in 0..options.jobs {
            let sender = sender.clone();
            let (queue, workers) = (&queue, &workers);
            scope.spawn(move || work(store, specs, options, stop, queue, workers, &sender));
        }
        drop(sender);
        loop {
            if stop.load(Ordering::Relaxed) {
                tally.interrupted = true;
                let late = told.get_or_insert_with(Instant::now).elapsed() > GRACE;
                for worker in lock(&workers).values_mut() {
                    // Closing their input is what tells workers to save and stop.
                    worker.stdin = None;
                    if late {
                        let _ = worker.kill();
                    }
                }
            }
            match events.recv_timeout(POLL) {
                Ok(event) => {
                    if let Event::Failed(index, failure) = &event {
                        let message = format!("{}: {}", specs[*index].folder(), failure.message);
                        tally.failed.push(Failure { message, ..*failure });
                    }
                    on_event(event);
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
        }
    });
    Ok(tally)
}

/// One of the jobs: takes runs from the queue until it is empty.
fn work(
    store: &Store,
    specs: &[RunSpec],
    options: &Options,
    stop: &AtomicBool,
    queue: &Mutex<VecDeque<usize>>,
    workers: &Workers,
    events: &mpsc::Sender<Event>,
) {
    // The receiver lives as long as the senders; a failed send would only lose a progress report.
    let tell = |event| drop(events.send(event));
    let mut waiting: Vec<usize> = Vec::new();
    let mut announced = HashSet::new();
    let mut leases: HashMap<usize, LeaseWatch> = HashMap::new();
    while !stop.load(Ordering::Relaxed) {
        let Some(index) = lock(queue).pop_front().or_else(|| waiting.pop()) else { break };
        let dir = store.run_dir(&specs[index]);
        let (held, dead) = match Claimed::look(&dir) {
            Claimed::Free => (false, None),
            Claimed::Locked => (true, None),
            Claimed::Leased(lease) => {
                let token = lease.token.clone();
                let watch = leases.entry(index).or_insert_with(|| LeaseWatch::new(lease.clone()));
                let dead = watch.is_dead(lease, LEASE);
                (!dead, dead.then_some(token))
            }
        };
        if held {
            // Somebody else is at it. Do the rest first, then wait for it, and take over if that process dies.
            if announced.insert(index) {
                tell(Event::Elsewhere(index));
            }
            waiting.insert(0, index);
            if lock(queue).is_empty() {
                std::thread::sleep(POLL);
            }
            continue;
        }
        // Done elsewhere since the queue was made.
        if let Ok(Some(record)) = store.record(&specs[index])
            && record.status != Status::Unfinished
        {
            tell(Event::Ended(index, record.status));
            continue;
        }
        match run_worker(
            &dir,
            &specs[index],
            options,
            dead.as_deref(),
            workers,
            || tell(Event::Started(index)),
            |p| tell(Event::Progress(index, p)),
        ) {
            Exit::Stopped if stop.load(Ordering::Relaxed) => tell(Event::Stopped(index)),
            Exit::Stopped => {
                let message = "its worker was told to stop; its state is saved".to_string();
                tell(Event::Failed(index, Failure { message, bad_input: false }));
            }
            Exit::Failed(failure) => tell(Event::Failed(index, failure)),
            Exit::Ended => match store.record(&specs[index]) {
                Ok(Some(record)) => tell(Event::Ended(index, record.status)),
                Ok(None) => {
                    let message = "its description has disappeared".to_string();
                    tell(Event::Failed(index, Failure { message, bad_input: false }));
                }
                Err(error) => {
                    let bad_input = error.is_bad_input();
                    tell(Event::Failed(index, Failure { message: error.to_string(), bad_input }));
                }
            },
            // Somebody else was quicker by a moment.
            Exit::Locked => waiting.insert(0, index),
        }
    }
}

fn run_worker(
    dir: &Path,
    spec: &RunSpec,
    options: &Options,
    dead_lease: Option<&str>,
    workers: &Workers,
    started: impl Fn(),
    progress: impl Fn(Progress),
) -> Exit {
    let failed = |error: std::io::Error| {
        let hint = match error.kind() {
            std::io::ErrorKind::NotFound => "; was this program replaced while it ran? Run the command again",
            _ => "",
        };
        Exit::failed(format!("cannot start a worker: {error}{hint}"))
    };
    let command = match program::command() {
        Ok(command) => command,
        Err(error) => return failed(error),
    };
    let decoded = options.decoded.get(&spec.settings.data_key());
    let child = Command::new(&command[0])
        .args(&command[1..])
        .arg("worker")
        .arg(dir)
        .arg("--stop-with-stdin")
        // Burn puts the state of an optimizer that it loads on its default device, which is to be no other than this.
        .env("BURN_DEVICE", &spec.settings.device)
        .args(["--threads", &options.threads.to_string()])
        .args(["--checkpoint-seconds", &options.checkpoint_every.as_secs_f64().to_string()])
        .args(options.keep_weights.then_some("--keep-weights"))
        .args(decoded.iter().flat_map(|path| [Path::new("--decoded"), path]))
        .args(dead_lease.iter().flat_map(|token| ["--dead-lease", token]))
        .envs(options.kernels.iter().map(|name| (evenkeel_kernels::instruction_set::VARIABLE, name)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return failed(error),
    };
    let (stdout, stderr, id) = (child.stdout.take(), child.stderr.take(), child.id());
    lock(workers).insert(id, child);
    let stderr = stderr.map(|mut pipe| {
        std::thread::spawn(move || {
            let mut text = String::new();
            let _ = pipe.read_to_string(&mut text);
            text
        })
    });
    let mut begun = false;
    for line in stdout.into_iter().flat_map(|pipe| BufReader::new(pipe).lines()).map_while(Result::ok) {
        if let Ok(report) = serde_json::from_str(&line) {
            if !begun {
                started();
                begun = true;
            }
            progress(report);
        }
    }
    let status = wait(id, workers);
    let message = stderr.and_then(|thread| thread.join().ok()).unwrap_or_default();
    let message = reason(&message);
    match status.as_ref().map(ExitStatus::code) {
        Ok(Some(0)) => Exit::Ended,
        Ok(Some(code)) if code == i32::from(EXIT_INTERRUPTED) => Exit::Stopped,
        Ok(Some(code)) if code == i32::from(EXIT_LOCKED) => Exit::Locked,
        Ok(Some(code)) => Exit::Failed(Failure { message, bad_input: code == 2 }),
        Ok(None) => Exit::failed("the worker was killed"),
        Err(error) => Exit::failed(error.to_string()),
    }
}

/// Waits for the end of a worker without keeping the others from being told something.
fn wait(id: u32, workers: &Workers) -> std::io::Result<ExitStatus> {
    loop {
        let mut running = lock(workers);
        let ended = running.get_mut(&id).expect("only this job removes its worker").try_wait();
        if let Some(result) = ended.transpose() {
            running.remove(&id);
            return result;
        }
        drop(running);
        std::thread::sleep(LAST_MOMENT);
    }
}

/// What a worker's stderr says: its error, else what it panicked with, else its last line.
fn reason(stderr: &str) -> String {
    let error = stderr.lines().rev().find_map(|line| line.strip_prefix("error: "));
    let panic = || stderr.lines().skip_while(|line| !line.contains("panicked at")).nth(1);
    let last = || stderr.lines().rfind(|line| !line.trim().is_empty());
    error.or_else(panic).or_else(last).unwrap_or("no message").trim().to_string()
}

/// A poisoned lock means that a job panicked; the data (a queue, a list of pipes) is still whole.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn the_reason_is_the_error_or_the_panic_and_not_the_notes_around_it() {
        assert_eq!(reason("fetching x\nerror: disk full\n"), "disk full");
        let panic = "thread 'main' panicked at src/x.rs:1:2:\nindex out of bounds\nnote: run with `RUST_BACKTRACE=1`\n";
        assert_eq!(reason(panic), "index out of bounds");
        assert_eq!(reason("Killed\n"), "Killed");
        assert_eq!(reason(""), "no message");
    }
}
