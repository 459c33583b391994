//! Accuracy and loss on a test set.

use evenkeel_data::{Labelled, evaluation_subset};
use evenkeel_models::{Architecture, Evaluator};
use rayon::prelude::*;

use super::prepare::Prepared;
use crate::spec::{RunSpec, Settings};

/// Fewer rows of logits are not worth another thread.
const ROWS_PER_TASK: usize = 256;

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

/// A test set, packed once in the form that the network's evaluator wants.
struct TestSet<N: Architecture> {
    images: <N::Evaluator as Evaluator<N>>::Images,
    labels: Vec<u16>,
}

impl<N: Architecture> TestSet<N> {
    /// All images, or a random subset chosen by the seed.
    fn new(test: &Labelled, settings: &Settings, seed: u64, data: &Prepared) -> Self {
        let chosen: Vec<usize> = match settings.eval_samples {
            Some(n) if n < test.len() => evaluation_subset(test, n, seed),
            _ => (0..test.len()).collect(),
        };
        let pixels = test.shape().len();
        let mut values = Vec::with_capacity(chosen.len() * pixels);
        data.normalization.gather(test, chosen.iter().copied(), &mut values);
        Self {
            images: N::Evaluator::pack(&values, data.input_shape(), data.normalization.background()),
            labels: chosen.iter().map(|&i| test.label(i)).collect(),
        }
    }
}

/// Test sets of the tasks, converted when first needed.
pub struct TestSets<'a, N: Architecture> {
    spec: &'a RunSpec,
    data: &'a Prepared,
    sets: Vec<Option<TestSet<N>>>,
    evaluator: N::Evaluator,
}

impl<'a, N: Architecture> TestSets<'a, N> {
    /// Nothing converted yet.
    pub fn new(spec: &'a RunSpec, data: &'a Prepared) -> Self {
        let sets = data.stream.tasks().iter().map(|_| None).collect();
        Self { spec, data, sets, evaluator: N::Evaluator::default() }
    }

    /// The model as it is now, to be evaluated while training goes on.
    pub fn snapshot(&self, model: &N) -> <N::Evaluator as Evaluator<N>>::Snapshot {
        N::Evaluator::snapshot(model, self.data.input_shape())
    }

    /// Evaluates models by the mean of their logits, on the test sets of the first `tasks` tasks.
    pub fn evaluate(
        &mut self,
        tasks: usize,
        models: Vec<<N::Evaluator as Evaluator<N>>::Snapshot>,
    ) -> Vec<Evaluation> {
        let sets: Vec<&TestSet<N>> = self.sets[..tasks]
            .iter_mut()
            .enumerate()
            .map(|(k, set)| {
                let test = &self.data.stream.task(k).test;
                &*set
                    .get_or_insert_with(|| TestSet::new(test, &self.spec.settings, self.spec.seed, self.data))
            })
            .collect();
        let images: Vec<_> = sets.iter().map(|set| &set.images).collect();
        let mut opinions: Vec<_> = models
            .into_iter()
            .map(|model| self.evaluator.logits_of_sets(model, &images).into_iter())
            .collect();
        let mut of_set = |set: &TestSet<N>| {
            let of_set = opinions.iter_mut().map(|sets| sets.next().expect("logits of every set"));
            score(&mean(of_set.collect()), &set.labels)
        };
        sets.into_iter().map(&mut of_set).collect()
    }
}

/// The mean of several networks' logits; those of one network stay what they are.
fn mean(opinions: Vec<Vec<f32>>) -> Vec<f32> {
    let share = 1.0 / opinions.len() as f32;
    let mut opinions = opinions.into_iter();
    let mut sum = opinions.next().expect("a network that is evaluated");
    for opinion in opinions {
        for (sum, z) in sum.iter_mut().zip(opinion) {
            *sum += z;
        }
    }
    for z in &mut sum {
        *z *= share;
    }
    sum
}

/// Hits and mean loss of logits, row by row on all threads, added up in order: the sum does not depend on their number.
fn score(logits: &[f32], labels: &[u16]) -> Evaluation {
    let classes = logits.len() / labels.len();
    let rows: Vec<(bool, f64)> = logits
        .par_chunks_exact(classes)
        .zip(labels)
        .with_min_len(ROWS_PER_TASK)
        .map(|(row, &label)| (predicts(row, label.into()), cross_entropy(row, label.into())))
        .collect();
    let hits = rows.iter().filter(|(hit, _)| *hit).count();
    let loss: f64 = rows.iter().map(|(_, loss)| loss).sum();
    Evaluation { hits, total: labels.len(), loss: loss / labels.len() as f64 }
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
    fn two_opinions_count_alike() {
        assert_eq!(mean(vec![vec![1.0, -3.0]]), [1.0, -3.0]);
        assert_eq!(mean(vec![vec![1.0, -3.0], vec![2.0, 5.0]]), [1.5, 1.0]);
    }

    #[test]
    fn the_loss_is_stable_for_large_logits() {
        assert!((cross_entropy(&[1000.0, 0.0], 1) - 1000.0).abs() < 1e-9);
        assert!((cross_entropy(&[0.0, 0.0], 1) - 2_f64.ln()).abs() < 1e-12);
        assert!(cross_entropy(&[f32::NAN, 0.0], 1).is_nan());
    }
}
