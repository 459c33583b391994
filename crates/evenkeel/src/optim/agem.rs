//! A-GEM: gradients that do not raise the loss on old tasks.

use burn::config::Config;

use super::vector::{Vector, detached};
use super::{
    Feedback, Method, MethodConfig, NamedOptimizer, NotFinite, OptimError, Rule, RuleOptimizer, SgdConfig,
};
use crate::nn::Modulated;

/// Keeps the quotient finite where the reference gradient vanishes.
const EPSILON: f64 = 1e-7;

/// Momentum SGD on gradients projected by those of the old tasks. An oracle: it draws from the old data (under replay, from the
/// buffer).
///
/// ```text
/// d = ∂L/∂w;  r = the same on a batch of the old tasks, running statistics left alone
/// if ⟨d, r⟩ < 0 then d ← d − r ⟨d, r⟩/(⟨r, r⟩ + 10⁻⁷)
/// v ← μ v + d;  w ← w − α v
/// ```
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α |
/// | `momentum` | 0.9 | `[0, 1)` | μ |
///
/// ```
/// use evenkeel::optim::{AgemConfig, MethodConfig};
/// assert!(AgemConfig::new(0.1).check().is_ok());
/// ```
///
/// Reference: Chaudhry et al., *Efficient lifelong learning with A-GEM* (2019); under joint training: Hess, Tuytelaars and van de Ven,
/// *Two complementary perspectives to continual learning* (2023).
#[derive(Config, Debug, PartialEq)]
pub struct AgemConfig {
    /// Learning rate α.
    pub lr: f64,
    /// Momentum μ.
    #[config(default = 0.9)]
    pub momentum: f64,
}

impl AgemConfig {
    fn sgd(&self) -> SgdConfig {
        SgdConfig::new(self.lr).with_momentum(self.momentum)
    }
}

impl MethodConfig for AgemConfig {
    const NAMED: &'static [NamedOptimizer] = &[NamedOptimizer::new(
        "agem",
        "A-GEM",
        "momentum SGD whose gradient may not raise the loss on old tasks",
        |_| Rule::Agem(AgemConfig::new(0.01)),
    )
    .costs(2)
    .keeps(1)
    .oracle()];

    fn check(&self) -> Result<(), OptimError> {
        self.sgd().check()
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        Ok(Box::new(Agem(RuleOptimizer::new("agem", self.lr, self.sgd().init()?))))
    }
}

struct Agem(RuleOptimizer);

impl<M: Modulated> Method<M> for Agem {
    fn step(&mut self, model: M, feedback: &mut dyn Feedback<M>) -> Result<M, NotFinite> {
        let mut gradients = feedback.gradients(&model)?.of;
        if let Some(old) = feedback.gradients_on_old_tasks(&detached(&model))? {
            let d = Vector::of_gradients(&model, &gradients);
            let r = Vector::of_gradients(&model, &old.of);
            let along = d.dot(&r);
            if along < 0.0 {
                let d = d.scaled_sum(1.0, -along / (r.dot(&r) + EPSILON), &r);
                gradients = d.into_gradients(&model);
            }
        }
        Ok(self.0.step(model, gradients))
    }

    fn reset(&mut self) {
        self.0.reset();
    }

    fn save(&self) -> Result<Vec<u8>, OptimError> {
        self.0.to_bytes()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), OptimError> {
        self.0.load_bytes(state)
    }
}
