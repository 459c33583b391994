//! C-Flat: flatness of order zero and one, for continual learning.

use burn::config::Config;

use super::error::not_negative;
use super::sam::EPSILON;
use super::vector::{Vector, moved};
use super::{
    Feedback, Method, MethodConfig, NamedOptimizer, NotFinite, OptimError, Rule, RuleOptimizer, SgdConfig,
};
use crate::nn::Modulated;

/// Momentum SGD on gradients that prefer flat regions.
///
/// ```text
/// g₀ at w;  g₁ at w + ρ ĝ₀;  g₂ at p = w + ρ unit(g₁ − g₀);  g₃ at p + ρ ĝ₂
/// d = g₁ + λ (g₃ − g₂);  v ← μ v + d;  w ← w − α v
/// ```
///
/// Running statistics are those of the pass at w.
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α |
/// | `rho` | 0.2 | `>= 0` | ρ |
/// | `lambda` | 0.2 | `>= 0` | λ |
/// | `momentum` | 0.9 | `[0, 1)` | μ |
///
/// ```
/// use evenkeel::optim::{CflatConfig, MethodConfig};
/// assert!(CflatConfig::new(0.1).check().is_ok());
/// ```
///
/// Reference: Bian et al., *Make continual learning stronger via C-Flat* (2024).
#[derive(Config, Debug, PartialEq)]
pub struct CflatConfig {
    /// Learning rate α.
    pub lr: f64,
    /// Radius ρ.
    #[config(default = 0.2)]
    pub rho: f64,
    /// Weight λ of the flatness of order one.
    #[config(default = 0.2)]
    pub lambda: f64,
    /// Momentum μ.
    #[config(default = 0.9)]
    pub momentum: f64,
}

impl CflatConfig {
    fn sgd(&self) -> SgdConfig {
        SgdConfig::new(self.lr).with_momentum(self.momentum)
    }
}

impl MethodConfig for CflatConfig {
    const NAMED: &'static [NamedOptimizer] = &[NamedOptimizer::new(
        "cflat",
        "C-Flat",
        "momentum SGD on gradients that prefer flat regions",
        |_| Rule::Cflat(CflatConfig::new(0.01)),
    )
    .costs(4)
    .keeps(1)];

    fn check(&self) -> Result<(), OptimError> {
        not_negative("rho", self.rho)?;
        not_negative("lambda", self.lambda)?;
        self.sgd().check()
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        self.check()?;
        let optimizer = RuleOptimizer::new("cflat", self.lr, self.sgd().init()?);
        Ok(Box::new(Cflat { config: self.clone(), optimizer }))
    }
}

struct Cflat {
    config: CflatConfig,
    optimizer: RuleOptimizer,
}

impl<M: Modulated> Method<M> for Cflat {
    fn step(&mut self, model: M, feedback: &mut dyn Feedback<M>) -> Result<M, NotFinite> {
        let CflatConfig { rho, lambda, .. } = self.config;
        let mut gradients = |at: &M| -> Result<Vector, NotFinite> {
            Ok(Vector::of_gradients(at, &feedback.gradients(at)?.of))
        };
        let along = |from: &M, direction: &Vector| moved(from, rho / (direction.norm() + EPSILON), direction);
        let g0 = gradients(&model)?;
        let g1 = gradients(&along(&model, &g0))?;
        let sharp = along(&model, &g1.clone().scaled_sum(1.0, -1.0, &g0));
        let g2 = gradients(&sharp)?;
        let g3 = gradients(&along(&sharp, &g2))?;
        let d = g1.scaled_sum(1.0, lambda, &g3.scaled_sum(1.0, -1.0, &g2));
        let d = d.into_gradients(&model);
        Ok(self.optimizer.step(model, d))
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
