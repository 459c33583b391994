//! NGM-SGD: plain SGD on the base weights of a gain-modulated model.

use burn::config::Config;
use burn::module::{Module, ParamGroup};
use burn::optim::{GradientsParams, ModuleOptimizer};

use super::group::{from_pattern, group};
use super::{
    Feedback, Method, MethodConfig, NamedOptimizer, NotFinite, OptimError, Rule, RuleOptimizer, Sgd,
    SgdConfig,
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
/// use burn::{module::Module, nn::{Linear, LinearConfig}, tensor::Device};
/// use evenkeel::{nn::modulate, optim::NgmSgdConfig};
///
/// #[derive(Module, Debug)]
/// struct Network { backbone: Linear, head: Linear }
///
/// let layer = || LinearConfig::new(4, 4).init(&Device::flex().autodiff());
/// let network = Network { backbone: layer(), head: layer() };
/// // A modulated head under plain SGD, everything below `backbone` under momentum SGD.
/// let ngm = NgmSgdConfig::new(0.01).with_eta(0.2).init_with_momentum(&network, "^backbone\\.", 0.9)?;
/// let network = modulate(network, ngm.gain(), "^head\\.")?;
/// assert_eq!(ngm.gain().value(), 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
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

    /// The bare rule on the base weights, for a group of parameters: plain SGD.
    pub fn build(&self) -> Result<Sgd, OptimError> {
        SgdConfig::new(self.lr).build()
    }

    /// The optimizer, with a gain at its baseline.
    pub fn init(&self) -> Result<NgmSgd, OptimError> {
        self.with_gain("ngm-sgd", self.build()?.into())
    }

    /// The optimizer, with momentum at the same learning rate for the parameters of `module` whose path matches `pattern`: the
    /// unmodulated backbone of a convolutional network.
    pub fn init_with_momentum<M: Module>(
        &self,
        module: &M,
        pattern: &str,
        momentum: f64,
    ) -> Result<NgmSgd, OptimError> {
        self.with_momentum_group(group(module, pattern)?, momentum)
    }

    fn with_momentum_group(&self, group: ParamGroup, momentum: f64) -> Result<NgmSgd, OptimError> {
        let rule = SgdConfig::new(self.lr).with_momentum(momentum).build()?;
        let optimizer = ModuleOptimizer::from(self.build()?).with_group(group, rule, None);
        self.with_gain("ngm-sgd with momentum", optimizer)
    }

    fn with_gain(&self, kind: &'static str, optimizer: ModuleOptimizer) -> Result<NgmSgd, OptimError> {
        let gain = Gain::new(self.gain().check()?);
        Ok(NgmSgd { optimizer: RuleOptimizer::new(kind, self.lr, optimizer), gain })
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
            Some(pattern) => self.with_momentum_group(from_pattern(pattern)?, BACKBONE_MOMENTUM)?,
            None => self.init()?,
        }))
    }

    fn modulates(&self) -> bool {
        true
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
///
/// In a loop of your own, [`step`](Self::step) does all of it. In burn-train's `Learner`, which takes optimizers that know of no entropy,
/// the two halves part ways: the learner gets [`optimizer`](Self::optimizer), and the model's `TrainStep` calls
/// [`Gain::update`] after its backward pass. The numbers are the same, for the step does not look at the gain. Momentum on some layers,
/// other rules or clipping come with an optimizer of your making: [`NgmSgd::from_optimizer`].
#[derive(Clone)]
pub struct NgmSgd {
    optimizer: RuleOptimizer,
    gain: Gain,
}

impl NgmSgd {
    /// Any optimizer of Burn, with its groups and clipping, under a gain.
    ///
    /// ```
    /// use burn::grad_clipping::GradientClippingConfig;
    /// use evenkeel::{gain::{Gain, GainConfig}, optim::{NgmSgd, SgdConfig}};
    ///
    /// let gain = Gain::new(GainConfig::new().with_eta(0.2).check()?);
    /// let clipping = GradientClippingConfig::Norm(1.0).init();
    /// let mut ngm = NgmSgd::from_optimizer(0.01, SgdConfig::new(0.01).init()?.with_grad_clipping(clipping), gain);
    /// ngm.set_lr(0.005);
    /// # Ok::<(), evenkeel::optim::OptimError>(())
    /// ```
    pub fn from_optimizer(lr: f64, optimizer: ModuleOptimizer, gain: Gain) -> Self {
        Self { optimizer: RuleOptimizer::new("own optimizer under a gain", lr, optimizer), gain }
    }

    /// What burn-train's `Learner` takes.
    pub fn optimizer(&self) -> &ModuleOptimizer {
        self.optimizer.optimizer()
    }

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

    /// Changes the learning rate, for a schedule.
    pub fn set_lr(&mut self, lr: f64) {
        self.optimizer.set_lr(lr);
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
