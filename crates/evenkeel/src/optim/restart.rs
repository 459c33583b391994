//! Momentum that starts again when it points uphill.

use burn::config::Config;

use super::error::{below_one, not_negative};
use super::state::{StateReader, StateWriter};
use super::vector::Vector;
use super::{Feedback, Method, MethodConfig, NamedOptimizer, NotFinite, OptimError, Rule};
use crate::nn::Modulated;

const KIND: &str = "restart";

/// Momentum SGD with adaptive restart: no parameter more, and nobody has to tell it of a switch.
///
/// ```text
/// if ⟨∂L/∂w, v⟩ < 0 then v ← 0          over all weights
/// v ← μ v + ∂L/∂w;  w ← w − α v
/// ```
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α |
/// | `momentum` | 0.9 | `[0, 1)` | μ |
///
/// ```
/// use evenkeel::optim::{MethodConfig, RestartConfig};
/// assert!(RestartConfig::new(0.1).check().is_ok() && RestartConfig::new(-0.1).check().is_err());
/// ```
///
/// Reference: O'Donoghue and Candès, *Adaptive restart for accelerated gradient schemes* (2015).
#[derive(Config, Debug, PartialEq)]
pub struct RestartConfig {
    /// Learning rate α.
    pub lr: f64,
    /// Momentum μ.
    #[config(default = 0.9)]
    pub momentum: f64,
}

impl MethodConfig for RestartConfig {
    const NAMED: &'static [NamedOptimizer] = &[NamedOptimizer::new(
        "restart",
        "Restart",
        "momentum SGD, its momentum cleared whenever it points uphill",
        |_| Rule::Restart(RestartConfig::new(0.01)),
    )
    .keeps(1)];

    fn check(&self) -> Result<(), OptimError> {
        not_negative("lr", self.lr)?;
        below_one("momentum", self.momentum)
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        self.check()?;
        Ok(Box::new(Restart { config: self.clone(), velocity: None }))
    }
}

struct Restart {
    config: RestartConfig,
    velocity: Option<Vector>,
}

impl<M: Modulated> Method<M> for Restart {
    fn step(&mut self, model: M, feedback: &mut dyn Feedback<M>) -> Result<M, NotFinite> {
        let RestartConfig { lr, momentum } = self.config;
        let d = Vector::of_gradients(&model, &feedback.gradients(&model)?.of);
        let v = match self.velocity.take() {
            Some(v) if d.dot(&v) >= 0.0 => v.scaled_sum(momentum, 1.0, &d),
            _ => d,
        };
        let w = Vector::of_weights(&model).scaled_sum(1.0, -lr, &v);
        self.velocity = Some(v);
        Ok(w.into_weights_of(model))
    }

    fn reset(&mut self) {
        self.velocity = None;
    }

    fn save(&self) -> Result<Vec<u8>, OptimError> {
        StateWriter::new(KIND).vector("velocity", self.velocity.as_ref()).finish()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), OptimError> {
        self.velocity = StateReader::open(KIND, state)?.vector("velocity")?;
        Ok(())
    }
}
