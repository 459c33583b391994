//! Data-incremental: no new classes and no new domain, only more examples of one distribution.

use serde::{Deserialize, Serialize};

use super::{ScenarioType, StreamError, StreamKind};
use crate::dataset::DataSet;
use crate::random::{distinct, generator};
use crate::task_stream::{Task, TaskStream};

/// The training examples, dealt out at random into tasks; every task is tested on the whole test set.
///
/// Under joint training the data grows with each task while its distribution stays: whatever gap shows is not due to a
/// change of the data. The seed decides which example comes when.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct DataIncremental {
    /// The relative size of each task: `[1, 1, 1]` are three equal parts, `[8, 1, 1]` begins with 80 %.
    pub parts: Vec<f64>,
}

impl Default for DataIncremental {
    fn default() -> Self {
        Self { parts: vec![1.0; 5] }
    }
}

impl StreamKind for DataIncremental {
    const SUMMARY: &'static str = "more examples of the same classes with each task";
    const SCENARIO: ScenarioType = ScenarioType::DataIncremental;
    const KEYS: &'static [(&'static str, &'static str)] = &[(
        "parts",
        "relative size of each task: [1, 1, 1] for three equal ones, [8, 1, 1] for a large first one",
    )];

    fn check(&self) -> Result<(), (&'static str, String)> {
        let usable = |part: &f64| part.is_finite() && *part > 0.0;
        match self.parts.iter().find(|part| !usable(part)) {
            _ if self.parts.is_empty() => Err(("parts", "names no task".to_owned())),
            Some(part) => Err(("parts", format!("{part} is not a positive number"))),
            None => Ok(()),
        }
    }

    fn tasks(&self, _classes: usize) -> usize {
        self.parts.len()
    }

    fn cut(&self, data: &DataSet, seed: u64) -> Result<TaskStream, StreamError> {
        let n = data.train().len();
        let shuffled = distinct(&mut generator(seed, *b"deal-out", 0), n, n);
        let total: f64 = self.parts.iter().sum();
        let mut tasks = Vec::with_capacity(self.parts.len());
        let (mut from, mut share) = (0, 0.0);
        for part in &self.parts {
            share += part / total;
            // The last part takes what rounding left over.
            let last = tasks.len() + 1 == self.parts.len();
            let to = if last { n } else { ((share * n as f64).round() as usize).clamp(from, n) };
            let mut chosen = shuffled[from..to].to_vec();
            chosen.sort_unstable();
            tasks.push(Task { train: data.train().select(&chosen), test: data.test().clone() });
            from = to;
        }
        TaskStream::new("data-incremental", data, tasks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digits;

    #[test]
    fn parts_have_their_sizes_and_every_example_comes_once() {
        let data = digits(200, 50, 0);
        let stream = DataIncremental { parts: vec![8.0, 1.0, 1.0] }.cut(&data, 1).unwrap();
        let sizes: Vec<usize> = stream.tasks().iter().map(|task| task.train.len()).collect();
        assert_eq!(sizes, [160, 20, 20]);
        assert!(stream.tasks().iter().all(|task| task.test.len() == 50));
    }

    #[test]
    fn parts_must_be_positive_and_hold_examples() {
        for parts in [vec![], vec![0.0], vec![1.0, -1.0], vec![f64::NAN], vec![f64::INFINITY]] {
            assert!(DataIncremental { parts }.check().is_err());
        }
        let tiny = DataIncremental { parts: vec![1.0, 1e-9, 1.0] };
        assert!(matches!(tiny.cut(&digits(20, 10, 0), 0), Err(StreamError::EmptyTask { task: 2, .. })));
    }
}
