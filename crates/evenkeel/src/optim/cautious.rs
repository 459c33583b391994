//! Momentum that steps only where it agrees with the gradient.

use burn::config::Config;
use burn::optim::{LearningRate, Optimizer};
use burn::tensor::{Device, Tensor};

use super::update::scaled_sum;
use super::{Method, MethodConfig, NamedOptimizer, OptimError, Rule, RuleOptimizer, SgdConfig, SgdState};
use crate::nn::Modulated;

/// The smallest share of agreeing entries by which a step is rescaled.
const LEAST_SHARE: f64 = 1e-3;

/// Cautious momentum SGD.
///
/// ```text
/// v ← μ v + d                           d = ∂L/∂w; v starts as d itself
/// w ← w − α v∘a / max(mean(a), 10⁻³)    a = 1 where v and d have the same sign, else 0
/// ```
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α |
/// | `momentum` | 0.9 | `[0, 1)` | μ |
///
/// ```
/// use evenkeel::optim::{CautiousConfig, MethodConfig};
/// assert!(CautiousConfig::new(0.1).check().is_ok() && CautiousConfig::new(0.1).with_momentum(1.0).check().is_err());
/// ```
///
/// Reference: Liang et al., *Cautious optimizers: improving training with one line of code* (2024).
#[derive(Config, Debug, PartialEq)]
pub struct CautiousConfig {
    /// Learning rate α.
    pub lr: f64,
    /// Momentum μ.
    #[config(default = 0.9)]
    pub momentum: f64,
}

impl MethodConfig for CautiousConfig {
    const NAMED: &'static [NamedOptimizer] = &[NamedOptimizer::new(
        "cautious",
        "Cautious",
        "momentum SGD that steps only where momentum and gradient agree",
        |_| Rule::Cautious(CautiousConfig::new(0.01)),
    )
    .keeps(1)];

    fn check(&self) -> Result<(), OptimError> {
        SgdConfig::new(self.lr).with_momentum(self.momentum).check()
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        self.check()?;
        Ok(Box::new(RuleOptimizer::new("cautious", self.lr, Cautious(self.clone()).into())))
    }
}

/// What of the step `u` has the sign of the gradient `d`, rescaled for what is left out.
pub(super) fn agreeing<const D: usize>(u: Tensor<D>, d: Tensor<D>) -> Tensor<D> {
    let agrees = (u.clone() * d).greater_scalar(0.0).float();
    let share = agrees.clone().mean().clamp_min(LEAST_SHARE);
    u * agrees / share.reshape([1; D])
}

#[derive(Debug, Clone)]
struct Cautious(CautiousConfig);

impl Optimizer for Cautious {
    type State<const D: usize> = SgdState<D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        w: Tensor<D>,
        d: Tensor<D>,
        state: Option<SgdState<D>>,
    ) -> (Tensor<D>, Option<SgdState<D>>) {
        let v = match state.and_then(|state| state.velocity) {
            Some(v) => scaled_sum(self.0.momentum, v, 1.0, d.clone()),
            None => d.clone(),
        };
        let w = scaled_sum(1.0, w, -lr, agreeing(v.clone(), d));
        (w, Some(SgdState { velocity: Some(v) }))
    }

    fn to_device<const D: usize>(state: SgdState<D>, device: &Device) -> SgdState<D> {
        SgdState { velocity: state.velocity.map(|v| v.to_device(device)) }
    }
}
