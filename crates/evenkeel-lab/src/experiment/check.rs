//! What must hold of an experiment before its first iteration.

use super::{Experiment, ExperimentError};
use crate::spec::{CurvatureWindow, Model};

impl Experiment {
    /// Checks everything that can be known before the data is there.
    pub fn check(&self) -> Result<(), ExperimentError> {
        let s = &self.settings;
        let bad = |key: &str, reason: String| Err(ExperimentError::Value { key: key.into(), reason });
        let limits = [
            ("iterations", s.iterations, 10_000_000),
            ("batch", s.batch as u64, 1_000_000),
            ("eval_every", s.eval_every, u64::MAX),
        ];
        for (key, value, most) in limits {
            if value == 0 {
                return bad(key, "must be at least 1".into());
            }
            if value > most {
                return bad(key, format!("must be at most {most}"));
            }
        }
        if s.crop_padding.is_some_and(|padding| padding > 1_000) {
            return bad("crop_padding", "must be at most 1000".into());
        }
        if s.hidden.len() > 100 || s.hidden.iter().any(|&units| units > 100_000) {
            return bad("hidden", "at most 100 layers of 100000 units".into());
        }
        if s.eval_samples == Some(0) {
            return bad("eval_samples", "must be at least 1".into());
        }
        if s.replay.is_some_and(|capacity| capacity == 0 || s.batch < 2) {
            return bad("replay", "needs a capacity of at least 1 and a batch of at least 2".into());
        }
        if s.model == Model::Mlp && (s.hidden.is_empty() || s.hidden.contains(&0)) {
            return bad("hidden", "needs at least one layer of at least one unit".into());
        }
        if s.device != "flex" {
            return bad("device", format!("'{}' is not available; this build has: flex", s.device));
        }
        if let Some(window) = &s.curvature {
            check_curvature(window)?;
        }
        if self.optimizers.is_empty() {
            return bad("optimizers", "name at least one".into());
        }
        for (i, optimizer) in self.optimizers.iter().enumerate() {
            if self.optimizers[..i].iter().any(|other| other.name == optimizer.name) {
                return bad("optimizers", format!("'{}' is named twice", optimizer.name));
            }
            if let Err(error) = optimizer.rule.check() {
                return bad(&optimizer.name, error.to_string());
            }
            if optimizer.freeze && s.model == Model::Mlp {
                let reason = "an MLP has no convolutional part; choose a benchmark with model slim-resnet18";
                return bad(&format!("{}.freeze", optimizer.name), reason.into());
            }
        }
        Ok(())
    }
}

fn check_curvature(window: &CurvatureWindow) -> Result<(), ExperimentError> {
    let at_least_1 = [
        ("switch", window.switch as u64),
        ("every", window.every),
        ("steps", window.steps as u64),
        ("batches", window.batches as u64),
        ("batch", window.batch as u64),
    ];
    match at_least_1.iter().find(|(_, value)| !(1..=1_000_000).contains(value)) {
        Some((key, _)) => Err(ExperimentError::Value {
            key: format!("curvature.{key}"),
            reason: "must be between 1 and 1000000".into(),
        }),
        None => Ok(()),
    }
}
