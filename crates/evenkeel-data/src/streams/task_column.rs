//! Tasks as the data itself names them.

use serde::{Deserialize, Serialize};

use super::{ScenarioType, StreamError, StreamKind};
use crate::dataset::DataSet;
use crate::task_stream::{Task, TaskStream};

/// One task per value of the data's `task` column, in ascending order of numbers or in order of first appearance of names.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq, Default)]
#[serde(deny_unknown_fields, default)]
pub struct TaskColumnStream {}

impl StreamKind for TaskColumnStream {
    const SUMMARY: &'static str = "the tasks that the data's own task column names";
    const SCENARIO: ScenarioType = ScenarioType::Given;
    const KEYS: &'static [(&'static str, &'static str)] = &[];

    fn check(&self) -> Result<(), (&'static str, String)> {
        Ok(())
    }

    fn tasks(&self, _classes: usize) -> usize {
        0
    }

    fn cut(&self, data: &DataSet, _seed: u64) -> Result<TaskStream, StreamError> {
        let column =
            data.tasks().ok_or_else(|| StreamError::NoTaskColumn { data: data.name().to_owned() })?;
        let task = |k: usize| Task {
            train: data.train().filter(|i| usize::from(column.train[i]) == k),
            test: data.test().filter(|i| usize::from(column.test[i]) == k),
        };
        TaskStream::new("task-column", data, (0..column.tasks).map(task).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::TaskColumn;
    use crate::digits;

    #[test]
    fn the_column_decides_and_must_be_there() {
        let data = digits(20, 10, 0);
        let missing = TaskColumnStream {}.cut(&data, 0).unwrap_err().to_string();
        assert!(missing.starts_with("digits: names no task per example"), "{missing}");
        let column = TaskColumn {
            train: (0..20).map(|i| i % 2).collect(),
            test: (0..10).map(|i| i / 5).collect(),
            tasks: 2,
        };
        let data = data.with_tasks(column).unwrap();
        let stream = TaskColumnStream {}.cut(&data, 0).unwrap();
        assert_eq!((stream.len(), stream.task(1).train.len(), stream.task(1).test.len()), (2, 10, 5));
        assert_eq!(stream.task(1).train.labels()[..2], [1, 3]);
    }

    #[test]
    fn a_column_must_fit_the_examples() {
        let column = |train, task| TaskColumn { train: vec![task; train], test: vec![0; 10], tasks: 2 };
        assert!(digits(20, 10, 0).with_tasks(column(19, 0)).is_err());
        assert!(digits(20, 10, 0).with_tasks(column(20, 2)).is_err());
    }
}
