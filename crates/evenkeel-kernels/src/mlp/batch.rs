//! A training batch that is mostly background, and the two products that its first layer needs.

use super::gradient::{Columns, Entry, Gradient, RowSum};
use super::rows::{ROWS, SparseRows, masks, set_bits};
use super::tile::{self, strips};
use crate::instruction_set::InstructionSet;
use crate::simd::{self, Kernel, Simd};
use crate::tile::with_width;
use rayon::prelude::*;

/// Groups of rows, or columns, that one task works on.
const GROUPS: usize = 4;
pub(super) const COLUMNS: usize = 56;

/// A matrix `x` of `[rows][columns]` whose entries mostly equal one number, ready for `x·W` and `xᵀ·dy`.
///
/// ```
/// use evenkeel_kernels::{InstructionSet, mlp::SparseBatch};
///
/// let set = InstructionSet::active();
/// let x = SparseBatch::pack(&[0.0, 3.0, 0.0, 1.0, 0.0, 0.0], 3, 0.0);
/// let weights = vec![2.0; 3 * 16];
/// let mut y = vec![0.0; 2 * 16];
/// x.product(set, &weights, &mut y);
/// assert_eq!((y[0], y[16]), (6.0, 2.0));
/// ```
#[derive(Debug, Clone)]
pub struct SparseBatch {
    rows: SparseRows,
    /// For each column, where its entries begin; one more at the end.
    starts: Vec<u32>,
    /// Entries of all columns, by the position that their rows have in `rows`.
    entries: Vec<Entry>,
}

impl SparseBatch {
    /// Packs `x`, which holds rows of `columns` numbers.
    pub fn pack(x: &[f32], columns: usize, background: f32) -> Self {
        Self::pack_masked(x, columns, background, &masks(x, columns, background))
    }

    /// Packs `x` if less than the share `dense` of its entries differ from `background`.
    pub fn pack_unless_dense(x: &[f32], columns: usize, background: f32, dense: f64) -> Option<Self> {
        let masks = masks(x, columns, background);
        let differing: u32 = masks.0.iter().map(|word| word.count_ones()).sum();
        let sparse = f64::from(differing) < dense * x.len() as f64;
        sparse.then(|| Self::pack_masked(x, columns, background, &masks))
    }

    fn pack_masked(x: &[f32], columns: usize, background: f32, (masks, words): &(Vec<u64>, usize)) -> Self {
        let words = *words;
        let rows = SparseRows::pack_masked(x, columns, background, masks);
        let mut starts = vec![0_u32; columns + 1];
        for mask in masks.chunks_exact(words) {
            for column in set_bits(mask) {
                starts[column + 1] += 1;
            }
        }
        for column in 0..columns {
            starts[column + 1] += starts[column];
        }
        let mut next = starts.clone();
        let mut entries = vec![(0, 0.0); starts[columns] as usize];
        for (position, &row) in
            rows.origin().iter().enumerate().filter(|(_, row)| (**row as usize) < rows.rows())
        {
            let row = row as usize;
            for column in set_bits(&masks[row * words..][..words]) {
                let at = &mut next[column];
                entries[*at as usize] = (position as u32, x[row * columns + column] - background);
                *at += 1;
            }
        }
        Self { rows, starts, entries }
    }

    /// Whether [`product`](Self::product) and [`gradient`](Self::gradient) exist for so many outputs: whole vectors.
    pub fn supports(set: InstructionSet, outputs: usize) -> bool {
        outputs.is_multiple_of(set.lanes())
    }

