//! Entropy-LR: the entropy signal on the learning rate instead of on the weights.

use burn::config::Config;
use burn::module::Module;
use burn::optim::GradientsParams;

use super::{
    Feedback, Method, MethodConfig, NamedOptimizer, NotFinite, OptimError, Rule, RuleOptimizer, SgdConfig,
};
use crate::gain::{GainConfig, GainDynamics};
use crate::nn::Modulated;

/// Configuration of [`EntropyLr`].
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α₀ |
/// | `gamma`, `eta`, `g0` | 0.9, 0.4, 1 | see [`GainConfig`] | the equation that `q` follows; `q` starts at g₀ |
///
/// ```
/// use evenkeel::optim::EntropyLrConfig;
///
/// let optimizer = EntropyLrConfig::new(0.01).with_eta(0.2).init()?;
/// assert_eq!((optimizer.lr(), optimizer.q()), (0.01, 1.0));
/// # Ok::<(), evenkeel::optim::OptimError>(())
/// ```
#[derive(Config, Debug, PartialEq)]
pub struct EntropyLrConfig {
    /// Learning rate α₀.
    pub lr: f64,
    /// Decay γ of `q`.
    #[config(default = 0.9)]
    pub gamma: f64,
    /// Scale η of the entropy.
    #[config(default = 0.4)]
    pub eta: f64,
    /// Baseline g₀ of `q`.
    #[config(default = 1.0)]
    pub g0: f64,
}

impl EntropyLrConfig {
    /// The optimizer, with `q` at its baseline.
    pub fn init(&self) -> Result<EntropyLr, OptimError> {
        let dynamics = GainConfig { gamma: self.gamma, eta: self.eta, g0: self.g0 }.check()?;
        let optimizer = RuleOptimizer::new("entropy-lr", self.lr, SgdConfig::new(self.lr).init()?);
        Ok(EntropyLr { lr: self.lr, q: dynamics.g0(), dynamics, optimizer })
    }
}

impl MethodConfig for EntropyLrConfig {
    const NAMED: &'static [NamedOptimizer] = &[NamedOptimizer::new(
        "entropy-lr",
        "Entropy-LR",
        "sgd whose learning rate follows the gain equation: lr·q² (ablation)",
        |_| Rule::EntropyLr(EntropyLrConfig::new(0.01)),
    )];

    fn check(&self) -> Result<(), OptimError> {
        self.init().map(drop)
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        Ok(Box::new(self.init()?))
    }
}

/// Plain SGD whose learning rate follows the entropy: the paper's ablation of the forward pass under a gain.
///
/// One iteration, with a forward pass that knows of no gain:
///
/// ```text
/// w ← w − α₀ q² ∂L/∂w;  q ← γ q + (1−γ) g0 + η H
/// ```
///
/// The weights move as far as the effective weights of [`NgmSgd`](super::NgmSgd) do in a gradient step at gain `q`
/// (`ΔW = −α g² ∂L/∂W`), but the loss is not reparameterised. Reference: Figure 4 of the paper.
#[derive(Clone)]
pub struct EntropyLr {
    lr: f64,
    q: f64,
    dynamics: GainDynamics,
    optimizer: RuleOptimizer,
}

impl EntropyLr {
    /// The signal `q` that the next step will use.
    pub fn q(&self) -> f64 {
        self.q
    }

    /// One iteration: updates the weights at the current `q`, then `q` with the mean output `entropy` of the batch in nats
    /// ([`mean_entropy`](crate::entropy::mean_entropy) of the same forward pass).
    pub fn step<M: Module>(&mut self, module: M, gradients: GradientsParams, entropy: f64) -> M {
        self.optimizer.set_lr(self.lr * self.q * self.q);
        let module = self.optimizer.step(module, gradients);
        self.q = self.dynamics.next(self.q, entropy);
        module
    }

    /// Puts `q`, the only state, back to its baseline. Like a gain, it is not meant to be reset at task switches.
    pub fn reset(&mut self) {
        self.optimizer.reset();
        self.q = self.dynamics.g0();
    }

    /// The learning rate α₀, without the factor `q²`.
    pub fn lr(&self) -> f64 {
        self.lr
    }

    /// Changes the learning rate α₀.
    pub fn set_lr(&mut self, lr: f64) {
        self.lr = lr;
    }

    /// The state as bytes; see [`RuleOptimizer::to_bytes`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, OptimError> {
        self.optimizer.to_bytes_with_gain(self.q)
    }

    /// Restores what [`to_bytes`](Self::to_bytes) wrote.
    pub fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), OptimError> {
        self.q = self.optimizer.load_bytes_with_gain(bytes)?;
        Ok(())
    }
}

impl<M: Module> Method<M> for EntropyLr {
    fn step(&mut self, model: M, feedback: &mut dyn Feedback<M>) -> Result<M, NotFinite> {
        let gradients = feedback.gradients(&model)?;
        Ok(self.step(model, gradients.of, gradients.entropy))
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
