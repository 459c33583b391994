//! Domain-incremental by superclass: predict the coarse label of new fine classes.

use serde::{Deserialize, Serialize};

use super::{ScenarioType, StreamError, StreamKind};
use crate::dataset::DataSet;
use crate::labelled::Labelled;
use crate::task_stream::{Task, TaskStream};

/// The k-th fine class of every coarse class makes up task k.
///
/// Within each coarse class its fine classes are ordered by index. Fine classes beyond the last task are left out.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Domain {
    /// The number of tasks.
    pub domains: usize,
}

impl Default for Domain {
    fn default() -> Self {
        Self { domains: 3 }
    }
}

impl StreamKind for Domain {
    const SUMMARY: &'static str = "the same coarse classes, seen through other fine classes in each task";
    const SCENARIO: ScenarioType = ScenarioType::DomainIncremental;
    const KEYS: &'static [(&'static str, &'static str)] = &[("domains", "number of tasks")];

    fn check(&self) -> Result<(), (&'static str, String)> {
        if self.domains == 0 {
            return Err(("domains", "must be at least 1".to_owned()));
        }
        Ok(())
    }

    fn tasks(&self, _classes: usize) -> usize {
        self.domains
    }

    fn cut(&self, data: &DataSet, _seed: u64) -> Result<TaskStream, StreamError> {
        let coarse =
            data.coarse().ok_or_else(|| StreamError::NoCoarseLabels { data: data.name().to_owned() })?;
        let sets = [(data.train(), &coarse.train), (data.test(), &coarse.test)];
        let task_of = task_of_classes(data, &sets, self.domains)?;
        let pick = |(fine, coarse): (&Labelled, &Labelled), task| {
            coarse.filter(|i| task_of[usize::from(fine.label(i))] == Some(task))
        };
        let task = |task| Task { train: pick(sets[0], task), test: pick(sets[1], task) };
        TaskStream::new("domain", data, (0..self.domains).map(task).collect())
    }
}

/// The task of each fine class that belongs to one.
fn task_of_classes(
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digits;
    use crate::images::{ImageShape, Images};

    /// `n` one-pixel examples whose fine label is `fine(i)` and coarse label `coarse(i)`.
    fn with_coarse(n: usize, fine: fn(usize) -> u16, coarse: fn(usize) -> u16) -> DataSet {
        let images = Images::new(ImageShape::new(1, 1, 1), (0..n).map(|i| i as u8).collect()).unwrap();
        let set = Labelled::new(images, (0..n).map(fine).collect(), 6).unwrap();
        let coarse: Vec<u16> = (0..n).map(coarse).collect();
        DataSet::new("toy", set.clone(), set).unwrap().with_coarse(coarse.clone(), coarse, 2).unwrap()
    }

    #[test]
    fn the_kth_fine_class_of_every_coarse_one_is_taken() {
        // Coarse 0 holds the fine classes 0, 2, 4; coarse 1 holds 1, 3, 5.
        let data = with_coarse(12, |i| (i % 6) as u16, |i| (i % 2) as u16);
        let stream = Domain { domains: 2 }.cut(&data, 0).unwrap();
        assert_eq!((stream.len(), stream.outputs()), (2, 2));
        assert_eq!(stream.task(1).train.labels(), [0, 1, 0, 1]);
        let pixels: Vec<u8> = (0..4).map(|i| stream.task(1).train.image(i)[0]).collect();
        assert_eq!(pixels, [2, 3, 8, 9]);
        let error = Domain { domains: 4 }.cut(&data, 0).unwrap_err().to_string();
        assert_eq!(error, "toy: 4 tasks need 4 fine classes in every coarse class; class 0 has 3");
        assert!(Domain { domains: usize::MAX }.cut(&data, 0).is_err());
        assert!(Domain { domains: 0 }.cut(&data, 0).is_err() && Domain { domains: 0 }.check().is_err());
    }

    #[test]
    fn coarse_labels_must_be_there_and_agree() {
        let two = Domain { domains: 2 };
        assert!(matches!(two.cut(&digits(20, 10, 0), 0), Err(StreamError::NoCoarseLabels { .. })));
        let data = with_coarse(12, |i| (i % 3) as u16, |i| (i % 2) as u16);
        assert!(matches!(Domain { domains: 1 }.cut(&data, 0), Err(StreamError::AmbiguousCoarse { .. })));
    }
}
