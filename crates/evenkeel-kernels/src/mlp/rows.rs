//! Rows of a matrix that are mostly one number, packed for multiplication.

use crate::instruction_set::InstructionSet;
use crate::simd::{self, Kernel, Simd};

/// Rows that share a register tile, and so the list of columns in which any of them differs from the background.
pub(crate) const ROWS: usize = 5;

/// Candidates for a group are looked for among so many rows: keeps packing linear in the number of rows.
const WINDOW: usize = 2048;

/// For each row, which columns differ from the background: as many words of 64 bits as the second result says.
pub(super) fn masks(x: &[f32], columns: usize, background: f32) -> (Vec<u64>, usize) {
    assert!(
        columns > 0 && x.len().is_multiple_of(columns),
        "rows of {columns} columns in {} numbers",
        x.len()
    );
    let words = columns.div_ceil(64);
    let rows = x.chunks_exact(columns);
    (rows.flat_map(|row| row.chunks(64).map(|part| word(part, background))).collect(), words)
}

/// One bit for each of up to 64 numbers, the first one lowest: whether it differs from the background.
fn word(part: &[f32], background: f32) -> u64 {
    let mut differs = [0_u8; 64];
    for (differs, &value) in differs.iter_mut().zip(part) {
        *differs = u8::from(value != background);
    }
    // Multiplied so, bit 0 of byte i becomes bit i of the highest byte.
    let gather = |eight: &[u8; 8]| u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    differs.as_chunks().0.iter().rev().fold(0, |bits, eight| bits << 8 | gather(eight))
}

/// Positions of the ones, in order.
pub(super) fn set_bits(mask: &[u64]) -> impl Iterator<Item = usize> + '_ {
    mask.iter().enumerate().flat_map(|(w, &bits)| {
        let rest = |bits: &u64| Some(bits & (bits - 1)).filter(|rest| *rest != 0);
        let words = std::iter::successors((bits != 0).then_some(bits), rest);
        words.map(move |bits| 64 * w + bits.trailing_zeros() as usize)
    })
}

/// A matrix `[rows][columns]` whose entries mostly equal `background`, packed in groups of five similar rows.
///
/// ```
/// use evenkeel_kernels::mlp::SparseRows;
///
/// let x = SparseRows::pack(&[0.0, 0.0, 3.0, 0.0, 1.0, 0.0, 0.0, 0.0], 4, 0.0);
/// assert_eq!((x.rows(), x.columns()), (2, 4));
/// ```
#[derive(Debug, Clone)]
pub struct SparseRows {
    rows: usize,
    columns: usize,
    background: f32,
    /// For each group, where its entries begin; one more at the end.
    starts: Vec<usize>,
    /// Column of each entry.
    column: Vec<u32>,
    /// `x − background` of the group's rows at each entry.
    value: Vec<[f32; ROWS]>,
    /// Original row of each packed one; `rows` for those that only fill up the last group.
    origin: Vec<u32>,
}

impl SparseRows {
    /// Packs `x`, which holds rows of `columns` numbers. The order of the rows is kept for the caller's eyes only:
    /// results come out in the original order.
    pub fn pack(x: &[f32], columns: usize, background: f32) -> Self {
        let (masks, _) = masks(x, columns, background);
        Self::pack_masked(x, columns, background, &masks)
    }

    /// [`pack`](Self::pack) with the result of [`masks`].
    pub(super) fn pack_masked(x: &[f32], columns: usize, background: f32, masks: &[u64]) -> Self {
        let (rows, words) = (x.len() / columns, columns.div_ceil(64));
        let mut packed = Self {
            rows,
            columns,
            background,
            starts: vec![0],
            column: Vec::new(),
            value: Vec::new(),
            origin: Vec::with_capacity(rows.next_multiple_of(ROWS)),
        };
        let all: Vec<u32> = (0..rows as u32).collect();
        for window in all.chunks(WINDOW) {
            let mut free = window.to_vec();
            while let Some(first) = free.pop() {
                packed.push_group(x, masks, words, first, &mut free);
            }
        }
        packed
    }

