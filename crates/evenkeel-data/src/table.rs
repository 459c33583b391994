//! Labels, tasks and parts of the rows of a user's file, and the data set that they make of its examples.

mod column;
mod error;

use std::path::Path;

pub use self::column::Column;
pub use self::error::TableError;
pub(crate) use self::error::csv_problem;
use crate::dataset::{DataSet, TaskColumn};
use crate::labelled::Labelled;
use crate::random::{distinct, generator};

/// Columns with these names are about an example; all others are the example.
pub const LABEL: &str = "label";
/// Which task an example belongs to.
pub const TASK: &str = "task";
/// Whether an example trains or tests.
pub const SPLIT: &str = "split";

/// What a file says about its rows.
#[derive(Debug, Default)]
pub struct Annotations {
    /// The class of each row.
    pub label: Column,
    /// The task of each row.
    pub task: Option<Column>,
    /// `train` or `test` for each row.
    pub split: Option<Column>,
}

/// Which rows train and which test.
struct Parts {
    train: Vec<usize>,
    test: Vec<usize>,
}

impl Annotations {
    /// The classes in order, by name.
    ///
    /// Whole numbers are labels as they are: from 0, without gaps. Anything else is sorted by name.
    pub fn classes(&self, file: &Path) -> Result<(Vec<u16>, Vec<String>), TableError> {
        let names = self.label.names();
        let Some(numbers) = self.label.numbers() else {
            return self.named_classes(file);
        };
        let error = |code: usize, problem: String, hint: &str| {
            let row = self.label.codes().iter().position(|found| *found as usize == code);
            Err(TableError::new(file, row, problem, hint))
        };
        let hint = "number the classes from 0 to 65535 without gaps, or name them";
        if let Some(code) = numbers.iter().position(|n| !(0..=i64::from(u16::MAX)).contains(n)) {
            return error(code, format!("label {} is out of range", names[code]), hint);
        }
        let classes = numbers.iter().max().map_or(0, |most| *most as usize + 1);
        if let Some(gap) = (0..classes).find(|class| !numbers.contains(&(*class as i64))) {
            let problem = format!("class {gap} has no example, but there are labels up to {}", classes - 1);
            return Err(TableError::new(file, None, problem, hint));
        }
        let labels = self.label.codes().iter().map(|code| numbers[*code as usize] as u16);
        Ok((labels.collect(), (0..classes).map(|class| class.to_string()).collect()))
    }

    fn named_classes(&self, file: &Path) -> Result<(Vec<u16>, Vec<String>), TableError> {
        let mut sorted = self.label.names().to_vec();
        sorted.sort_unstable();
        if sorted.len() > usize::from(u16::MAX) {
            let problem = format!("{} different labels, more than the 65535 supported", sorted.len());
            let hint = "is the column of labels the right one?";
            return Err(TableError::new(file, None, problem, hint));
        }
        let rank: Vec<u16> = self
            .label
            .names()
            .iter()
            .map(|name| sorted.binary_search(name).expect("sorted from the same names") as u16)
            .collect();
        Ok((self.label.codes().iter().map(|code| rank[*code as usize]).collect(), sorted))
    }

    /// Tasks from 0: numbers in ascending order, names in order of first appearance.
    fn tasks(&self, file: &Path) -> Result<Option<(Vec<u16>, usize)>, TableError> {
        let Some(column) = &self.task else { return Ok(None) };
        if column.names().len() > usize::from(u16::MAX) {
            let problem = format!("{} different tasks, more than the 65535 supported", column.names().len());
            return Err(TableError::new(file, None, problem, "is the column of tasks the right one?"));
        }
        let rank: Vec<u16> = match column.numbers() {
            None => (0..column.names().len() as u16).collect(),
            Some(numbers) => {
                let mut sorted = numbers.clone();
                sorted.sort_unstable();
                let at = |n| sorted.binary_search(n).expect("sorted from the same numbers") as u16;
                numbers.iter().map(at).collect()
            }
        };
        Ok(Some((column.codes().iter().map(|code| rank[*code as usize]).collect(), rank.len())))
    }

