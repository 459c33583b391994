//! Class-incremental: every task brings classes that were not there before.

use serde::{Deserialize, Serialize};

use super::{ScenarioType, StreamError, StreamKind};
use crate::dataset::DataSet;
use crate::labelled::Labelled;
use crate::random::{distinct, generator};
use crate::task_stream::{Task, TaskStream};

/// Some classes per task, in ascending order unless another one is given.
///
/// All classes of the data set are outputs from the start.
///
/// ```
/// use evenkeel_data::digits;
/// use evenkeel_data::streams::{Split, StreamKind};
///
/// let stream = Split::new(2).cut(&digits(100, 50, 0), 0)?;
/// assert_eq!((stream.len(), stream.outputs()), (5, 10));
/// assert!(stream.task(0).test.labels().iter().all(|&label| label < 2));
/// # Ok::<(), evenkeel_data::StreamError>(())
/// ```
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Split {
    /// The number of classes per task: one number, or one per task.
    pub classes_per_task: ClassesPerTask,
    /// The order in which the classes come; classes that it does not name are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_order: Option<ClassOrder>,
}

/// How many classes a task has.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
#[serde(untagged, expecting = "a number of classes, or a list with one number per task")]
pub enum ClassesPerTask {
    /// The same number in every task.
    Each(usize),
    /// Another number in each task.
    Listed(Vec<usize>),
}

/// In which order classes come.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
#[serde(untagged, expecting = "a list of classes, or \"seed\"")]
pub enum ClassOrder {
    /// As listed.
    Listed(Vec<u16>),
    /// As drawn.
    Drawn(DrawnOrder),
}

/// What decides an order that is drawn.
#[derive(Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawnOrder {
    /// The seed of the run: another order of all classes for each seed, the same for every optimizer.
    #[serde(rename = "seed")]
    Seed,
}

impl Default for Split {
    fn default() -> Self {
        Self::new(2)
    }
}

impl Split {
    /// All classes in ascending order, so many per task.
    pub fn new(classes_per_task: usize) -> Self {
        Self { classes_per_task: ClassesPerTask::Each(classes_per_task), class_order: None }
    }

    /// The number of classes of each task for so many classes in all; `None` if they do not come out even.
    fn sizes(&self, classes: usize) -> Option<Vec<usize>> {
        match &self.classes_per_task {
            ClassesPerTask::Each(0) => None,
            ClassesPerTask::Each(n) => classes.is_multiple_of(*n).then(|| vec![*n; classes / n]),
            ClassesPerTask::Listed(sizes) => {
                let total = sizes.iter().try_fold(0_usize, |sum, n| sum.checked_add(*n));
                (total == Some(classes)).then(|| sizes.clone())
            }
        }
    }

    fn listed(&self) -> Option<&[u16]> {
        match &self.class_order {
            Some(ClassOrder::Listed(order)) => Some(order),
            _ => None,
        }
    }
}

impl std::fmt::Display for ClassesPerTask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Each(n) => n.fmt(f),
            Self::Listed(sizes) => {
                f.write_str(&sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(" + "))
            }
        }
    }
}

