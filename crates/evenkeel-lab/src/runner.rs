//! Runs a list of specs in worker processes, as many at once as there are jobs.
//!
//! A worker that crashes, diverges or is killed touches no other run. Workers watch their standard input and stop, with
//! their state saved, when it closes: on Ctrl-C, and also when this process dies.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use crate::spec::RunSpec;
use crate::store::{Status, Store, StoreError};
use crate::worker::Progress;

/// Exit code of a worker that was told to stop and saved its state.
pub const EXIT_INTERRUPTED: u8 = 10;
/// Exit code of a worker that found its run locked by another process.
pub const EXIT_LOCKED: u8 = 11;

/// How often the stop flag, and runs that another process works on, are looked at.
const POLL: Duration = Duration::from_millis(200);

/// How to run.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Worker processes at once.
    pub jobs: usize,
    /// Threads a worker.
    pub threads: usize,
    /// Time between checkpoints.
    pub checkpoint_every: Duration,
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
    /// A worker failed; its message.
    Failed(usize, String),
    /// A worker stopped because it was told to.
    Stopped(usize),
}

/// How it went.
#[derive(Debug, Default)]
pub struct Tally {
    /// Failed runs with their messages.
    pub failed: Vec<(usize, String)>,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

enum Exit {
    Ended,
    Stopped,
    Locked,
    Failed(String),
}

/// Runs what is pending of `specs`, and tells `on_event`. Returns when nothing is left to do, or after a stop.
pub fn run(
    store: &Store,
    specs: &[RunSpec],
    options: Options,
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
    let stdins: Mutex<Vec<ChildStdin>> = Mutex::new(Vec::new());
    let queue = Mutex::new(pending);
    std::thread::scope(|scope| {
        let (sender, events) = mpsc::channel();
        for _ in 0..options.jobs {
            let sender = sender.clone();
            let (queue, stdins) = (&queue, &stdins);
            scope.spawn(move || work(store, specs, options, stop, queue, stdins, &sender));
        }
        drop(sender);
        loop {
            if stop.load(Ordering::Relaxed) {
                tally.interrupted = true;
                // Closing their input is what tells workers to save and stop.
                lock(&stdins).clear();
            }
            match events.recv_timeout(POLL) {
                Ok(event) => {
                    if let Event::Failed(index, message) = &event {
                        tally.failed.push((*index, message.clone()));
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
    options: Options,
    stop: &AtomicBool,
    queue: &Mutex<VecDeque<usize>>,
    stdins: &Mutex<Vec<ChildStdin>>,
    events: &mpsc::Sender<Event>,
) {
    // The receiver lives as long as the senders; a failed send would only lose a progress report.
    let tell = |event| drop(events.send(event));
    let mut waiting: Vec<usize> = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let Some(index) = lock(queue).pop_front().or_else(|| waiting.pop()) else { break };
        let dir = store.run_dir(&specs[index]);
        match run_worker(
            &dir,
            options,
            stdins,
            || tell(Event::Started(index)),
            |p| tell(Event::Progress(index, p)),
        ) {
            Exit::Stopped => tell(Event::Stopped(index)),
            Exit::Failed(message) => tell(Event::Failed(index, message)),
            Exit::Ended => match store.record(&specs[index]) {
                Ok(Some(record)) => tell(Event::Ended(index, record.status)),
                Ok(None) => tell(Event::Failed(index, "its description has disappeared".into())),
                Err(error) => tell(Event::Failed(index, error.to_string())),
            },
            // Somebody else is at it. Do the rest first, then wait for it, and take over if that process dies.
            Exit::Locked => {
                tell(Event::Elsewhere(index));
                waiting.insert(0, index);
                if lock(queue).is_empty() {
                    std::thread::sleep(POLL);
                }
            }
        }
    }
}

fn run_worker(
    dir: &Path,
    options: Options,
    stdins: &Mutex<Vec<ChildStdin>>,
    started: impl Fn(),
    progress: impl Fn(Progress),
) -> Exit {
    let failed = |error: std::io::Error| Exit::Failed(format!("cannot start a worker: {error}"));
    let executable = match std::env::current_exe() {
        Ok(path) => path,
        Err(error) => return failed(error),
    };
    let child = Command::new(executable)
        .arg("worker")
        .arg(dir)
        .arg("--stop-with-stdin")
        .args(["--threads", &options.threads.to_string()])
        .args(["--checkpoint-seconds", &options.checkpoint_every.as_secs_f64().to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return failed(error),
    };
    lock(stdins).extend(child.stdin.take());
    let stderr = child.stderr.take().map(|mut pipe| {
        std::thread::spawn(move || {
            let mut text = String::new();
            let _ = pipe.read_to_string(&mut text);
            text
        })
    });
    let mut begun = false;
    for line in
        child.stdout.take().into_iter().flat_map(|pipe| BufReader::new(pipe).lines()).map_while(Result::ok)
    {
        if let Ok(report) = serde_json::from_str(&line) {
            if !begun {
                started();
                begun = true;
            }
            progress(report);
        }
    }
    let status = child.wait();
    let message = stderr.and_then(|thread| thread.join().ok()).unwrap_or_default();
    let last_line = message.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no message").trim();
    let last_line = last_line.strip_prefix("error: ").unwrap_or(last_line);
    match status.as_ref().map(std::process::ExitStatus::code) {
        Ok(Some(0)) => Exit::Ended,
        Ok(Some(code)) if code == i32::from(EXIT_INTERRUPTED) => Exit::Stopped,
        Ok(Some(code)) if code == i32::from(EXIT_LOCKED) => Exit::Locked,
        Ok(Some(_)) => Exit::Failed(last_line.to_string()),
        Ok(None) => Exit::Failed("the worker was killed".to_string()),
        Err(error) => Exit::Failed(error.to_string()),
    }
}

/// A poisoned lock means that a job panicked; the data (a queue, a list of pipes) is still whole.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
