//! `evenkeel import`: logs of other programs as curve files.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use evenkeel_data::files;
use evenkeel_metrics::{Curve, write_header, write_point};

use super::error::BadInput;
use super::output::print;
use crate::analysis::own_curves::number_at_end;
use crate::import::curve::curve_of;
use crate::import::{self, FORMATS, LoggedRun, Roles, Timeline};
use crate::say::say;

/// Make curve files of what other programs log: Avalanche, TensorBoard, Weights & Biases.
///
/// The curves go to `metrics`, `report` and `serve` with --group. Without --out, the curve of a single run goes to stdout. Several runs
/// are written as files with numbers: those at the end of their names (logs/seed3 becomes mine-3.csv), else by their order.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    evenkeel import avalanche.txt --every 1 --out mine-0.csv\n  \
    evenkeel import csvlogs --task-iterations 400 --out mine-0.csv       Avalanche's CSVLogger\n  \
    evenkeel import tb/seed* --list                                      what was logged\n  \
    evenkeel import tb/seed* --accuracy test/task1 --task train/task --out mine.csv\n  \
    evenkeel import chart.csv --task-iterations 400 --offset 1 --fraction --out mine.csv\n  \
    evenkeel metrics --group mine='mine-*.csv' --against runs/split-mnist")]
pub(super) struct Args {
    /// Logs, one or more per command: files, or the folders that hold them.
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// Which format they have [default: by their content].
    #[arg(long, value_name = "FORMAT", value_parser = FORMATS.map(|format| format.name))]
    from: Option<String>,
    /// The curve file; of several runs it gets their numbers: mine.csv becomes mine-0.csv, mine-1.csv.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Show the names of what was logged, and make no curve.
    #[arg(long, conflicts_with = "out")]
    list: bool,
    /// The accuracy on the test set of task 1; given again, of task 2, 3, … [default: by the names that Avalanche gives].
    #[arg(long, value_name = "NAME")]
    accuracy: Vec<String>,
    /// The loss on the test set of task 1.
    #[arg(long, value_name = "NAME")]
    loss: Option<String>,
    /// The accuracy on the test sets of all tasks so far.
    #[arg(long, value_name = "NAME")]
    seen: Option<String>,
    /// The training loss.
    #[arg(long, value_name = "NAME")]
    train_loss: Option<String>,
    /// The task in training, as whole numbers; the lowest is task 1.
    #[arg(long, value_name = "NAME", conflicts_with = "task_iterations")]
    task: Option<String>,
    /// Updates of each task, 400 or 400,200,…
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    task_iterations: Vec<u64>,
    /// Updates between two evaluations, for logs that do not say it (text and CSV of Avalanche).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    every: Option<u64>,
    /// Added to every step: 1 where a program counts its updates from 0.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=1_000_000_000))]
    offset: u64,
    /// The accuracies lie between 0 and 1, and not in percent; of Avalanche that is known.
    #[arg(long)]
    fraction: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut runs: Vec<(&Path, LoggedRun)> = Vec::new();
    for log in &args.logs {
        let found = import::read(log, args.from.as_deref())?;
        runs.extend(found.into_iter().map(|run| (log.as_path(), run)));
    }
    if args.list {
        print(&listing(&runs)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut curves: Vec<Curve> = Vec::with_capacity(runs.len());
    for (log, run) in &runs {
        let roles = args.roles().complete(run, log)?;
        curves.push(curve_of(log, run, &roles, &args.timeline(), args.fraction)?);
    }
    for note in runs.iter().flat_map(|(_, run)| &run.notes) {
        say!("note: {note}");
    }
    let Some(out) = &args.out else {
        if let [curve] = &curves[..] {
            print(&text_of(curve)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        let message = format!("{} runs: --out mine.csv writes mine-0.csv, mine-1.csv, …", curves.len());
        return Err(BadInput(message).into());
    };
    let names: Vec<&str> = runs.iter().map(|(_, run)| run.name.as_str()).collect();
    for (path, (curve, name)) in outputs(out, &names).iter().zip(curves.iter().zip(&names)) {
        files::write(path, text_of(curve)?.as_bytes()).with_context(|| path.display().to_string())?;
        let (points, tasks) = (curve.points().len(), curve.tasks());
        let tasks = if tasks == 1 { "1 task".to_string() } else { format!("{tasks} tasks") };
        say!("{}: {points} evaluations of {tasks}, from {name}", path.display());
    }
    Ok(ExitCode::SUCCESS)
}

impl Args {
    fn roles(&self) -> Roles {
        Roles {
            accuracy: self.accuracy.clone(),
            loss: self.loss.clone(),
            seen: self.seen.clone(),
            train_loss: self.train_loss.clone(),
            task: self.task.clone(),
        }
    }

    fn timeline(&self) -> Timeline {
        Timeline { task_iterations: self.task_iterations.clone(), every: self.every, offset: self.offset }
    }
}

fn listing(runs: &[(&Path, LoggedRun)]) -> anyhow::Result<String> {
    let mut text = String::new();
    for (log, run) in runs {
        writeln!(text, "{}: {}", log.display(), run.name)?;
        for (name, series) in &run.series {
            let steps = [series.keys().next(), series.keys().next_back()]
                .map(|step| step.copied().unwrap_or_default());
            let what = if run.counted.is_some() { "evaluations" } else { "steps" };
            writeln!(text, "  {name}  {} values, {what} {} to {}", series.len(), steps[0], steps[1])?;
        }
    }
    Ok(text)
}

fn text_of(curve: &Curve) -> anyhow::Result<String> {
    let tasks = curve.points().iter().map(|point| point.task_acc.len() + 1).max().unwrap_or(1);
    let mut bytes = Vec::new();
    write_header(&mut bytes, tasks)?;
    curve.points().iter().try_for_each(|point| write_point(&mut bytes, &point, tasks))?;
    Ok(String::from_utf8(bytes)?)
}

/// A file for each run.
fn outputs(out: &Path, names: &[&str]) -> Vec<PathBuf> {
    if names.len() == 1 {
        return vec![out.to_owned()];
    }
    let numbers: Option<Vec<u64>> = names.iter().map(|name| number_at_end(name)).collect();
    let different = |numbers: &Vec<u64>| numbers.iter().collect::<BTreeSet<_>>().len() == numbers.len();
    let numbers = numbers.filter(different).unwrap_or_else(|| (0..names.len() as u64).collect());
    let stem = out.file_stem().unwrap_or_default().to_string_lossy();
    let end = out.extension().map(|end| format!(".{}", end.to_string_lossy())).unwrap_or_default();
    numbers.iter().map(|number| out.with_file_name(format!("{stem}-{number}{end}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_numbered_by_their_names_or_by_their_order() {
        let shown = |names: &[&str]| {
            outputs(Path::new("a/mine.csv"), names)
                .iter()
                .map(|p| p.display().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(shown(&["anything"]), ["a/mine.csv"]);
        assert_eq!(shown(&["seed3", "seed7"]), ["a/mine-3.csv", "a/mine-7.csv"]);
        assert_eq!(shown(&["a-1", "b-1"]), ["a/mine-0.csv", "a/mine-1.csv"]);
        assert_eq!(shown(&["a", "b1"]), ["a/mine-0.csv", "a/mine-1.csv"]);
    }
}
