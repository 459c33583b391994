//! Entropy-LR: the entropy signal on the learning rate instead of on the weights.

use burn::module::Module;
use burn::optim::GradientsParams;

use super::{Baseline, OptimError, SgdConfig};
use crate::gain::{GainConfig, GainDynamics};

/// Configuration of [`EntropyLr`].
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α₀ |
/// | `gain` | γ 0.9, η 0.4, g₀ 1 | see [`GainConfig`] | the equation that `q` follows; `q` starts at g₀ |
///
/// ```
/// use evenkeel::{gain::GainConfig, optim::EntropyLrConfig};
///
/// let optimizer = EntropyLrConfig::new(0.01).with_gain(GainConfig::new().with_eta(0.2)).init()?;
/// assert_eq!((optimizer.lr(), optimizer.q()), (0.01, 1.0));
/// # Ok::<(), evenkeel::optim::OptimError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EntropyLrConfig {
    /// Learning rate α₀.
    pub lr: f64,
    /// Parameters of the equation that `q` follows.
    pub gain: GainConfig,
}

impl EntropyLrConfig {
    /// Entropy-LR with the gain's default parameters.
    pub fn new(lr: f64) -> Self {
        Self { lr, gain: GainConfig::new() }
    }

    /// Sets the parameters of the equation that `q` follows.
    #[must_use]
    pub fn with_gain(mut self, gain: GainConfig) -> Self {
        self.gain = gain;
        self
    }

    /// The optimizer, with `q` at its baseline.
    pub fn init(&self) -> Result<EntropyLr, OptimError> {
        let dynamics = self.gain.check()?;
        Ok(EntropyLr { lr: self.lr, q: dynamics.g0(), dynamics, optimizer: SgdConfig::new(self.lr).init()? })
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
    optimizer: Baseline,
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

    /// The state as bytes; see [`Baseline::to_bytes`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, OptimError> {
        self.optimizer.to_bytes_with_gain(self.q)
    }

    /// Restores what [`to_bytes`](Self::to_bytes) wrote.
    pub fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), OptimError> {
        self.q = self.optimizer.load_bytes_with_gain(bytes)?;
        Ok(())
    }
}
