//! Which hidden units have something to say.

use super::rows::ROWS;
use crate::simd::Simd;

/// The units of each group of rows that are not silent in all of its rows.
#[derive(Debug, Default)]
pub(super) struct Active {
    /// For each group, where its units begin; one more at the end.
    starts: Vec<usize>,
    units: Vec<u32>,
}

impl Active {
    /// Looks through the activations of so many groups, with so many units per row, which lie as `[group][vector of units][row][LANES]`.
    /// None of them is negative.
    #[inline(always)]
    pub(super) fn find<S: Simd>(&mut self, s: S, x: &[f32], groups: usize, units: usize) {
        let whole = units.next_multiple_of(S::LANES);
        self.look(s, groups, units, |group, first, r| {
            s.get(x, ROWS * (group * whole + first) + r * S::LANES)
        });
    }

    /// Of activations that lie as `[rows][width]`.
    #[inline(always)]
    pub(super) fn of_rows<S: Simd>(s: S, x: &[f32], units: usize, width: usize) -> Self {
        let mut active = Self::default();
        let groups = x.len() / (ROWS * width);
        active.look(s, groups, units, |group, first, r| s.get(x, (group * ROWS + r) * width + first));
        active
    }

    /// All of so many units.
    pub(super) fn every(groups: usize, units: usize) -> Self {
        Self {
            starts: (0..=groups).map(|group| group * units).collect(),
            units: (0..groups).flat_map(|_| 0..units as u32).collect(),
        }
    }

    /// `at` gives the activations of a group's units from the first one on, in one row.
    #[inline(always)]
    fn look<S: Simd>(&mut self, s: S, groups: usize, units: usize, at: impl Fn(usize, usize, usize) -> S::V) {
        let mut count = 0;
        self.starts.clear();
        self.starts.push(count);
        self.units.resize(groups * units.next_multiple_of(S::LANES) + S::LANES, 0);
        for group in 0..groups {
            for first in (0..units).step_by(S::LANES) {
                let sum = (1..ROWS).fold(at(group, first, 0), |sum, r| s.add(sum, at(group, first, r)));
                count = s.append_positive(sum, first as u32, &mut self.units, count);
            }
            // Nothing behind the last unit has an activation; but nothing unsafe may rest on that.
            while count > self.starts[group] && self.units[count - 1] as usize >= units {
                count -= 1;
            }
            self.starts.push(count);
        }
    }

    /// The units of a group, each below the number of units.
    pub(super) fn of(&self, group: usize) -> &[u32] {
        &self.units[self.starts[group]..self.starts[group + 1]]
    }
}
