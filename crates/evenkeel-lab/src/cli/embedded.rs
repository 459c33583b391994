//! `evenkeel run` inside another program: events instead of a progress bar, a flag instead of signals, errors instead of exit codes.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use clap::Parser as _;
use thiserror::Error;

use super::error::{self, BadInput};
use super::{Cli, Command, known_kernels, run};
use crate::run::runner::Event;
use crate::spec::RunSpec;

/// Why it did not work.
#[derive(Debug, Error)]
pub enum EmbeddedError {
    /// The caller is at fault: a wrong argument, a malformed file.
    #[error("{0}")]
    BadInput(String),
    /// Everything else.
    #[error("{0}")]
    Failed(String),
}

impl From<anyhow::Error> for EmbeddedError {
    fn from(error: anyhow::Error) -> Self {
        let told = error::told_once(&error);
        if error::is_bad_input(&error) { Self::BadInput(told) } else { Self::Failed(told) }
    }
}

/// What was run.
#[derive(Debug)]
pub struct Ran {
    /// The folder of the results.
    pub dir: PathBuf,
    /// Whether it was told to stop before everything was done; the same call goes on.
    pub stopped: bool,
}

/// What is told of runs: all of them, iterations of each, and what happened to one.
pub type OnEvent<'a> = dyn FnMut(&[RunSpec], &[u64], Event) + 'a;

/// Runs what `evenkeel run ARGUMENTS` would, and writes the same files. Nothing is printed: `on_event` gets the runs and what happens to
/// them. When `stop` becomes true, the state of every run is saved and the call returns.
pub fn run(
    arguments: &[String],
    stop: &AtomicBool,
    on_event: &mut OnEvent<'_>,
) -> Result<Ran, EmbeddedError> {
    known_kernels()?;
    let words = ["evenkeel", "run"].into_iter().map(String::from).chain(arguments.iter().cloned());
    let cli = Cli::try_parse_from(words).map_err(|message| {
        let text = message.to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        BadInput(text.split("\n\n").next().unwrap_or_default().trim().to_string())
    });
    let Some(Command::Run(args)) = cli.map_err(anyhow::Error::from)?.command else {
        return Err(EmbeddedError::BadInput("not the arguments of a run".to_string()));
    };
    Ok(run::embedded(&args, stop, on_event)?)
}
