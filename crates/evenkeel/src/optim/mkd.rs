//! Momentum knowledge distillation: under replay, an average of the weights teaches.

use burn::config::Config;
use burn::tensor::Tensor;
use burn::tensor::activation::{log_softmax, softmax};

use super::error::{below_one, not_negative};
use super::state::{StateReader, StateWriter};
use super::vector::Vector;
use super::{
    Feedback, Method, MethodConfig, NamedOptimizer, NotFinite, Objective, OptimError, Outputs, Rule,
    RuleOptimizer, SgdConfig,
};
use crate::nn::{Modulated, cross_entropy};

const KIND: &str = "mkd";

/// SGD that is also taught by an average of its weights.
///
/// ```text
/// L = CE + λ T² KL(softmax(z̄/T) ‖ softmax(z/T))     z̄: logits of the average, in evaluation mode
/// w ← w − α ∂L/∂w;  w̄ ← d w̄ + (1−d) w
/// ```
///
/// Both networks predict: what is evaluated is the mean of the logits of w̄ and w.
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α |
/// | `lambda` | 5.5 | `>= 0` | λ |
/// | `temperature` | 4 | `> 0` | T |
/// | `decay` | 0.99 | `[0, 1)` | d |
///
/// ```
/// use evenkeel::optim::{MethodConfig, MkdConfig};
/// assert!(MkdConfig::new(0.1).check().is_ok() && MkdConfig::new(0.1).with_temperature(0.0).check().is_err());
/// ```
///
/// Reference: Michel et al., *Rethinking momentum knowledge distillation in online continual learning* (2024).
#[derive(Config, Debug, PartialEq)]
pub struct MkdConfig {
    /// Learning rate α.
    pub lr: f64,
    /// Weight λ of the distillation.
    #[config(default = 5.5)]
    pub lambda: f64,
    /// Temperature T.
    #[config(default = 4.0)]
    pub temperature: f64,
    /// Decay d of the average.
    #[config(default = 0.99)]
    pub decay: f64,
}

impl MethodConfig for MkdConfig {
    const NAMED: &'static [NamedOptimizer] = &[NamedOptimizer::new(
        "mkd",
        "MKD",
        "SGD taught by an average of its weights; the mean of both networks is evaluated",
        |_| Rule::Mkd(MkdConfig::new(0.1)),
    )
    .keeps(1)];

    fn check(&self) -> Result<(), OptimError> {
        not_negative("lr", self.lr)?;
        not_negative("lambda", self.lambda)?;
        below_one("decay", self.decay)?;
        if !(self.temperature > 0.0 && self.temperature.is_finite()) {
            return Err(OptimError::Range { name: "temperature", range: "> 0", value: self.temperature });
        }
        Ok(())
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        self.check()?;
        let optimizer = RuleOptimizer::new(KIND, self.lr, SgdConfig::new(self.lr).init()?);
        Ok(Box::new(Mkd { config: self.clone(), optimizer, average: None }))
    }
}

struct Mkd {
    config: MkdConfig,
    optimizer: RuleOptimizer,
    average: Option<Vector>,
}

impl Mkd {
    fn objective(&self, Outputs { logits, labels, .. }: Outputs, teacher: Tensor<2>) -> Objective {
        let MkdConfig { lambda, temperature, .. } = self.config;
        let [batch, _] = logits.dims();
        let taught = teacher.div_scalar(temperature);
        let (p, log_p) = (softmax(taught.clone(), 1), log_softmax(taught, 1));
        let log_q = log_softmax(logits.clone().div_scalar(temperature), 1);
        let divergence = (p * (log_p - log_q)).sum().div_scalar(batch as f64);
        let weight = lambda * temperature * temperature;
        Objective { loss: cross_entropy(logits.clone(), labels) + divergence.mul_scalar(weight), logits }
    }
}

impl<M: Modulated> Method<M> for Mkd {
    fn step(&mut self, model: M, feedback: &mut dyn Feedback<M>) -> Result<M, NotFinite> {
        let average = self.average.take().unwrap_or_else(|| Vector::of_weights(&model));
        let teacher = Tensor::from_inner(feedback.logits(&average.clone().into_weights_of(model.clone())));
        let mut objective = |outputs: Outputs| self.objective(outputs, teacher.clone());
        let gradients = feedback.gradients_of(&model, &mut objective)?;
        let model = self.optimizer.step(model, gradients.of);
        let d = self.config.decay;
        self.average = Some(average.scaled_sum(d, 1.0 - d, &Vector::of_weights(&model)));
        Ok(model)
    }

    fn evaluated(&self, model: &M) -> M {
        match &self.average {
            Some(average) => average.clone().into_weights_of(model.clone()),
            None => model.clone(),
        }
    }

    fn second_opinion(&self, model: &M) -> Option<M> {
        self.average.as_ref().map(|_| model.clone())
    }

    /// Forgets the average too: it is the teacher of the next step.
    fn reset(&mut self) {
        self.optimizer.reset();
        self.average = None;
    }

    fn save(&self) -> Result<Vec<u8>, OptimError> {
        let writer = StateWriter::new(KIND).vector("average", self.average.as_ref());
        writer.part("optimizer", self.optimizer.to_bytes()?).finish()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), OptimError> {
        let state = StateReader::open(KIND, state)?;
        self.optimizer.load_bytes(&state.part("optimizer")?)?;
        self.average = state.vector("average")?;
        Ok(())
    }
}
