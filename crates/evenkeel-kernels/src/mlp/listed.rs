//! The hidden units of a batch, as lists of the rows in which they are not silent.

use super::gradient::{Columns, Entry};

/// Some columns of activations as lists of what is not silent. The memory is kept.
#[derive(Debug, Default)]
pub(super) struct Listed {
    entries: Vec<Entry>,
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl Listed {
    /// The columns of activations `[rows][width]`, none of which is negative.
    pub(super) fn list(&mut self, x: &[f32], width: usize, columns: std::ops::Range<usize>) -> Columns<'_> {
        // Room for every row, and for one entry more that is written and does not count.
        let rows = x.len() / width;
        let room = rows + 1;
        self.starts.clear();
        self.starts.extend((0..columns.len() as u32).map(|column| column * room as u32));
        self.ends.clone_from(&self.starts);
        self.entries.resize(columns.len() * room, (0, 0.0));
        for (row, x) in x.chunks_exact(width).enumerate() {
            for (end, &value) in self.ends.iter_mut().zip(&x[columns.clone()]) {
                // Without a branch: whether a unit is silent cannot be foretold.
                self.entries[*end as usize] = (row as u32, value);
                *end += u32::from(value > 0.0);
            }
        }
        Columns { entries: &self.entries, starts: &self.starts, ends: &self.ends, rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_hold_what_is_positive_in_the_order_of_the_rows() {
        let x = [0.0, 1.0, 2.0, 0.0, 3.0, 0.0, 0.0, 4.0, 5.0];
        let mut listed = Listed::default();
        for _ in 0..2 {
            let columns = listed.list(&x, 3, 1..3);
            let of = |c: usize| &columns.entries[columns.starts[c] as usize..columns.ends[c] as usize];
            assert_eq!((of(0), of(1)), (&[(0, 1.0), (1, 3.0), (2, 4.0)][..], &[(0, 2.0), (2, 5.0)][..]));
        }
    }
}
