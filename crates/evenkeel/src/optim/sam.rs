//! Sharpness-aware minimisation.

use burn::config::Config;

use super::error::not_negative;
use super::vector::{Vector, moved};
use super::{
    Feedback, Method, MethodConfig, NamedOptimizer, NotFinite, OptimError, Rule, RuleOptimizer, SgdConfig,
};
use crate::nn::Modulated;

/// Keeps a direction finite where the gradient vanishes, as the authors' code does.
pub(super) const EPSILON: f64 = 1e-12;

/// Momentum SGD on the gradient at the worst point near by.
///
/// ```text
/// d = ∂L/∂w at w + ρ g/‖g‖,  g = ∂L/∂w at w;  v ← μ v + d;  w ← w − α v
/// ```
///
/// Running statistics are those of the pass at w.
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α |
/// | `rho` | 0.05 | `>= 0` | ρ |
/// | `momentum` | 0.9 | `[0, 1)` | μ |
///
/// ```
/// use evenkeel::optim::{MethodConfig, SamConfig};
/// assert!(SamConfig::new(0.1).check().is_ok() && SamConfig::new(0.1).with_rho(-1.0).check().is_err());
/// ```
///
/// Reference: Foret et al., *Sharpness-aware minimization for efficiently improving generalization* (2021).
#[derive(Config, Debug, PartialEq)]
pub struct SamConfig {
    /// Learning rate α.
    pub lr: f64,
    /// Radius ρ.
    #[config(default = 0.05)]
    pub rho: f64,
    /// Momentum μ.
    #[config(default = 0.9)]
    pub momentum: f64,
}

impl SamConfig {
    fn sgd(&self) -> SgdConfig {
        SgdConfig::new(self.lr).with_momentum(self.momentum)
    }
}

impl MethodConfig for SamConfig {
    const NAMED: &'static [NamedOptimizer] = &[NamedOptimizer::new(
        "sam",
        "SAM",
        "momentum SGD on the gradient at the worst point near by",
        |_| Rule::Sam(SamConfig::new(0.01)),
    )
    .costs(2)
    .keeps(1)];

    fn check(&self) -> Result<(), OptimError> {
        not_negative("rho", self.rho)?;
        self.sgd().check()
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        self.check()?;
        Ok(Box::new(Sam { rho: self.rho, optimizer: RuleOptimizer::new("sam", self.lr, self.sgd().init()?) }))
    }
}

struct Sam {
    rho: f64,
    optimizer: RuleOptimizer,
}

impl<M: Modulated> Method<M> for Sam {
    fn step(&mut self, model: M, feedback: &mut dyn Feedback<M>) -> Result<M, NotFinite> {
        let g = Vector::of_gradients(&model, &feedback.gradients(&model)?.of);
        let worst = moved(&model, self.rho / (g.norm() + EPSILON), &g);
        let there = feedback.gradients(&worst)?;
        Ok(self.optimizer.step(model, there.of))
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