    /// `y = x·W`, with `weights` `[columns][outputs]` and `y` `[rows][outputs]`.
    pub fn product(&self, set: InstructionSet, weights: &[f32], y: &mut [f32]) {
        let outputs = self.outputs(set, weights.len());
        assert_eq!(y.len(), self.rows.rows() * outputs, "y of {} rows", self.rows.rows());
        let base = RowSum { rows: weights, width: outputs, factor: self.rows.background() };
        let base = simd::run(set, base);
        let groups: Vec<usize> = (0..self.rows.groups()).collect();
        let parts: Vec<Vec<f32>> = groups
            .par_chunks(GROUPS)
            .map(|groups| simd::run(set, Product { rows: &self.rows, groups, weights, base: &base }))
            .collect();
        let rows = parts.iter().flat_map(|part| part.chunks_exact(outputs));
        for (values, &row) in rows.zip(self.rows.origin()) {
            if (row as usize) < self.rows.rows() {
                y[row as usize * outputs..][..outputs].copy_from_slice(values);
            }
        }
    }

    /// `dW = xᵀ·dy`, with `dy` `[rows][outputs]` and `dw` `[columns][outputs]`.
    pub fn gradient(&self, set: InstructionSet, dy: &[f32], dw: &mut [f32]) {
        let outputs = self.outputs(set, dw.len());
        assert_eq!(dy.len(), self.rows.rows() * outputs, "dy of {} rows", self.rows.rows());
        // In the order of the entries; rows that only fill up a group have none.
        let mut packed = vec![0.0; self.rows.origin().len() * outputs];
        for (to, &row) in packed.chunks_exact_mut(outputs).zip(self.rows.origin()) {
            if let Some(from) = dy.chunks_exact(outputs).nth(row as usize) {
                to.copy_from_slice(from);
            }
        }
        let base = simd::run(set, self.gradient_base(&packed, outputs));
        dw.par_chunks_mut(COLUMNS * outputs).enumerate().for_each(|(i, dw)| {
            let columns = self.columns(i * COLUMNS);
            simd::run(set, Gradient { columns, dy: &packed, base: &base, scale: 1.0, dw });
        });
    }

    /// The rows, in groups.
    pub(super) fn rows(&self) -> &SparseRows {
        &self.rows
    }

    /// The entries of the columns from `first` on.
    pub(super) fn columns(&self, first: usize) -> Columns<'_> {
        Columns {
            entries: &self.entries,
            starts: &self.starts[first..self.starts.len() - 1],
            ends: &self.starts[first + 1..],
            rows: self.rows.origin().len(),
        }
    }

    /// What the gradient of a column without entries is, from `dy` of so many outputs in the order of the packed rows.
    pub(super) fn gradient_base<'a>(&self, dy: &'a [f32], outputs: usize) -> RowSum<'a> {
        RowSum { rows: dy, width: outputs, factor: self.rows.background() }
    }

    fn outputs(&self, set: InstructionSet, weights: usize) -> usize {
        let outputs = weights / self.rows.columns();
        assert!(outputs > 0 && outputs * self.rows.columns() == weights, "weights of whole rows");
        assert!(Self::supports(set, outputs), "{outputs} outputs are not whole vectors");
        outputs
    }
}

/// `x·W` of some groups of rows.
struct Product<'a> {
    rows: &'a SparseRows,
    groups: &'a [usize],
    weights: &'a [f32],
    base: &'a [f32],
}

impl Kernel for Product<'_> {
    /// `[group][row][outputs]`.
    type Output = Vec<f32>;

    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> Vec<f32> {
        let outputs = self.base.len();
        let mut y = vec![0.0; self.groups.len() * ROWS * outputs];
        for (&group, y) in self.groups.iter().zip(y.chunks_exact_mut(ROWS * outputs)) {
            for (first, vectors) in strips(outputs / S::LANES, S::STRIP) {
                let at = first * S::LANES;
                with_width!(vectors in [5, 4, 3, 2] or 1, V => self.tile::<S, V>(s, group, at, y));
            }
        }
        y
    }
}

