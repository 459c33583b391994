//! NGM-SGD: plain SGD on the base weights of a gain-modulated model.

use burn::module::{Module, ParamGroup};
use burn::optim::{GradientsParams, ModuleOptimizer};

use super::{Baseline, OptimError, SgdConfig};
use crate::gain::{Gain, GainConfig};

/// Configuration of [`NgmSgd`].
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α |
/// | `gain` | γ 0.9, η 0.4, g₀ 1 | see [`GainConfig`] | the gain |
/// | `momentum_group` | none | regular expression, `[0, 1)` | parameters trained with momentum at the same `lr`: the unmodulated backbone of a convolutional network |
///
/// ```
/// use evenkeel::{gain::GainConfig, optim::NgmSgdConfig};
///
/// // A modulated head under plain SGD, everything below `backbone` under momentum SGD.
/// let ngm = NgmSgdConfig::new(0.01)
///     .with_gain(GainConfig::new().with_eta(0.2))
///     .with_momentum_group("^backbone\\.", 0.9)
///     .init()?;
/// assert_eq!(ngm.gain().value(), 1.0);
/// # Ok::<(), evenkeel::optim::OptimError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct NgmSgdConfig {
    /// Learning rate α.
    pub lr: f64,
    /// Parameters of the gain.
    pub gain: GainConfig,
    /// Paths (regular expression) of the parameters trained with momentum, and the momentum.
    pub momentum_group: Option<(String, f64)>,
}

impl NgmSgdConfig {
    /// NGM-SGD with the gain's default parameters.
    pub fn new(lr: f64) -> Self {
        Self { lr, gain: GainConfig::new(), momentum_group: None }
    }

    /// Sets the parameters of the gain.
    #[must_use]
    pub fn with_gain(mut self, gain: GainConfig) -> Self {
        self.gain = gain;
        self
    }

    /// Trains the parameters whose path matches `pattern` with momentum.
    #[must_use]
    pub fn with_momentum_group(mut self, pattern: &str, momentum: f64) -> Self {
        self.momentum_group = Some((pattern.to_string(), momentum));
        self
    }

    /// The optimizer, with a gain at its baseline.
    pub fn init(&self) -> Result<NgmSgd, OptimError> {
        let gain = Gain::new(self.gain.check()?);
        let mut optimizer = ModuleOptimizer::from(SgdConfig::new(self.lr).rule()?);
        if let Some((pattern, momentum)) = &self.momentum_group {
            let group = ParamGroup::from_regex(pattern).map_err(|_| OptimError::Group(pattern.clone()))?;
            let rule = SgdConfig::new(self.lr).with_momentum(*momentum).rule()?;
            optimizer = optimizer.with_group(group, rule, None);
        }
        Ok(NgmSgd { optimizer: Baseline::new(self.lr, optimizer), gain })
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
/// The layers read the gain through a clone of [`gain`](Self::gain): [`crate::nn::GainLinear::with_gain`],
/// [`crate::nn::Mlp::with_gain`], or [`crate::nn::modulate`] for any other module. The gain is never reset, not at a task
/// switch either; nobody has to tell this optimizer that a task has changed.
#[derive(Clone)]
pub struct NgmSgd {
    optimizer: Baseline,
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

    /// Gain and optimizer state as bytes; see [`Baseline::to_bytes`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, OptimError> {
        self.optimizer.to_bytes_with_gain(self.gain.value())
    }

    /// Restores what [`to_bytes`](Self::to_bytes) wrote; layers that share the gain see it at once.
    pub fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), OptimError> {
        self.gain.set(self.optimizer.load_bytes_with_gain(bytes)?);
        Ok(())
    }
}
