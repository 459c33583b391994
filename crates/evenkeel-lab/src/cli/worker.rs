//! `evenkeel worker`: one run in this process. What `evenkeel run` starts, and what a cluster scheduler can start.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::error::{BadInput, told_once};
use super::interrupt;
use crate::run::runner::{EXIT_INTERRUPTED, EXIT_LOCKED};
use crate::run::train::{Outcome, TrainError};
use crate::run::worker::{self, Options};
use crate::say;
use crate::store::{RunRecord, StoreError};

/// Run, or continue, the one run that RUN_DIR/run.json describes.
///
/// Prints a line of JSON now and then. Exits with 0 when the run is over, 10 when it was told to stop (SIGINT, SIGTERM)
/// and saved its state, 11 when another process works on the run.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Folder of the run.
    run_dir: PathBuf,
    /// Threads.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,
    /// Seconds between checkpoints.
    #[arg(long, default_value_t = 30.0, value_parser = super::execute::seconds)]
    checkpoint_seconds: f64,
    /// Stop when standard input closes, as it does when the process that started this one dies.
    #[arg(long)]
    stop_with_stdin: bool,
    /// Keep the weights at the end of the run: RUN_DIR/weights.safetensors.
    #[arg(long)]
    keep_weights: bool,
    /// The data as the process that started this one has decoded it.
    #[arg(long, value_name = "FILE", hide = true)]
    decoded: Option<PathBuf>,
    /// Take the run over from the machine whose lease has this token: it is known to be dead.
    #[arg(long, value_name = "TOKEN", hide = true)]
    dead_lease: Option<String>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let record = RunRecord::read(&args.run_dir)?
        .ok_or_else(|| BadInput(format!("{}: no run.json there", args.run_dir.display())))?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads.into()).build()?;
    let stop = interrupt::flag()?;
    if args.stop_with_stdin {
        watch_stdin(Arc::clone(&stop));
    }
    let spec = record.spec.check()?;
    let options = Options {
        checkpoint_every: Duration::from_secs_f64(args.checkpoint_seconds),
        keep_weights: args.keep_weights,
        decoded: args.decoded.clone(),
        dead_lease: args.dead_lease.clone(),
    };
    // On a thread of the pool, so that no operation has to wake one up.
    let result = pool.install(|| worker::run(&args.run_dir, &spec, &options, stop));
    let locked = |error: &anyhow::Error| {
        let store = error.downcast_ref::<StoreError>().or(match error.downcast_ref::<TrainError>() {
            Some(TrainError::Store(error)) => Some(error),
            _ => None,
        });
        matches!(store, Some(StoreError::Locked { .. }))
    };
    match result {
        Err(error) if locked(&error) => {
            say::error(format_args!("error: {}", told_once(&error)));
            Ok(ExitCode::from(EXIT_LOCKED))
        }
        Err(error) => Err(error),
        Ok(Some(Outcome::Interrupted { .. })) => Ok(ExitCode::from(EXIT_INTERRUPTED)),
        Ok(_) => Ok(ExitCode::SUCCESS),
    }
}

fn watch_stdin(stop: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        // Nothing is ever sent: this returns when the other end closes.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        stop.store(true, Ordering::Relaxed);
    });
}
