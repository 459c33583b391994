//! ER-ACE: under replay, the new batch does not push old classes down.

use burn::config::Config;
use burn::tensor::{Tensor, TensorData};

use super::labels::SeenClasses;
use super::state::{StateReader, StateWriter};
use super::{
    Feedback, Method, MethodConfig, NamedOptimizer, NotFinite, Objective, OptimError, Outputs, Rule,
    RuleOptimizer, SgdConfig,
};
use crate::nn::{Modulated, cross_entropy};

const KIND: &str = "er-ace";

/// What a masked logit is lowered by: its probability is 0 in f32.
const MASKED: f32 = -1e9;

/// SGD under replay with an asymmetric cross-entropy. Without a buffer it is masked alike.
///
/// ```text
/// L = CE(new rows; over the classes among them and those never seen) + CE(buffer rows; over all classes)
/// ```
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α |
/// | `momentum` | 0 | `[0, 1)` | μ |
///
/// ```
/// use evenkeel::optim::{ErAceConfig, MethodConfig};
/// assert!(ErAceConfig::new(0.1).check().is_ok());
/// ```
///
/// Reference: Caccia et al., *New insights on reducing abrupt representation change in online continual learning* (2022).
#[derive(Config, Debug, PartialEq)]
pub struct ErAceConfig {
    /// Learning rate α.
    pub lr: f64,
    /// Momentum μ.
    #[config(default = 0.0)]
    pub momentum: f64,
}

impl ErAceConfig {
    fn sgd(&self) -> SgdConfig {
        SgdConfig::new(self.lr).with_momentum(self.momentum)
    }
}

impl MethodConfig for ErAceConfig {
    const NAMED: &'static [NamedOptimizer] = &[NamedOptimizer::new(
        "er-ace",
        "ER-ACE",
        "SGD under replay; the new batch leaves old classes alone",
        |_| Rule::ErAce(ErAceConfig::new(0.1)),
    )];

    fn check(&self) -> Result<(), OptimError> {
        self.sgd().check()
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        let optimizer = RuleOptimizer::new(KIND, self.lr, self.sgd().init()?);
        Ok(Box::new(ErAce { optimizer, seen: SeenClasses::default() }))
    }
}

struct ErAce {
    optimizer: RuleOptimizer,
    seen: SeenClasses,
}

impl ErAce {
    fn objective(&self, Outputs { logits, labels, replayed }: Outputs) -> Objective {
        let [batch, classes] = logits.dims();
        let new = batch - replayed;
        let (new_logits, new_labels) =
            (logits.clone().slice([0..new, 0..classes]), labels.clone().narrow(0, 0, new));
        let mut present = SeenClasses::default();
        present.see(&new_labels);
        let allowed = |class: usize| present.has(class) || !self.seen.has(class);
        let mask = (0..classes).map(|class| if allowed(class) { 0.0 } else { MASKED });
        let mask = TensorData::new(mask.collect::<Vec<f32>>(), [1, classes]);
        let masked = new_logits + Tensor::<2>::from_data(mask, &logits.device());
        let mut loss = cross_entropy(masked, new_labels);
        if replayed > 0 {
            let old = logits.clone().slice([new..batch, 0..classes]);
            loss = loss + cross_entropy(old, labels.narrow(0, new, replayed));
        }
        Objective { loss, logits }
    }
}

impl<M: Modulated> Method<M> for ErAce {
    fn step(&mut self, model: M, feedback: &mut dyn Feedback<M>) -> Result<M, NotFinite> {
        let mut seen = self.seen.clone();
        let gradients = feedback.gradients_of(&model, &mut |outputs| {
            seen.see(&outputs.labels);
            self.objective(outputs)
        })?;
        self.seen = seen;
        Ok(self.optimizer.step(model, gradients.of))
    }

    fn reset(&mut self) {
        self.optimizer.reset();
    }

    fn save(&self) -> Result<Vec<u8>, OptimError> {
        let writer = StateWriter::new(KIND).part("seen", self.seen.to_bytes());
        writer.part("optimizer", self.optimizer.to_bytes()?).finish()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), OptimError> {
        let state = StateReader::open(KIND, state)?;
        self.optimizer.load_bytes(&state.part("optimizer")?)?;
        self.seen = SeenClasses::from_bytes(&state.part("seen")?)?;
        Ok(())
    }
}
