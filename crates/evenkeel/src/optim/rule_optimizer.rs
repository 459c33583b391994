//! An optimizer with a learning rate of its own, whose state can be cleared, saved and loaded.

use burn::module::Module;
use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::Bytes;

use super::record::load_all;
use super::state::{behind_header, header};
use super::{Feedback, Method, NotFinite, OptimError};

/// A Burn optimizer together with its learning rate and the way back to its initial state.
///
/// ```
/// use evenkeel::optim::{AdamConfig, RuleOptimizer};
///
/// let config = AdamConfig::new(0.001);
/// let mut adam = RuleOptimizer::new("adam", config.lr, config.init()?);
/// adam.set_lr(0.0005);
/// // The state belongs to the rule that made it.
/// let mut other = RuleOptimizer::new("sgd", 0.1, evenkeel::optim::SgdConfig::new(0.1).init()?);
/// assert!(other.load_bytes(&adam.to_bytes()?).is_err());
/// # Ok::<(), evenkeel::optim::OptimError>(())
/// ```
#[derive(Clone)]
pub struct RuleOptimizer {
    kind: &'static str,
    lr: f64,
    // The optimizer as it was before any step: what a reset returns to.
    fresh: ModuleOptimizer,
    optimizer: ModuleOptimizer,
}

impl RuleOptimizer {
    /// Wraps an optimizer that has not taken a step yet. `kind` names its rule: a saved state is of use to the same kind only.
    pub fn new(kind: &'static str, lr: f64, optimizer: ModuleOptimizer) -> Self {
        Self { kind, lr, fresh: optimizer.clone(), optimizer }
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

    /// The optimizer itself, with its state.
    pub fn optimizer(&self) -> &ModuleOptimizer {
        &self.optimizer
    }

    /// The state (momentum, moments, step counts) as bytes.
    ///
    /// It is keyed by the parameters' ids, which a Burn module record restores: load the module's record too.
    pub fn to_bytes(&self) -> Result<Vec<u8>, OptimError> {
        let state = self.optimizer.into_bytes().map_err(|error| OptimError::Record(error.to_string()))?;
        Ok([header(self.kind).as_bytes(), &state].concat())
    }

    /// Replaces the state by one that [`to_bytes`](Self::to_bytes) wrote.
    pub fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), OptimError> {
        let state = behind_header(self.kind, bytes)?;
        self.optimizer = load_all(self.fresh.clone(), Bytes::from_bytes_vec(state.to_vec()))?;
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
        self.load_bytes(state)?;
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
        self.load_bytes(state)
    }
}
