//! A named training set and test set.

use crate::error::{FormatError, Problem};
use crate::images::ImageShape;
use crate::labelled::Labelled;

/// A data set: training and test examples with the same shape and classes.
#[derive(Debug, Clone)]
pub struct DataSet {
    name: String,
    train: Labelled,
    test: Labelled,
    coarse: Option<Coarse>,
    tasks: Option<TaskColumn>,
}

/// Which task each example of a [`DataSet`] belongs to, where the data itself says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskColumn {
    /// The task of each training example, counted from 0.
    pub train: Vec<u16>,
    /// The task of each test example, counted from 0.
    pub test: Vec<u16>,
    /// The number of tasks.
    pub tasks: usize,
}

/// The examples of a [`DataSet`] again, under coarser labels (CIFAR-100's 20 superclasses).
#[derive(Debug, Clone)]
pub struct Coarse {
    /// The training examples in the same order, with coarse labels.
    pub train: Labelled,
    /// The test examples in the same order, with coarse labels.
    pub test: Labelled,
}

impl DataSet {
    /// Joins a training set and a test set, which must agree in shape and classes.
    pub fn new(name: impl Into<String>, train: Labelled, test: Labelled) -> Result<Self, FormatError> {
        let name = name.into();
        agree(&name, &train, &test)?;
        Ok(Self { name, train, test, coarse: None, tasks: None })
    }

    /// Adds coarse labels, one for each training and test example, below `classes`.
    pub fn with_coarse(
        mut self,
        train: Vec<u16>,
        test: Vec<u16>,
        classes: usize,
    ) -> Result<Self, FormatError> {
        self.coarse = Some(Coarse {
            train: self.train.relabel(train, classes)?,
            test: self.test.relabel(test, classes)?,
        });
        Ok(self)
    }

    /// Adds the task of each training and test example, all below the number of tasks.
    pub fn with_tasks(mut self, column: TaskColumn) -> Result<Self, FormatError> {
        let sets = [(&self.train, &column.train), (&self.test, &column.test)];
        if let Some((set, tasks)) = sets.iter().find(|(set, tasks)| set.len() != tasks.len()) {
            let problem = format!("{} examples but {} tasks", set.len(), tasks.len());
            return Err(FormatError::new(&self.name, Problem::Inconsistent(problem)));
        }
        let all = column.train.iter().chain(&column.test);
        if let Some(task) = all.copied().find(|&task| usize::from(task) >= column.tasks) {
            let problem = format!("task {} of {}", usize::from(task) + 1, column.tasks);
            return Err(FormatError::new(&self.name, Problem::Inconsistent(problem)));
        }
        self.tasks = Some(column);
        Ok(self)
    }

    /// Which task each example belongs to, if the data says so.
    pub fn tasks(&self) -> Option<&TaskColumn> {
        self.tasks.as_ref()
    }

    /// What it is called, as in `mnist`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The training examples.
    pub fn train(&self) -> &Labelled {
        &self.train
    }

    /// The test examples.
    pub fn test(&self) -> &Labelled {
        &self.test
    }

    /// The coarse labels, if the data set has them.
    pub fn coarse(&self) -> Option<&Coarse> {
        self.coarse.as_ref()
    }

    /// The shape of every image.
    pub fn shape(&self) -> ImageShape {
        self.train.shape()
    }

    /// Number of (fine) classes.
    pub fn classes(&self) -> usize {
        self.train.classes()
    }
}

fn agree(name: &str, train: &Labelled, test: &Labelled) -> Result<(), FormatError> {
    if train.shape() == test.shape() && train.classes() == test.classes() {
        return Ok(());
    }
    let describe = |set: &Labelled| {
        let ImageShape { channels, height, width } = set.shape();
        format!("{channels}×{height}×{width} with {} classes", set.classes())
    };
    let text = format!("training images are {}, test images {}", describe(train), describe(test));
    Err(FormatError::new(name, Problem::Inconsistent(text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::images::Images;

    fn set(shape: ImageShape, classes: usize) -> Labelled {
        Labelled::new(Images::new(shape, vec![0; shape.len()]).unwrap(), vec![0], classes).unwrap()
    }

    #[test]
    fn train_and_test_must_agree() {
        let (a, b) = (ImageShape::new(1, 2, 2), ImageShape::new(1, 2, 3));
        assert!(DataSet::new("x", set(a, 2), set(a, 2)).is_ok());
        let error = DataSet::new("x", set(a, 2), set(b, 2)).unwrap_err().to_string();
        let parts = "training images are 1×2×2 with 2 classes, test images 1×2×3 with 2 classes";
        assert_eq!(error, format!("x: its parts disagree: {parts}"));
        assert!(DataSet::new("x", set(a, 2), set(a, 3)).is_err());
    }

    #[test]
    fn coarse_labels_are_checked_too() {
        let a = ImageShape::new(1, 2, 2);
        let data = DataSet::new("x", set(a, 2), set(a, 2)).unwrap();
        assert!(data.clone().with_coarse(vec![0], vec![1], 1).is_err());
        assert!(data.with_coarse(vec![0], vec![0], 1).unwrap().coarse().is_some());
    }
}
