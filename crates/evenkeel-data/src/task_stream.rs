//! A sequence of tasks, and batches of its examples.

use std::borrow::Cow;

use rand::Rng;

use crate::augment::CropFlip;
use crate::dataset::DataSet;
use crate::images::ImageShape;
use crate::labelled::Labelled;
use crate::normalize::Normalization;
use crate::random::{distinct, generator};
use crate::sample::ExampleId;
use crate::streams::StreamError;

/// One task: what is learned and what is tested while it lasts.
///
/// Labels are the targets to predict.
#[derive(Debug, Clone)]
pub struct Task {
    /// The training examples.
    pub train: Labelled,
    /// The test examples.
    pub test: Labelled,
}

/// Tasks in the order in which they are learned; never empty, and no task is.
#[derive(Debug, Clone)]
pub struct TaskStream {
    name: String,
    tasks: Vec<Task>,
}

impl TaskStream {
    /// The tasks that a kind of stream made from a data set.
    pub(crate) fn new(kind: &str, data: &DataSet, tasks: Vec<Task>) -> Result<Self, StreamError> {
        let data = data.name().to_owned();
        let name = format!("{kind}-{data}");
        if tasks.is_empty() {
            return Err(StreamError::NoTasks { data });
        }
        if let Some(at) = tasks.iter().position(|t| t.train.is_empty() || t.test.is_empty()) {
            let (train, test) = (tasks[at].train.len(), tasks[at].test.len());
            return Err(StreamError::EmptyTask { data, task: at + 1, train, test });
        }
        Ok(Self { name, tasks })
    }

    /// The tasks in another order, in which a task may come several times: `[1, 2, 1]` returns to the first (tasks count
    /// from 1, and those that are not named are left out).
    ///
    /// The training examples of a task that comes several times are dealt out over its visits, so that each visit brings
    /// new examples of an old task; its test set is the same at every visit. The seed decides which example comes when.
    pub fn reordered(self, order: &[usize], seed: u64) -> Result<Self, StreamError> {
        let tasks = self.tasks.len();
        if let Some(&task) = order.iter().find(|task| **task == 0 || **task > tasks) {
            return Err(StreamError::TaskOrder { task, tasks });
        }
        let mut dealt: Vec<Vec<Task>> = Vec::with_capacity(tasks);
        for (task, data) in self.tasks.iter().enumerate() {
            let visits = order.iter().filter(|named| **named == task + 1).count();
            let examples = data.train.len();
            if visits > examples {
                return Err(StreamError::TooManyVisits { task: task + 1, visits, examples });
            }
            dealt.push(visited(data, visits, seed, task));
        }
        // From the back, so that the first visit comes first.
        let take = |task: &usize| dealt[task - 1].pop().expect("one share per visit");
        let mut tasks: Vec<Task> = order.iter().rev().map(take).collect();
        tasks.reverse();
        Ok(Self { tasks, ..self })
    }

    /// The kind of stream and the data set, as in `split-mnist`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The tasks, in the order in which they are learned.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Task `k`, counted from 0.
    ///
    /// # Panics
    /// If there is no such task, as slice indexing does.
    pub fn task(&self, k: usize) -> &Task {
        &self.tasks[k]
    }

    /// Number of tasks.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Always `false`: a stream has at least one task.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Output units that a model needs, from the first task on: every class of the data set.
    pub fn outputs(&self) -> usize {
        self.tasks[0].train.classes()
    }

    /// The shape of every image.
    pub fn shape(&self) -> ImageShape {
        self.tasks[0].train.shape()
    }

    /// Pixels and label of a training example.
    ///
    /// # Panics
    /// If the stream has no such example, as slice indexing does.
    pub fn example(&self, id: ExampleId) -> (Cow<'_, [u8]>, u16) {
        let train = &self.tasks[id.task].train;
        (train.image(id.index as usize), train.label(id.index as usize))
    }

    /// Replaces `images` and `labels` by those of a batch; the buffers keep their memory.
    ///
    /// [`TaskStream::gather_augmented`] also crops and flips.
    ///
    /// # Panics
    /// If the stream has no such example, or the channels differ from the normalisation's.
    pub fn gather(
        &self,
        batch: &[ExampleId],
        normalization: &Normalization,
        images: &mut Vec<f32>,
        labels: &mut Vec<u16>,
    ) {
        images.clear();
        labels.clear();
        for &id in batch {
            let train = &self.tasks[id.task].train;
            train.append(id.index as usize, normalization, images);
            labels.push(train.label(id.index as usize));
        }
    }

