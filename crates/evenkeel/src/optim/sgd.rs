//! Stochastic gradient descent with optional momentum, as PyTorch defines it.

use burn::config::Config;
use burn::optim::{LearningRate, ModuleOptimizer, Optimizer, RecordState, StateSink, StateSource};
use burn::tensor::{Device, Tensor};

use super::error::{below_one, not_negative};
use super::update::scaled_sum;
use super::{Method, MethodConfig, NamedOptimizer, OptimError, Rule, RuleOptimizer};
use crate::nn::Modulated;

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
/// let config = SgdConfig::new(0.01).with_momentum(0.9);
/// let msgd = config.init()?; // and then `model = msgd.step(config.lr, model, gradients)`
/// # assert_eq!(msgd.to_record().len(), 0);
/// # Ok::<(), evenkeel::optim::OptimError>(())
/// ```
#[derive(Config, Debug, PartialEq)]
pub struct SgdConfig {
    /// Learning rate α.
    pub lr: f64,
    /// Momentum μ.
    #[config(default = 0.0)]
    pub momentum: f64,
    /// Dampening of the gradient that enters the momentum.
    #[config(default = 0.0)]
    pub dampening: f64,
    /// Nesterov momentum.
    #[config(default = false)]
    pub nesterov: bool,
    /// L2 penalty λ.
    #[config(default = 0.0)]
    pub weight_decay: f64,
}

impl SgdConfig {
    /// The bare rule, for a group of parameters.
    pub fn build(&self) -> Result<Sgd, OptimError> {
        self.check()?;
        Ok(Sgd(self.clone()))
    }

    /// The optimizer of a whole module, as a loop of your own or burn-train's `Learner` takes it.
    pub fn init(&self) -> Result<ModuleOptimizer, OptimError> {
        Ok(self.build()?.into())
    }
}

impl MethodConfig for SgdConfig {
    const NAMED: &'static [NamedOptimizer] = &[
        NamedOptimizer::new("msgd", "MSGD", "SGD with momentum 0.9", |_| {
            Rule::Sgd(SgdConfig::new(0.01).with_momentum(0.9))
        })
        .by_default(2)
        .keeps(1),
        NamedOptimizer::new("sgd", "SGD", "plain SGD", |_| Rule::Sgd(SgdConfig::new(0.1))).by_default(4),
    ];

    fn check(&self) -> Result<(), OptimError> {
        not_negative("lr", self.lr)?;
        not_negative("weight_decay", self.weight_decay)?;
        below_one("momentum", self.momentum)?;
        if !(0.0..=1.0).contains(&self.dampening) {
            return Err(OptimError::Dampening(self.dampening));
        }
        if self.nesterov && (self.momentum == 0.0 || self.dampening != 0.0) {
            return Err(OptimError::Nesterov);
        }
        Ok(())
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        let kind = if self.momentum > 0.0 { "sgd with momentum" } else { "sgd" };
        Ok(Box::new(RuleOptimizer::new(kind, self.lr, self.init()?)))
    }
}

/// The update of one parameter by SGD; made by [`SgdConfig::build`].
///
/// ```
/// use burn::{optim::Optimizer, tensor::{Device, Tensor}};
/// use evenkeel::optim::SgdConfig;
/// let rule = SgdConfig::new(0.1).build()?;
/// let (w, d) = (Tensor::<1>::ones([2], &Device::flex()), Tensor::ones([2], &Device::flex()));
/// let (next, _state) = rule.step(0.1, w, d, None);
/// assert!(next.into_data().iter::<f32>().all(|w| w < 1.0));
/// # Ok::<(), evenkeel::optim::OptimError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sgd(SgdConfig);

/// What [`Sgd`] remembers of one parameter.
///
/// ```
/// use burn::{optim::Optimizer, tensor::{Device, Tensor}};
/// use evenkeel::optim::SgdConfig;
/// let (w, d) = (Tensor::<1>::ones([2], &Device::flex()), Tensor::ones([2], &Device::flex()));
/// let (_, state) = SgdConfig::new(0.1).with_momentum(0.9).build()?.step(0.1, w, d, None);
/// assert!(state.unwrap().velocity.unwrap().into_data().iter::<f32>().all(|value| value > 0.0));
/// # Ok::<(), evenkeel::optim::OptimError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SgdState<const D: usize> {
    /// v, once there was a step with momentum.
    pub velocity: Option<Tensor<D>>,
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

impl Optimizer for Sgd {
    type State<const D: usize> = SgdState<D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        w: Tensor<D>,
        mut d: Tensor<D>,
        state: Option<SgdState<D>>,
    ) -> (Tensor<D>, Option<SgdState<D>>) {
        let SgdConfig { momentum, dampening, nesterov, weight_decay, .. } = self.0.clone();
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
