//! Schedule-free SGD: gradients between two sequences, evaluation at the average of one.

use burn::config::Config;

use super::error::{below_one, not_negative};
use super::state::{StateReader, StateWriter};
use super::vector::Vector;
use super::{Feedback, Method, MethodConfig, NamedOptimizer, NotFinite, OptimError, Rule};
use crate::nn::Modulated;

const KIND: &str = "schedule-free";

/// Schedule-free SGD.
///
/// ```text
/// y = (1−β) z + β x                     gradients at y; at first x = y = z
/// z ← z − α ∂L/∂w(y);  x ← (1 − 1/t) x + z/t;  evaluated: x
/// ```
///
/// The evaluated weights are the mean of all that there were: they hardly fall at a switch, and hardly move either. Running statistics
/// stay those of y.
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α |
/// | `beta` | 0.9 | `[0, 1)` | where between z and x the gradient is taken |
///
/// ```
/// use evenkeel::optim::{MethodConfig, ScheduleFreeConfig};
/// assert!(ScheduleFreeConfig::new(1.0).check().is_ok());
/// ```
///
/// Reference: Defazio et al., *The road less scheduled* (2024).
#[derive(Config, Debug, PartialEq)]
pub struct ScheduleFreeConfig {
    /// Learning rate α.
    pub lr: f64,
    /// Interpolation β.
    #[config(default = 0.9)]
    pub beta: f64,
}

impl MethodConfig for ScheduleFreeConfig {
    const NAMED: &'static [NamedOptimizer] = &[NamedOptimizer::new(
        "schedule-free",
        "Schedule-free",
        "SGD between its iterate and the mean of all, evaluated at the mean",
        |_| Rule::ScheduleFree(ScheduleFreeConfig::new(0.1)),
    )
    .keeps(2)];

    fn check(&self) -> Result<(), OptimError> {
        not_negative("lr", self.lr)?;
        below_one("beta", self.beta)
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        self.check()?;
        Ok(Box::new(ScheduleFree { config: self.clone(), t: 0, z: None, x: None }))
    }
}

struct ScheduleFree {
    config: ScheduleFreeConfig,
    /// Steps done.
    t: u64,
    z: Option<Vector>,
    x: Option<Vector>,
}

impl<M: Modulated> Method<M> for ScheduleFree {
    fn step(&mut self, y: M, feedback: &mut dyn Feedback<M>) -> Result<M, NotFinite> {
        let ScheduleFreeConfig { lr, beta } = self.config;
        let d = Vector::of_gradients(&y, &feedback.gradients(&y)?.of);
        let start = || Vector::of_weights(&y);
        let z = self.z.take().unwrap_or_else(start).scaled_sum(1.0, -lr, &d);
        self.t += 1;
        let c = 1.0 / self.t as f64;
        let x = self.x.take().unwrap_or_else(start).scaled_sum(1.0 - c, c, &z);
        let next = z.clone().scaled_sum(1.0 - beta, beta, &x).into_weights_of(y);
        (self.z, self.x) = (Some(z), Some(x));
        Ok(next)
    }

    fn evaluated(&self, model: &M) -> M {
        match &self.x {
            Some(x) => x.clone().into_weights_of(model.clone()),
            None => model.clone(),
        }
    }

    fn reset(&mut self) {
        (self.t, self.z, self.x) = (0, None, None);
    }

    fn save(&self) -> Result<Vec<u8>, OptimError> {
        StateWriter::new(KIND)
            .number("t", self.t as f64)
            .vector("z", self.z.as_ref())
            .vector("x", self.x.as_ref())
            .finish()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), OptimError> {
        let state = StateReader::open(KIND, state)?;
        (self.t, self.z, self.x) = (state.number("t")? as u64, state.vector("z")?, state.vector("x")?);
        Ok(())
    }
}