    /// As [`TaskStream::gather`], with every image augmented before it is normalised.
    ///
    /// [`Sampler::augmentation`](crate::Sampler::augmentation) gives the generator of an iteration.
    ///
    /// # Panics
    /// As [`TaskStream::gather`] does.
    pub fn gather_augmented(
        &self,
        batch: &[ExampleId],
        (augment, rng): (CropFlip, &mut impl Rng),
        normalization: &Normalization,
        images: &mut Vec<f32>,
        labels: &mut Vec<u16>,
    ) {
        images.clear();
        labels.clear();
        let mut changed = vec![0; self.shape().len()];
        for &id in batch {
            let (image, label) = self.example(id);
            augment.apply(&image, self.shape(), rng, &mut changed);
            normalization.append(&changed, images);
            labels.push(label);
        }
    }
}

/// The task once per visit, its training examples dealt out.
fn visited(data: &Task, visits: usize, seed: u64, task: usize) -> Vec<Task> {
    if visits <= 1 {
        return vec![data.clone(); visits];
    }
    let n = data.train.len();
    let shuffled = distinct(&mut generator(seed, *b"revisits", task as u64), n, n);
    let share = |visit: usize| {
        let mut chosen: Vec<usize> = shuffled.iter().copied().skip(visit).step_by(visits).collect();
        chosen.sort_unstable();
        Task { train: data.train.select(&chosen), test: data.test.clone() }
    };
    (0..visits).map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digits;
    use crate::streams::{Split, StreamKind};

    #[test]
    fn a_task_that_comes_again_brings_new_examples_and_the_same_test() {
        let stream = stream().reordered(&[1, 2, 1], 5).unwrap();
        assert_eq!(stream.len(), 3);
        let sizes: Vec<usize> = stream.tasks().iter().map(|task| task.train.len()).collect();
        assert_eq!(sizes, [10, 20, 10]);
        assert_eq!(stream.task(0).test.labels(), stream.task(2).test.labels());
        assert_eq!(stream.task(0).test.image(3), stream.task(2).test.image(3));
        let images = |task: usize| (0..10).map(move |i| (task, i));
        let all: std::collections::BTreeSet<Vec<u8>> =
            images(0).chain(images(2)).map(|(t, i)| stream.task(t).train.image(i).into_owned()).collect();
        assert_eq!(all.len(), 20);
    }

    #[test]
    fn an_order_names_tasks_that_there_are() {
        let error = |order: &[usize]| stream().reordered(order, 0).unwrap_err().to_string();
        assert_eq!(error(&[1, 6]), "task_order: names task 6, but the stream has the tasks 1 to 5");
        assert_eq!(error(&[0]), "task_order: names task 0, but the stream has the tasks 1 to 5");
        assert_eq!(error(&[2; 21]), "task_order: visits task 2 21 times, but it has 20 training examples");
    }

    fn stream() -> TaskStream {
        Split::new(2).cut(&digits(100, 50, 0), 0).unwrap()
    }

    #[test]
    fn augmented_batches_are_functions_of_the_generator() {
        let stream = stream();
        let sampler = crate::Sampler::joint(1);
        let batch = sampler.batch(&stream, 1, 1, 8).unwrap();
        let gather = |padding, iteration| {
            let (mut images, mut labels) = (Vec::new(), Vec::new());
            let augment = CropFlip { padding, flip: false };
            let rng = &mut sampler.augmentation(iteration);
            let normalization = Normalization::unit(1);
            stream.gather_augmented(&batch, (augment, rng), &normalization, &mut images, &mut labels);
            (images, labels)
        };
        assert_eq!(gather(4, 1), gather(4, 1));
        assert_ne!(gather(4, 1), gather(4, 2));
        let (mut images, mut labels) = (Vec::new(), Vec::new());
        stream.gather(&batch, &Normalization::unit(1), &mut images, &mut labels);
        assert_eq!(gather(0, 1), (images, labels));
    }

    #[test]
    fn gathering_a_batch_replaces_the_buffers() {
        let stream = stream();
        let (mut images, mut labels) = (vec![9.0; 3], vec![9; 3]);
        let batch = [ExampleId { task: 2, index: 1 }, ExampleId { task: 0, index: 0 }];
        stream.gather(&batch, &Normalization::unit(1), &mut images, &mut labels);
        assert_eq!(labels, [5, 0]);
        assert_eq!(images.len(), 2 * 784);
        assert!((images[400] * 255.0 - f32::from(stream.task(2).train.image(1)[400])).abs() < 1e-3);
    }
}
