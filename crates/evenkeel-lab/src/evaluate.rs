//! Accuracy and loss on a test set.

use evenkeel::nn::{MlpEvaluator, PackedImages};
use evenkeel_data::{Labelled, Normalization, Stream, evaluation_subset};
use evenkeel_kernels::mlp::SparseRows;
use rayon::prelude::*;

use crate::network::Snapshot;
use crate::spec::{Model, Settings};

/// Fewer rows of logits are not worth another thread.
const ROWS_A_TASK: usize = 256;

/// A test set, packed once for the kernels that evaluate the model.
pub struct TestSet {
    images: Images,
    labels: Vec<u16>,
}

enum Images {
    Sparse(SparseRows),
    Dense(PackedImages),
}

/// What a test set says about a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evaluation {
    /// Correct predictions.
    pub hits: usize,
    /// Images.
    pub total: usize,
    /// Mean cross-entropy.
    pub loss: f64,
}

impl Evaluation {
    /// Accuracy in percent.
    pub fn accuracy(&self) -> f64 {
        100.0 * self.hits as f64 / self.total as f64
    }
}

impl TestSet {
    /// All images, or a random subset of `samples` chosen by `seed`.
    pub fn new(
        model: Model,
        test: &Labelled,
        samples: Option<usize>,
        seed: u64,
        normalization: &Normalization,
    ) -> Self {
        let chosen: Vec<usize> = match samples {
            Some(n) if n < test.len() => evaluation_subset(test, n, seed),
            _ => (0..test.len()).collect(),
        };
        let shape = test.shape();
        let mut values = Vec::with_capacity(chosen.len() * shape.len());
        normalization.gather(test, chosen.iter().copied(), &mut values);
        let images = match model {
            Model::Mlp => {
                // What a black pixel becomes: most of an image of MNIST.
                let mut black = Vec::new();
                normalization.append(&vec![0; shape.len()], &mut black);
                Images::Sparse(SparseRows::pack(&values, shape.len(), black[0]))
            }
            Model::SlimResnet18 => {
                Images::Dense(PackedImages::pack(&values, shape.channels, shape.height, shape.width))
            }
        };
        Self { images, labels: chosen.iter().map(|&i| test.label(i)).collect() }
    }

    /// Evaluates the model, in evaluation mode.
    pub fn evaluate(&self, model: Snapshot, evaluator: &mut MlpEvaluator) -> Evaluation {
        let logits = match (model, &self.images) {
            (Snapshot::Mlp(model), Images::Sparse(images)) => evaluator.logits(model, images),
            (Snapshot::SlimResNet(model), Images::Dense(images)) => model.logits(images),
            _ => unreachable!("a test set is packed for the model of its run"),
        };
        let classes = logits.len() / self.labels.len();
        // Row by row on all threads, added up in order: the sum does not depend on their number.
        let rows: Vec<(bool, f64)> = logits
            .par_chunks_exact(classes)
            .zip(&self.labels)
            .with_min_len(ROWS_A_TASK)
            .map(|(row, &label)| (predicts(row, label.into()), cross_entropy(row, label.into())))
            .collect();
        let hits = rows.iter().filter(|(hit, _)| *hit).count();
        let loss: f64 = rows.iter().map(|(_, loss)| loss).sum();
        Evaluation { hits, total: self.labels.len(), loss: loss / self.labels.len() as f64 }
    }
}

/// Test sets of the tasks, converted when first needed.
pub struct TestSets<'a> {
    stream: &'a Stream,
    settings: &'a Settings,
    seed: u64,
    normalization: &'a Normalization,
    sets: Vec<Option<TestSet>>,
    evaluator: MlpEvaluator,
}

impl<'a> TestSets<'a> {
    /// Nothing converted yet.
    pub fn new(
        stream: &'a Stream,
        settings: &'a Settings,
        seed: u64,
        normalization: &'a Normalization,
    ) -> Self {
        let sets = stream.tasks().iter().map(|_| None).collect();
        Self { stream, settings, seed, normalization, sets, evaluator: MlpEvaluator::new() }
    }

    /// Evaluates a model on the test set of task `k`, which counts from 1.
    pub fn evaluate(&mut self, k: usize, model: Snapshot) -> Evaluation {
        let set = self.sets[k - 1].get_or_insert_with(|| {
            let test = &self.stream.task(k - 1).test;
            TestSet::new(self.settings.model, test, self.settings.eval_samples, self.seed, self.normalization)
        });
        set.evaluate(model, &mut self.evaluator)
    }
}

/// Whether the label's logit is the largest. Of equal logits the first counts, as in `torch.argmax`; NaN never wins.
fn predicts(row: &[f32], label: usize) -> bool {
    let z = row[label];
    !z.is_nan() && row.iter().enumerate().all(|(i, other)| *other < z || (*other == z && i >= label))
}

fn cross_entropy(row: &[f32], label: usize) -> f64 {
    let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = row.iter().map(|z| f64::from(z - max).exp()).sum();
    sum.ln() - f64::from(row[label] - max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_first_and_nan_never_wins() {
        assert!(predicts(&[1.0, 1.0, 0.0], 0));
        assert!(!predicts(&[1.0, 1.0, 0.0], 1));
        assert!(!predicts(&[f32::NAN, 0.0], 0));
        assert!(!predicts(&[f32::NAN, 0.0], 1));
    }

    #[test]
    fn the_loss_is_stable_for_large_logits() {
        assert!((cross_entropy(&[1000.0, 0.0], 1) - 1000.0).abs() < 1e-9);
        assert!((cross_entropy(&[0.0, 0.0], 1) - 2_f64.ln()).abs() < 1e-12);
        assert!(cross_entropy(&[f32::NAN, 0.0], 1).is_nan());
    }
}
