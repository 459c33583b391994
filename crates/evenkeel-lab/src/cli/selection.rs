//! Which runs: an experiment and what the command line changes about it. What `run`, `submit` and `tune` have in common.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::execute::Work;
use crate::say::say;
use crate::spec::{CheckedExperiment, Experiment, Plan};
use crate::store::Store;

/// An experiment with overrides, its seeds and its folder.
#[derive(clap::Args)]
pub(super) struct Selection {
    #[command(flatten)]
    changed: Changed,
    /// Number of seeds, a range A..B or a list A,B,C [default: 5].
    #[arg(long, value_name = "N|A..B|A,B,C")]
    seeds: Option<String>,
    /// Folder for the results [default: runs/BENCHMARK].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// An experiment with overrides.
#[derive(clap::Args)]
pub(super) struct Changed {
    /// Name of a benchmark (`evenkeel list`) or an experiment file (.toml).
    #[arg(value_name = "BENCHMARK|FILE.toml")]
    pub(super) experiment: String,
    /// Optimizers, separated by commas [default: ngm-sgd,msgd,adam,sgd].
    #[arg(long, value_delimiter = ',')]
    optimizers: Vec<String>,
    /// Override a setting (`batch=64`) or an optimizer's parameter (`lr=0.1` for all, `ngm-sgd.eta=0.3` for one).
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Iterations per task.
    #[arg(long, value_name = "N")]
    iterations: Option<u64>,
    /// Evaluate after every N iterations.
    #[arg(long, value_name = "N")]
    eval_every: Option<u64>,
    /// Evaluate on N random test images per task.
    #[arg(long, value_name = "N")]
    eval_samples: Option<usize>,
    /// Compute device: flex (the CPU, on this project's kernels), or ndarray, wgpu, cuda in a build with that feature [default:
    /// flex, or the experiment file's].
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
}

impl Changed {
    /// The experiments, with the command line's overrides on each; `seeds` as `--seeds` has them.
    pub(super) fn experiments(&self, seeds: Option<&str>) -> anyhow::Result<Vec<CheckedExperiment>> {
        let is_file = Path::new(&self.experiment).extension().is_some_and(|e| e == "toml");
        let mut experiments = if is_file {
            Plan::load(Path::new(&self.experiment))?.parts
        } else {
            vec![Experiment::named(&self.experiment)?]
        };
        experiments.iter_mut().map(|experiment| self.change(experiment, seeds)).collect()
    }

    fn change(&self, experiment: &mut Experiment, seeds: Option<&str>) -> anyhow::Result<CheckedExperiment> {
        for (i, name) in self.optimizers.iter().enumerate() {
            if self.optimizers[..i].contains(name) {
                say!("note: --optimizers names {name} twice; it runs once");
            }
        }
        if !self.optimizers.is_empty() {
            experiment.set_optimizers(&self.optimizers)?;
        }
        if let Some(seeds) = seeds {
            experiment.set_seeds(seeds)?;
        }
        let settings = &mut experiment.settings;
        settings.iterations = self.iterations.unwrap_or(settings.iterations);
        settings.eval_every = self.eval_every.unwrap_or(settings.eval_every);
        settings.eval_samples = self.eval_samples.or(settings.eval_samples);
        if let Some(device) = &self.device {
            settings.device.clone_from(device);
        }
        for assignment in &self.set {
            experiment.set(assignment)?;
        }
        Ok(experiment.check()?)
    }

    /// The name of the benchmark or of the experiment file.
    pub(super) fn name(&self) -> String {
        Path::new(&self.experiment).file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
}

impl Selection {
    /// The experiments, with the command line's overrides on each.
    pub(super) fn experiments(&self) -> anyhow::Result<Vec<CheckedExperiment>> {
        self.changed.experiments(self.seeds.as_deref())
    }

    /// The name of the benchmark or the path of the experiment file, as it was given.
    pub(super) fn experiment(&self) -> &str {
        &self.changed.experiment
    }

    /// The name of the benchmark or of the experiment file.
    pub(super) fn name(&self) -> String {
        self.changed.name()
    }

    /// The folder of results; that of an experiment file is named after the file.
    pub(super) fn out(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| Path::new("runs").join(self.name()))
    }

    /// The folder, made if need be, and the runs. Their data is fetched and checked here, before anybody works on them.
    pub(super) fn prepare(
        &self,
        experiments: &[CheckedExperiment],
        kernels: Option<String>,
    ) -> anyhow::Result<(Store, Work)> {
        let store = Store::new(self.out()).with_kernels(kernels);
        store.create().context("cannot use the folder for the results (--out)")?;
        let mut work = Work::default();
        for experiment in experiments {
            work.add(experiment)?;
        }
        Ok((store, work))
    }
}
