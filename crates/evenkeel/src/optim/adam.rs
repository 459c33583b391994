//! Adam, as PyTorch defines it.

use burn::optim::AdamConfig as BurnAdamConfig;
use burn::optim::decay::WeightDecayConfig;
use serde::{Deserialize, Serialize};

use super::error::not_negative;
use super::{Baseline, OptimError};

/// Adam with bias correction.
///
/// ```text
/// m ← β₁ m + (1−β₁) d,   v ← β₂ v + (1−β₂) d²
/// w ← w − α · m/(1−β₁ᵗ) / (√(v/(1−β₂ᵗ)) + ε)
/// ```
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α |
/// | `beta1` | 0.9 | `[0, 1)` | decay of the first moment |
/// | `beta2` | 0.999 | `[0, 1)` | decay of the second; the paper's text says 0.99, its numbers come from 0.999 |
/// | `eps` | 1e-8 | `>= 0` | ε |
/// | `weight_decay` | 0 | `>= 0` | L2 penalty, added to the gradient (not decoupled) |
///
/// ```
/// use evenkeel::optim::AdamConfig;
///
/// let adam = AdamConfig::new(0.001).with_beta2(0.99).init()?;
/// assert_eq!(adam.lr(), 0.001);
/// # Ok::<(), evenkeel::optim::OptimError>(())
/// ```
///
/// Reference: Kingma and Ba, *Adam: a method for stochastic optimization* (2015).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AdamConfig {
    /// Learning rate α.
    pub lr: f64,
    /// Decay β₁ of the first moment.
    pub beta1: f64,
    /// Decay β₂ of the second moment.
    pub beta2: f64,
    /// ε in the denominator.
    pub eps: f64,
    /// L2 penalty.
    pub weight_decay: f64,
}

impl AdamConfig {
    /// Adam with PyTorch's defaults.
    pub fn new(lr: f64) -> Self {
        Self { lr, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0.0 }
    }

    /// Sets β₁.
    #[must_use]
    pub fn with_beta1(mut self, beta1: f64) -> Self {
        self.beta1 = beta1;
        self
    }

    /// Sets β₂.
    #[must_use]
    pub fn with_beta2(mut self, beta2: f64) -> Self {
        self.beta2 = beta2;
        self
    }

    /// Sets ε.
    #[must_use]
    pub fn with_eps(mut self, eps: f64) -> Self {
        self.eps = eps;
        self
    }

    /// Sets the L2 penalty.
    #[must_use]
    pub fn with_weight_decay(mut self, weight_decay: f64) -> Self {
        self.weight_decay = weight_decay;
        self
    }

    /// Checks the ranges without building anything.
    pub fn check(&self) -> Result<(), OptimError> {
        not_negative(self.lr, OptimError::Lr)?;
        not_negative(self.eps, OptimError::Eps)?;
        not_negative(self.weight_decay, OptimError::WeightDecay)?;
        for (name, value) in [("beta1", self.beta1), ("beta2", self.beta2)] {
            if !(0.0..1.0).contains(&value) {
                return Err(OptimError::Beta { name, value });
            }
        }
        Ok(())
    }

    /// The optimizer, ready for its first step.
    pub fn init(&self) -> Result<Baseline, OptimError> {
        self.check()?;
        let decay = (self.weight_decay > 0.0).then(|| WeightDecayConfig::new(self.weight_decay as f32));
        let rule = BurnAdamConfig::new()
            .with_beta_1(self.beta1 as f32)
            .with_beta_2(self.beta2 as f32)
            .with_epsilon(self.eps as f32)
            .with_weight_decay(decay);
        Ok(Baseline::new(self.lr, rule.init()))
    }
}
