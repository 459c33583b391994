//! AdamW, as PyTorch defines it.

use burn::config::Config;
use burn::optim::{AdaptiveMomentumState, LearningRate, ModuleOptimizer, Optimizer};
use burn::tensor::{Device, Tensor};

use super::adam::{check_moments, moments_step};
use super::{Method, MethodConfig, NamedOptimizer, OptimError, Rule, RuleOptimizer};
use crate::nn::Modulated;

/// Adam whose weight decay acts on the weights themselves, not through the moments.
///
/// ```text
/// w ← w (1 − α λ)
/// m ← β₁ m + (1−β₁) ∂L/∂w,   v ← β₂ v + (1−β₂) (∂L/∂w)²
/// w ← w − α · m/(1−β₁ᵗ) / (√(v/(1−β₂ᵗ)) + ε)
/// ```
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α |
/// | `beta1` | 0.9 | `[0, 1)` | decay of the first moment |
/// | `beta2` | 0.999 | `[0, 1)` | decay of the second moment |
/// | `eps` | 1e-8 | `>= 0` | ε |
/// | `weight_decay` | 0.01 | `>= 0` | decoupled decay λ, in units of the learning rate |
///
/// ```
/// use evenkeel::optim::AdamWConfig;
///
/// let config = AdamWConfig::new(0.001).with_weight_decay(0.1);
/// let adamw = config.init()?; // and then `model = adamw.step(config.lr, model, gradients)`
/// # assert_eq!(adamw.to_record().len(), 0);
/// # Ok::<(), evenkeel::optim::OptimError>(())
/// ```
///
/// Reference: Loshchilov and Hutter, *Decoupled weight decay regularization* (2019).
#[derive(Config, Debug, PartialEq)]
pub struct AdamWConfig {
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
    /// Decoupled decay λ of the weights.
    #[config(default = 0.01)]
    pub weight_decay: f64,
}

impl AdamWConfig {
    /// The bare rule, for a group of parameters.
    pub fn build(&self) -> Result<AdamW, OptimError> {
        self.check()?;
        Ok(AdamW(self.clone()))
    }

    /// The optimizer of a whole module, as a loop of your own or burn-train's `Learner` takes it.
    pub fn init(&self) -> Result<ModuleOptimizer, OptimError> {
        Ok(self.build()?.into())
    }
}

impl MethodConfig for AdamWConfig {
    const NAMED: &'static [NamedOptimizer] =
        &[NamedOptimizer::new("adamw", "AdamW", "Adam with decoupled weight decay 0.01", |_| {
            Rule::AdamW(AdamWConfig::new(0.001))
        })
        .keeps(2)];

    fn check(&self) -> Result<(), OptimError> {
        check_moments([self.lr, self.eps, self.weight_decay], [self.beta1, self.beta2])
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        Ok(Box::new(RuleOptimizer::new("adamw", self.lr, self.init()?)))
    }
}

/// The update of one parameter by AdamW; made by [`AdamWConfig::build`].
///
/// ```
/// use burn::{optim::Optimizer, tensor::{Device, Tensor}};
/// use evenkeel::optim::AdamWConfig;
/// let rule = AdamWConfig::new(0.1).build()?;
/// let (w, d) = (Tensor::<1>::ones([2], &Device::flex()), Tensor::ones([2], &Device::flex()));
/// let (next, _state) = rule.step(0.1, w, d, None);
/// assert!(next.into_data().iter::<f32>().all(|w| w < 1.0));
/// # Ok::<(), evenkeel::optim::OptimError>(())
/// ```
#[derive(Debug, Clone)]
pub struct AdamW(AdamWConfig);

impl Optimizer for AdamW {
    type State<const D: usize> = AdaptiveMomentumState<D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        mut w: Tensor<D>,
        d: Tensor<D>,
        state: Option<AdaptiveMomentumState<D>>,
    ) -> (Tensor<D>, Option<AdaptiveMomentumState<D>>) {
        let AdamWConfig { beta1, beta2, eps, weight_decay, .. } = self.0.clone();
        if weight_decay > 0.0 {
            w = w.mul_scalar(1.0 - lr * weight_decay);
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
