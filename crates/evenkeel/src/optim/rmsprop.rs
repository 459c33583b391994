//! RMSprop with optional momentum and centring, as PyTorch defines it.

use burn::config::Config;
use burn::optim::{LearningRate, ModuleOptimizer, Optimizer, RecordState, StateSink, StateSource};
use burn::tensor::{Device, Tensor};

use super::error::{below_one, not_negative};
use super::update::{scaled_quotient, scaled_sum, scaled_sum_of_squares};
use super::{Method, MethodConfig, NamedOptimizer, OptimError, Rule, RuleOptimizer};
use crate::nn::Modulated;

/// RMSprop: the gradient over the root of its mean square.
///
/// ```text
/// d ← ∂L/∂w + λ w                       weight decay λ
/// v ← a v + (1−a) d²                    smoothing a; v starts at 0, without bias correction
/// s ← v                                 centered: ḡ ← a ḡ + (1−a) d,  s ← v − ḡ²
/// b ← μ b + d / (√s + ε)
/// w ← w − α b
/// ```
///
/// `v − ḡ²` is a variance, but rounding can make it negative when a gradient hardly changes: it counts as 0 then, where PyTorch's root
/// is not a number.
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α |
/// | `alpha` | 0.99 | `[0, 1)` | smoothing a of the mean square and of the mean |
/// | `eps` | 1e-8 | `>= 0` | ε, outside the root |
/// | `momentum` | 0 | `[0, 1)` | μ |
/// | `centered` | false | – | divide by the deviation instead of the root mean square |
/// | `weight_decay` | 0 | `>= 0` | λ, added to the gradient (not decoupled) |
///
/// ```
/// use evenkeel::optim::RmsPropConfig;
///
/// let config = RmsPropConfig::new(0.001).with_momentum(0.9).with_centered(true);
/// let rmsprop = config.init()?; // and then `model = rmsprop.step(config.lr, model, gradients)`
/// # assert_eq!(rmsprop.to_record().len(), 0);
/// # Ok::<(), evenkeel::optim::OptimError>(())
/// ```
///
/// Reference: Tieleman and Hinton, *Lecture 6.5: RMSProp* (2012); centred: Graves, *Generating sequences with recurrent neural
/// networks* (2013).
#[derive(Config, Debug, PartialEq)]
pub struct RmsPropConfig {
    /// Learning rate α.
    pub lr: f64,
    /// Smoothing of the mean square and of the mean.
    #[config(default = 0.99)]
    pub alpha: f64,
    /// ε in the denominator.
    #[config(default = 1e-8)]
    pub eps: f64,
    /// Momentum μ.
    #[config(default = 0.0)]
    pub momentum: f64,
    /// Whether the mean is taken out of the mean square.
    #[config(default = false)]
    pub centered: bool,
    /// L2 penalty λ.
    #[config(default = 0.0)]
    pub weight_decay: f64,
}

impl RmsPropConfig {
    /// The bare rule, for a group of parameters.
    pub fn build(&self) -> Result<RmsProp, OptimError> {
        self.check()?;
        Ok(RmsProp(self.clone()))
    }

    /// The optimizer of a whole module, as a loop of your own or burn-train's `Learner` takes it.
    pub fn init(&self) -> Result<ModuleOptimizer, OptimError> {
        Ok(self.build()?.into())
    }
}

impl MethodConfig for RmsPropConfig {
    const NAMED: &'static [NamedOptimizer] =
        &[NamedOptimizer::new("rmsprop", "RMSprop", "RMSprop without momentum, not centred", |_| {
            Rule::RmsProp(RmsPropConfig::new(0.001))
        })
        .keeps(1)];

    fn check(&self) -> Result<(), OptimError> {
        not_negative("lr", self.lr)?;
        not_negative("eps", self.eps)?;
        not_negative("weight_decay", self.weight_decay)?;
        below_one("alpha", self.alpha)?;
        below_one("momentum", self.momentum)
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        let kind = match (self.momentum > 0.0, self.centered) {
            (false, false) => "rmsprop",
            (true, false) => "rmsprop with momentum",
            (false, true) => "centred rmsprop",
            (true, true) => "centred rmsprop with momentum",
        };
        Ok(Box::new(RuleOptimizer::new(kind, self.lr, self.init()?)))
    }
}

/// The update of one parameter by RMSprop; made by [`RmsPropConfig::build`].
///
/// ```
/// use burn::{optim::Optimizer, tensor::{Device, Tensor}};
/// use evenkeel::optim::RmsPropConfig;
/// let rule = RmsPropConfig::new(0.1).build()?;
/// let (w, d) = (Tensor::<1>::ones([2], &Device::flex()), Tensor::ones([2], &Device::flex()));
/// let (next, _state) = rule.step(0.1, w, d, None);
/// assert!(next.into_data().iter::<f32>().all(|w| w < 1.0));
/// # Ok::<(), evenkeel::optim::OptimError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RmsProp(RmsPropConfig);

