//! `evenkeel completions`: completion scripts for shells.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use super::output::print;

/// Print a completion script for a shell.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  evenkeel completions bash > ~/.local/share/bash-completion/completions/evenkeel"
)]
pub(super) struct Args {
    /// The shell.
    shell: Shell,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut command = super::Cli::command();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "evenkeel", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
