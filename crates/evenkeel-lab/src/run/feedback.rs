//! Where a method gets its gradients from during one iteration.

use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor};
use evenkeel::entropy::mean_entropy;
use evenkeel::optim::{Feedback, Gradients, LayerInputs, NotFinite, Objective, Outputs};
use evenkeel_models::{Architecture, Frozen, InputShape, Pass, Trainer};

use super::batches::Draw;

/// What a training step saw of its batch, before the update.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// Mean cross-entropy.
    pub loss: f64,
    /// Mean output entropy in nats.
    pub entropy: f64,
    /// In percent, if it was asked for.
    pub accuracy: Option<f64>,
}

/// The batch of an iteration, and the way to others.
pub(crate) struct BatchFeedback<'a, N: Architecture> {
    pub(super) batch: (Tensor<2>, Tensor<1, Int>),
    pub(super) shape: InputShape,
    pub(super) frozen: Option<&'a dyn Frozen<N>>,
    pub(super) trainer: &'a mut N::Trainer,
    pub(super) with_accuracy: bool,
    /// What the first pass saw.
    pub(super) seen: Option<Seen>,
    pub(super) draw: Draw<'a>,
    pub(super) device: &'a Device,
}

impl<N: Architecture> BatchFeedback<'_, N> {
    /// Gradients of the cross-entropy, as the network's trainer computes them or by autodiff.
    fn cross_entropy(
        &mut self,
        model: &N,
        (x, labels): (Tensor<2>, Tensor<1, Int>),
        replayed: usize,
    ) -> (Seen, Option<GradientsParams>) {
        let by_trainer = match self.frozen {
            Some(_) => None,
            None => self.trainer.pass(model, &x, &labels, self.shape),
        };
        let Some(Pass { loss, entropy, hits, gradients }) = by_trainer else {
            return self.pass(model, (x, labels), replayed, &mut Objective::cross_entropy);
        };
        let accuracy = self.with_accuracy.then(|| percentage(hits, labels.dims()[0]));
        (Seen { loss, entropy, accuracy }, loss.is_finite().then_some(gradients))
    }

    /// Forward with W = g·w, and backward.
    fn pass(
        &self,
        model: &N,
        (x, labels): (Tensor<2>, Tensor<1, Int>),
        replayed: usize,
        objective: &mut dyn FnMut(Outputs) -> Objective,
    ) -> (Seen, Option<GradientsParams>) {
        let logits = match self.frozen {
            Some(frozen) => frozen.forward(model, x),
            None => model.forward(x, self.shape),
        };
        let accuracy = self.with_accuracy.then(|| batch_accuracy(&logits, &labels));
        let Objective { loss, logits } = objective(Outputs { logits, labels, replayed });
        let entropy = mean_entropy(&logits);
        let seen = Seen { loss: f64::from(loss.clone().into_scalar::<f32>()), entropy, accuracy };
        let gradients = seen.loss.is_finite().then(|| GradientsParams::from_grads(loss.backward(), model));
        (seen, gradients)
    }
}

fn checked((seen, gradients): (Seen, Option<GradientsParams>)) -> Result<Gradients, NotFinite> {
    let of = gradients.ok_or(NotFinite(seen.loss))?;
    Ok(Gradients { loss: seen.loss, entropy: seen.entropy, of })
}

impl<N: Architecture> Feedback<N> for BatchFeedback<'_, N> {
    fn gradients_of(
        &mut self,
        model: &N,
        objective: &mut dyn FnMut(Outputs) -> Objective,
    ) -> Result<Gradients, NotFinite> {
        let passed = self.pass(model, self.batch.clone(), self.draw.replayed(), objective);
        self.seen.get_or_insert(passed.0);
        checked(passed)
    }

    fn gradients(&mut self, model: &N) -> Result<Gradients, NotFinite> {
        let passed = self.cross_entropy(model, self.batch.clone(), self.draw.replayed());
        self.seen.get_or_insert(passed.0);
        checked(passed)
    }

    fn labels(&self) -> Tensor<1, Int> {
        self.batch.1.clone()
    }

    fn logits(&mut self, model: &N) -> Tensor<2> {
        model.valid().forward_still(self.batch.0.clone().inner(), self.shape)
    }

    fn draw_again(&mut self) {
        self.batch = self.draw.another(self.device);
    }

    fn gradients_on_old_tasks(&mut self, model: &N) -> Result<Option<Gradients>, NotFinite> {
        let old = self.draw.of_old_tasks(self.draw.batch(), self.device);
        old.map(|batch| checked(self.cross_entropy(model, batch, 0))).transpose()
    }

    fn layer_inputs_on_old_tasks(&mut self, model: &N, examples: usize) -> Option<Vec<LayerInputs>> {
        let (x, _) = self.draw.of_old_tasks(examples, self.device)?;
        model.valid().layer_inputs(x.inner(), self.shape)
    }

    fn since_switch(&self) -> u64 {
        self.draw.since_switch()
    }
}

/// Percentage of a batch that is predicted right.
fn batch_accuracy(logits: &Tensor<2>, y: &Tensor<1, Int>) -> f64 {
    let [batch, _] = logits.dims();
    let predicted = logits.clone().argmax(1).reshape([batch]);
    let hits: i64 = predicted.equal(y.clone()).int().sum().into_scalar();
    percentage(hits as usize, batch)
}

fn percentage(hits: usize, of: usize) -> f64 {
    100.0 * hits as f64 / of as f64
}
