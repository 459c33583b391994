//! Adam, as PyTorch defines it.

use burn::optim::{AdaptiveMomentumState, LearningRate, Optimizer};
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::error::not_negative;
use super::update::{scaled_quotient, scaled_sum, scaled_sum_of_squares};
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
        Ok(Baseline::new(self.lr, AdamRule(*self).into()))
    }
}

/// The update of one parameter.
#[derive(Debug, Clone)]
struct AdamRule(AdamConfig);

impl Optimizer for AdamRule {
    type State<const D: usize> = AdaptiveMomentumState<D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        w: Tensor<D>,
        mut d: Tensor<D>,
        state: Option<AdaptiveMomentumState<D>>,
    ) -> (Tensor<D>, Option<AdaptiveMomentumState<D>>) {
        let AdamConfig { beta1, beta2, eps, weight_decay, .. } = self.0;
        if weight_decay > 0.0 {
            d = scaled_sum(1.0, d, weight_decay, w.clone());
        }
        let (time, m, v) = match state {
            Some(state) => (state.time + 1, state.moment_1, state.moment_2),
            None => (1, d.zeros_like(), d.zeros_like()),
        };
        let m = scaled_sum(beta1, m, 1.0 - beta1, d.clone());
        let v = scaled_sum_of_squares(beta2, v, 1.0 - beta2, d);
        // With b₁ = 1−β₁ᵗ and b₂ = 1−β₂ᵗ the step is α · (√b₂/b₁) · m / (√v + ε √b₂).
        let b1 = 1.0 - beta1.powi(time as i32);
        let root_b2 = (1.0 - beta2.powi(time as i32)).sqrt();
        let w = scaled_quotient(w, lr * root_b2 / b1, m.clone(), v.clone(), eps * root_b2);
        (w, Some(AdaptiveMomentumState::new(time, m, v)))
    }

    fn to_device<const D: usize>(
        state: AdaptiveMomentumState<D>,
        device: &Device,
    ) -> AdaptiveMomentumState<D> {
        state.to_device(device)
    }
}