    fn parts(&self, file: &Path, labels: &[u16], test_fraction: f64) -> Result<Parts, TableError> {
        let Some(split) = &self.split else {
            let tasks = self.tasks(file)?.map(|(tasks, _)| tasks);
            return Ok(drawn_parts(labels, tasks.as_deref(), test_fraction));
        };
        let mut is_test = Vec::with_capacity(split.names().len());
        for (code, name) in split.names().iter().enumerate() {
            is_test.push(match name.to_ascii_lowercase().as_str() {
                "train" | "training" | "0" => false,
                "test" | "val" | "valid" | "validation" | "1" => true,
                _ => {
                    let row = split.codes().iter().position(|found| *found as usize == code);
                    let hint = "write train, or test (val and validation count as test)";
                    return Err(TableError::new(file, row, format!("split '{name}' is not known"), hint));
                }
            });
        }
        let test = |row: &usize| is_test[split.codes()[*row] as usize];
        let (test, train) = (0..labels.len()).partition(test);
        Ok(Parts { train, test })
    }

    /// The data set of the rows of `all`, whose labels are taken from here.
    ///
    /// Without a split, every class (of every task) gives a random `test_fraction` of its rows to the test set, the same in
    /// every run.
    pub fn assemble(
        &self,
        file: &Path,
        name: String,
        all: &Labelled,
        test_fraction: f64,
    ) -> Result<DataSet, TableError> {
        let (labels, classes) = self.classes(file)?;
        let Parts { train, test } = self.parts(file, &labels, test_fraction)?;
        for (part, rows) in [("training", &train), ("test", &test)] {
            let mut seen = vec![false; classes.len()];
            for row in rows {
                seen[usize::from(labels[*row])] = true;
            }
            if let Some(empty) = seen.iter().position(|seen| !seen) {
                let problem = format!("class '{}' has no {part} example", classes[empty]);
                let hint = "every class needs one for training and one for testing: see the column split";
                return Err(TableError::new(file, None, problem, hint));
            }
        }
        let set = all.relabel(labels, classes.len())?;
        let data = DataSet::new(name, set.select(&train), set.select(&test))?;
        let Some((task, tasks)) = self.tasks(file)? else { return Ok(data) };
        let of = |rows: &[usize]| rows.iter().map(|row| task[*row]).collect();
        Ok(data.with_tasks(TaskColumn { train: of(&train), test: of(&test), tasks })?)
    }
}

