//! Class-incremental: every task brings classes that were not there before.

use serde::{Deserialize, Serialize};

use super::{ScenarioType, StreamError, StreamKind};
use crate::dataset::DataSet;
use crate::images::Labelled;
use crate::task_stream::{Task, TaskStream};

/// Some classes per task, in ascending order unless another one is given.
///
/// All classes of the data set are outputs from the start.
///
/// ```
/// use evenkeel_data::digits;
/// use evenkeel_data::streams::{Split, StreamKind};
///
/// let stream = Split::new(2).cut(&digits(100, 50, 0))?;
/// assert_eq!((stream.len(), stream.outputs()), (5, 10));
/// assert!(stream.task(0).test.labels().iter().all(|&label| label < 2));
/// # Ok::<(), evenkeel_data::StreamError>(())
/// ```
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Split {
    /// The number of classes per task.
    pub classes_per_task: usize,
    /// The order in which the classes come; classes that it does not name are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_order: Option<Vec<u16>>,
}

impl Default for Split {
    fn default() -> Self {
        Self::new(2)
    }
}

impl Split {
    /// All classes in ascending order, so many per task.
    pub fn new(classes_per_task: usize) -> Self {
        Self { classes_per_task, class_order: None }
    }

    fn divides(&self, classes: usize) -> bool {
        self.classes_per_task > 0 && classes.is_multiple_of(self.classes_per_task)
    }
}

impl StreamKind for Split {
    const SUMMARY: &'static str = "new classes with each task";
    const SCENARIO: ScenarioType = ScenarioType::ClassIncremental;
    const KEYS: &'static [(&'static str, &'static str)] = &[
        ("classes_per_task", "number of classes per task"),
        ("class_order", "order in which the classes come; all of them in label order if absent"),
    ];

    fn check(&self) -> Result<(), (&'static str, String)> {
        if self.classes_per_task == 0 {
            return Err(("classes_per_task", "must be at least 1".to_owned()));
        }
        let Some(order) = &self.class_order else { return Ok(()) };
        let bad = |reason| Err(("class_order", reason));
        if order.is_empty() {
            return bad("names no class".to_owned());
        }
        if !self.divides(order.len()) {
            let (classes, per_task) = (order.len(), self.classes_per_task);
            return bad(format!("{classes} classes do not divide into tasks of {per_task}"));
        }
        let mut sorted = order.clone();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => bad(format!("names class {} twice", pair[0])),
            None => Ok(()),
        }
    }

    fn tasks(&self, classes: usize) -> usize {
        let classes = self.class_order.as_ref().map_or(classes, Vec::len);
        classes.checked_div(self.classes_per_task).unwrap_or(0)
    }

    fn cut(&self, data: &DataSet) -> Result<TaskStream, StreamError> {
        let per_task = self.classes_per_task;
        let in_order: Vec<u16>;
        let order = if let Some(order) = &self.class_order {
            if !self.divides(order.len()) {
                return Err(StreamError::ClassOrder { classes: order.len(), per_task });
            }
            order
        } else {
            let classes = data.classes();
            if !self.divides(classes) {
                let data = data.name().to_owned();
                return Err(StreamError::Indivisible { data, classes, per_task });
            }
            in_order = (0..classes).map(|class| class as u16).collect();
            &in_order
        };
        split_classes(data, &order.chunks(per_task).collect::<Vec<_>>())
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
        let stream = Split::new(2).cut(&data).unwrap();
        assert_eq!(stream.name(), "split-digits");
        assert_eq!(stream.tasks().iter().map(|task| task.train.len()).sum::<usize>(), 100);
        assert_eq!(stream.task(1).test.labels()[..4], [2, 3, 2, 3]);
        assert_eq!(stream.task(4).train.classes(), 10);
        assert_eq!(stream.task(1).train.image(0), data.train().image(2));
    }

    #[test]
    fn classes_come_in_any_order() {
        let data = digits(100, 50, 0);
        let split = Split { classes_per_task: 2, class_order: Some(vec![9, 0, 5, 4]) };
        assert_eq!((split.check(), split.tasks(10)), (Ok(()), 2));
        let stream = split.cut(&data).unwrap();
        assert_eq!((stream.len(), stream.outputs()), (2, 10));
        assert_eq!(stream.task(0).test.labels()[..2], [0, 9]);
        assert_eq!(stream.task(1).test.labels()[..2], [4, 5]);
    }

    #[test]
    fn classes_must_exist_and_not_repeat() {
        let data = digits(100, 50, 0);
        let error = split_classes(&data, &[vec![0, 1], vec![1]]).unwrap_err();
        assert_eq!(error.to_string(), "digits: class 1 is asked for twice");
        let error = split_classes(&data, &[vec![0], vec![10]]).unwrap_err();
        assert_eq!(error.to_string(), "digits: task 2 asks for class 10, but there are 10 classes");
        assert!(matches!(Split::new(3).cut(&data), Err(StreamError::Indivisible { .. })));
        assert!(matches!(Split::new(0).cut(&data), Err(StreamError::Indivisible { .. })));
        assert!(matches!(split_classes(&data, &[] as &[Vec<u16>]), Err(StreamError::NoTasks { .. })));
        assert!(matches!(split_classes(&data, &[vec![]]), Err(StreamError::EmptyTask { .. })));
    }

    #[test]
    fn wrong_keys_are_named() {
        let wrong = |classes_per_task, class_order| {
            let split = Split { classes_per_task, class_order };
            assert!(split.cut(&digits(100, 50, 0)).is_err(), "{split:?}");
            split.check().unwrap_err()
        };
        assert_eq!(wrong(0, None), ("classes_per_task", "must be at least 1".to_owned()));
        assert_eq!(wrong(2, Some(vec![])).1, "names no class");
        assert_eq!(wrong(2, Some(vec![1, 2, 1, 4])).1, "names class 1 twice");
        let (key, reason) = wrong(2, Some(vec![1, 2, 3]));
        assert_eq!(format!("{key}: {reason}"), "class_order: 3 classes do not divide into tasks of 2");
        let split = Split { classes_per_task: 2, class_order: Some(vec![1, 2, 3]) };
        let error = split.cut(&digits(100, 50, 0)).unwrap_err().to_string();
        assert_eq!(error, "class_order: 3 classes do not divide into tasks of 2");
    }
}
