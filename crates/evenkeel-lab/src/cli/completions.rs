//! `evenkeel completions`: completion scripts for shells.

use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use evenkeel_data::sets;

use super::output::print;
use crate::reproduce::RESULTS;
use crate::spec::{BENCHMARKS, optimizers};

/// Print a completion script for a shell.
///
/// It knows the names of benchmarks, optimizers, results and data sets.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  \
    evenkeel completions bash > evenkeel.bash && source evenkeel.bash")]
pub(super) struct Args {
    /// The shell.
    shell: Shell,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut command = with_names(super::Cli::command());
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "evenkeel", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// The command with the names that each argument may have. They are only for completion: files are arguments, too.
fn with_names(command: Command) -> Command {
    let benchmarks: Vec<&'static str> = BENCHMARKS.iter().map(|benchmark| benchmark.name).collect();
    let optimizers: Vec<&'static str> = optimizers::all().map(|(name, _)| name).collect();
    let results: Vec<&'static str> = RESULTS.iter().map(|result| result.name).collect();
    let data: Vec<&'static str> = sets::ALL.iter().map(|set| set.name).collect();
    let named = |command: Command, argument: &'static str, names: &[&'static str]| {
        let names = PossibleValuesParser::new(names.to_vec());
        command.mut_arg(argument, |argument| argument.value_parser(names).hide_possible_values(true))
    };
    command
        .mut_subcommand("run", |run| {
            let run = named(run, "experiment", &benchmarks);
            let run = named(run, "optimizers", &optimizers);
            named(run, "against", &optimizers)
        })
        .mut_subcommand("tune", |tune| {
            named(named(tune, "experiment", &benchmarks), "optimizers", &optimizers)
        })
        .mut_subcommand("reproduce", |reproduce| {
            named(named(reproduce, "name", &results), "benchmark", &benchmarks)
        })
        .mut_subcommand("report", |report| named(report, "against", &optimizers))
        .mut_subcommand("serve", |serve| named(serve, "against", &optimizers))
        .mut_subcommand("data", |all| {
            all.mut_subcommand("fetch", |fetch| named(fetch, "names", &data))
                .mut_subcommand("verify", |verify| named(verify, "names", &data))
                .mut_subcommand("path", |path| named(path, "name", &data))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_know_the_names_of_everything() {
        // Those of fish have no names of arguments without an option.
        for shell in [Shell::Bash, Shell::Zsh] {
            let mut script = Vec::new();
            clap_complete::generate(
                shell,
                &mut with_names(super::super::Cli::command()),
                "evenkeel",
                &mut script,
            );
            let script = String::from_utf8(script).unwrap();
            for name in ["rotated-mnist", "adam-reset", "two-timescale", "clinc150"] {
                assert!(script.contains(name), "{name} in {shell}");
            }
        }
    }
}
