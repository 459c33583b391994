//! `evenkeel metrics`: the tables of a folder, or of anyone's curves.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::error::{BadInput, failure_if};
use super::groups::Groups;
use super::output::print;
use super::status::runs_in;
use crate::analysis::own_curves::{OwnSource, UNNAMED};
use crate::analysis::{Format, OwnCurves, Runs, folders, terminal};
use crate::spec::suggest;
use crate::store::StoredRuns;

/// Compute the stability-gap metrics of runs, or of curve files of any program.
///
/// A curve file is CSV with a header; `iteration,task,task1_acc` are required (tasks from 1, accuracy in percent on the
/// test set of task 1), one file per seed.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    evenkeel metrics runs/split-mnist\n  \
    evenkeel metrics runs/split-mnist --against msgd\n  \
    evenkeel metrics runs/split-mnist --format markdown\n  \
    evenkeel metrics seed0.csv seed1.csv seed2.csv --format json\n  \
    evenkeel metrics --group mine='mine-*.csv' --group adam='adam-*.csv'\n  \
    evenkeel metrics --group mine='mine-*.csv' --against runs/split-mnist")]
pub(super) struct Args {
    /// A folder that `evenkeel run` wrote, or curve files.
    #[arg(required_unless_present = "groups", value_name = "DIR|CURVE.csv")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    groups: Groups,
    /// The optimizer that the others are compared with [default: the first of `evenkeel list` that ran]; with --group, also a
    /// folder of runs.
    #[arg(long, value_name = "NAME|DIR")]
    against: Option<String>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// The same as --format json.
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl Args {
    fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let folders = args.paths.iter().filter(|path| path.is_dir()).count();
    let mut unreadable = false;
    let runs = if !args.groups.is_empty() {
        return beside(args);
    } else if folders == 0 {
        of_files(&args.paths)?
    } else if folders == args.paths.len() {
        let found = runs_of_all(args.paths.iter().map(PathBuf::as_path))?;
        unreadable = !found.unreadable.is_empty();
        Runs::load(&found.runs)
    } else {
        return Err(BadInput("give folders or curve files, not both".into()).into());
    };
    must_be_there(&runs, args.against.as_deref())?;
    print(&terminal::render(&runs, args.against.as_deref(), args.format()))?;
    Ok(failure_if(unreadable || runs.damaged()))
}

/// Groups of other programs, beside the runs of a folder if there is one.
fn beside(args: &Args) -> anyhow::Result<ExitCode> {
    let sources = args.groups.sources();
    let own: Vec<OwnCurves> = sources.iter().map(OwnSource::read).collect::<Result<_, _>>()?;
    let against = args.against.as_deref();
    let mut dirs: Vec<&Path> = args.paths.iter().map(PathBuf::as_path).collect();
    let reference = against.filter(|name| !Path::new(name).is_dir());
    dirs.extend(against.map(Path::new).filter(|path| path.is_dir()));
    if let Some(file) = dirs.iter().find(|path| !path.is_dir()) {
        let message = format!("{}: with --group give folders; a file is a group of its own", file.display());
        return Err(BadInput(message).into());
    }
    let found = runs_of_all(dirs.iter().copied())?;
    let runs = match dirs.first() {
        None => Runs::of_own(own),
        Some(first) => Runs::load(&found.runs).with_own(first, own)?,
    };
    must_be_there(&runs, reference)?;
    print(&terminal::render(&runs, reference, args.format()))?;
    Ok(failure_if(!found.unreadable.is_empty() || runs.damaged()))
}

/// Curves of any program, one file per seed, all of one method.
fn of_files(paths: &[PathBuf]) -> anyhow::Result<Runs> {
    Ok(Runs::of_own(vec![OwnCurves::read(UNNAMED, paths, false)?]))
}

/// An optimizer to compare with must be one that ran.
pub(super) fn must_be_there(runs: &Runs, against: Option<&str>) -> anyhow::Result<()> {
    let Some(name) = against else { return Ok(()) };
    if runs.lineups.iter().any(|lineup| lineup.reference(against).is_some()) {
        return Ok(());
    }
    let mut known: Vec<&str> = runs
        .lineups
        .iter()
        .flat_map(|lineup| &lineup.groups)
        .map(|group| group.spec.optimizer.name.as_str())
        .collect();
    known.sort_unstable();
    known.dedup();
    Err(BadInput(format!("--against {name}: no such optimizer among these runs{}", suggest(name, &known)))
        .into())
}

/// The runs of a folder, in the order of tables.
pub(super) fn runs_of(dir: &Path) -> anyhow::Result<StoredRuns> {
    let mut found = runs_in(dir)?;
    folders::sort(&mut found.runs);
    Ok(found)
}

/// Those of several folders, one folder after the other.
fn runs_of_all<'a>(dirs: impl Iterator<Item = &'a Path>) -> anyhow::Result<StoredRuns> {
    let mut all = StoredRuns::default();
    for dir in dirs {
        let StoredRuns { runs, unreadable } = runs_of(dir)?;
        all.runs.extend(runs);
        all.unreadable.extend(unreadable);
    }
    Ok(all)
}
