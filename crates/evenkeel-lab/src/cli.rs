//! The command line: one file per subcommand.

mod bench;
mod completions;
mod controls;
mod data;
pub mod embedded;
mod error;
mod execute;
mod export;
mod groups;
mod import;
mod interrupt;
mod list;
mod man;
mod metrics;
mod output;
mod rehearsal;
mod report;
mod reproduce;
mod run;
mod selection;
mod serve;
mod start;
mod status;
mod submit;
mod tune;
mod work;
mod worker;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use evenkeel_kernels::InstructionSet;

/// Trains on a stream of tasks, evaluates after every iteration, and shows the stability gap.
#[derive(Parser)]
#[command(
    name = "evenkeel",
    version,
    max_term_width = 80,
    after_help = "Examples:\n  \
        evenkeel run split-digits --seeds 2    a first look without any download\n  \
        evenkeel run split-mnist               the paper's 4 optimizers, 5 seeds\n  \
        evenkeel reproduce --list              the paper's results and their cost\n  \
        evenkeel tune split-mnist              its learning rates, by seeds of its own\n  \
        evenkeel status runs/split-mnist       how far it is\n  \
        evenkeel metrics runs/split-mnist      the tables again\n  \
        evenkeel report runs/split-mnist       all of it in one HTML file\n  \
        evenkeel serve runs/split-mnist        the same page while runs go on\n  \
        evenkeel metrics mine-*.csv --json     metrics for curves of your own"
)]
struct Cli {
    /// Say nothing but results and errors.
    #[arg(short, long, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    Run(run::Args),
    Work(work::Args),
    Submit(submit::Args),
    Tune(tune::Args),
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
    Man(man::Args),
    Worker(worker::Args),
}

/// Parses the arguments of this process, runs the command, and prints its error in one line.
pub fn main() -> ExitCode {
    main_with(std::env::args_os())
}

/// As [`main`], with arguments from elsewhere; the first is the name of the program.
pub fn main_with(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(message) => {
            let _ = message.print();
            return ExitCode::from(u8::try_from(message.exit_code()).unwrap_or(error::BAD_INPUT));
        }
    };
    if cli.quiet {
        crate::say::be_quiet();
    }
    let result = known_kernels().and_then(|()| execute_command(cli.command));
    result.unwrap_or_else(|error| error::report(&error))
}

/// Kernels that are asked for must be there: a slip would silently measure others.
fn known_kernels() -> anyhow::Result<()> {
    let asked = std::env::var(evenkeel_kernels::instruction_set::VARIABLE).unwrap_or_default();
    let names: Vec<&str> = InstructionSet::available().into_iter().map(InstructionSet::name).collect();
    let asked = asked.trim();
    if asked.is_empty() || names.iter().any(|name| name.eq_ignore_ascii_case(asked)) {
        return Ok(());
    }
    let message = format!(
        "{}={asked}: this processor has no such kernels; there are: {}",
        evenkeel_kernels::instruction_set::VARIABLE,
        names.join(", ")
    );
    Err(error::BadInput(message).into())
}

fn execute_command(command: Option<Command>) -> anyhow::Result<ExitCode> {
    let Some(command) = command else { return start::run() };
    match command {
        Command::Run(args) => run::run(&args),
        Command::Work(args) => work::run(&args),
        Command::Submit(args) => submit::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Metrics(args) => metrics::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Data(args) => data::run(&args),
        Command::List(args) => list::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
        Command::Worker(args) => worker::run(&args),
    }
}
