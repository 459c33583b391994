//! Batches as pure functions of a seed and an iteration.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use thiserror::Error;

use crate::buffer::replay_buffer;
use crate::labelled::Labelled;
use crate::random::{below, between, distinct, generator};
use crate::task_stream::TaskStream;

/// One training example of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExampleId {
    /// Its task, counted from 0.
    pub task: usize,
    /// Its position in that task's training set.
    pub index: u32,
}

/// A way to draw training batches from the tasks seen so far.
///
/// Nothing is remembered between calls: the batch of an iteration depends on the seed, the task
/// and the iteration alone. A resumed run therefore draws what an uninterrupted one would, and runs
/// that share a seed train on the same batches.
///
/// ```
/// use evenkeel_data::streams::{Split, StreamKind};
/// use evenkeel_data::{Sampler, digits};
///
/// let stream = Split::new(2).cut(&digits(200, 50, 0), 0)?;
/// let batch = Sampler::joint(7).batch(&stream, 2, 201, 128)?;
/// assert_eq!(batch.len(), 128);
/// assert!(batch.iter().all(|example| example.task < 2));
/// assert_eq!(batch, Sampler::joint(7).batch(&stream, 2, 201, 128)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampler {
    seed: u64,
    capacity: Option<usize>,
}

/// A task that the stream does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("task {task} was asked for, but the stream has the tasks 1 to {tasks}")]
pub struct NoSuchTask {
    /// The task, counted from 1.
    pub task: usize,
    /// Tasks in the stream.
    pub tasks: usize,
}

impl Sampler {
    /// Joint training: uniform with replacement over all data seen so far.
    pub fn joint(seed: u64) -> Self {
        Self { seed, capacity: None }
    }

    /// Experience replay from a buffer of at most `capacity` examples.
    ///
    /// In task 1 the whole batch comes from the task. From task 2 on `size − size / 2` examples come
    /// from the current task and `size / 2` from the [buffer](replay_buffer), all with replacement.
    /// If the buffer is empty, the whole batch comes from the task.
    pub fn replay(seed: u64, capacity: usize) -> Self {
        Self { seed, capacity: Some(capacity) }
    }

    /// The batch of iteration `iteration`, drawn in task `task`; both count from 1, iterations over all tasks.
    ///
    /// A loop calls [`Sampler::in_task`] once per task and then [`TaskSampler::batch`], which spares
    /// the work of rebuilding the replay buffer.
    pub fn batch(
        &self,
        stream: &TaskStream,
        task: usize,
        iteration: u64,
        size: usize,
    ) -> Result<Vec<ExampleId>, NoSuchTask> {
        Ok(self.in_task(stream, task)?.batch(iteration, size))
    }

    /// The generator for augmenting the batch of iteration `iteration`, independent of its choice.
    pub fn augmentation(&self, iteration: u64) -> impl Rng + use<> {
        generator(self.seed, *b"augments", iteration)
    }

    /// Prepares what stays the same while `task` (from 1) lasts.
    pub fn in_task(&self, stream: &TaskStream, task: usize) -> Result<TaskSampler, NoSuchTask> {
        let tasks = stream.len();
        if task == 0 || task > tasks {
            return Err(NoSuchTask { task, tasks });
        }
        let size = |t: usize| stream.task(t).train.len();
        let plan = match self.capacity {
            None => Plan::Joint { sizes: (0..task).map(size).collect() },
            Some(capacity) => Plan::Replay {
                task: task - 1,
                sizes: [task.checked_sub(2).map(size), Some(size(task - 1))],
                buffer: replay_buffer(stream, self.seed, capacity, task - 1),
            },
        };
        Ok(TaskSampler { seed: self.seed, plan })
    }
}

/// A [`Sampler`] within one task.
#[derive(Debug, Clone)]
pub struct TaskSampler {
    seed: u64,
    plan: Plan,
}

#[derive(Debug, Clone)]
enum Plan {
    Joint {
        sizes: Vec<usize>,
    },
    /// `sizes`: of the task before, if there is one, and of the task itself.
    Replay {
        task: usize,
        sizes: [Option<usize>; 2],
        buffer: Vec<ExampleId>,
    },
}

impl TaskSampler {
    /// The batch of iteration `iteration`, counted from 1 over all tasks.
    pub fn batch(&self, iteration: u64, size: usize) -> Vec<ExampleId> {
        self.drifting(iteration, 1.0, size)
    }

