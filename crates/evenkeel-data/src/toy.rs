//! Small streams for tests.

use crate::dataset::DataSet;
use crate::images::{Images, Labelled, Shape};
use crate::stream::Stream;

/// One-pixel examples, `counts[c]` of class `c`, classes taking turns; the test set is the training set.
pub(crate) fn data(counts: &[usize]) -> DataSet {
    let rounds = counts.iter().copied().max().unwrap_or(0);
    let labels: Vec<u16> = (0..rounds)
        .flat_map(|round| (0..counts.len()).filter(move |&class| counts[class] > round))
        .map(|class| class as u16)
        .collect();
    let images = Images::new(Shape::new(1, 1, 1), labels.iter().map(|&label| label as u8).collect()).unwrap();
    let set = Labelled::new(images, labels, counts.len()).unwrap();
    DataSet::new("toy", set.clone(), set).unwrap()
}

/// A split stream of one class a task.
pub(crate) fn one_class_a_task(counts: &[usize]) -> Stream {
    Stream::split(&data(counts), 1).unwrap()
}

/// A rotated stream with all classes in each of `tasks` tasks.
pub(crate) fn all_classes_in_each_task(counts: &[usize], tasks: usize) -> Stream {
    Stream::rotated(&data(counts), &vec![0.0; tasks]).unwrap()
}
