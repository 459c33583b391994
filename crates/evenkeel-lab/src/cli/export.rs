//! `evenkeel export`: curves and weights for other tools.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::UNIX_EPOCH;

use anyhow::Context as _;
use evenkeel_data::files;
use evenkeel_metrics::{Curve, is_packed, unpack};
use evenkeel_models::{Architecture, Visit};
use evenkeel_report::document::slug;
use evenkeel_report::export::parquet::{CurveWriter, RunLabels};
use evenkeel_report::export::tensorboard::write_events;

use super::error::{BadInput, FAILURE};
use super::report::must_be_folders;
use crate::analysis::Folders;
use crate::analysis::tables::described;
use crate::run::checkpoint::Checkpoint;
use crate::run::device::training_device;
use crate::run::learner::Learner;
use crate::run::prepare::{Prepared, prepare};
use crate::run::weights;
use crate::say::say;
use crate::spec::RunSpec;
use crate::store::StoredRun;

/// Write curves and weights in formats that other tools read.
///
/// Unfinished runs are written as far as they are. A curve that cannot be read is named and left out, which ends in exit
/// code 1. Weights are those of one run: one that is unfinished, or one that was made with `evenkeel run --keep-weights`;
/// layers under a gain are written as they act (gain × weight), with the names and shapes of a PyTorch `state_dict`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    evenkeel export runs/split-mnist --parquet curves.parquet\n  \
    evenkeel export runs/split-mnist --tensorboard tb\n  \
    evenkeel export runs/split-mnist/ngm-sgd-seed0-* --weights w.safetensors")]
pub(super) struct Args {
    /// Folders that `evenkeel run` wrote, or folders of single runs.
    #[arg(required = true, value_name = "DIR")]
    dirs: Vec<PathBuf>,
    /// All curves in one Parquet file.
    #[arg(long, value_name = "FILE")]
    parquet: Option<PathBuf>,
    /// One folder of TensorBoard event files per run.
    #[arg(long, value_name = "DIR")]
    tensorboard: Option<PathBuf>,
    /// The weights of one run as safetensors.
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.parquet.is_none() && args.tensorboard.is_none() && args.weights.is_none() {
        let message = "nothing to write: name --parquet FILE, --tensorboard DIR or --weights FILE";
        return Err(BadInput(message.to_string()).into());
    }
    must_be_folders(&args.dirs)?;
    let Folders { runs, mut problems, .. } = Folders::read(&args.dirs);
    if runs.is_empty() && problems.is_empty() {
        let dirs: Vec<String> = args.dirs.iter().map(|dir| dir.display().to_string()).collect();
        return Err(BadInput(format!("{}: no runs there", dirs.join(", "))).into());
    }
    if let Some(path) = &args.weights {
        export_weights(&runs, path)?;
        say!("{}: weights of {}", path.display(), name(&runs[0]));
    }
    let mut parquet = match &args.parquet {
        Some(path) => {
            let tasks = runs.iter().map(|run| tasks_in_header(&run.curve_path())).max().unwrap_or(1);
            let file = files::beside(path).with_context(|| path.display().to_string())?;
            Some((CurveWriter::new(BufWriter::new(file), tasks)?, path))
        }
        None => None,
    };
    let mut written = 0;
    if args.parquet.is_some() || args.tensorboard.is_some() {
        for run in runs.iter().filter(|run| run.curve_path().exists()) {
            let whole = run.check_files().map_err(|damage| damage.to_string());
            let curve = whole.and_then(|()| run.growing_curve().map_err(|error| error.to_string()));
            let curve = match curve {
                Ok(curve) => curve,
                Err(problem) => {
                    problems.push(problem);
                    continue;
                }
            };
            if let Some((writer, path)) = &mut parquet {
                writer.write(&labels(run), &curve).with_context(|| path.display().to_string())?;
            }
            if let Some(dir) = &args.tensorboard {
                export_events(run, &curve, dir)?;
            }
            written += 1;
        }
        say!("{written} curves written");
    }
    if let Some((writer, path)) = parquet {
        let file = writer.finish().with_context(|| path.display().to_string())?;
        let file = file.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        files::publish(file, path).with_context(|| path.display().to_string())?;
    }
    for problem in &problems {
        say!("left out: {problem}");
    }
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILURE) })
}

