//! SPAM: Adam that clips spikes of the gradient and forgets its moments at intervals.

use std::f64::consts::PI;

use burn::config::Config;
use burn::optim::{AdaptiveMomentumState, LearningRate, Optimizer, RecordState, StateSink, StateSource};
use burn::tensor::{Device, Tensor};

use super::adam::{check_moments, moments_step};
use super::error::not_negative;
use super::{Method, MethodConfig, NamedOptimizer, OptimError, Rule, RuleOptimizer};
use crate::nn::Modulated;

/// SPAM (spike-aware Adam with momentum reset).
///
/// ```text
/// d ← sign(d) √(θ v)  where d² > θ v and v > 0
/// then a step of Adam at α·c;  every T steps m, v, t ← 0
/// c = ½ (1 − cos(π s/W)) for the first W steps after such a reset (s = 1, 2, …), else 1
/// ```
///
/// The authors' θ = 5000, T = 500 and W = 150 are made for runs of tens of thousands of steps; T and W are a fifth of that here, for
/// tasks of some hundred steps.
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α |
/// | `threshold` | 5000 | `>= 0` | θ |
/// | `interval` | 100 | `>= 1` | steps T between resets |
/// | `warmup` | 30 | `>= 0` | length W of the warm-up after a reset |
/// | `beta1`, `beta2`, `eps` | 0.9, 0.999, 1e-8 | as [`AdamConfig`](super::AdamConfig) | moments |
///
/// ```
/// use evenkeel::optim::SpamConfig;
/// let spam = SpamConfig::new(0.001);
/// assert_eq!([1, 101, 115, 130].map(|step| (100.0 * spam.warm(step)).round()), [100.0, 0.0, 50.0, 100.0]);
/// ```
///
/// Reference: Huang et al., *SPAM: spike-aware Adam with momentum reset for stable LLM training* (2025).
#[derive(Config, Debug, PartialEq)]
pub struct SpamConfig {
    /// Learning rate α.
    pub lr: f64,
    /// Threshold θ of a spike.
    #[config(default = 5000.0)]
    pub threshold: f64,
    /// Steps T between resets.
    #[config(default = 100.0)]
    pub interval: f64,
    /// Length W of the warm-up.
    #[config(default = 30.0)]
    pub warmup: f64,
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

impl SpamConfig {
    /// The factor of the learning rate in a step, counted from 1.
    pub fn warm(&self, step: u64) -> f64 {
        let since_reset = ((step - 1) as f64 % self.interval) + 1.0;
        if (step as f64) <= self.interval || since_reset > self.warmup {
            return 1.0;
        }
        0.5 * (1.0 - (PI * since_reset / self.warmup).cos())
    }

    fn resets_before(&self, step: u64) -> bool {
        step > 1 && ((step - 1) as f64 % self.interval) == 0.0
    }
}

impl MethodConfig for SpamConfig {
    const NAMED: &'static [NamedOptimizer] = &[NamedOptimizer::new(
        "spam",
        "SPAM",
        "Adam that clips spikes and forgets its moments every 100 steps",
        |_| Rule::Spam(SpamConfig::new(0.001)),
    )
    .keeps(2)];

    fn check(&self) -> Result<(), OptimError> {
        not_negative("threshold", self.threshold)?;
        not_negative("warmup", self.warmup)?;
        if !(self.interval >= 1.0 && self.interval.fract() == 0.0) {
            return Err(OptimError::Range {
                name: "interval",
                range: "a whole number >= 1",
                value: self.interval,
            });
        }
        check_moments([self.lr, self.eps, 0.0], [self.beta1, self.beta2])
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        self.check()?;
        Ok(Box::new(RuleOptimizer::new("spam", self.lr, Spam(self.clone()).into())))
    }
}

#[derive(Debug, Clone)]
struct Spam(SpamConfig);

/// Adam's moments since the last reset, and the steps in all.
#[derive(Clone)]
struct SpamState<const D: usize> {
    steps: u64,
    moments: Option<AdaptiveMomentumState<D>>,
}

const STEPS: &str = "steps";

impl<const D: usize> RecordState for SpamState<D> {
    fn state_flatten(&self, prefix: &str, out: &mut StateSink) {
        out.push_scalar(prefix, STEPS, self.steps.into());
        if let Some(moments) = &self.moments {
            moments.state_flatten(prefix, out);
        }
    }

    fn state_unflatten(prefix: &str, source: &mut StateSource, device: &Device) -> Option<Self> {
        let steps = u64::try_from(source.take_scalar(prefix, STEPS)?).ok()?;
        Some(Self { steps, moments: AdaptiveMomentumState::state_unflatten(prefix, source, device) })
    }
}

impl Optimizer for Spam {
    type State<const D: usize> = SpamState<D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        w: Tensor<D>,
        mut d: Tensor<D>,
        state: Option<SpamState<D>>,
    ) -> (Tensor<D>, Option<SpamState<D>>) {
        let SpamConfig { threshold, beta1, beta2, eps, .. } = self.0;
        let (steps, moments) = state.map_or((0, None), |state| (state.steps, state.moments));
        let step = steps + 1;
        let moments = moments.filter(|_| !self.0.resets_before(step));
        if let Some(moments) = &moments {
            let most = moments.moment_2.clone().mul_scalar(threshold);
            let spike = d.clone().square().greater(most.clone()).bool_and(most.clone().greater_scalar(0.0));
            let clipped = d.clone().sign() * most.sqrt();
            d = d.mask_where(spike, clipped);
        }
        let (w, moments) = moments_step((beta1, beta2, eps), lr * self.0.warm(step), w, d, moments);
        (w, Some(SpamState { steps: step, moments: Some(moments) }))
    }

    fn to_device<const D: usize>(state: SpamState<D>, device: &Device) -> SpamState<D> {
        SpamState { moments: state.moments.map(|moments| moments.to_device(device)), ..state }
    }
}