    /// A batch while the stream drifts into the task: each example is drawn as in this task with probability `arrived`, and
    /// else as in the task before. At 1, and in the first task, it is [`batch`](Self::batch).
    pub fn drifting(&self, iteration: u64, arrived: f64, size: usize) -> Vec<ExampleId> {
        let mut rng = generator(self.seed, *b"batches.", iteration);
        // Nothing is drawn where nothing is open: streams without drift have the batches that they always had.
        let new = |rng: &mut ChaCha8Rng| arrived >= 1.0 || f64::from(between(rng, 0.0, 1.0)) < arrived;
        match &self.plan {
            Plan::Joint { sizes } => {
                let total: usize = sizes.iter().sum();
                let before = total - sizes.last().copied().unwrap_or(0);
                let seen = |rng: &mut ChaCha8Rng| if before == 0 || new(rng) { total } else { before };
                let draw = |_| {
                    let seen = seen(&mut rng);
                    locate(sizes, below(&mut rng, seen))
                };
                (0..size).map(draw).collect()
            }
            Plan::Replay { task, sizes: [before, available], buffer } => {
                let replayed = if buffer.is_empty() { 0 } else { size / 2 };
                let available = available.unwrap_or(0);
                let draw = |_| match before {
                    Some(before) if !new(&mut rng) => current(&mut rng, *task - 1, *before),
                    _ => current(&mut rng, *task, available),
                };
                let mut batch: Vec<_> = (replayed..size).map(draw).collect();
                batch.extend((0..replayed).map(|_| buffer[below(&mut rng, buffer.len())]));
                batch
            }
        }
    }

    /// Examples of the replay buffer alone, drawn independently of the batches; none if it is empty.
    pub fn of_buffer(&self, iteration: u64, size: usize) -> Vec<ExampleId> {
        let (buffer, mut rng) = (self.buffer(), generator(self.seed, *b"rehearse", iteration));
        if buffer.is_empty() {
            return Vec::new();
        }
        (0..size).map(|_| buffer[below(&mut rng, buffer.len())]).collect()
    }

    /// The replay buffer in use; empty under joint training and in task 1.
    pub fn buffer(&self) -> &[ExampleId] {
        match &self.plan {
            Plan::Joint { .. } => &[],
            Plan::Replay { buffer, .. } => buffer,
        }
    }
}

fn current(rng: &mut impl Rng, task: usize, size: usize) -> ExampleId {
    ExampleId { task, index: below(rng, size) as u32 }
}

/// The example at position `at` of all tasks laid end to end.
fn locate(sizes: &[usize], mut at: usize) -> ExampleId {
    let mut task = 0;
    while at >= sizes[task] {
        at -= sizes[task];
        task += 1;
    }
    ExampleId { task, index: at as u32 }
}

