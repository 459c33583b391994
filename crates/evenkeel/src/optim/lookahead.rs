//! Lookahead: k fast steps, then half of the way back.

use burn::config::Config;

use super::state::{StateReader, StateWriter};
use super::vector::Vector;
use super::{
    Feedback, Method, MethodConfig, NamedOptimizer, NotFinite, OptimError, Rule, RuleOptimizer, SgdConfig,
};
use crate::nn::Modulated;

const KIND: &str = "lookahead";

/// Lookahead around momentum SGD.
///
/// ```text
/// w ← w − α v                           v ← μ v + ∂L/∂w
/// every k steps: s ← s + ½ (w − s);  w ← s
/// ```
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α of the fast steps |
/// | `momentum` | 0.9 | `[0, 1)` | μ |
/// | `every` | 5 | `>= 1` | k |
/// | `share` | 0.5 | `[0, 1]` | how far the slow weights go |
///
/// ```
/// use evenkeel::optim::{LookaheadConfig, MethodConfig};
/// assert!(LookaheadConfig::new(0.1).check().is_ok() && LookaheadConfig::new(0.1).with_every(0.0).check().is_err());
/// ```
///
/// Reference: Zhang et al., *Lookahead optimizer: k steps forward, 1 step back* (2019).
#[derive(Config, Debug, PartialEq)]
pub struct LookaheadConfig {
    /// Learning rate α.
    pub lr: f64,
    /// Momentum μ.
    #[config(default = 0.9)]
    pub momentum: f64,
    /// Steps k between synchronisations.
    #[config(default = 5.0)]
    pub every: f64,
    /// Share of the way that the slow weights go.
    #[config(default = 0.5)]
    pub share: f64,
}

impl MethodConfig for LookaheadConfig {
    const NAMED: &'static [NamedOptimizer] = &[NamedOptimizer::new(
        "lookahead",
        "Lookahead",
        "momentum SGD that goes half of the way back every 5 steps",
        |_| Rule::Lookahead(LookaheadConfig::new(0.01)),
    )
    .keeps(2)];

    fn check(&self) -> Result<(), OptimError> {
        if !(self.every >= 1.0 && self.every.fract() == 0.0) {
            return Err(OptimError::Range { name: "every", range: "a whole number >= 1", value: self.every });
        }
        if !(0.0..=1.0).contains(&self.share) {
            return Err(OptimError::Range { name: "share", range: "in [0, 1]", value: self.share });
        }
        SgdConfig::new(self.lr).with_momentum(self.momentum).check()
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        self.check()?;
        let sgd = SgdConfig::new(self.lr).with_momentum(self.momentum).init()?;
        let fast = RuleOptimizer::new(KIND, self.lr, sgd);
        Ok(Box::new(Lookahead { config: self.clone(), fast, slow: None, steps: 0 }))
    }
}

struct Lookahead {
    config: LookaheadConfig,
    fast: RuleOptimizer,
    slow: Option<Vector>,
    steps: u64,
}

impl<M: Modulated> Method<M> for Lookahead {
    fn step(&mut self, model: M, feedback: &mut dyn Feedback<M>) -> Result<M, NotFinite> {
        let slow = self.slow.take().unwrap_or_else(|| Vector::of_weights(&model));
        let gradients = feedback.gradients(&model)?;
        let model = self.fast.step(model, gradients.of);
        self.steps += 1;
        if self.steps as f64 % self.config.every != 0.0 {
            self.slow = Some(slow);
            return Ok(model);
        }
        let share = self.config.share;
        let slow = slow.scaled_sum(1.0 - share, share, &Vector::of_weights(&model));
        self.slow = Some(slow.clone());
        Ok(slow.into_weights_of(model))
    }

    fn reset(&mut self) {
        self.fast.reset();
        (self.slow, self.steps) = (None, 0);
    }

    fn save(&self) -> Result<Vec<u8>, OptimError> {
        StateWriter::new(KIND)
            .number("steps", self.steps as f64)
            .vector("slow", self.slow.as_ref())
            .part("fast", self.fast.to_bytes()?)
            .finish()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), OptimError> {
        let state = StateReader::open(KIND, state)?;
        self.fast.load_bytes(&state.part("fast")?)?;
        (self.steps, self.slow) = (state.number("steps")? as u64, state.vector("slow")?);
        Ok(())
    }
}
