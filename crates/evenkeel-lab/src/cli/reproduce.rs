//! `evenkeel reproduce`: a result of the paper, from the data to the page.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;

use super::error::BadInput;
use super::execute::{Processes, Work, begun, execute};
use super::output::print;
use crate::experiment::{Experiment, ExperimentError, Plan, suggest};
use crate::reproduce::outcome::{self, Provenance};
use crate::reproduce::runs::Runs;
use crate::reproduce::{Analysis, REPRODUCTIONS, Reproduction, quick};
use crate::spec::Model;
use crate::store::Store;

/// Reproduce a table, figure or analysis of the paper.
///
/// Runs what is missing of experiments/NAME.toml (each run is a process of its own; Ctrl-C saves, the same command goes on) and
/// writes DIR/outcome.md, DIR/outcome.json, DIR/provenance.json, DIR/tables/*.csv and DIR/figures/*.svg. The page goes to stdout. It
/// says which of the paper's claims our numbers bear out, contradict or leave open.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    evenkeel reproduce --list                              what there is and what it costs\n  \
    evenkeel reproduce two-timescale                       at once, without data\n  \
    evenkeel reproduce ablations                           Figure 4, 5 seeds\n  \
    evenkeel reproduce main --benchmark split-mnist --seeds 20\n  \
    evenkeel reproduce lr-sweep --quick                    does everything run? minutes instead of hours")]
pub(super) struct Args {
    /// What to reproduce (--list).
    #[arg(required_unless_present = "list")]
    name: Option<String>,
    /// Show what can be reproduced, and its cost.
    #[arg(long, conflicts_with_all = ["name", "quick", "benchmark", "out"])]
    list: bool,
    /// A scaled-down version: two seeds, few iterations, a subset of the test images.
    #[arg(long)]
    quick: bool,
    /// Number of seeds, or a range A..B [default: 5; 2 with --quick].
    #[arg(long, value_name = "N|A..B")]
    seeds: Option<String>,
    /// Only these benchmarks, separated by commas [default: all of the experiment whose data is there].
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    benchmark: Vec<String>,
    /// Folder for the page [default: runs/NAME, with --quick runs/NAME-quick].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Folder of the runs, which several reproductions may share [default: the folder for the page].
    #[arg(long, value_name = "DIR")]
    runs: Option<PathBuf>,
    /// Override a setting, as in `evenkeel run`; the paper's numbers are then no longer comparable.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    processes: Processes,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let Some(name) = &args.name else {
        print(&list()?)?;
        return Ok(ExitCode::SUCCESS);
    };
    let names: Vec<&str> = REPRODUCTIONS.iter().map(|reproduction| reproduction.name).collect();
    let reproduction = Reproduction::named(name)
        .ok_or_else(|| BadInput(format!("there is no reproduction '{name}'{}", suggest(name, &names))))?;
    match reproduction.analysis {
        Analysis::OfFile(page) => {
            if !args.benchmark.is_empty() || args.seeds.is_some() || !args.set.is_empty() {
                let message = format!("{name} trains nothing: it has no benchmark, no seeds and no settings");
                return Err(BadInput(message).into());
            }
            let out = args.out(name);
            Store::new(&out).create().context("cannot use the folder for the results (--out)")?;
            let page = page(reproduction.file).map_err(|error| BadInput(format!("{name}.toml: {error}")))?;
            // Nothing is left out of a scalar model: it is the full version in any case.
            let provenance = Provenance::new(name, args.command(name), false, Vec::new(), &Runs::default());
            let section = outcome::section(reproduction, page, &provenance, &[]);
            outcome::write(&out, &section, &provenance)?;
            print(&outcome::markdown(&section))?;
            eprintln!("written to {}", out.display());
            Ok(ExitCode::SUCCESS)
        }
        Analysis::OfRuns(page) => {
            let parts = args.parts(reproduction)?;
            let out = args.out(name);
            let store = Store::new(args.runs.as_ref().unwrap_or(&out));
            store.create().context("cannot use the folder for the runs")?;
            Store::new(&out).create().context("cannot use the folder for the results (--out)")?;
            let (work, without) = args.work(&parts)?;
            let title = format!("{name}{}", if args.quick { " (quick)" } else { "" });
            let ended = execute(&title, &store, &work, &args.processes)?;
            if ended.stopped() {
                return Ok(ExitCode::from(130));
            }
            let runs = Runs::load(&begun(&store, &work.specs)?);
            let provenance = Provenance::new(name, args.command(name), args.quick, without, &runs);
            let section = outcome::section(reproduction, page(&runs), &provenance, &runs.left_out);
            outcome::write(&out, &section, &provenance)?;
            print(&outcome::markdown(&section))?;
            eprintln!("written to {}", out.display());
            ended.into_result()
        }
    }
}

impl Args {
    fn out(&self, name: &str) -> PathBuf {
        let folder = if self.quick { format!("{name}-quick") } else { name.to_string() };
        self.out.clone().unwrap_or_else(|| Path::new("runs").join(folder))
    }

