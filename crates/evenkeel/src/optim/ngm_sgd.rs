//! NGM-SGD: plain SGD on the base weights of a gain-modulated model.

use burn::config::Config;
use burn::module::{Module, ParamGroup};
use burn::optim::{GradientsParams, ModuleOptimizer};

use super::{
    Feedback, Method, MethodConfig, NamedOptimizer, NotFinite, OptimError, Rule, RuleOptimizer, SgdConfig,
};
use crate::gain::{Gain, GainConfig};
use crate::nn::Modulated;

/// Momentum of the parameters that are not modulated.
const BACKBONE_MOMENTUM: f64 = 0.9;

/// Configuration of [`NgmSgd`].
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α |
/// | `gamma` | 0.9 | `[0, 1)` | how slowly the gain decays, γ |
/// | `eta` | 0.4 | `>= 0` | how strongly entropy raises the gain, η |
/// | `g0` | 1 | `>= 1` | tonic gain g₀ |
///
/// ```
/// use evenkeel::optim::NgmSgdConfig;
///
/// // A modulated head under plain SGD, everything below `backbone` under momentum SGD.
/// let ngm = NgmSgdConfig::new(0.01).with_eta(0.2).init_with_momentum("^backbone\\.", 0.9)?;
/// assert_eq!(ngm.gain().value(), 1.0);
/// # Ok::<(), evenkeel::optim::OptimError>(())
/// ```
#[derive(Config, Debug, PartialEq)]
pub struct NgmSgdConfig {
    /// Learning rate α.
    pub lr: f64,
    /// Decay γ of the gain.
    #[config(default = 0.9)]
    pub gamma: f64,
    /// Gain scale η.
    #[config(default = 0.4)]
    pub eta: f64,
    /// Tonic gain g₀.
    #[config(default = 1.0)]
    pub g0: f64,
}

impl NgmSgdConfig {
    /// The parameters of the gain.
    pub fn gain(&self) -> GainConfig {
        GainConfig { gamma: self.gamma, eta: self.eta, g0: self.g0 }
    }

    /// The optimizer, with a gain at its baseline.
    pub fn init(&self) -> Result<NgmSgd, OptimError> {
        let optimizer = ModuleOptimizer::from(SgdConfig::new(self.lr).rule()?);
        Ok(NgmSgd {
            optimizer: RuleOptimizer::new(self.lr, optimizer),
            gain: Gain::new(self.gain().check()?),
        })
    }

    /// The optimizer, with momentum at the same learning rate for the parameters whose path matches `pattern`: the
    /// unmodulated backbone of a convolutional network.
    pub fn init_with_momentum(&self, pattern: &str, momentum: f64) -> Result<NgmSgd, OptimError> {
        let group = ParamGroup::from_regex(pattern).map_err(|_| OptimError::Group(pattern.to_string()))?;
        let rule = SgdConfig::new(self.lr).with_momentum(momentum).rule()?;
        let optimizer = ModuleOptimizer::from(SgdConfig::new(self.lr).rule()?).with_group(group, rule, None);
        Ok(NgmSgd {
            optimizer: RuleOptimizer::new(self.lr, optimizer),
            gain: Gain::new(self.gain().check()?),
        })
    }
}

impl MethodConfig for NgmSgdConfig {
    const NAMED: &'static [NamedOptimizer] = &[
        NamedOptimizer::new("ngm-sgd", "NGM-SGD", "SGD under an entropy-driven gain", |_| {
            Rule::NgmSgd(NgmSgdConfig::new(0.01))
        })
        .by_default(1),
        NamedOptimizer::new(
            "tonic",
            "Tonic gain",
            "ngm-sgd without the entropy: eta = 0 (ablation)",
            |base| match base {
                Some(Rule::NgmSgd(config)) => Rule::NgmSgd(config.with_eta(0.0)),
                _ => Rule::NgmSgd(NgmSgdConfig::new(0.01).with_eta(0.0)),
            },
        )
        .variant_of("ngm-sgd"),
        NamedOptimizer::new(
            "instantaneous",
            "Instantaneous gain",
            "ngm-sgd without memory: gamma = 0 (ablation)",
            |base| match base {
                Some(Rule::NgmSgd(config)) => Rule::NgmSgd(config.with_gamma(0.0)),
                _ => Rule::NgmSgd(NgmSgdConfig::new(0.01).with_gamma(0.0)),
            },
        )
        .variant_of("ngm-sgd"),
    ];

    fn check(&self) -> Result<(), OptimError> {
        self.init().map(drop)
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        Ok(Box::new(match M::backbone() {
            Some(pattern) => self.init_with_momentum(pattern, BACKBONE_MOMENTUM)?,
            None => self.init()?,
        }))
    }
}

/// Stochastic gradient descent under an entropy-driven gain.
///
/// One iteration (Algorithm 1 of the paper):
///
/// ```text
/// forward with W = g·w;  w ← w − α ∂L/∂w;  g ← γ g + (1−γ) g0 + η H
/// ```
///
/// The layers read the gain through a clone of [`gain`](Self::gain): by [`Modulated::with_gain`], or with
/// [`crate::nn::modulate`] for any module. The gain is never reset, not at a task switch either; nobody has to tell this optimizer
/// that a task has changed.
#[derive(Clone)]
pub struct NgmSgd {
    optimizer: RuleOptimizer,
    gain: Gain,
}

impl NgmSgd {
    /// The gain that the modulated layers share.
    pub fn gain(&self) -> &Gain {
        &self.gain
    }

    /// One iteration: updates the weights, then the gain with the mean output `entropy` of the batch in nats
    /// ([`mean_entropy`](crate::entropy::mean_entropy) of the same forward pass).
    pub fn step<M: Module>(&mut self, module: M, gradients: GradientsParams, entropy: f64) -> M {
        let module = self.optimizer.step(module, gradients);
        self.gain.update(entropy);
        module
    }

    /// Forgets the momentum of the momentum group. The gain stays: it is not tied to tasks.
    pub fn reset(&mut self) {
        self.optimizer.reset();
    }

    /// The learning rate.
    pub fn lr(&self) -> f64 {
        self.optimizer.lr()
    }

    /// Gain and optimizer state as bytes; see [`RuleOptimizer::to_bytes`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, OptimError> {
        self.optimizer.to_bytes_with_gain(self.gain.value())
    }

    /// Restores what [`to_bytes`](Self::to_bytes) wrote; layers that share the gain see it at once.
    pub fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), OptimError> {
        self.gain.set(self.optimizer.load_bytes_with_gain(bytes)?);
        Ok(())
    }
}

impl<M: Modulated> Method<M> for NgmSgd {
    fn prepare(&mut self, model: M) -> M {
        model.with_gain(&self.gain)
    }

    fn step(&mut self, model: M, feedback: &mut dyn Feedback<M>) -> Result<M, NotFinite> {
        let gradients = feedback.gradients(&model)?;
        Ok(self.step(model, gradients.of, gradients.entropy))
    }

    fn gain(&self) -> Option<f64> {
        Some(self.gain.value())
    }

    fn reset(&mut self) {
        self.reset();
    }

    fn save(&self) -> Result<Vec<u8>, OptimError> {
        self.to_bytes()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), OptimError> {
        self.load_bytes(state)
    }
}
