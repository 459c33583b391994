//! Domain-incremental: the whole data set again and again, each time with its pixels in another random order.

use serde::{Deserialize, Serialize};

use super::{ScenarioType, StreamError, StreamKind};
use crate::dataset::DataSet;
use crate::random::{distinct, generator};
use crate::task_stream::{Task, TaskStream};

/// One task per permutation of the pixels; the first task shows the images as they are.
///
/// A permutation is drawn from the seed and the number of the task, and holds for training and test images, and for every
/// channel alike. The pixels are shared by all tasks, so ten tasks need no more memory than one. Of feature data and text
/// the columns are permuted.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Permuted {
    /// The number of tasks.
    pub permutations: usize,
}

impl Default for Permuted {
    fn default() -> Self {
        Self { permutations: 10 }
    }
}

impl StreamKind for Permuted {
    const SUMMARY: &'static str = "the same classes, with the pixels in another random order in each task";
    const SCENARIO: ScenarioType = ScenarioType::DomainIncremental;
    const KEYS: &'static [(&'static str, &'static str)] =
        &[("permutations", "number of tasks; the first shows the images as they are")];

    fn check(&self) -> Result<(), (&'static str, String)> {
        match self.permutations {
            0 => Err(("permutations", "must be at least 1".to_owned())),
            1..=1000 => Ok(()),
            _ => Err(("permutations", "must be at most 1000".to_owned())),
        }
    }

    fn tasks(&self, _classes: usize) -> usize {
        self.permutations
    }

    fn cut(&self, data: &DataSet, seed: u64) -> Result<TaskStream, StreamError> {
        let plane = data.shape().height * data.shape().width;
        let task = |k: usize| {
            if k == 0 {
                return Task { train: data.train().clone(), test: data.test().clone() };
            }
            let order = distinct(&mut generator(seed, *b"permute.", k as u64), plane, plane);
            let order: Vec<u32> = order.into_iter().map(|at| at as u32).collect();
            Task { train: data.train().permute(&order), test: data.test().permute(&order) }
        };
        TaskStream::new("permuted", data, (0..self.permutations).map(task).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digits;

    #[test]
    fn the_first_task_is_plain_and_the_seed_decides_the_others() {
        let data = digits(20, 10, 0);
        let image = |seed, task: usize| {
            let stream = Permuted { permutations: 3 }.cut(&data, seed).unwrap();
            stream.task(task).test.image(4).into_owned()
        };
        assert_eq!(image(0, 0), *data.test().image(4));
        assert_eq!(image(0, 1), image(0, 1));
        assert_ne!(image(0, 1), image(1, 1));
        assert_ne!(image(0, 1), image(0, 2));
        let sorted = |mut image: Vec<u8>| {
            image.sort_unstable();
            image
        };
        assert_eq!(sorted(image(0, 1)), sorted(image(0, 0)));
    }

    #[test]
    fn training_and_test_images_are_permuted_alike_and_share_their_memory() {
        let data = digits(20, 10, 0);
        let same = DataSet::new("same", data.train().clone(), data.train().clone()).unwrap();
        let stream = Permuted { permutations: 2 }.cut(&same, 3).unwrap();
        let Task { train, test } = stream.task(1);
        assert!((0..20).all(|i| train.image(i) == test.image(i)));
        assert!(
            Permuted { permutations: 0 }.check().is_err() && Permuted { permutations: 1001 }.check().is_err()
        );
    }
}
