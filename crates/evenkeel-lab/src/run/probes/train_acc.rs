//! Accuracy on the training batch, before the update, in percent.

use burn::tensor::Device;
use evenkeel_models::Architecture;

use super::{Probe, ProbeError, ProbeKind};
use crate::run::feedback::Seen;
use crate::run::learner::Learner;
use crate::run::prepare::Prepared;
use crate::spec::RunSpec;

/// Name of the recorded quantity.
pub const TRAIN_ACC: &str = "train_acc";

/// `train_acc = true` records it at every iteration.
pub struct TrainAcc;

impl ProbeKind for TrainAcc {
    type Config = bool;

    fn on() -> bool {
        true
    }

    fn start<N: Architecture>(on: &bool, _: &RunSpec, _: &Prepared, _: &Device) -> Option<Box<dyn Probe<N>>> {
        on.then(|| Box::new(TrainAcc) as Box<dyn Probe<N>>)
    }
}

impl<N: Architecture> Probe<N> for TrainAcc {
    fn is_due(&self, _: u64) -> bool {
        true
    }

    fn needs_batch_accuracy(&self) -> bool {
        true
    }

    fn measure(&self, _: &Learner<N>, seen: &Seen) -> Result<Vec<(&'static str, f64)>, ProbeError> {
        Ok(seen.accuracy.map(|accuracy| (TRAIN_ACC, accuracy)).into_iter().collect())
    }
}
