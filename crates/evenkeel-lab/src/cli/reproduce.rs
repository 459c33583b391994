//! `evenkeel reproduce`: a result of the paper, from the data to the page.

mod list;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;

use super::controls::WithControls;
use super::error::BadInput;
use super::execute::{Processes, Work, begun, execute};
use super::output::print;
use super::rehearsal;
use crate::analysis::Runs;
use crate::paper;
use crate::reproduce::outcome::{self, Provenance};
use crate::reproduce::{Analysis, Page, RESULTS, Result, quick};
use crate::say::say;
use crate::spec::{CheckedExperiment, ExperimentError, Plan, suggest};
use crate::store::Store;

/// Reproduce a table, figure or analysis of the paper.
///
/// Runs what is missing (each run is a process of its own; Ctrl-C saves, the same command goes on) and
/// writes the files outcome.md, outcome.json, provenance.json, claims.csv, per-seed.csv, tables/*.csv and figures/*.svg
/// into DIR. The page goes to stdout. It says which of the paper's claims our numbers bear out, contradict or leave open.
#[derive(clap::Args)]
#[allow(clippy::struct_excessive_bools)] // flags of a command line
#[command(after_help = "Examples:\n  \
    evenkeel reproduce --list               what there is and what it costs\n  \
    evenkeel reproduce two-timescale        at once, without data\n  \
    evenkeel reproduce ablations            Figure 4, 5 seeds\n  \
    evenkeel reproduce ablations --dry-run  how long that takes here\n  \
    evenkeel reproduce main --benchmark split-mnist --seeds 20\n  \
    evenkeel reproduce main --benchmark split-mnist --control  also what the gaps are beyond chance\n  \
    evenkeel reproduce lr-sweep --quick     does everything run? minutes, not hours")]
pub(super) struct Args {
    /// What to reproduce (--list).
    #[arg(required_unless_present_any = ["list", "claims"])]
    name: Option<String>,
    /// Show what can be reproduced, and its cost.
    #[arg(long, conflicts_with_all = ["name", "quick", "benchmark", "out"])]
    list: bool,
    /// Print the list of the paper's claims: what judges each, or why it is not tested.
    #[arg(long, conflicts_with_all = ["name", "list", "quick", "benchmark", "out"])]
    claims: bool,
    /// Print the experiment file of NAME: what it runs, to be changed and given to `evenkeel run`.
    #[arg(long, conflicts_with_all = ["quick", "benchmark", "out"])]
    experiment: bool,
    /// A scaled-down version: two seeds, few iterations, a subset of the test images.
    #[arg(long)]
    quick: bool,
    /// Number of seeds, a range A..B or a list A,B,C [default: 5; 2 with --quick].
    #[arg(long, value_name = "N|A..B|A,B,C")]
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
    controls: WithControls,
    /// Print the page (or the list) as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    processes: Processes,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let Some(name) = &args.name else {
        print(&match (args.claims, args.json) {
            (true, _) => paper::claims::to_markdown(),
            (_, true) => format!("{}\n", serde_json::to_string_pretty(&list::costs()?)?),
            _ => list::list()?,
        })?;
        return Ok(ExitCode::SUCCESS);
    };
    let names: Vec<&str> = RESULTS.iter().map(|result| result.name).collect();
    let result = Result::named(name)
        .ok_or_else(|| BadInput(format!("there is no result '{name}'{}", suggest(name, &names))))?;
    if args.experiment {
        print(&format!("{}\n", result.experiment.trim()))?;
        return Ok(ExitCode::SUCCESS);
    }
    match result.analysis {
        Analysis::OfFile(page) => args.without_runs(result, page),
        Analysis::OfRuns(page) => args.with_runs(result, page),
    }
}

