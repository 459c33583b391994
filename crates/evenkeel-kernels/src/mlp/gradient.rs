//! The weight gradient of a layer whose inputs are mostly one number: `xᵀ·dy`, from lists of the others.

use super::tile::strips;
use crate::simd::{Kernel, Simd};
use crate::tile::with_width;

/// Vectors of outputs that the gradient accumulates at once: with 128 rows, what they read of `dy` fits the first-level cache.
const WIDTH: usize = 6;

/// An entry of a column: its row, and its value less the background.
pub(super) type Entry = (u32, f32);

/// The entries of some columns.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a> {
    pub entries: &'a [Entry],
    /// Where the entries of each column begin, and where they end.
    pub starts: &'a [u32],
    pub ends: &'a [u32],
    /// The row of every entry lies below: unsafe code relies on it.
    pub rows: usize,
}

/// `dw = scale · (xᵀ·dy + base)` of some columns of `x`.
pub(super) struct Gradient<'a> {
    pub columns: Columns<'a>,
    /// `[rows][width]`, where the width is that of `base`: whole vectors.
    pub dy: &'a [f32],
    /// What every column would be without any entry.
    pub base: &'a [f32],
    pub scale: f32,
    /// `[columns][width]`.
    pub dw: &'a mut [f32],
}

impl Kernel for Gradient<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        for (first, width) in strips(self.base.len() / S::LANES, WIDTH) {
            with_width!(width in [6, 5, 4, 3, 2] or 1, W => self.strip::<S, W>(s, first * S::LANES));
        }
    }
}

impl Gradient<'_> {
    /// `W` vectors of outputs, from `at` on, of every column. Two entries at a time, each with sums of its own.
    #[inline(always)]
    fn strip<S: Simd, const W: usize>(&mut self, s: S, at: usize) {
        let width = self.base.len();
        let Columns { entries, starts, ends, rows } = self.columns;
        let scale = s.splat(self.scale);
        assert!(rows * width <= self.dy.len() && at + W * S::LANES <= width);
        for ((dw, &start), &end) in self.dw.chunks_exact_mut(width).zip(starts).zip(ends) {
            let mut even: [S::V; W] = std::array::from_fn(|v| s.get(self.base, at + v * S::LANES));
            let mut odd = [s.zero(); W];
            let add = |sums: &mut [S::V; W], (row, value): Entry| {
                let (value, from) = (s.splat(value), row as usize * width + at);
                for (v, sum) in sums.iter_mut().enumerate() {
                    // SAFETY: the row lies below `rows`, as `Columns` promises, and was seen above to be in `dy`.
                    *sum = s.fma(value, unsafe { s.load(self.dy, from + v * S::LANES) }, *sum);
                }
            };
            let mut pairs = entries[start as usize..end as usize].chunks_exact(2);
            for pair in &mut pairs {
                add(&mut even, pair[0]);
                add(&mut odd, pair[1]);
            }
            for &entry in pairs.remainder() {
                add(&mut even, entry);
            }
            for (v, (a, b)) in even.into_iter().zip(odd).enumerate() {
                s.put(s.mul(s.add(a, b), scale), dw, at + v * S::LANES);
            }
        }
    }
}

/// `factor · Σ_k rows[k]` for rows of `width` numbers, which are whole vectors.
pub(super) struct RowSum<'a> {
    pub rows: &'a [f32],
    pub width: usize,
    pub factor: f32,
}

/// Partial sums of a [`RowSum`]: smaller rounding errors.
const PARTS: usize = 4;

impl Kernel for RowSum<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> Vec<f32> {
        let mut parts = vec![0.0; PARTS * self.width];
        if self.factor != 0.0 {
            // Row by row, as they lie in memory; the sums stay in the first-level cache.
            for (i, row) in self.rows.chunks_exact(self.width).enumerate() {
                let part = &mut parts[i % PARTS * self.width..][..self.width];
                for at in (0..self.width).step_by(S::LANES) {
                    s.put(s.add(s.get(part, at), s.get(row, at)), part, at);
                }
            }
        }
        let factor = s.splat(self.factor);
        let (total, others) = parts.split_at_mut(self.width);
        for at in (0..self.width).step_by(S::LANES) {
            let sum = others
                .chunks_exact(self.width)
                .fold(s.get(total, at), |sum, part| s.add(sum, s.get(part, at)));
            s.put(s.mul(factor, sum), total, at);
        }
        parts.truncate(self.width);
        parts
    }
}