fn name(run: &StoredRun) -> String {
    run.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn labels(run: &StoredRun) -> RunLabels {
    let spec = &run.record.spec;
    RunLabels {
        benchmark: spec.benchmark.clone(),
        optimizer: spec.optimizer.name.clone(),
        parameters: spec.optimizer.to_string(),
        run: name(run),
        status: described(run),
        seed: spec.seed,
    }
}

/// Number of tasks that a curve file has columns for; what is wrong with the file shows when it is read.
fn tasks_in_header(path: &Path) -> usize {
    use std::io::BufRead as _;
    let mut header = String::new();
    let read = if is_packed(path) {
        unpack(path).and_then(|text| text.as_slice().read_line(&mut header))
    } else {
        File::open(path).and_then(|file| std::io::BufReader::new(file).read_line(&mut header))
    };
    if read.is_err() {
        return 1;
    }
    1 + header.split(',').filter(|name| name.trim().starts_with("acc_")).count()
}

fn export_events(run: &StoredRun, curve: &Curve, dir: &Path) -> anyhow::Result<()> {
    // The name comes from a file that anybody may have written: it must not lead out of the folder.
    let folder = dir.join(slug(&run.record.spec.benchmark)).join(name(run));
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let modified = run.curve_path().metadata().and_then(|metadata| metadata.modified());
    let end = modified.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let start = end.map_or(0.0, |end| end.as_secs_f64()) - run.record.seconds;
    // One name per run: exporting again replaces the file and does not double the curve.
    let path = folder.join("events.out.tfevents.0.evenkeel");
    let mut bytes = Vec::new();
    write_events(&mut bytes, curve, start.max(0.0), run.record.seconds)?;
    files::write(&path, &bytes).with_context(|| path.display().to_string())
}

fn export_weights(runs: &[StoredRun], path: &Path) -> anyhow::Result<()> {
    let [run] = runs else {
        let message = format!("--weights needs the folder of one run, these hold {}", runs.len());
        return Err(BadInput(message).into());
    };
    let kept = run.path.join(weights::FILE);
    run.check_files()?;
    if kept.is_file() {
        let bytes = std::fs::read(&kept).with_context(|| kept.display().to_string())?;
        return files::write(path, &bytes).with_context(|| path.display().to_string());
    }
    let spec = &run.record.spec;
    let checkpoint = run.path.join("checkpoint.bin");
    let Some(checkpoint) = Checkpoint::load(&checkpoint, &run.record.id)
        .map_err(|error| BadInput(format!("{}: {error}", checkpoint.display())))?
    else {
        let message = format!(
            "{}: holds no weights; run it again into another folder with `evenkeel run --keep-weights`",
            run.path.display()
        );
        return Err(BadInput(message).into());
    };
    spec.check()?;
    let prepared = prepare(&spec.settings, spec.seed, &mut evenkeel_data::source::Quiet)?;
    spec.settings.model.visit(FromCheckpoint { spec, prepared: &prepared, checkpoint, path })
}

/// Loads a checkpoint into its network, and writes the weights that would be evaluated.
struct FromCheckpoint<'a> {
    spec: &'a RunSpec,
    prepared: &'a Prepared,
    checkpoint: Checkpoint,
    path: &'a Path,
}

impl Visit for FromCheckpoint<'_> {
    type Output = anyhow::Result<()>;

    fn visit<N: Architecture>(self, config: &N::Config) -> anyhow::Result<()> {
        let device = training_device(&self.spec.settings.device);
        let learner = Learner::<N>::new(config, self.spec, self.prepared, &device)?;
        let learner = learner.load(self.checkpoint.weights, &self.checkpoint.optimizer)?;
        Ok(weights::write(self.path, &learner.evaluated(), learner.gain(), self.spec)?)
    }
}