impl Args {
    /// A result that trains nothing.
    fn without_runs(
        &self,
        result: &Result,
        page: fn(&str) -> std::result::Result<Page, String>,
    ) -> anyhow::Result<ExitCode> {
        let name = result.name;
        let asked = !self.benchmark.is_empty() || self.seeds.is_some() || !self.set.is_empty();
        if asked || self.controls.control.is_some() {
            let message =
                format!("{name} trains nothing: it has no benchmark, no seeds, no settings and no controls");
            return Err(BadInput(message).into());
        }
        let out = self.out(name);
        Store::new(&out).create().context("cannot use the folder for the results (--out)")?;
        let page = page(result.experiment).map_err(|error| BadInput(format!("{name}: {error}")))?;
        // Nothing is left out of a scalar model: it is the full version in any case.
        let provenance = Provenance::new(name, self.command(name), false, Vec::new(), &Runs::default());
        self.write(result, page, &provenance, &Runs::default())?;
        Ok(ExitCode::SUCCESS)
    }

    /// A result that needs runs: does what is missing of them first.
    fn with_runs(&self, result: &Result, page: fn(&Runs) -> Page) -> anyhow::Result<ExitCode> {
        let name = result.name;
        let parts = self.parts(result)?;
        let out = self.out(name);
        let store = Store::new(self.runs.as_ref().unwrap_or(&out));
        if self.processes.dry_run() {
            print(&rehearsal::plan(name, &store, &parts, &self.processes)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        store.create().context("cannot use the folder for the runs")?;
        Store::new(&out).create().context("cannot use the folder for the results (--out)")?;
        let (work, without) = self.work(&parts)?;
        let title = format!("{name}{}", if self.quick { " (quick)" } else { "" });
        let ended = execute(&title, &store, &work, &self.processes)?;
        if ended.stopped() {
            return Ok(ExitCode::from(130));
        }
        let runs = Runs::load(&begun(&store, &work.specs)?);
        let provenance = Provenance::new(name, self.command(name), self.quick, without, &runs);
        self.write(result, page(&runs), &provenance, &runs)?;
        ended.into_result(runs.damaged())
    }

    fn write(&self, result: &Result, page: Page, provenance: &Provenance, runs: &Runs) -> anyhow::Result<()> {
        let out = self.out(result.name);
        let outcome = outcome::outcome(result, page, provenance, runs);
        outcome::write(&out, &outcome, provenance)?;
        print(&if self.json {
            format!("{}\n", serde_json::to_string_pretty(&outcome.section)?)
        } else {
            outcome::markdown(&outcome.section)
        })?;
        say!("written to {}", out.display());
        Ok(())
    }

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
        words.extend(self.controls.control.as_ref().map(ToString::to_string));
        words.extend(self.set.iter().map(|set| format!("--set '{}'", set.replace('\'', "'\\''"))));
        words.join(" ")
    }

    /// The chosen parts of the experiment file with the command line's changes.
    fn parts(&self, result: &Result) -> anyhow::Result<Vec<CheckedExperiment>> {
        let mut parts = Plan::parse(result.experiment, result.name)?.parts;
        let mut known: Vec<String> = parts.iter().map(|part| part.benchmark.clone()).collect();
        known.dedup();
        for name in &self.benchmark {
            if !known.contains(name) {
                let hint = suggest(name, &known);
                let name = format!("{name}' in '{}", result.name);
                return Err(ExperimentError::Benchmark { name, hint }.into());
            }
        }
        parts.retain(|part| self.benchmark.is_empty() || self.benchmark.contains(&part.benchmark));
        let mut checked = Vec::with_capacity(parts.len());
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
            checked.push(part.check()?);
        }
        self.controls.beside(checked)
    }

    /// The runs of all parts. A benchmark whose data is missing is an error if it was asked for by name, and left out with a
    /// warning if not.
    fn work(&self, parts: &[CheckedExperiment]) -> anyhow::Result<(Work, Vec<String>)> {
        let (mut work, mut without) = (Work::default(), Vec::new());
        for part in parts {
            match work.add(part) {
                Ok(()) => {}
                Err(error) if self.benchmark.is_empty() && parts.len() > 1 => {
                    // Folders of this machine are for this user, not for the page.
                    let why = format!("{}, its data was not there", part.benchmark);
                    if !without.contains(&why) {
                        say!("warning: LEFT OUT: {}, its data is not there: {error}", part.benchmark);
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