impl Product<'_> {
    /// Writes `V` vectors of a group's outputs, from `at` on.
    #[inline(always)]
    fn tile<S: Simd, const V: usize>(&self, s: S, group: usize, at: usize, y: &mut [f32]) {
        let (outputs, (column, value)) = (self.base.len(), self.rows.group(group));
        assert!(at + V * S::LANES <= outputs);
        // SAFETY: every column lies below `weights.len() / outputs` (`SparseRows` and `outputs()` saw to that), and the vectors
        // from `at` on end within the row's `outputs`.
        let tile = unsafe { tile::strided::<S, V>(s, column, value, self.weights, outputs, at) };
        for (tile, row) in tile.into_iter().zip(y.chunks_exact_mut(outputs)) {
            for (v, sum) in tile.into_iter().enumerate() {
                let at = at + v * S::LANES;
                s.put(s.add(sum, s.get(self.base, at)), row, at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Both products against their definitions in f64.
    fn compare(seed: u64, rows: usize, columns: usize, vectors: usize, background: f32) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut random = |len: usize| -> Vec<f32> { (0..len).map(|_| rng.random_range(-1.0..1.0)).collect() };
        let mut x = random(rows * columns);
        x.iter_mut().filter(|v| v.abs() < 0.8).for_each(|v| *v = background);
        for set in InstructionSet::available() {
            let outputs = vectors * set.lanes();
            let (weights, dy) = (random(columns * outputs), random(rows * outputs));
            let batch = SparseBatch::pack(&x, columns, background);
            let (mut y, mut dw) = (vec![f32::NAN; rows * outputs], vec![f32::NAN; columns * outputs]);
            batch.product(set, &weights, &mut y);
            batch.gradient(set, &dy, &mut dw);
            let close = |ours: f32, sum: f64, size: f64| {
                let bound = 2e-6 * size.max(1.0);
                assert!((f64::from(ours) - sum).abs() <= bound, "{set:?}: {ours} against {sum}");
            };
            for (i, &ours) in y.iter().enumerate() {
                let (r, o) = (i / outputs, i % outputs);
                let terms =
                    (0..columns).map(|k| f64::from(x[r * columns + k]) * f64::from(weights[k * outputs + o]));
                close(ours, terms.clone().sum(), terms.map(f64::abs).sum());
            }
            for (i, &ours) in dw.iter().enumerate() {
                let (k, o) = (i / outputs, i % outputs);
                let terms = (0..rows).map(|r| f64::from(x[r * columns + k]) * f64::from(dy[r * outputs + o]));
                close(ours, terms.clone().sum(), terms.map(f64::abs).sum());
            }
        }
    }

    #[test]
    fn dense_data_is_not_packed() {
        let x: Vec<f32> = (0..100_u8).map(|i| f32::from(i % 4)).collect();
        assert!(SparseBatch::pack_unless_dense(&x, 20, 0.0, 0.75).is_none());
        assert!(SparseBatch::pack_unless_dense(&x, 20, 0.0, 0.76).is_some());
    }

    #[test]
    fn the_papers_first_layer_agrees_with_f64() {
        compare(1, 128, 784, 25, -0.4242);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 48 }))]
        #[test]
        fn any_shape_agrees_with_f64(
            seed: u64,
            rows in 1_usize..if cfg!(miri) { 8 } else { 30 },
            columns in 1_usize..if cfg!(miri) { 20 } else { 130 },
            vectors in 1_usize..if cfg!(miri) { 3 } else { 8 },
            background in -1_i8..2,
        ) {
            compare(seed, rows, columns, vectors, f32::from(background) / 2.0);
        }
    }

    #[test]
    fn the_number_of_threads_does_not_matter() {
        let x: Vec<f32> =
            (0..200_u32 * 300).map(|i| if i % 7 == 0 { (i % 13) as f32 } else { 0.5 }).collect();
        let batch = SparseBatch::pack(&x, 300, 0.5);
        let weights: Vec<f32> = (0..300 * 32).map(|i| (i % 17) as f32 / 7.0).collect();
        let run = |threads: usize| {
            let (mut y, mut dw) = (vec![0.0; 200 * 32], vec![0.0; 300 * 32]);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                batch.product(InstructionSet::active(), &weights, &mut y);
                batch.gradient(InstructionSet::active(), &y, &mut dw);
            });
            (y, dw)
        };
        assert_eq!(run(1), run(2));
    }
}