    /// A group around `first`: again and again the free row that differs least from the columns of the group so far. (The one that adds
    /// the fewest would fill the groups of dense rows up with sparse ones.)
    fn push_group(&mut self, x: &[f32], masks: &[u64], words: usize, first: u32, free: &mut Vec<u32>) {
        let mask = |row: u32| &masks[row as usize * words..][..words];
        let mut union = mask(first).to_vec();
        let mut members = vec![first];
        while members.len() < ROWS && !free.is_empty() {
            let best = simd::run(InstructionSet::active(), Closest { masks, words, union: &union, free });
            let row = free.swap_remove(best);
            for (u, m) in union.iter_mut().zip(mask(row)) {
                *u |= m;
            }
            members.push(row);
        }
        for c in set_bits(&union) {
            let mut values = [0.0; ROWS];
            for (value, &row) in values.iter_mut().zip(&members) {
                *value = x[row as usize * self.columns + c] - self.background;
            }
            self.column.push(c as u32);
            self.value.push(values);
        }
        self.starts.push(self.column.len());
        members.resize(ROWS, self.rows as u32);
        self.origin.extend(members);
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The number that most entries equal.
    pub fn background(&self) -> f32 {
        self.background
    }

    /// Entries that are multiplied, of all that there are: what a product costs compared with a dense one.
    pub fn density(&self) -> f64 {
        let all = (self.groups() * self.columns) as f64;
        if all == 0.0 { 0.0 } else { self.column.len() as f64 / all }
    }

    pub(crate) fn groups(&self) -> usize {
        self.starts.len() - 1
    }

    /// Columns and values of a group. Every column lies below [`columns`](Self::columns): `pack` made them so.
    pub(crate) fn group(&self, group: usize) -> (&[u32], &[[f32; ROWS]]) {
        let range = self.starts[group]..self.starts[group + 1];
        (&self.column[range.clone()], &self.value[range])
    }

    /// Original rows of all groups, one after the other; [`rows`](Self::rows) where there is none.
    pub(crate) fn origin(&self) -> &[u32] {
        &self.origin
    }
}

/// Which of the free rows differs from the union in the fewest columns; the first of several. A kernel only for the sake of the
/// instruction that counts bits.
struct Closest<'a> {
    masks: &'a [u64],
    words: usize,
    union: &'a [u64],
    free: &'a [u32],
}

impl Kernel for Closest<'_> {
    type Output = usize;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> usize {
        let (mut best, mut fewest) = (0, u32::MAX);
        for (i, &row) in self.free.iter().enumerate() {
            let mask = &self.masks[row as usize * self.words..][..self.words];
            let mut differing = 0;
            for (m, u) in mask.iter().zip(self.union) {
                differing += (m ^ u).count_ones();
            }
            if differing < fewest {
                (best, fewest) = (i, differing);
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Miri is some hundred times slower.
    const MOST: (usize, usize) = if cfg!(miri) { (7, 20) } else { (40, 150) };

    proptest! {
        #[test]
        fn packing_loses_nothing(
            rows in 0..=MOST.0,
            columns in 1..=MOST.1,
            background in -1_i8..2,
            seed in prop::collection::vec(-1_i8..2, MOST.0 * MOST.1),
        ) {
            let x: Vec<f32> = seed[..columns * rows].iter().map(|v| f32::from(*v)).collect();
            let background = f32::from(background);
            let packed = SparseRows::pack(&x, columns, background);
            let mut back = vec![f32::NAN; x.len()];
            for (group, origin) in packed.origin().chunks_exact(ROWS).enumerate() {
                let (column, value) = packed.group(group);
                for (r, &row) in origin.iter().enumerate().filter(|(_, row)| (**row as usize) < rows) {
                    let row = &mut back[row as usize * columns..][..columns];
                    row.fill(background);
                    for (&c, value) in column.iter().zip(value) {
                        row[c as usize] = value[r] + background;
                    }
                }
            }
            prop_assert_eq!(back, x);
        }
    }

    #[test]
    fn similar_rows_share_a_group() {
        // Two kinds of rows with disjoint columns, alternating: a group of both kinds would have all columns.
        let x: Vec<f32> = (0..2 * ROWS)
            .flat_map(|r| (0..8).map(move |c| f32::from(u8::from((c < 4) == (r % 2 == 0)))))
            .collect();
        let packed = SparseRows::pack(&x, 8, 0.0);
        assert_eq!(packed.groups(), 2);
        assert!((packed.density() - 0.5).abs() < 1e-12);
    }
}