impl StreamKind for Split {
    const SUMMARY: &'static str = "new classes with each task";
    const SCENARIO: ScenarioType = ScenarioType::ClassIncremental;
    const KEYS: &'static [(&'static str, &'static str)] = &[
        ("classes_per_task", "number of classes per task, or a list with one number per task"),
        (
            "class_order",
            "order in which the classes come; all of them in label order if absent, in another order for each seed if \"seed\"",
        ),
    ];

    fn check(&self) -> Result<(), (&'static str, String)> {
        let empty = match &self.classes_per_task {
            ClassesPerTask::Each(n) => *n == 0,
            ClassesPerTask::Listed(sizes) => sizes.is_empty() || sizes.contains(&0),
        };
        if empty {
            return Err(("classes_per_task", "must be at least 1".to_owned()));
        }
        let Some(order) = self.listed() else { return Ok(()) };
        let bad = |reason| Err(("class_order", reason));
        if order.is_empty() {
            return bad("names no class".to_owned());
        }
        if self.sizes(order.len()).is_none() {
            let (classes, per_task) = (order.len(), &self.classes_per_task);
            return bad(format!("{classes} classes do not divide into tasks of {per_task}"));
        }
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => bad(format!("names class {} twice", pair[0])),
            None => Ok(()),
        }
    }

    fn tasks(&self, classes: usize) -> usize {
        self.sizes(self.listed().map_or(classes, <[u16]>::len)).map_or(0, |sizes| sizes.len())
    }

    fn cut(&self, data: &DataSet, seed: u64) -> Result<TaskStream, StreamError> {
        let per_task = || self.classes_per_task.to_string();
        let classes = data.classes();
        let order: Vec<u16> = match &self.class_order {
            Some(ClassOrder::Listed(order)) => order.clone(),
            Some(ClassOrder::Drawn(DrawnOrder::Seed)) => {
                let drawn = distinct(&mut generator(seed, *b"classes.", 0), classes, classes);
                drawn.into_iter().map(|class| class as u16).collect()
            }
            None => (0..classes).map(|class| class as u16).collect(),
        };
        let sizes = self.sizes(order.len()).ok_or_else(|| match self.listed() {
            Some(order) => StreamError::ClassOrder { classes: order.len(), per_task: per_task() },
            None => StreamError::Indivisible { data: data.name().to_owned(), classes, per_task: per_task() },
        })?;
        let mut rest = order.as_slice();
        let mut tasks = Vec::with_capacity(sizes.len());
        for size in sizes {
            let (task, after) = rest.split_at(size);
            tasks.push(task);
            rest = after;
        }
        split_classes(data, &tasks)
    }
}

