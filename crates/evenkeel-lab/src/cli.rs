//! The command line: one file per subcommand.

mod bench;
mod completions;
mod data;
mod error;
mod execute;
mod export;
mod groups;
mod import;
mod interrupt;
mod list;
mod metrics;
mod output;
mod report;
mod reproduce;
mod run;
mod serve;
mod status;
mod worker;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Trains on a stream of tasks, evaluates after every iteration, and shows the stability gap.
#[derive(Parser)]
#[command(
    name = "evenkeel",
    version,
    after_help = "Examples:\n  \
        evenkeel run split-mnist                        the paper's experiment: 4 optimizers, 5 seeds\n  \
        evenkeel run split-digits --seeds 2             a first look without any download\n  \
        evenkeel reproduce --list                       every table and figure of the paper, and its cost\n  \
        evenkeel status runs/split-mnist                how far it is\n  \
        evenkeel metrics runs/split-mnist               the tables again\n  \
        evenkeel report runs/split-mnist                tables and figures in one HTML file\n  \
        evenkeel serve runs/split-mnist                 the same while runs go on, in a browser\n  \
        evenkeel metrics my-curve-*.csv --format json   the same metrics for curves of your own"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::Args),
    Reproduce(reproduce::Args),
    Status(status::Args),
    Metrics(metrics::Args),
    Report(report::Args),
    Serve(serve::Args),
    Export(export::Args),
    Import(import::Args),
    Data(data::Args),
    List(list::Args),
    Bench(bench::Args),
    Completions(completions::Args),
    Worker(worker::Args),
}

/// Parses the arguments, runs the command, and prints its error in one line.
pub fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Metrics(args) => metrics::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Data(args) => data::run(&args),
        Command::List(_) => list::run(),
        Command::Bench(args) => bench::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Worker(args) => worker::run(&args),
    };
    result.unwrap_or_else(|error| error::report(&error))
}
