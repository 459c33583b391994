//! `evenkeel man`: the help as manual pages.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::CommandFactory;
use evenkeel_data::files;

use crate::say::say;

/// Write the manual pages, one per command.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  \
    evenkeel man ~/.local/share/man/man1 && man evenkeel-run")]
pub(super) struct Args {
    /// Folder for the pages.
    dir: PathBuf,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    std::fs::create_dir_all(&args.dir).with_context(|| args.dir.display().to_string())?;
    let mut command = super::Cli::command();
    command.build();
    let subcommands = command.get_subcommands().filter(|sub| sub.get_name() != "help");
    let pages: Vec<&clap::Command> = std::iter::once(&command).chain(subcommands).collect();
    for command in &pages {
        let name = command.get_display_name().unwrap_or_else(|| command.get_name());
        let path = args.dir.join(format!("{name}.1"));
        let mut page = Vec::new();
        clap_mangen::Man::new((*command).clone()).render(&mut page)?;
        files::write(&path, &page).with_context(|| path.display().to_string())?;
    }
    say!("{}: {} manual pages", args.dir.display(), pages.len());
    Ok(ExitCode::SUCCESS)
}
