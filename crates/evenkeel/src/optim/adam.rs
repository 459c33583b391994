//! Adam, as PyTorch defines it.

use burn::config::Config;
use burn::optim::{AdaptiveMomentumState, LearningRate, ModuleOptimizer, Optimizer};
use burn::tensor::{Device, Tensor};

use super::error::{below_one, not_negative};
use super::update::{scaled_quotient, scaled_sum, scaled_sum_of_squares};
use super::{Method, MethodConfig, NamedOptimizer, OptimError, Rule, RuleOptimizer};
use crate::nn::Modulated;

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
/// let config = AdamConfig::new(0.001).with_beta2(0.99);
/// let adam = config.init()?; // and then `model = adam.step(config.lr, model, gradients)`
/// # assert_eq!(adam.to_record().len(), 0);
/// # Ok::<(), evenkeel::optim::OptimError>(())
/// ```
///
/// Reference: Kingma and Ba, *Adam: a method for stochastic optimization* (2015).
#[derive(Config, Debug, PartialEq)]
pub struct AdamConfig {
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
    /// L2 penalty.
    #[config(default = 0.0)]
    pub weight_decay: f64,
}

impl AdamConfig {
    /// The bare rule, for a group of parameters.
    pub fn build(&self) -> Result<Adam, OptimError> {
        self.check()?;
        Ok(Adam(self.clone()))
    }

    /// The optimizer of a whole module, as a loop of your own or burn-train's `Learner` takes it.
    pub fn init(&self) -> Result<ModuleOptimizer, OptimError> {
        Ok(self.build()?.into())
    }
}

impl MethodConfig for AdamConfig {
    const NAMED: &'static [NamedOptimizer] = &[NamedOptimizer::new(
        "adam",
        "Adam",
        "Adam; beta2 = 0.999 as in the paper's numbers (its text says 0.99)",
        |_| Rule::Adam(AdamConfig::new(0.001)),
    )
    .by_default(3)
    .keeps(2)];

    fn check(&self) -> Result<(), OptimError> {
        check_moments([self.lr, self.eps, self.weight_decay], [self.beta1, self.beta2])
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        Ok(Box::new(RuleOptimizer::new("adam", self.lr, self.init()?)))
    }
}

/// The update of one parameter by Adam; made by [`AdamConfig::build`].
///
/// ```
/// use burn::{optim::Optimizer, tensor::{Device, Tensor}};
/// use evenkeel::optim::AdamConfig;
/// let rule = AdamConfig::new(0.1).build()?;
/// let (w, d) = (Tensor::<1>::ones([2], &Device::flex()), Tensor::ones([2], &Device::flex()));
/// let (next, _state) = rule.step(0.1, w, d, None);
/// assert!(next.into_data().iter::<f32>().all(|w| w < 1.0));
/// # Ok::<(), evenkeel::optim::OptimError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Adam(AdamConfig);

impl Optimizer for Adam {
    type State<const D: usize> = AdaptiveMomentumState<D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        w: Tensor<D>,
        mut d: Tensor<D>,
        state: Option<AdaptiveMomentumState<D>>,
    ) -> (Tensor<D>, Option<AdaptiveMomentumState<D>>) {
        let AdamConfig { beta1, beta2, eps, weight_decay, .. } = self.0.clone();
        if weight_decay > 0.0 {
            d = scaled_sum(1.0, d, weight_decay, w.clone());
        }
        let (w, state) = moments_step((beta1, beta2, eps), lr, w, d, state);
        (w, Some(state))
    }

    fn to_device<const D: usize>(
        state: AdaptiveMomentumState<D>,
        device: &Device,
    ) -> AdaptiveMomentumState<D> {
        state.to_device(device)
    }
}

/// Checks learning rate, ε and decay, and both β.
pub(super) fn check_moments(
    [lr, eps, weight_decay]: [f64; 3],
    [beta1, beta2]: [f64; 2],
) -> Result<(), OptimError> {
    not_negative("lr", lr)?;
    not_negative("eps", eps)?;
    not_negative("weight_decay", weight_decay)?;
    below_one("beta1", beta1)?;
    below_one("beta2", beta2)
}

/// One step of Adam without any decay of the weights.
pub(super) fn moments_step<const D: usize>(
    (beta1, beta2, eps): (f64, f64, f64),
    lr: LearningRate,
    w: Tensor<D>,
    d: Tensor<D>,
    state: Option<AdaptiveMomentumState<D>>,
) -> (Tensor<D>, AdaptiveMomentumState<D>) {
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
    (w, AdaptiveMomentumState::new(time, m, v))
}
