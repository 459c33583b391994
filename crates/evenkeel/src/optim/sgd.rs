//! Stochastic gradient descent with optional momentum, as PyTorch defines it.

use burn::optim::{LearningRate, Optimizer, RecordState, StateSink, StateSource};
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::error::not_negative;
use super::update::scaled_sum;
use super::{Baseline, OptimError};

/// SGD (momentum 0) or MSGD (momentum 0.9).
///
/// ```text
/// d ← ∂L/∂w + λ w                       weight decay λ
/// v ← μ v + (1 − dampening) d           v starts as d itself, undampened
/// w ← w − α v                           Nesterov: w ← w − α (d + μ v)
/// ```
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α |
/// | `momentum` | 0 | `[0, 1)` | μ; the paper's MSGD has 0.9 |
/// | `dampening` | 0 | `[0, 1]` | as in `torch.optim.SGD` |
/// | `nesterov` | false | needs momentum, no dampening | look-ahead gradient |
/// | `weight_decay` | 0 | `>= 0` | λ, added to the gradient (not decoupled) |
///
/// ```
/// use evenkeel::optim::SgdConfig;
///
/// let msgd = SgdConfig::new(0.01).with_momentum(0.9).init()?;
/// assert_eq!(msgd.lr(), 0.01);
/// # Ok::<(), evenkeel::optim::OptimError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SgdConfig {
    /// Learning rate α.
    pub lr: f64,
    /// Momentum μ.
    pub momentum: f64,
    /// Dampening of the gradient that enters the momentum.
    pub dampening: f64,
    /// Nesterov momentum.
    pub nesterov: bool,
    /// L2 penalty λ.
    pub weight_decay: f64,
}

impl SgdConfig {
    /// Plain SGD.
    pub fn new(lr: f64) -> Self {
        Self { lr, momentum: 0.0, dampening: 0.0, nesterov: false, weight_decay: 0.0 }
    }

    /// Sets the momentum μ.
    #[must_use]
    pub fn with_momentum(mut self, momentum: f64) -> Self {
        self.momentum = momentum;
        self
    }

    /// Sets the dampening.
    #[must_use]
    pub fn with_dampening(mut self, dampening: f64) -> Self {
        self.dampening = dampening;
        self
    }

    /// Sets whether to use Nesterov's momentum.
    #[must_use]
    pub fn with_nesterov(mut self, nesterov: bool) -> Self {
        self.nesterov = nesterov;
        self
    }

    /// Sets the L2 penalty λ.
    #[must_use]
    pub fn with_weight_decay(mut self, weight_decay: f64) -> Self {
        self.weight_decay = weight_decay;
        self
    }

    /// Checks the ranges without building anything.
    pub fn check(&self) -> Result<(), OptimError> {
        not_negative(self.lr, OptimError::Lr)?;
        not_negative(self.weight_decay, OptimError::WeightDecay)?;
        if !(0.0..1.0).contains(&self.momentum) {
            return Err(OptimError::Momentum(self.momentum));
        }
        if !(0.0..=1.0).contains(&self.dampening) {
            return Err(OptimError::Dampening(self.dampening));
        }
        if self.nesterov && (self.momentum == 0.0 || self.dampening != 0.0) {
            return Err(OptimError::Nesterov);
        }
        Ok(())
    }

    /// The optimizer, ready for its first step.
    pub fn init(&self) -> Result<Baseline, OptimError> {
        Ok(Baseline::new(self.lr, self.rule()?.into()))
    }

    /// The bare update rule, for one group of parameters.
    pub(super) fn rule(&self) -> Result<SgdRule, OptimError> {
        self.check()?;
        Ok(SgdRule(*self))
    }
}

/// The update of one parameter.
#[derive(Debug, Clone)]
pub(super) struct SgdRule(SgdConfig);

/// What the rule remembers of one parameter.
#[derive(Clone)]
pub(super) struct SgdState<const D: usize> {
    /// v, once there was a step with momentum.
    velocity: Option<Tensor<D>>,
}

const VELOCITY: &str = "velocity";

impl<const D: usize> RecordState for SgdState<D> {
    fn state_flatten(&self, prefix: &str, out: &mut StateSink) {
        if let Some(v) = &self.velocity {
            out.push_tensor(prefix, VELOCITY, v.to_data());
        }
    }

    fn state_unflatten(prefix: &str, source: &mut StateSource, device: &Device) -> Option<Self> {
        let velocity = source.take_tensor(prefix, VELOCITY).map(|data| Tensor::from_data(data, device));
        Some(Self { velocity })
    }
}

impl Optimizer for SgdRule {
    type State<const D: usize> = SgdState<D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        w: Tensor<D>,
        mut d: Tensor<D>,
        state: Option<SgdState<D>>,
    ) -> (Tensor<D>, Option<SgdState<D>>) {
        let SgdConfig { momentum, dampening, nesterov, weight_decay, .. } = self.0;
        if weight_decay > 0.0 {
            d = scaled_sum(1.0, d, weight_decay, w.clone());
        }
        if momentum == 0.0 {
            return (scaled_sum(1.0, w, -lr, d), Some(SgdState { velocity: None }));
        }
        let v = match state.and_then(|state| state.velocity) {
            Some(v) => scaled_sum(momentum, v, 1.0 - dampening, d.clone()),
            None => d.clone(),
        };
        let direction = if nesterov { scaled_sum(1.0, d, momentum, v.clone()) } else { v.clone() };
        (scaled_sum(1.0, w, -lr, direction), Some(SgdState { velocity: Some(v) }))
    }

    fn to_device<const D: usize>(state: SgdState<D>, device: &Device) -> SgdState<D> {
        SgdState { velocity: state.velocity.map(|v| v.to_device(device)) }
    }
}
