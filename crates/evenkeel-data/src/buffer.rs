//! The replay buffer, recomputed instead of stored.

use std::collections::BTreeMap;

use rand::Rng;

use crate::random::generator;
use crate::sample::ExampleId;
use crate::task_stream::TaskStream;

/// The buffer after the first `finished` tasks, ordered by task and index.
///
/// The buffer is balanced over cells, a cell being a label within a task. In a class-incremental
/// stream a cell is a class; in a domain-incremental one it is a class in a domain. With `c` cells
/// seen, each may keep `capacity / c` examples; what the division leaves over goes one each to the
/// earliest cells (by task, then label), so that the capacity is used up. A cell with fewer
/// examples gives all it has, and its unused places stay empty.
///
/// Every example has a fixed random priority under a seed, and a cell keeps its first ones.
/// As shares only shrink, the buffer after a task is always made from the buffer before it and that
/// task's data: what was dropped never comes back, as with a buffer that is really stored.
pub fn replay_buffer(stream: &TaskStream, seed: u64, capacity: usize, finished: usize) -> Vec<ExampleId> {
    let mut cells: BTreeMap<(usize, u16), Vec<(u64, u32)>> = BTreeMap::new();
    for (task, data) in stream.tasks().iter().enumerate().take(finished) {
        let mut rng = generator(seed, *b"priority", task as u64);
        for (index, &label) in data.train.labels().iter().enumerate() {
            cells.entry((task, label)).or_default().push((rng.next_u64(), index as u32));
        }
    }
    let count = cells.len().max(1);
    let (share, left_over) = (capacity / count, capacity % count);
    let mut buffer = Vec::new();
    for (rank, ((task, _), mut examples)) in cells.into_iter().enumerate() {
        let share = share + usize::from(rank < left_over);
        examples.sort_unstable();
        buffer.extend(examples.iter().take(share).map(|&(_, index)| ExampleId { task, index }));
    }
    buffer.sort_unstable();
    buffer
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;
    use crate::toy::{all_classes_in_each_task, one_class_per_task};

    fn cell_sizes(stream: &TaskStream, buffer: &[ExampleId]) -> BTreeMap<(usize, u16), usize> {
        buffer.iter().fold(BTreeMap::new(), |mut sizes, &id| {
            *sizes.entry((id.task, stream.example(id).1)).or_default() += 1;
            sizes
        })
    }

    #[test]
    fn the_remainder_goes_to_the_earliest_cells() {
        let stream = one_class_per_task(&[20, 20, 20]);
        let sizes = cell_sizes(&stream, &replay_buffer(&stream, 1, 11, 3));
        assert_eq!(sizes.into_values().collect::<Vec<_>>(), [4, 4, 3]);
        assert_eq!(replay_buffer(&stream, 1, 2, 3).len(), 2);
        assert!(replay_buffer(&stream, 1, 0, 3).is_empty());
        assert!(replay_buffer(&stream, 1, 11, 0).is_empty());
    }

    #[test]
    fn domains_are_balanced_too() {
        let stream = all_classes_in_each_task(&[20, 20], 3);
        let sizes = cell_sizes(&stream, &replay_buffer(&stream, 1, 12, 2));
        assert_eq!(
            sizes.into_iter().collect::<Vec<_>>(),
            [((0, 0), 3), ((0, 1), 3), ((1, 0), 3), ((1, 1), 3)]
        );
    }

    #[test]
    fn seeds_choose_different_examples() {
        let stream = one_class_per_task(&[100, 100]);
        assert_eq!(replay_buffer(&stream, 1, 10, 1), replay_buffer(&stream, 1, 10, 1));
        assert_ne!(replay_buffer(&stream, 1, 10, 1), replay_buffer(&stream, 2, 10, 1));
    }

    proptest! {
        #[test]
        fn buffers_are_bounded_balanced_and_never_resurrect(
            counts in prop::collection::vec(1usize..40, 1..7),
            capacity in 0usize..80,
            seed: u64,
            domains: bool,
        ) {
            let stream =
                if domains { all_classes_in_each_task(&counts, 4) } else { one_class_per_task(&counts) };
            let mut before = BTreeSet::new();
            for finished in 0..=stream.len() {
                let buffer = replay_buffer(&stream, seed, capacity, finished);
                let unique: BTreeSet<_> = buffer.iter().copied().collect();
                prop_assert!(buffer.len() <= capacity);
                prop_assert_eq!(unique.len(), buffer.len());
                prop_assert!(buffer.iter().all(|id| id.task < finished));
                prop_assert!(unique.iter().all(|id| before.contains(id) || id.task + 1 == finished));

                let cells = finished * if domains { counts.len() } else { 1 };
                for ((task, label), size) in cell_sizes(&stream, &buffer) {
                    let share = capacity / cells;
                    let available = stream.task(task).train.labels().iter().filter(|&&l| l == label).count();
                    prop_assert!(size == share.min(available) || size == (share + 1).min(available));
                }
                before = unique;
            }
        }
    }
}
