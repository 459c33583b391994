//! Evaluations that wait until a thread has time for them.

use evenkeel_metrics::Point;
use evenkeel_models::{Architecture, Evaluator};

use super::evaluate::{Evaluation, TestSets};
use super::feedback::Seen;
use super::learner::Learner;

/// An evaluation that is still to be done, of the learner as it was after its step.
pub(crate) struct Pending<N: Architecture> {
    models: Vec<<N::Evaluator as Evaluator<N>>::Snapshot>,
    /// All of the point but what the evaluation finds.
    point: Point,
    all_tasks: bool,
}

impl<N: Architecture> Pending<N> {
    /// Of the learner as it is now; `seen` is what its last step saw.
    pub(crate) fn new(
        learner: &Learner<N>,
        tests: &TestSets<'_, N>,
        iteration: u64,
        task: usize,
        all_tasks: bool,
        seen: &Seen,
    ) -> Self {
        let mut point = Point::new(iteration, task, f64::NAN);
        point.gain = learner.gain();
        point.entropy = Some(seen.entropy);
        point.train_loss = Some(seen.loss);
        let models = learner.opinions().iter().map(|model| tests.snapshot(model)).collect();
        Self { models, point, all_tasks }
    }

    /// The point, complete.
    pub(crate) fn evaluate(self, tests: &mut TestSets<'_, N>) -> Point {
        let Self { models, mut point, all_tasks } = self;
        let evaluations = tests.evaluate(if all_tasks { point.task } else { 1 }, models);
        point.task1_acc = evaluations[0].accuracy();
        point.task1_loss = Some(evaluations[0].loss);
        if all_tasks {
            point.seen_acc = Some(pooled(&evaluations));
            point.task_acc = evaluations[1..].iter().map(|e| Some(e.accuracy())).collect();
        }
        point
    }
}

/// Accuracy over all images of several test sets, in percent.
fn pooled(evaluations: &[Evaluation]) -> f64 {
    let (hits, total) = evaluations.iter().fold((0, 0), |(hits, total), e| (hits + e.hits, total + e.total));
    100.0 * hits as f64 / total as f64
}
