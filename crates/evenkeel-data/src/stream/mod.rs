//! Sequences of tasks made from one data set.

mod error;
#[cfg(test)]
mod tests;

pub use error::StreamError;

use rand::Rng;

use crate::augment::CropFlip;
use crate::dataset::DataSet;
use crate::images::{Labelled, Shape};
use crate::normalize::Normalization;
use crate::rotate::rotate;
use crate::sample::ExampleId;

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
pub struct Stream {
    name: String,
    tasks: Vec<Task>,
}

impl Stream {
    /// Class-incremental: classes in ascending order, `classes_per_task` at a time.
    ///
    /// All classes of the data set are outputs from the start.
    ///
    /// ```
    /// use evenkeel_data::{Stream, digits};
    ///
    /// let stream = Stream::split(&digits(100, 50, 0), 2)?;
    /// assert_eq!((stream.len(), stream.outputs()), (5, 10));
    /// assert!(stream.task(0).test.labels().iter().all(|&label| label < 2));
    /// # Ok::<(), evenkeel_data::StreamError>(())
    /// ```
    pub fn split(data: &DataSet, classes_per_task: usize) -> Result<Self, StreamError> {
        let classes = data.classes();
        if classes_per_task == 0 || !classes.is_multiple_of(classes_per_task) {
            let data = data.name().to_owned();
            return Err(StreamError::Indivisible { data, classes, per_task: classes_per_task });
        }
        let all: Vec<u16> = (0..classes).map(|class| class as u16).collect();
        let partition: Vec<Vec<u16>> = all.chunks(classes_per_task).map(<[u16]>::to_vec).collect();
        Self::split_classes(data, &partition)
    }

    /// Class-incremental with the classes of each task listed; classes may be left out.
    pub fn split_classes(data: &DataSet, partition: &[Vec<u16>]) -> Result<Self, StreamError> {
        let mut seen = vec![false; data.classes()];
        for (task, &class) in partition.iter().enumerate().flat_map(|(t, c)| c.iter().map(move |c| (t, c))) {
            let name = || data.name().to_owned();
            match seen.get_mut(usize::from(class)) {
                None => {
                    let (data, classes) = (name(), data.classes());
                    return Err(StreamError::UnknownClass { data, task: task + 1, class, classes });
                }
                Some(true) => return Err(StreamError::RepeatedClass { data: name(), class }),
                Some(slot) => *slot = true,
            }
        }
        let pick = |set: &Labelled, classes: &[u16]| keep(set, |i| classes.contains(&set.label(i)));
        let tasks =
            partition.iter().map(|c| Task { train: pick(data.train(), c), test: pick(data.test(), c) });
        Self::checked(format!("split-{}", data.name()), data, tasks.collect())
    }

    /// Domain-incremental: the whole data set at each angle, counter-clockwise.
    ///
    /// See [`rotate`](crate::rotate) for the convention. At 0° the pixels are shared, not copied.
    pub fn rotated(data: &DataSet, degrees: &[f64]) -> Result<Self, StreamError> {
        if let Some(&degrees) = degrees.iter().find(|d| !d.is_finite()) {
            return Err(StreamError::BadAngle { data: data.name().to_owned(), degrees });
        }
        let tasks =
            degrees.iter().map(|&d| Task { train: rotate(data.train(), d), test: rotate(data.test(), d) });
        Self::checked(format!("rotated-{}", data.name()), data, tasks.collect())
    }

    /// Domain-incremental by superclass: predict the coarse label of new fine classes.
    ///
    /// Within each coarse class its fine classes are ordered by index; the k-th goes to task k.
    /// Fine classes beyond the last task are left out.
    pub fn domain(data: &DataSet, tasks: usize) -> Result<Self, StreamError> {
        let coarse =
            data.coarse().ok_or_else(|| StreamError::NoCoarseLabels { data: data.name().to_owned() })?;
        let sets = [(data.train(), &coarse.train), (data.test(), &coarse.test)];
        let task_of = domain_tasks(data, &sets, tasks)?;
        let pick = |(fine, coarse): (&Labelled, &Labelled), task| {
            keep(coarse, |i| task_of[usize::from(fine.label(i))] == Some(task))
        };
        let tasks = (0..tasks).map(|task| Task { train: pick(sets[0], task), test: pick(sets[1], task) });
        Self::checked(format!("domain-{}", data.name()), data, tasks.collect())
    }

    fn checked(name: String, data: &DataSet, tasks: Vec<Task>) -> Result<Self, StreamError> {
        let data = data.name().to_owned();
        if tasks.is_empty() {
            return Err(StreamError::NoTasks { data });
        }
        if let Some(at) = tasks.iter().position(|t| t.train.is_empty() || t.test.is_empty()) {
            let (train, test) = (tasks[at].train.len(), tasks[at].test.len());
            return Err(StreamError::EmptyTask { data, task: at + 1, train, test });
        }
        Ok(Self { name, tasks })
    }

    /// Scenario and data set, as in `split-mnist`.
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
    pub fn shape(&self) -> Shape {
        self.tasks[0].train.shape()
    }

    /// Pixels and label of a training example.
    ///
    /// # Panics
    /// If the stream has no such example, as slice indexing does.
    pub fn example(&self, id: ExampleId) -> (&[u8], u16) {
        let train = &self.tasks[id.task].train;
        (train.image(id.index as usize), train.label(id.index as usize))
    }

    /// Replaces `images` and `labels` by those of a batch; the buffers keep their memory.
    ///
    /// [`Stream::gather_augmented`] also crops and flips.
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
            let (image, label) = self.example(id);
            normalization.append(image, images);
            labels.push(label);
        }
    }

    /// As [`Stream::gather`], with every image augmented before it is normalised.
    ///
    /// [`Sampler::augmentation`](crate::Sampler::augmentation) gives the generator of an iteration.
    ///
    /// # Panics
    /// As [`Stream::gather`] does.
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
            augment.apply(image, self.shape(), rng, &mut changed);
            normalization.append(&changed, images);
            labels.push(label);
        }
    }
}

fn keep(set: &Labelled, wanted: impl Fn(usize) -> bool) -> Labelled {
    set.select(&(0..set.len()).filter(|&i| wanted(i)).collect::<Vec<_>>())
}

/// The task of each fine class that belongs to one.
fn domain_tasks(
    data: &DataSet,
    sets: &[(&Labelled, &Labelled)],
    tasks: usize,
) -> Result<Vec<Option<usize>>, StreamError> {
    let name = || data.name().to_owned();
    let mut coarse_of: Vec<Option<u16>> = vec![None; data.classes()];
    for (fine, coarse) in sets {
        for (&fine, &second) in fine.labels().iter().zip(coarse.labels()) {
            let first = *coarse_of[usize::from(fine)].get_or_insert(second);
            if first != second {
                return Err(StreamError::AmbiguousCoarse { data: name(), fine, first, second });
            }
        }
    }
    let mut counts = vec![0; sets.first().map_or(0, |(_, coarse)| coarse.classes())];
    let mut task_of = vec![None; coarse_of.len()];
    for (task, coarse) in task_of.iter_mut().zip(&coarse_of) {
        if let Some(coarse) = coarse {
            let rank = &mut counts[usize::from(*coarse)];
            *task = Some(*rank).filter(|&rank| rank < tasks);
            *rank += 1;
        }
    }
    match counts.iter().position(|&fine| fine < tasks) {
        Some(at) => Err(StreamError::TooFewFine { data: name(), tasks, coarse: at as u16, fine: counts[at] }),
        None => Ok(task_of),
    }
}