/// A split stream with the classes of each task listed; classes may be left out, and tasks may differ in their number.
///
/// ```
/// let data = evenkeel_data::digits(100, 50, 0);
/// let stream = evenkeel_data::streams::split::split_classes(&data, &[vec![9], vec![0, 5, 4]])?;
/// assert_eq!(stream.task(1).test.len(), 15);
/// # Ok::<(), evenkeel_data::StreamError>(())
/// ```
pub fn split_classes(data: &DataSet, tasks: &[impl AsRef<[u16]>]) -> Result<TaskStream, StreamError> {
    let mut seen = vec![false; data.classes()];
    let named = tasks.iter().enumerate().flat_map(|(t, c)| c.as_ref().iter().map(move |c| (t, *c)));
    for (task, class) in named {
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
    let pick = |set: &Labelled, classes: &[u16]| set.filter(|i| classes.contains(&set.label(i)));
    let task =
        |classes: &[u16]| Task { train: pick(data.train(), classes), test: pick(data.test(), classes) };
    TaskStream::new("split", data, tasks.iter().map(|classes| task(classes.as_ref())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digits;

    #[test]
    fn every_example_is_dealt_out_once() {
        let data = digits(100, 50, 0);
        let stream = Split::new(2).cut(&data, 0).unwrap();
        assert_eq!(stream.name(), "split-digits");
        assert_eq!(stream.tasks().iter().map(|task| task.train.len()).sum::<usize>(), 100);
        assert_eq!(stream.task(1).test.labels()[..4], [2, 3, 2, 3]);
        assert_eq!(stream.task(4).train.classes(), 10);
        assert_eq!(stream.task(1).train.image(0), data.train().image(2));
    }

    #[test]
    fn classes_come_in_any_order() {
        let data = digits(100, 50, 0);
        let split = Split { class_order: Some(ClassOrder::Listed(vec![9, 0, 5, 4])), ..Split::new(2) };
        assert_eq!((split.check(), split.tasks(10)), (Ok(()), 2));
        let stream = split.cut(&data, 0).unwrap();
        assert_eq!((stream.len(), stream.outputs()), (2, 10));
        assert_eq!(stream.task(0).test.labels()[..2], [0, 9]);
        assert_eq!(stream.task(1).test.labels()[..2], [4, 5]);
    }

    #[test]
    fn tasks_may_differ_in_their_number_of_classes() {
        let split = Split { classes_per_task: ClassesPerTask::Listed(vec![5, 3, 2]), class_order: None };
        assert_eq!((split.check(), split.tasks(10), split.tasks(9)), (Ok(()), 3, 0));
        let stream = split.cut(&digits(100, 50, 0), 0).unwrap();
        let sizes: Vec<usize> = stream.tasks().iter().map(|task| task.train.len()).collect();
        assert_eq!(sizes, [50, 30, 20]);
        let short = Split { classes_per_task: ClassesPerTask::Listed(vec![5, 3]), class_order: None };
        let error = short.cut(&digits(100, 50, 0), 0).unwrap_err().to_string();
        assert_eq!(
            error,
            "digits: 10 classes do not divide into tasks of 5 + 3; list the classes of each task"
        );
        let none = Split { classes_per_task: ClassesPerTask::Listed(vec![10, 0]), class_order: None };
        assert!(none.check().is_err());
    }

    #[test]
    fn each_seed_has_its_order_of_all_classes() {
        let split = Split { class_order: Some(ClassOrder::Drawn(DrawnOrder::Seed)), ..Split::new(2) };
        let first = |seed| {
            let mut labels = split.cut(&digits(100, 50, 0), seed).unwrap().task(0).test.labels().to_vec();
            labels.sort_unstable();
            labels.dedup();
            labels
        };
        assert_eq!(first(3), first(3));
        assert!((0..10).map(first).collect::<std::collections::BTreeSet<_>>().len() > 5);
        let read: Split = serde_json::from_str(r#"{"class_order": "seed"}"#).unwrap();
        assert_eq!(read, split);
        let error = serde_json::from_str::<Split>(r#"{"class_order": "sed"}"#).unwrap_err().to_string();
        assert!(error.contains("a list of classes, or \"seed\""), "{error}");
    }

    #[test]
    fn classes_must_exist_and_not_repeat() {
        let data = digits(100, 50, 0);
        let error = split_classes(&data, &[vec![0, 1], vec![1]]).unwrap_err();
        assert_eq!(error.to_string(), "digits: class 1 is asked for twice");
        let error = split_classes(&data, &[vec![0], vec![10]]).unwrap_err();
        assert_eq!(error.to_string(), "digits: task 2 asks for class 10, but there are 10 classes");
        assert!(matches!(Split::new(3).cut(&data, 0), Err(StreamError::Indivisible { .. })));
        assert!(matches!(Split::new(0).cut(&data, 0), Err(StreamError::Indivisible { .. })));
        assert!(matches!(split_classes(&data, &[] as &[Vec<u16>]), Err(StreamError::NoTasks { .. })));
        assert!(matches!(split_classes(&data, &[vec![]]), Err(StreamError::EmptyTask { .. })));
    }

    #[test]
    fn wrong_keys_are_named() {
        let wrong = |classes_per_task, class_order: Option<Vec<u16>>| {
            let split =
                Split { class_order: class_order.map(ClassOrder::Listed), ..Split::new(classes_per_task) };
            assert!(split.cut(&digits(100, 50, 0), 0).is_err(), "{split:?}");
            split.check().unwrap_err()
        };
        assert_eq!(wrong(0, None), ("classes_per_task", "must be at least 1".to_owned()));
        assert_eq!(wrong(2, Some(vec![])).1, "names no class");
        assert_eq!(wrong(2, Some(vec![1, 2, 1, 4])).1, "names class 1 twice");
        let (key, reason) = wrong(2, Some(vec![1, 2, 3]));
        assert_eq!(format!("{key}: {reason}"), "class_order: 3 classes do not divide into tasks of 2");
        let split = Split { class_order: Some(ClassOrder::Listed(vec![1, 2, 3])), ..Split::new(2) };
        let error = split.cut(&digits(100, 50, 0), 0).unwrap_err().to_string();
        assert_eq!(error, "class_order: 3 classes do not divide into tasks of 2");
    }
}
