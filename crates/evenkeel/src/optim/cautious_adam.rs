//! Adam that steps only where it agrees with the gradient.

use burn::config::Config;
use burn::optim::{AdaptiveMomentumState, LearningRate, Optimizer};
use burn::tensor::{Device, Tensor};

use super::adam::{check_moments, moments_step};
use super::cautious::agreeing;
use super::update::scaled_sum;
use super::{Method, MethodConfig, NamedOptimizer, OptimError, Rule, RuleOptimizer};
use crate::nn::Modulated;

/// Cautious Adam.
///
/// ```text
/// u = Adam's step                       m/(1−β₁ᵗ) / (√(v/(1−β₂ᵗ)) + ε)
/// w ← w − α u∘a / max(mean(a), 10⁻³)    a = 1 where u and the gradient have the same sign, else 0
/// ```
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α |
/// | `beta1`, `beta2`, `eps` | 0.9, 0.999, 1e-8 | as [`AdamConfig`](super::AdamConfig) | moments |
///
/// ```
/// use evenkeel::optim::{CautiousAdamConfig, MethodConfig};
/// assert!(CautiousAdamConfig::new(0.001).check().is_ok());
/// ```
///
/// Reference: Liang et al., *Cautious optimizers: improving training with one line of code* (2024).
#[derive(Config, Debug, PartialEq)]
pub struct CautiousAdamConfig {
    /// Learning rate α.
    pub lr: f64,
    /// Decay β₁ of the first moment.
    #[config(default = 0.9)]
    pub beta1: f64,
    /// Decay β₂ of the second moment.
    #[config(default = 0.999)]
    pub beta2: f64,
    /// ε in the denominator.
    #[config(default = 1e-8)]
    pub eps: f64,
}

impl MethodConfig for CautiousAdamConfig {
    const NAMED: &'static [NamedOptimizer] = &[NamedOptimizer::new(
        "cautious-adam",
        "Cautious Adam",
        "Adam that steps only where its step and the gradient agree",
        |_| Rule::CautiousAdam(CautiousAdamConfig::new(0.001)),
    )
    .keeps(2)];

    fn check(&self) -> Result<(), OptimError> {
        check_moments([self.lr, self.eps, 0.0], [self.beta1, self.beta2])
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        self.check()?;
        Ok(Box::new(RuleOptimizer::new("cautious-adam", self.lr, CautiousAdam(self.clone()).into())))
    }
}

#[derive(Debug, Clone)]
struct CautiousAdam(CautiousAdamConfig);

impl Optimizer for CautiousAdam {
    type State<const D: usize> = AdaptiveMomentumState<D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        w: Tensor<D>,
        d: Tensor<D>,
        state: Option<AdaptiveMomentumState<D>>,
    ) -> (Tensor<D>, Option<AdaptiveMomentumState<D>>) {
        let CautiousAdamConfig { beta1, beta2, eps, .. } = self.0;
        // A step of Adam from zero at rate 1 is −u.
        let (step, state) = moments_step((beta1, beta2, eps), 1.0, d.zeros_like(), d.clone(), state);
        let w = scaled_sum(1.0, w, lr, agreeing(step, d.neg()));
        (w, Some(state))
    }

    fn to_device<const D: usize>(
        state: AdaptiveMomentumState<D>,
        device: &Device,
    ) -> AdaptiveMomentumState<D> {
        state.to_device(device)
    }
}
