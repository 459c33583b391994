//! Rows of numbers that are mostly zero, in memory.

use crate::error::{FormatError, Problem};

/// Sparse rows: of each row only the numbers that are not zero.
#[derive(Debug, Clone, PartialEq)]
pub struct Sparse {
    columns: usize,
    /// For each row, where its entries begin; one more at the end.
    starts: Vec<u64>,
    /// Column and value of each entry, by ascending column within a row.
    entries: Vec<(u32, f32)>,
}

impl Sparse {
    /// No rows yet, of so many columns.
    pub fn new(columns: usize) -> Self {
        Self { columns, starts: vec![0], entries: Vec::new() }
    }

    /// Rows from their parts, which must fit together.
    pub fn from_parts(
        columns: usize,
        starts: Vec<u64>,
        entries: Vec<(u32, f32)>,
    ) -> Result<Self, FormatError> {
        let bad = |what: &str| FormatError::new("sparse rows", Problem::Inconsistent(what.to_owned()));
        if starts.first() != Some(&0) || starts.last() != Some(&(entries.len() as u64)) || !starts.is_sorted()
        {
            return Err(bad("rows do not cover the entries"));
        }
        if entries.iter().any(|(column, _)| *column as usize >= columns) {
            return Err(bad("a column is out of range"));
        }
        Ok(Self { columns, starts, entries })
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If a column is out of range.
    pub fn push(&mut self, row: &[(u32, f32)]) {
        assert!(
            row.iter().all(|(column, _)| (*column as usize) < self.columns),
            "columns below {}",
            self.columns
        );
        self.entries.extend_from_slice(row);
        self.starts.push(self.entries.len() as u64);
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Where the entries of each row begin, and the end of the last.
    pub fn starts(&self) -> &[u64] {
        &self.starts
    }

    /// The entries of all rows.
    pub fn entries(&self) -> &[(u32, f32)] {
        &self.entries
    }

    /// The entries of row `i`.
    ///
    /// # Panics
    /// If there is no row `i`, as slice indexing does.
    pub fn row(&self, i: usize) -> &[(u32, f32)] {
        &self.entries[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    /// Appends row `i` with its zeros.
    pub fn append(&self, i: usize, out: &mut Vec<f32>) {
        let start = out.len();
        out.resize(start + self.columns, 0.0);
        for &(column, value) in self.row(i) {
            out[start + column as usize] = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_with_their_zeros() {
        let mut sparse = Sparse::new(4);
        sparse.push(&[(1, 2.0), (3, -1.0)]);
        sparse.push(&[]);
        let mut out = vec![7.0];
        sparse.append(0, &mut out);
        sparse.append(1, &mut out);
        assert_eq!(out, [7.0, 0.0, 2.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0]);
        let again = Sparse::from_parts(4, sparse.starts().to_vec(), sparse.entries().to_vec()).unwrap();
        assert_eq!((again.rows(), &again), (2, &sparse));
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let entries = || vec![(0, 1.0), (2, 1.0)];
        assert!(Sparse::from_parts(3, vec![0, 2], entries()).is_ok());
        for starts in [vec![], vec![0], vec![0, 1], vec![1, 2], vec![0, 3], vec![0, 2, 1, 2]] {
            assert!(Sparse::from_parts(3, starts, entries()).is_err());
        }
        assert!(Sparse::from_parts(2, vec![0, 2], entries()).is_err());
    }
}