/// Every cell (a class within a task) gives its share to the test set, at least one row if it has two.
fn drawn_parts(labels: &[u16], tasks: Option<&[u16]>, test_fraction: f64) -> Parts {
    let mut cells = std::collections::BTreeMap::<(u16, u16), Vec<usize>>::new();
    for (row, label) in labels.iter().enumerate() {
        let task = tasks.map_or(0, |tasks| tasks[row]);
        cells.entry((task, *label)).or_default().push(row);
    }
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for (i, rows) in cells.into_values().enumerate() {
        let most = rows.len().saturating_sub(1);
        let n = ((rows.len() as f64 * test_fraction).round() as usize).max(1).min(most);
        let chosen = distinct(&mut generator(0, *b"testrows", i as u64), n, rows.len());
        let mut is_test = vec![false; rows.len()];
        for at in chosen {
            is_test[at] = true;
        }
        for (row, is_test) in rows.into_iter().zip(is_test) {
            if is_test { &mut test } else { &mut train }.push(row);
        }
    }
    train.sort_unstable();
    test.sort_unstable();
    Parts { train, test }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::images::{ImageShape, Images};

    fn column(cells: &[&str]) -> Column {
        let mut column = Column::default();
        for cell in cells {
            column.push(cell);
        }
        column
    }

    fn assemble(label: &[&str], task: Option<&[&str]>, split: Option<&[&str]>) -> Result<DataSet, String> {
        let pixels = (0..label.len() as u8).collect();
        let images = Images::new(ImageShape::new(1, 1, 1), pixels).unwrap();
        let all = Labelled::new(images, vec![0; label.len()], 1).unwrap();
        let annotations =
            Annotations { label: column(label), task: task.map(column), split: split.map(column) };
        annotations.assemble("x.csv".as_ref(), "x".into(), &all, 0.25).map_err(|error| error.to_string())
    }

    #[test]
    fn names_are_sorted_and_parts_are_as_the_file_says() {
        let split = ["train", "test", "train", "Val"];
        let data = assemble(&["cat", "cat", "ant", "ant"], None, Some(&split)).unwrap();
        assert_eq!((data.train().labels(), data.test().labels()), (&[1_u16, 0][..], &[1_u16, 0][..]));
        assert_eq!((data.classes(), data.tasks()), (2, None));
    }

    #[test]
    fn without_a_split_every_class_gives_its_share() {
        let labels: Vec<&str> = ["0", "1"].repeat(8);
        let data = assemble(&labels, None, None).unwrap();
        assert_eq!((data.train().len(), data.test().len()), (12, 4));
        assert_eq!(data.test().labels().iter().filter(|label| **label == 0).count(), 2);
        let again = assemble(&labels, None, None).unwrap();
        assert!((0..4).all(|i| data.test().image(i) == again.test().image(i)));
    }

    #[test]
    fn tasks_are_ordered_by_number_or_by_appearance() {
        let labels = ["0", "0", "0", "0"];
        let split = ["train", "test", "train", "test"];
        let order = |task: [&str; 4]| {
            let data = assemble(&labels, Some(&task), Some(&split)).unwrap();
            data.tasks().unwrap().train.clone()
        };
        assert_eq!(order(["10", "10", "9", "9"]), [1, 0]);
        assert_eq!(order(["z", "z", "a", "a"]), [0, 1]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_row_and_what_to_do() {
        let hint = "; hint: number the classes from 0 to 65535 without gaps, or name them";
        let error = |label: &[&str], split: Option<&[&str]>| assemble(label, None, split).unwrap_err();
        assert_eq!(error(&["0", "-1"], None), format!("x.csv: row 2: label -1 is out of range{hint}"));
        assert_eq!(error(&["0", "65536"], None), format!("x.csv: row 2: label 65536 is out of range{hint}"));
        let gap = format!("x.csv: class 1 has no example, but there are labels up to 2{hint}");
        assert_eq!(error(&["0", "2"], None), gap);
        let unknown = error(&["a", "b"], Some(&["train", "tset"]));
        assert!(
            unknown.starts_with("x.csv: row 2: split 'tset' is not known; hint: write train"),
            "{unknown}"
        );
        let empty = error(&["a", "b", "a"], Some(&["train", "train", "test"]));
        assert!(empty.starts_with("x.csv: class 'b' has no test example; hint: "), "{empty}");
        assert!(error(&["a", "b"], None).contains("has no test example"));
        let lines = error(&["a\nb\u{1b}[2J", "c"], None);
        assert!(lines.starts_with("x.csv: class 'a b [2J' has no test example; hint: "), "{lines}");
    }

    #[test]
    fn more_tasks_than_can_be_counted_are_refused() {
        let names: Vec<String> = (0..=u16::MAX).map(|task| task.to_string()).collect();
        let tasks: Vec<&str> = names.iter().map(String::as_str).collect();
        let annotations =
            Annotations { label: column(&vec!["a"; tasks.len()]), task: Some(column(&tasks)), split: None };
        let error = annotations.tasks("x.csv".as_ref()).unwrap_err().to_string();
        assert!(error.starts_with("x.csv: 65536 different tasks, more than the 65535 supported"), "{error}");
    }
}