/// A fixed random choice of `n` examples without replacement, in ascending order; all of them if
/// there are no more than `n`.
pub fn evaluation_subset(set: &Labelled, n: usize, seed: u64) -> Vec<usize> {
    let mut chosen = distinct(&mut generator(seed, *b"evaluate", 0), n, set.len());
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::toy::{data, one_class_per_task};

    /// Pearson's statistic of `counts` against equal frequencies.
    fn chi_square(counts: &[usize]) -> f64 {
        let expected = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
        counts.iter().map(|&n| (n as f64 - expected).powi(2) / expected).sum()
    }

    #[test]
    fn joint_batches_are_uniform_over_all_examples_seen() {
        let stream = one_class_per_task(&[10, 30, 20]);
        let sampler = Sampler::joint(3).in_task(&stream, 2).unwrap();
        let mut counts = [0; 40];
        for id in (1..=400).flat_map(|iteration| sampler.batch(iteration, 100)) {
            counts[id.task * 10 + id.index as usize] += 1;
        }
        // 39 degrees of freedom: the mean is 39, and 80 is beyond the 99.9th percentile.
        assert!(chi_square(&counts) < 80.0, "{}", chi_square(&counts));
    }

    #[test]
    fn replay_batches_are_uniform_over_the_buffer() {
        let stream = one_class_per_task(&[50, 30, 20]);
        let sampler = Sampler::replay(3, 20).in_task(&stream, 3).unwrap();
        let mut counts = [0; 20];
        for id in (1..=400).flat_map(|iteration| sampler.batch(iteration, 100)).filter(|id| id.task < 2) {
            counts[sampler.buffer().binary_search(&id).unwrap()] += 1;
        }
        assert_eq!(counts.iter().sum::<usize>(), 400 * 50);
        assert!(chi_square(&counts) < 50.0, "{}", chi_square(&counts));
    }

    #[test]
    fn rehearsal_draws_from_the_buffer_alone() {
        let stream = one_class_per_task(&[50, 30, 20]);
        let sampler = Sampler::replay(3, 20).in_task(&stream, 3).unwrap();
        let drawn = sampler.of_buffer(7, 40);
        assert!(drawn.len() == 40 && drawn.iter().all(|id| sampler.buffer().contains(id)));
        assert_ne!(drawn, sampler.of_buffer(8, 40));
        assert!(Sampler::joint(3).in_task(&stream, 3).unwrap().of_buffer(7, 40).is_empty());
    }

    #[test]
    fn a_drift_moves_from_the_old_mixture_to_the_new_one() {
        let stream = one_class_per_task(&[30, 30, 30]);
        for sampler in [Sampler::joint(3), Sampler::replay(3, 12)] {
            let within = sampler.in_task(&stream, 3).unwrap();
            let new = |arrived: f64| {
                let batches = (1..=300).flat_map(|iteration| within.drifting(iteration, arrived, 100));
                batches.filter(|id| id.task == 2).count() as f64 / 30_000.0
            };
            let full = new(1.0);
            assert_eq!(new(0.0), 0.0);
            // A standard deviation of about .003.
            assert!((new(0.5) - full / 2.0).abs() < 0.012, "{} of {full}", new(0.5));
            assert_eq!(within.drifting(7, 1.0, 50), within.batch(7, 50));
            let first = sampler.in_task(&stream, 1).unwrap();
            assert!(first.drifting(7, 0.1, 50).iter().all(|id| id.task == 0));
        }
    }

    #[test]
    fn a_batch_is_the_same_in_every_release() {
        let stream = one_class_per_task(&[100, 100]);
        let joint: Vec<_> = Sampler::joint(42).batch(&stream, 2, 7, 6).unwrap();
        assert_eq!(
            joint.iter().map(|id| (id.task, id.index)).collect::<Vec<_>>(),
            [(1, 54), (1, 17), (1, 52), (1, 54), (0, 15), (1, 13)]
        );
        let replay = Sampler::replay(42, 4).in_task(&stream, 2).unwrap();
        assert_eq!(replay.buffer().iter().map(|id| id.index).collect::<Vec<_>>(), [0, 40, 46, 47]);
    }

    #[test]
    fn draws_are_with_replacement() {
        let stream = one_class_per_task(&[4]);
        assert_eq!(Sampler::joint(0).batch(&stream, 1, 1, 64).unwrap().len(), 64);
    }

    #[test]
    fn iterations_and_seeds_give_different_batches() {
        let stream = one_class_per_task(&[500, 500]);
        let batch = |seed, iteration| Sampler::joint(seed).batch(&stream, 2, iteration, 32).unwrap();
        assert_eq!(batch(1, 7), batch(1, 7));
        assert_ne!(batch(1, 7), batch(1, 8));
        assert_ne!(batch(1, 7), batch(2, 7));
    }

    #[test]
    fn in_the_first_task_joint_and_replay_draw_the_same() {
        let stream = one_class_per_task(&[50, 50]);
        let joint = Sampler::joint(5).batch(&stream, 1, 3, 32).unwrap();
        assert_eq!(joint, Sampler::replay(5, 10).batch(&stream, 1, 3, 32).unwrap());
    }

    #[test]
    fn tasks_that_do_not_exist_are_refused() {
        let stream = one_class_per_task(&[5, 5]);
        assert!(Sampler::joint(0).batch(&stream, 0, 1, 8).is_err());
        let error = Sampler::joint(0).batch(&stream, 3, 1, 8).unwrap_err().to_string();
        assert_eq!(error, "task 3 was asked for, but the stream has the tasks 1 to 2");
    }

    #[test]
    fn an_evaluation_subset_is_fixed_sorted_and_without_repeats() {
        let set = data(&[50, 50]).test().clone();
        let subset = evaluation_subset(&set, 30, 4);
        assert_eq!(subset, evaluation_subset(&set, 30, 4));
        assert_ne!(subset, evaluation_subset(&set, 30, 5));
        assert!(subset.len() == 30 && subset.is_sorted_by(|a, b| a < b) && subset[29] < 100);
        assert_eq!(evaluation_subset(&set, 1000, 4), (0..100).collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn batches_hold_only_examples_that_exist_and_were_seen(
            counts in prop::collection::vec(1usize..30, 1..6),
            capacity in prop::option::of(0usize..40),
            seed: u64,
            iteration: u64,
            size in 0usize..70,
        ) {
            let stream = one_class_per_task(&counts);
            let sampler =
                capacity.map_or_else(|| Sampler::joint(seed), |capacity| Sampler::replay(seed, capacity));
            for task in 1..=stream.len() {
                let within = sampler.in_task(&stream, task).unwrap();
                let batch = within.batch(iteration, size);
                prop_assert_eq!(&batch, &sampler.batch(&stream, task, iteration, size).unwrap());
                prop_assert_eq!(batch.len(), size);
                prop_assert!(batch.iter().all(|id| id.task < task));
                prop_assert!(batch.iter().all(|id| (id.index as usize) < counts[id.task]));
                let replayed = batch.iter().filter(|id| id.task + 1 < task).count();
                if let Some(capacity) = capacity {
                    prop_assert_eq!(replayed, if task == 1 || capacity == 0 { 0 } else { size / 2 });
                    let known = |id: &&ExampleId| id.task + 1 == task || within.buffer().contains(id);
                    prop_assert_eq!(batch.iter().filter(known).count(), size);
                }
            }
        }
    }
}
