//! Lion: steps of one size, along the sign of an interpolated momentum.

use burn::config::Config;
use burn::optim::{LearningRate, ModuleOptimizer, Optimizer, RecordState, StateSink, StateSource};
use burn::tensor::{Device, Tensor};

use super::error::{below_one, not_negative};
use super::update::scaled_sum;
use super::{Method, MethodConfig, NamedOptimizer, OptimError, Rule, RuleOptimizer};
use crate::nn::Modulated;

/// Lion (evolved sign momentum).
///
/// ```text
/// u ← sign(β₁ m + (1−β₁) ∂L/∂w)         m starts at 0; sign(0) = 0
/// w ← w (1 − α λ) − α u
/// m ← β₂ m + (1−β₂) ∂L/∂w
/// ```
///
/// Every weight moves by α in each step: the learning rate is usually three to ten times smaller than Adam's, and the weight decay as
/// much larger. PyTorch has no Lion; the definition is the paper's.
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α |
/// | `beta1` | 0.9 | `[0, 1)` | share of the momentum in the direction of the step |
/// | `beta2` | 0.99 | `[0, 1)` | decay of the momentum |
/// | `weight_decay` | 0 | `>= 0` | decoupled decay λ, in units of the learning rate |
///
/// ```
/// use evenkeel::optim::LionConfig;
///
/// let config = LionConfig::new(0.0001).with_weight_decay(0.1);
/// let lion = config.init()?; // and then `model = lion.step(config.lr, model, gradients)`
/// # assert_eq!(lion.to_record().len(), 0);
/// # Ok::<(), evenkeel::optim::OptimError>(())
/// ```
///
/// Reference: Chen et al., *Symbolic discovery of optimization algorithms* (2023).
#[derive(Config, Debug, PartialEq)]
pub struct LionConfig {
    /// Learning rate α.
    pub lr: f64,
    /// Share β₁ of the momentum in the direction.
    #[config(default = 0.9)]
    pub beta1: f64,
    /// Decay β₂ of the momentum.
    #[config(default = 0.99)]
    pub beta2: f64,
    /// Decoupled decay λ of the weights.
    #[config(default = 0.0)]
    pub weight_decay: f64,
}

impl LionConfig {
    /// The bare rule, for a group of parameters.
    pub fn build(&self) -> Result<Lion, OptimError> {
        self.check()?;
        Ok(Lion(self.clone()))
    }

    /// The optimizer of a whole module, as a loop of your own or burn-train's `Learner` takes it.
    pub fn init(&self) -> Result<ModuleOptimizer, OptimError> {
        Ok(self.build()?.into())
    }
}

impl MethodConfig for LionConfig {
    const NAMED: &'static [NamedOptimizer] =
        &[NamedOptimizer::new("lion", "Lion", "Lion: the sign of an interpolated momentum", |_| {
            Rule::Lion(LionConfig::new(0.0001))
        })
        .keeps(1)];

    fn check(&self) -> Result<(), OptimError> {
        not_negative("lr", self.lr)?;
        not_negative("weight_decay", self.weight_decay)?;
        below_one("beta1", self.beta1)?;
        below_one("beta2", self.beta2)
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        Ok(Box::new(RuleOptimizer::new("lion", self.lr, self.init()?)))
    }
}

/// The update of one parameter by Lion; made by [`LionConfig::build`].
///
/// ```
/// use burn::{optim::Optimizer, tensor::{Device, Tensor}};
/// use evenkeel::optim::LionConfig;
/// let rule = LionConfig::new(0.1).build()?;
/// let (w, d) = (Tensor::<1>::ones([2], &Device::flex()), Tensor::ones([2], &Device::flex()));
/// let (next, _state) = rule.step(0.1, w, d, None);
/// assert!(next.into_data().iter::<f32>().all(|w| w < 1.0));
/// # Ok::<(), evenkeel::optim::OptimError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Lion(LionConfig);

/// What [`Lion`] remembers of one parameter.
///
/// ```
/// use burn::{optim::Optimizer, tensor::{Device, Tensor}};
/// use evenkeel::optim::LionConfig;
/// let (w, d) = (Tensor::<1>::ones([2], &Device::flex()), Tensor::ones([2], &Device::flex()));
/// let (_, state) = LionConfig::new(0.1).build()?.step(0.1, w, d, None);
/// assert!(state.unwrap().momentum.into_data().iter::<f32>().all(|value| value > 0.0));
/// # Ok::<(), evenkeel::optim::OptimError>(())
/// ```
#[derive(Debug, Clone)]
pub struct LionState<const D: usize> {
    /// m.
    pub momentum: Tensor<D>,
}

const MOMENTUM: &str = "momentum";

impl<const D: usize> RecordState for LionState<D> {
    fn state_flatten(&self, prefix: &str, out: &mut StateSink) {
        out.push_tensor(prefix, MOMENTUM, self.momentum.to_data());
    }

    fn state_unflatten(prefix: &str, source: &mut StateSource, device: &Device) -> Option<Self> {
        let momentum = source.take_tensor(prefix, MOMENTUM)?;
        Some(Self { momentum: Tensor::from_data(momentum, device) })
    }
}

impl Optimizer for Lion {
    type State<const D: usize> = LionState<D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        w: Tensor<D>,
        d: Tensor<D>,
        state: Option<LionState<D>>,
    ) -> (Tensor<D>, Option<LionState<D>>) {
        let LionConfig { beta1, beta2, weight_decay, .. } = self.0.clone();
        let m = state.map_or_else(|| d.zeros_like(), |state| state.momentum);
        let direction = scaled_sum(beta1, m.clone(), 1.0 - beta1, d.clone()).sign();
        let w = scaled_sum(1.0 - lr * weight_decay, w, -lr, direction);
        (w, Some(LionState { momentum: scaled_sum(beta2, m, 1.0 - beta2, d) }))
    }

    fn to_device<const D: usize>(state: LionState<D>, device: &Device) -> LionState<D> {
        LionState { momentum: state.momentum.to_device(device) }
    }
}