    /// The command that makes the same numbers again, without what changes only folders and speed.
    fn command(&self, name: &str) -> String {
        let mut words = vec![format!("evenkeel reproduce {name}")];
        words.extend(self.quick.then(|| "--quick".to_string()));
        words.extend(self.seeds.as_ref().map(|seeds| format!("--seeds {seeds}")));
        words.extend(
            (!self.benchmark.is_empty()).then(|| format!("--benchmark {}", self.benchmark.join(","))),
        );
        words.extend(self.set.iter().map(|set| format!("--set '{}'", set.replace('\'', "'\\''"))));
        words.join(" ")
    }

    /// The chosen parts of the experiment file with the command line's changes.
    fn parts(&self, reproduction: &Reproduction) -> anyhow::Result<Vec<Experiment>> {
        let mut parts = Plan::parse(reproduction.file, reproduction.name)?.parts;
        let mut known: Vec<String> = parts.iter().map(|part| part.benchmark.clone()).collect();
        known.dedup();
        for name in &self.benchmark {
            if !known.contains(name) {
                let hint = suggest(name, &known);
                let name = format!("{name}' in '{}", reproduction.name);
                return Err(ExperimentError::Benchmark { name, hint }.into());
            }
        }
        parts.retain(|part| self.benchmark.is_empty() || self.benchmark.contains(&part.benchmark));
        for part in &mut parts {
            if self.quick {
                quick(part);
            }
            if let Some(seeds) = &self.seeds {
                part.set_seeds(seeds)?;
            }
            for assignment in &self.set {
                part.set(assignment)?;
            }
            part.check()?;
        }
        Ok(parts)
    }

    /// The runs of all parts. A benchmark whose data is missing is an error if it was asked for by name, and left out with a
    /// warning if not.
    fn work(&self, parts: &[Experiment]) -> anyhow::Result<(Work, Vec<String>)> {
        let (mut work, mut without) = (Work::default(), Vec::new());
        for part in parts {
            match work.add(part) {
                Ok(()) => {}
                Err(error) if self.benchmark.is_empty() && parts.len() > 1 => {
                    // Folders of this machine are for this user, not for the page.
                    let why = format!("{}, its data was not there", part.benchmark);
                    if !without.contains(&why) {
                        eprintln!("warning: LEFT OUT: {}, its data is not there: {error}", part.benchmark);
                        without.push(why);
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        if work.specs.is_empty() {
            return Err(BadInput(format!("no benchmark has its data: {}", without.join("; "))).into());
        }
        Ok((work, without))
    }
}

/// Tasks of the paper's streams: the number of iterations must be known without the data.
fn tasks(benchmark: &str) -> u64 {
    if benchmark.starts_with("split-") { 5 } else { 3 }
}

fn list() -> anyhow::Result<String> {
    let mut text = String::from("What can be reproduced (evenkeel reproduce NAME), with 5 seeds\n");
    for reproduction in &REPRODUCTIONS {
        writeln!(text, "\n  {:16} {}: {}", reproduction.name, reproduction.place, reproduction.summary)?;
        if matches!(reproduction.analysis, Analysis::OfFile(_)) {
            writeln!(text, "  {:16}   nothing is trained: at once", "")?;
            continue;
        }
        let parts = Plan::parse(reproduction.file, reproduction.name)?.parts;
        let mut benchmarks: Vec<(&str, u64, u64, Model)> = Vec::new();
        for part in &parts {
            let runs = (part.optimizers.len() * part.seeds.len()) as u64;
            let iterations = runs * part.settings.iterations * tasks(&part.benchmark);
            match benchmarks.iter_mut().find(|known| known.0 == part.benchmark) {
                Some(known) => (known.1, known.2) = (known.1 + runs, known.2 + iterations),
                None => benchmarks.push((&part.benchmark, runs, iterations, part.settings.model)),
            }
        }
        for (name, runs, iterations, model) in benchmarks {
            let model = match model {
                Model::Mlp => "MLP",
                Model::SlimResnet18 => "slim ResNet-18",
            };
            writeln!(text, "  {:16}   {name:20} {runs:4} runs, {iterations:7} iterations of {model}", "")?;
        }
    }
    text += "\nEach iteration has an evaluation of the task-1 test set after it. An iteration of the MLP takes some 10 ms on two cores, one of \
             the slim ResNet-18 some hundred times as long (`evenkeel bench` measures both here). `mechanism` also measures the \
             curvature 20 times a run, a few seconds each. --quick takes minutes; --benchmark NAME chooses one benchmark.\n";
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::Benchmark;

    #[test]
    fn the_list_names_everything_with_its_runs() {
        let text = list().unwrap();
        for reproduction in &REPRODUCTIONS {
            assert!(text.contains(reproduction.name));
        }
        assert!(text.contains("split-mnist            20 runs,   20000 iterations of MLP"), "{text}");
    }

    #[test]
    fn the_counted_tasks_are_those_of_the_benchmarks() {
        for name in ["split-mnist", "rotated-mnist", "domain-cifar100"] {
            let settings = Benchmark::named(name).unwrap().settings();
            let known = settings.degrees.map(|degrees| degrees.len()).or(settings.domains);
            let known = known.or(settings.classes_per_task.map(|classes| 10 / classes)).unwrap();
            assert_eq!(tasks(name), known as u64);
        }
    }
}
