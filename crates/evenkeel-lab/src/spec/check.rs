//! What must hold before the first iteration: only what comes out of here can run.

use std::ops::Deref;

use evenkeel_data::LoadError;

use super::{Experiment, ExperimentError, OptimizerSpec, RunSpec, Settings};
use crate::run::device;

/// An experiment whose every value was checked.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedExperiment(Experiment);

/// A run whose every value was checked.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedRun(RunSpec);

impl Deref for CheckedExperiment {
    type Target = Experiment;

    fn deref(&self) -> &Experiment {
        &self.0
    }
}

impl Deref for CheckedRun {
    type Target = RunSpec;

    fn deref(&self) -> &RunSpec {
        &self.0
    }
}

impl Experiment {
    /// Checks everything that can be known before the data is there.
    pub fn check(&self) -> Result<CheckedExperiment, ExperimentError> {
        self.settings.check()?;
        if self.optimizers.is_empty() {
            return Err(bad("optimizers", "name at least one"));
        }
        for (i, optimizer) in self.optimizers.iter().enumerate() {
            if self.optimizers[..i].iter().any(|other| other.name == optimizer.name) {
                return Err(bad("optimizers", format!("'{}' is named twice", optimizer.name)));
            }
            optimizer.check(&self.settings)?;
        }
        Ok(CheckedExperiment(self.clone()))
    }
}

impl CheckedExperiment {
    /// One spec for each seed and optimizer. Seed by seed, so that an interrupted experiment has complete pairs.
    ///
    /// `data_sha256` identifies data that is not in the catalogue.
    pub fn expand(&self, data_sha256: Option<&str>) -> Vec<RunSpec> {
        let run = |seed, optimizer: &OptimizerSpec| RunSpec {
            benchmark: self.benchmark.clone(),
            settings: self.settings.clone(),
            optimizer: optimizer.clone(),
            seed,
            data_sha256: data_sha256.map(ToString::to_string),
        };
        let mut specs = Vec::with_capacity(self.seeds.len() * self.optimizers.len());
        for &seed in &self.seeds {
            specs.extend(self.optimizers.iter().map(|optimizer| run(seed, optimizer)));
        }
        specs
    }
}

impl RunSpec {
    /// Checks a description, which may come from a file that anybody wrote.
    pub fn check(&self) -> Result<CheckedRun, ExperimentError> {
        self.settings.check()?;
        self.optimizer.check(&self.settings)?;
        Ok(CheckedRun(self.clone()))
    }
}

/// Longer names do not fit into a folder's name with the seed and the id.
const LONGEST_NAME: usize = 100;

/// The name of an optimizer becomes part of a folder's name.
pub(super) fn check_name(name: &str) -> Result<(), ExperimentError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_+=".contains(c);
    let reason = if name.is_empty() || !name.chars().all(allowed) {
        "use letters, digits, '-', '_', '+' and '='".to_string()
    } else if name.len() > LONGEST_NAME {
        format!("must have at most {LONGEST_NAME} characters")
    } else {
        return Ok(());
    };
    Err(bad(&format!("optimizer name '{name}'"), reason))
}

impl OptimizerSpec {
    fn check(&self, settings: &Settings) -> Result<(), ExperimentError> {
        check_name(&self.name)?;
        if self.freeze && !settings.model.has_backbone() {
            let reason = format!(
                "{} has no convolutional part that could be frozen; choose a benchmark with another model, split-cifar10 for one",
                settings.model.shown()
            );
            return Err(bad(&format!("{}.freeze", self.name), reason));
        }
        if self.rule.asks_for_layer_inputs() && !settings.model.tells_layer_inputs() {
            let reason = format!(
                "asks for the inputs of every layer, which {} does not tell; choose one that does (mlp, slim-resnet18)",
                settings.model.shown()
            );
            return Err(bad(&self.name, reason));
        }
        if let Some(decay) = self.average.filter(|decay| !(0.0..1.0).contains(decay)) {
            return Err(bad(&format!("{}.average", self.name), format!("must be in [0, 1), got {decay}")));
        }
        if let Some(layers) = self.under_gain {
            let most = settings.model.layers_under_gain();
            if !self.rule.modulates() {
                return Err(bad(
                    &format!("{}.under_gain", self.name),
                    "it puts no layer under a gain; leave it out",
                ));
            }
            if most.is_none_or(|most| !(1..=most).contains(&layers)) {
                let reason = match most {
                    Some(most) => format!("must be 1 to {most}, the number of layers; got {layers}"),
                    None => format!("{} has one layer under the gain, and no choice", settings.model.shown()),
                };
                return Err(bad(&format!("{}.under_gain", self.name), reason));
            }
        }
        self.rule.check().map_err(|error| bad(&self.name, error.to_string()))
    }
}

impl Settings {
    fn check(&self) -> Result<(), ExperimentError> {
        let limits = [
            ("iterations", self.iterations, 10_000_000),
            ("batch", self.batch as u64, 1_000_000),
            ("eval_every", self.eval_every, u64::MAX),
            ("eval_schedule", self.eval_schedule.map_or(1, |[_, every]| every), u64::MAX),
        ];
        for (key, value, most) in limits {
            if value == 0 {
                return Err(bad(key, "must be at least 1"));
            }
            if value > most {
                return Err(bad(key, format!("must be at most {most}")));
            }
        }
        if self.eval_schedule.is_some() && self.eval_every > 1 {
            return Err(bad(
                "eval_schedule",
                "has its own number of iterations between evaluations: leave eval_every at 1",
            ));
        }
        if let Some(order) = &self.task_order
            && (order.is_empty() || order.len() > 1000)
        {
            return Err(bad("task_order", "name 1 to 1000 tasks, such as [1, 2, 1]"));
        }
        if let Some(listed) = &self.task_iterations
            && (listed.is_empty() || listed.iter().any(|n| *n == 0 || *n > 10_000_000))
        {
            return Err(bad("task_iterations", "one number per task, each from 1 to 10000000"));
        }
        if self.drift.is_some_and(|length| length == 0 || length > 10_000_000) {
            return Err(bad("drift", "must be from 1 to 10000000 iterations"));
        }
        if self.hold == Some(0) {
            return Err(bad("hold", "names the last task that comes, from 1"));
        }
        evenkeel_data::check(&self.data, &self.data_options).map_err(|error| match error {
            LoadError::Option { key, reason } => bad(&key, reason),
            error => bad("data", error.to_string()),
        })?;
        self.stream.check().map_err(|(key, reason)| bad(key, reason))?;
        self.model.check().map_err(|(key, reason)| bad(key, reason))?;
        self.probes.check().map_err(|(key, reason)| bad(&key, reason))?;
        if self.crop_padding.is_some_and(|padding| padding > 1_000) {
            return Err(bad("crop_padding", "must be at most 1000"));
        }
        if self.eval_samples == Some(0) {
            return Err(bad("eval_samples", "must be at least 1"));
        }
        if self.replay.is_some_and(|capacity| capacity == 0 || self.batch < 2) {
            return Err(bad("replay", "needs a capacity of at least 1 and a batch of at least 2"));
        }
        if let Some(reason) = device::refusal(&self.device) {
            return Err(bad("device", reason));
        }
        Ok(())
    }
}

fn bad(key: &str, reason: impl Into<String>) -> ExperimentError {
    ExperimentError::Value { key: key.into(), reason: reason.into() }
}
