//! `evenkeel data`: the data sets and their cache.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Subcommand;
use evenkeel_data::LoadError;
use evenkeel_data::sets::{self, Entry};
use evenkeel_data::source::{self, Presence, Status};

use super::error::{BadInput, FAILURE};
use super::output::print;
use crate::run::progress::FetchProgress;

/// List, fetch and verify the data sets.
///
/// They are kept in the folder that EVENKEEL_DATA names, else in the platform's cache folder, and every file is checked
/// against its sha256 before it is used.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    evenkeel data list\n  \
    evenkeel data fetch mnist\n  \
    EVENKEEL_DATA=/data evenkeel data verify mnist cifar10")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The data sets and whether they are here.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Fetch data sets that are missing or corrupt.
    Fetch {
        /// Names of data sets.
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Check the files against their checksums; exit code 1 if any is missing or corrupt.
    Verify {
        /// Names of data sets [default: all].
        names: Vec<String>,
    },
    /// Print the folder of a data set, or of the cache.
    Path {
        /// Name of a data set.
        name: Option<String>,
    },
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.command {
        Command::List { json } => list(*json),
        Command::Fetch { names } => {
            for set in named(names)? {
                source::fetch(set, &mut FetchProgress::default()).map_err(LoadError::from)?;
                print(&format!("{set}: {}\n", source::path(set)?.display()))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Command::Verify { names } if names.is_empty() => verify(sets::ALL),
        Command::Verify { names } => verify(&named(names)?),
        Command::Path { name: None } => {
            print(&format!("{}\n", source::cache_dir()?.display()))?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Path { name: Some(name) } => {
            print(&format!("{}\n", source::path(find(name)?)?.display()))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn find(name: &str) -> Result<&'static Entry, BadInput> {
    sets::find(name).map_err(|error| BadInput(error.to_string()))
}

fn named(names: &[String]) -> Result<Vec<&'static Entry>, BadInput> {
    names.iter().map(|name| find(name)).collect()
}

fn list(json: bool) -> anyhow::Result<ExitCode> {
    let (mut text, mut all) = (String::new(), Vec::new());
    for set in sets::ALL {
        let presence = source::presence(set)?;
        let state = match presence {
            Presence::Drawn => "made on the spot".to_string(),
            Presence::Here => "here".to_string(),
            Presence::Corrupt => format!("corrupt; `evenkeel data fetch {set}` replaces it"),
            Presence::Missing => format!("not here; `evenkeel data fetch {set}` gets it"),
            Presence::NotProvided => format!("bring your own: put it into {}", source::path(set)?.display()),
        };
        writeln!(text, "{:14} {state}", set.name)?;
        let ready = matches!(presence, Presence::Drawn | Presence::Here);
        all.push(serde_json::json!({ "name": set.name, "ready": ready, "state": state }));
    }
    print(&if json { format!("{}\n", serde_json::to_string_pretty(&all)?) } else { text })?;
    Ok(ExitCode::SUCCESS)
}

fn verify(sets: &[&Entry]) -> anyhow::Result<ExitCode> {
    let mut good = true;
    for set in sets {
        for file in source::verify(set)? {
            good &= matches!(file.status, Status::Ok { .. });
            print(&format!("{}: {}\n", file.path.display(), file.status))?;
        }
    }
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::from(FAILURE) })
}