/// What [`RmsProp`] remembers of one parameter.
///
/// ```
/// use burn::{optim::Optimizer, tensor::{Device, Tensor}};
/// use evenkeel::optim::RmsPropConfig;
/// let (w, d) = (Tensor::<1>::ones([2], &Device::flex()), Tensor::ones([2], &Device::flex()));
/// let (_, state) = RmsPropConfig::new(0.1).build()?.step(0.1, w, d, None);
/// assert!(state.unwrap().mean_square.into_data().iter::<f32>().all(|value| value > 0.0));
/// # Ok::<(), evenkeel::optim::OptimError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RmsPropState<const D: usize> {
    /// v.
    pub mean_square: Tensor<D>,
    /// ḡ, if centred.
    pub mean: Option<Tensor<D>>,
    /// b, with momentum.
    pub velocity: Option<Tensor<D>>,
}

const MEAN_SQUARE: &str = "mean_square";
const MEAN: &str = "mean";
const VELOCITY: &str = "velocity";

impl<const D: usize> RecordState for RmsPropState<D> {
    fn state_flatten(&self, prefix: &str, out: &mut StateSink) {
        out.push_tensor(prefix, MEAN_SQUARE, self.mean_square.to_data());
        for (name, tensor) in [(MEAN, &self.mean), (VELOCITY, &self.velocity)] {
            if let Some(tensor) = tensor {
                out.push_tensor(prefix, name, tensor.to_data());
            }
        }
    }

    fn state_unflatten(prefix: &str, source: &mut StateSource, device: &Device) -> Option<Self> {
        let mut take = |name| source.take_tensor(prefix, name).map(|data| Tensor::from_data(data, device));
        Some(Self { mean_square: take(MEAN_SQUARE)?, mean: take(MEAN), velocity: take(VELOCITY) })
    }
}

impl Optimizer for RmsProp {
    type State<const D: usize> = RmsPropState<D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        w: Tensor<D>,
        mut d: Tensor<D>,
        state: Option<RmsPropState<D>>,
    ) -> (Tensor<D>, Option<RmsPropState<D>>) {
        let RmsPropConfig { alpha, eps, momentum, centered, weight_decay, .. } = self.0.clone();
        if weight_decay > 0.0 {
            d = scaled_sum(1.0, d, weight_decay, w.clone());
        }
        let (v, mean, b) = match state {
            Some(state) => (state.mean_square, state.mean, state.velocity),
            None => (d.zeros_like(), None, None),
        };
        let v = scaled_sum_of_squares(alpha, v, 1.0 - alpha, d.clone());
        let mean = centered.then(|| {
            let mean = mean.unwrap_or_else(|| d.zeros_like());
            scaled_sum(alpha, mean, 1.0 - alpha, d.clone())
        });
        let s = match &mean {
            Some(mean) => scaled_sum_of_squares(1.0, v.clone(), -1.0, mean.clone()).clamp_min(0.0),
            None => v.clone(),
        };
        if momentum == 0.0 {
            let w = scaled_quotient(w, lr, d, s, eps);
            return (w, Some(RmsPropState { mean_square: v, mean, velocity: None }));
        }
        let b = b.map_or_else(|| d.zeros_like(), |b| b.mul_scalar(momentum));
        let b = scaled_quotient(b, -1.0, d, s, eps);
        let w = scaled_sum(1.0, w, -lr, b.clone());
        (w, Some(RmsPropState { mean_square: v, mean, velocity: Some(b) }))
    }

    fn to_device<const D: usize>(state: RmsPropState<D>, device: &Device) -> RmsPropState<D> {
        let moved = |tensor: Tensor<D>| tensor.to_device(device);
        RmsPropState {
            mean_square: moved(state.mean_square),
            mean: state.mean.map(moved),
            velocity: state.velocity.map(moved),
        }
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::TensorData;

    use super::*;

    /// Gradients that never change have no variance, and rounding takes it below zero for some of them.
    #[test]
    fn centred_it_stays_finite_where_the_variance_rounds_below_zero() {
        let rule = RmsProp(RmsPropConfig::new(0.001).with_centered(true));
        let gradients: Vec<f32> = (1..=64).map(|i| 0.1 * i as f32).collect();
        let d = Tensor::<1>::from_data(TensorData::new(gradients, [64]), &Device::flex());
        let (mut w, mut state) = (d.zeros_like(), None);
        for _ in 0..3000 {
            (w, state) = rule.step(0.001, w, d.clone(), state);
        }
        let RmsPropState { mean_square, mean, .. } = state.unwrap();
        let variance: Vec<f32> = (mean_square - mean.unwrap().square()).into_data().try_to_vec().unwrap();
        assert!(variance.iter().any(|v| *v < 0.0), "the case is not met: {variance:?}");
        let w: Vec<f32> = w.into_data().try_to_vec().unwrap();
        assert!(w.iter().all(|w| w.is_finite()), "{w:?}");
    }
}
