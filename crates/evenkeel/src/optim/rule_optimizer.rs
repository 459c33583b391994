//! A Burn optimizer with its learning rate, whose state can be cleared, saved and loaded.

use burn::module::Module;
use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::Bytes;

use super::{Feedback, Method, NotFinite, OptimError};

/// A Burn optimizer together with its learning rate and the way back to its initial state.
///
/// Made by the configurations of this module, [`SgdConfig`](super::SgdConfig) for one.
#[derive(Clone)]
pub struct RuleOptimizer {
    lr: f64,
    // The optimizer as it was before any step: what a reset returns to.
    fresh: ModuleOptimizer,
    optimizer: ModuleOptimizer,
}

impl RuleOptimizer {
    /// Wraps an optimizer that has not taken a step yet.
    pub fn new(lr: f64, optimizer: ModuleOptimizer) -> Self {
        Self { lr, fresh: optimizer.clone(), optimizer }
    }

    /// One update of the module's parameters.
    pub fn step<M: Module>(&mut self, module: M, gradients: GradientsParams) -> M {
        self.optimizer.step(self.lr, module, gradients)
    }

    /// Forgets all momentum and moments, as at a task switch with an oracle.
    pub fn reset(&mut self) {
        self.optimizer = self.fresh.clone();
    }

    /// The learning rate.
    pub fn lr(&self) -> f64 {
        self.lr
    }

    /// Changes the learning rate.
    pub fn set_lr(&mut self, lr: f64) {
        self.lr = lr;
    }

    /// The state (momentum, moments, step counts) as bytes.
    ///
    /// It is keyed by the parameters' ids, which a Burn module record restores: load the module's record too.
    pub fn to_bytes(&self) -> Result<Vec<u8>, OptimError> {
        let bytes = self.optimizer.into_bytes().map_err(|error| OptimError::Record(error.to_string()))?;
        Ok(bytes.to_vec())
    }

    /// Replaces the state by one that [`to_bytes`](Self::to_bytes) wrote.
    pub fn load_bytes(&mut self, bytes: Vec<u8>) -> Result<(), OptimError> {
        self.optimizer = self
            .fresh
            .clone()
            .from_bytes(Bytes::from_bytes_vec(bytes))
            .map_err(|error| OptimError::Record(error.to_string()))?;
        Ok(())
    }

    /// [`to_bytes`](Self::to_bytes) behind a gain, or whatever follows the gain equation.
    pub(super) fn to_bytes_with_gain(&self, gain: f64) -> Result<Vec<u8>, OptimError> {
        let mut bytes = gain.to_le_bytes().to_vec();
        bytes.extend(self.to_bytes()?);
        Ok(bytes)
    }

    /// Restores what [`to_bytes_with_gain`](Self::to_bytes_with_gain) wrote, and returns the gain.
    pub(super) fn load_bytes_with_gain(&mut self, bytes: &[u8]) -> Result<f64, OptimError> {
        let (gain, state) =
            bytes.split_first_chunk::<8>().ok_or_else(|| OptimError::Record("too short".into()))?;
        let gain = f64::from_le_bytes(*gain);
        if !gain.is_finite() {
            return Err(OptimError::Record(format!("gain is {gain}")));
        }
        self.load_bytes(state.to_vec())?;
        Ok(gain)
    }
}

impl<M: Module> Method<M> for RuleOptimizer {
    fn step(&mut self, model: M, feedback: &mut dyn Feedback<M>) -> Result<M, NotFinite> {
        let gradients = feedback.gradients(&model)?;
        Ok(self.step(model, gradients.of))
    }

    fn reset(&mut self) {
        self.reset();
    }

    fn save(&self) -> Result<Vec<u8>, OptimError> {
        self.to_bytes()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), OptimError> {
        self.load_bytes(state.to_vec())
    }
}
