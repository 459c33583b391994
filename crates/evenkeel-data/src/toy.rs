//! Small streams for tests.

use crate::dataset::DataSet;
use crate::images::{ImageShape, Images};
use crate::labelled::Labelled;
use crate::streams::{Rotated, Split, StreamKind};
use crate::task_stream::TaskStream;

/// One-pixel examples, `counts[c]` of class `c`, classes taking turns; the test set is the training set.
pub(crate) fn data(counts: &[usize]) -> DataSet {
    let rounds = counts.iter().copied().max().unwrap_or(0);
    let labels: Vec<u16> = (0..rounds)
        .flat_map(|round| (0..counts.len()).filter(move |&class| counts[class] > round))
        .map(|class| class as u16)
        .collect();
    let images =
        Images::new(ImageShape::new(1, 1, 1), labels.iter().map(|&label| label as u8).collect()).unwrap();
    let set = Labelled::new(images, labels, counts.len()).unwrap();
    DataSet::new("toy", set.clone(), set).unwrap()
}

/// A split stream of one class per task.
pub(crate) fn one_class_per_task(counts: &[usize]) -> TaskStream {
    Split::new(1).cut(&data(counts), 0).unwrap()
}

/// A rotated stream with all classes in each of `tasks` tasks.
pub(crate) fn all_classes_in_each_task(counts: &[usize], tasks: usize) -> TaskStream {
    Rotated::new(vec![0.0; tasks]).cut(&data(counts), 0).unwrap()
}
