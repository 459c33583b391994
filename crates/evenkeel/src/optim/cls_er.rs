//! CLS-ER: under replay, a fast and a slow average of the weights guide the logits of old examples.

use burn::config::Config;
use burn::tensor::Tensor;
use burn::tensor::activation::softmax;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::error::{below_one, not_negative};
use super::state::{StateReader, StateWriter};
use super::vector::Vector;
use super::{
    Feedback, Method, MethodConfig, NamedOptimizer, NotFinite, Objective, OptimError, Outputs, Rule,
    RuleOptimizer, SgdConfig,
};
use crate::nn::{Modulated, cross_entropy};

const KIND: &str = "cls-er";

/// SGD with two averages of the weights as complementary memories.
///
/// ```text
/// L = CE + λ MSE(z, z*) on the buffer's rows    z*: logits of whichever average gives the true class more
/// w̄ ← d w̄ + (1−d) w with probability .9 (plastic) and .7 (stable);  evaluated: the stable one
/// ```
///
/// Whether an average moves in a step is decided by the number of the step alone. The decay warms up: `min(1 − 1/(t+1), d)`.
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α |
/// | `lambda` | 0.1 | `>= 0` | λ |
/// | `decay` | 0.999 | `[0, 1)` | d of both averages |
/// | `plastic`, `stable` | 0.9, 0.7 | `[0, 1]` | how often the averages move |
///
/// ```
/// use evenkeel::optim::{ClsErConfig, MethodConfig};
/// assert!(ClsErConfig::new(0.1).check().is_ok() && ClsErConfig::new(0.1).with_stable(2.0).check().is_err());
/// ```
///
/// Reference: Arani, Sarfraz and Zonooz, *Learning fast, learning slow: a general continual learning method based on complementary
/// learning system* (2022).
#[derive(Config, Debug, PartialEq)]
pub struct ClsErConfig {
    /// Learning rate α.
    pub lr: f64,
    /// Weight λ of the consistency.
    #[config(default = 0.1)]
    pub lambda: f64,
    /// Decay d of both averages.
    #[config(default = 0.999)]
    pub decay: f64,
    /// How often the plastic average moves.
    #[config(default = 0.9)]
    pub plastic: f64,
    /// How often the stable average moves.
    #[config(default = 0.7)]
    pub stable: f64,
}

impl MethodConfig for ClsErConfig {
    const NAMED: &'static [NamedOptimizer] = &[NamedOptimizer::new(
        "cls-er",
        "CLS-ER",
        "SGD under replay, guided by a plastic and a stable average",
        |_| Rule::ClsEr(ClsErConfig::new(0.1)),
    )
    .keeps(2)];

    fn check(&self) -> Result<(), OptimError> {
        not_negative("lr", self.lr)?;
        not_negative("lambda", self.lambda)?;
        below_one("decay", self.decay)?;
        for (name, value) in [("plastic", self.plastic), ("stable", self.stable)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(OptimError::Range { name, range: "in [0, 1]", value });
            }
        }
        Ok(())
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        self.check()?;
        let optimizer = RuleOptimizer::new(KIND, self.lr, SgdConfig::new(self.lr).init()?);
        Ok(Box::new(ClsEr { config: self.clone(), optimizer, plastic: None, stable: None, steps: 0 }))
    }
}

struct ClsEr {
    config: ClsErConfig,
    optimizer: RuleOptimizer,
    plastic: Option<Vector>,
    stable: Option<Vector>,
    steps: u64,
}

impl ClsEr {
    /// The loss with the logits that both averages have for the batch.
    fn objective(&self, outputs: Outputs, [plastic, stable]: [Tensor<2>; 2]) -> Objective {
        let Outputs { logits, labels, replayed } = outputs;
        let [batch, classes] = logits.dims();
        let loss = cross_entropy(logits.clone(), labels.clone());
        if replayed == 0 {
            return Objective { loss, logits };
        }
        let rows = |tensor: &Tensor<2>| tensor.clone().slice([batch - replayed..batch, 0..classes]);
        let truth = labels.narrow(0, batch - replayed, replayed).unsqueeze_dim::<2>(1);
        let belief = |logits: &Tensor<2>| softmax(rows(logits), 1).gather(1, truth.clone());
        let prefers_stable = belief(&stable).greater(belief(&plastic)).expand([replayed, classes]);
        let target = rows(&plastic).mask_where(prefers_stable, rows(&stable));
        let consistency = (rows(&logits) - target).square().mean();
        Objective { loss: loss + consistency.mul_scalar(self.config.lambda), logits }
    }

    /// Moves both averages towards `w`, each with its probability.
    fn learn(&mut self, w: &Vector, [plastic, stable]: [Vector; 2]) {
        let d = self.config.decay.min(1.0 - 1.0 / (self.steps as f64 + 1.0));
        let mut rng = ChaCha8Rng::seed_from_u64(self.steps);
        let mut moved = |average: Vector, often: f64| {
            if rng.random::<f64>() < often { average.scaled_sum(d, 1.0 - d, w) } else { average }
        };
        self.plastic = Some(moved(plastic, self.config.plastic));
        self.stable = Some(moved(stable, self.config.stable));
        self.steps += 1;
    }
}

impl<M: Modulated> Method<M> for ClsEr {
    fn step(&mut self, model: M, feedback: &mut dyn Feedback<M>) -> Result<M, NotFinite> {
        let start = || Vector::of_weights(&model);
        let averages = [self.plastic.take(), self.stable.take()].map(|average| average.unwrap_or_else(start));
        let opinions = averages.each_ref().map(|average| {
            Tensor::from_inner(feedback.logits(&average.clone().into_weights_of(model.clone())))
        });
        let mut objective = |outputs: Outputs| self.objective(outputs, opinions.clone());
        let gradients = feedback.gradients_of(&model, &mut objective)?;
        let model = self.optimizer.step(model, gradients.of);
        self.learn(&Vector::of_weights(&model), averages);
        Ok(model)
    }

    fn evaluated(&self, model: &M) -> M {
        match &self.stable {
            Some(stable) => stable.clone().into_weights_of(model.clone()),
            None => model.clone(),
        }
    }

    /// Forgets the averages too: they guide the next step.
    fn reset(&mut self) {
        self.optimizer.reset();
        (self.plastic, self.stable, self.steps) = (None, None, 0);
    }

    fn save(&self) -> Result<Vec<u8>, OptimError> {
        StateWriter::new(KIND)
            .number("steps", self.steps as f64)
            .vector("plastic", self.plastic.as_ref())
            .vector("stable", self.stable.as_ref())
            .part("optimizer", self.optimizer.to_bytes()?)
            .finish()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), OptimError> {
        let state = StateReader::open(KIND, state)?;
        self.optimizer.load_bytes(&state.part("optimizer")?)?;
        (self.plastic, self.stable) = (state.vector("plastic")?, state.vector("stable")?);
        self.steps = state.number("steps")? as u64;
        Ok(())
    }
}
