//! Warm-up at each task switch: what knowing the switch is worth.

use burn::config::Config;

use super::error::not_negative;
use super::{
    Feedback, Method, MethodConfig, NamedOptimizer, NotFinite, OptimError, Rule, RuleOptimizer, SgdConfig,
};
use crate::nn::Modulated;

/// Momentum SGD whose learning rate rises anew after each task switch. An oracle: it is told of the switch.
///
/// ```text
/// w ← w − α min(1, s/W) v               s = steps since the switch, this one included
/// ```
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α |
/// | `momentum` | 0.9 | `[0, 1)` | μ of `v ← μ v + ∂L/∂w` |
/// | `steps` | 50 | `>= 0` | length W of the warm-up |
///
/// ```
/// use evenkeel::optim::WarmupConfig;
/// let config = WarmupConfig::new(0.1).with_steps(4.0);
/// assert_eq!([0, 1, 9].map(|since| config.rate(since)), [0.025, 0.05, 0.1]);
/// ```
#[derive(Config, Debug, PartialEq)]
pub struct WarmupConfig {
    /// Learning rate α.
    pub lr: f64,
    /// Momentum μ.
    #[config(default = 0.9)]
    pub momentum: f64,
    /// Length W of the warm-up.
    #[config(default = 50.0)]
    pub steps: f64,
}

impl WarmupConfig {
    /// The learning rate after so many steps since the switch.
    pub fn rate(&self, since_switch: u64) -> f64 {
        self.lr * ((since_switch + 1) as f64 / self.steps).min(1.0)
    }
}

impl MethodConfig for WarmupConfig {
    const NAMED: &'static [NamedOptimizer] =
        &[NamedOptimizer::new("warmup", "Warm-up", "momentum SGD with a warm-up after each switch", |_| {
            Rule::Warmup(WarmupConfig::new(0.01))
        })
        .keeps(1)
        .oracle()];

    fn check(&self) -> Result<(), OptimError> {
        not_negative("steps", self.steps)?;
        SgdConfig::new(self.lr).with_momentum(self.momentum).check()
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        self.check()?;
        let sgd = SgdConfig::new(self.lr).with_momentum(self.momentum).init()?;
        Ok(Box::new(Warmup { config: self.clone(), optimizer: RuleOptimizer::new("warmup", self.lr, sgd) }))
    }
}

struct Warmup {
    config: WarmupConfig,
    optimizer: RuleOptimizer,
}

impl<M: Modulated> Method<M> for Warmup {
    fn step(&mut self, model: M, feedback: &mut dyn Feedback<M>) -> Result<M, NotFinite> {
        let gradients = feedback.gradients(&model)?;
        self.optimizer.set_lr(self.config.rate(feedback.since_switch()));
        Ok(self.optimizer.step(model, gradients.of))
    }

    fn reset(&mut self) {
        self.optimizer.reset();
    }

    fn save(&self) -> Result<Vec<u8>, OptimError> {
        self.optimizer.to_bytes()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), OptimError> {
        self.optimizer.load_bytes(state)
    }
}
