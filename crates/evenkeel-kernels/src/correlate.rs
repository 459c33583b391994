//! The register tile of weight gradients: products of channels, summed over positions and lanes.
//!
//! It holds [`Simd::ROWS`] output channels × [`Simd::WIDTH`] input channels of accumulators. Their lanes are added up at the end of a
//! tile, which costs as much as several positions: so the totals of a tile lie side by side in memory ([`Pairs`]), and are added to it
//! as vectors.

use crate::instruction_set::InstructionSet;
use crate::simd::{self, Kernel, Simd};
use crate::tile::with_width;

/// Where the gradients of pairs of channels lie: `[outputs / ROWS][inputs / WIDTH][ROWS][WIDTH]`, the last ones filled up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pairs {
    outputs: usize,
    inputs: usize,
    rows: usize,
    width: usize,
}

/// The size of the register tile.
struct TileSize;

impl Kernel for TileSize {
    type Output = (usize, usize);
    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> (usize, usize) {
        (S::ROWS, S::WIDTH)
    }
}

impl Pairs {
    pub(crate) fn new(set: InstructionSet, outputs: usize, inputs: usize) -> Self {
        let (rows, width) = simd::run(set, TileSize);
        Self { outputs, inputs, rows, width }
    }

    /// Numbers in memory.
    pub(crate) fn len(&self) -> usize {
        self.outputs.next_multiple_of(self.rows) * self.inputs.next_multiple_of(self.width)
    }

    /// Which of the filters `[outputs][inputs]` the number at `at` belongs to, unless it only fills up a tile.
    pub(crate) fn filter(&self, at: usize) -> Option<usize> {
        let size = self.rows * self.width;
        let (tile, within) = (at / size, at % size);
        let across = self.inputs.div_ceil(self.width);
        let output = tile / across * self.rows + within / self.width;
        let input = tile % across * self.width + within % self.width;
        (output < self.outputs && input < self.inputs).then_some(output * self.inputs + input)
    }
}

/// One operand of [`correlate`]: vectors of neighbouring channels at every position of a grid.
#[derive(Clone, Copy)]
pub(crate) struct Strided<'a> {
    pub(crate) data: &'a [f32],
    /// Start of the first position.
    pub(crate) at: usize,
    /// Distance between positions of one row.
    pub(crate) step: usize,
    /// Distance between rows.
    pub(crate) row: usize,
}

/// `Σ_k a[k][o] · b[k][i]` for `O` × `I` channels, lane by lane.
///
/// # Safety
/// For every position `(r, k)` of the grid, the vectors at `a.at + r · a.row + k · a.step + o · LANES`
/// (`o < O`) lie in `a.data`, and likewise those of `b` (`i < I`).
#[inline(always)]
unsafe fn products<S: Simd, const O: usize, const I: usize>(
    s: S,
    a: Strided<'_>,
    b: Strided<'_>,
    grid: (usize, usize),
) -> [[S::V; I]; O] {
    let mut sums = [[s.zero(); I]; O];
    for r in 0..grid.0 {
        let (mut left_at, mut right_at) = (a.at + r * a.row, b.at + r * b.row);
        for _ in 0..grid.1 {
            let mut right = [s.zero(); I];
            for (i, right) in right.iter_mut().enumerate() {
                // SAFETY: promised by the caller for every position and `i`.
                *right = unsafe { s.load(b.data, right_at + i * S::LANES) };
            }
            for (o, sums) in sums.iter_mut().enumerate() {
                // SAFETY: promised by the caller for every position and `o`.
                let left = unsafe { s.load(a.data, left_at + o * S::LANES) };
                for (sum, &right) in sums.iter_mut().zip(&right) {
                    *sum = s.fma(left, right, *sum);
                }
            }
            left_at += a.step;
            right_at += b.step;
        }
    }
    sums
}

/// Adds up the lanes of a tile's sums, to the numbers in `out` (`[O][width]`) or in their place.
#[inline(always)]
fn total<S: Simd, const O: usize, const I: usize>(s: S, sums: &[[S::V; I]; O], out: &mut [f32], add: bool) {
    if O == S::ROWS && I == S::WIDTH {
        // A whole tile, eight totals at a time, and four where eight are too many.
        let eights = O * I / 8 * 8;
        for first in (0..eights).step_by(8) {
            let mut eight = [s.zero(); 8];
            for (k, vector) in eight.iter_mut().enumerate() {
                *vector = sums[(first + k) / I][(first + k) % I];
            }
            gather(&s.sums_of_eight(eight), &mut out[first..], add);
        }
        for first in (eights..O * I).step_by(4) {
            let mut four = [s.zero(); 4];
            for (k, vector) in four.iter_mut().enumerate() {
                *vector = sums[(first + k) / I][(first + k) % I];
            }
            gather(&s.sums(four), &mut out[first..], add);
        }
        return;
    }
    for (row, out) in sums.iter().zip(out.chunks_exact_mut(S::WIDTH)) {
        let mut four = [s.zero(); 4];
        four[..I].copy_from_slice(row);
        gather(&s.sums(four)[..I], out, add);
    }
}

/// Adds totals to numbers, or puts them in their place.
#[inline(always)]
fn gather(totals: &[f32], out: &mut [f32], add: bool) {
    let out = &mut out[..totals.len()];
    if add {
        out.iter_mut().zip(totals).for_each(|(out, total)| *out += total);
    } else {
        out.copy_from_slice(totals);
    }
}

/// Adds `Σ_k Σ_lane a[k][o] · b[k][i]` to the gradients `out` of all pairs of channels, which are laid out as [`Pairs`], or writes
/// them there if `add` is not set.
///
/// # Safety
/// For every position `(r, k)` of the grid, the vectors at `a.at + r · a.row + k · a.step + o · LANES`
/// (`o < outputs`) lie in `a.data`, and likewise those of `b` (`i < inputs`).
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(crate) unsafe fn correlate<S: Simd>(
    s: S,
    a: Strided<'_>,
    b: Strided<'_>,
    grid: (usize, usize),
    (outputs, inputs): (usize, usize),
    out: &mut [f32],
    add: bool,
) {
    let across = inputs.div_ceil(S::WIDTH);
    // As many outputs as keep to half of the first-level cache stay there while the inputs pass by.
    let fitting = 5120 / (grid.0 * grid.1 * S::LANES).max(1) / S::ROWS * S::ROWS;
    let stay = fitting.clamp(S::ROWS, 4 * S::ROWS);
    for first in (0..outputs).step_by(stay) {
        let last = (first + stay).min(outputs);
        for (column, i) in (0..inputs).step_by(S::WIDTH).enumerate() {
            let width = (inputs - i).min(S::WIDTH);
            let b = Strided { at: b.at + i * S::LANES, ..b };
            let mut o = first;
            while o < last {
                let height = if last - o >= S::ROWS { S::ROWS } else { 1 };
                let a = Strided { at: a.at + o * S::LANES, ..a };
                let tile = (o / S::ROWS * across + column) * S::ROWS * S::WIDTH;
                let out = &mut out[tile + o % S::ROWS * S::WIDTH..][..height * S::WIDTH];
                // SAFETY: the tile covers channels `o..o + height` and `i..i + width`, all of them promised.
                unsafe {
                    with_width!(height in [5, 4] or 1, O => with_width!(width in [4, 3, 2] or 1, I =>
                        total(s, &products::<S, O, I>(s, a, b, grid), out, add)));
                }
                o += height;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_channels_has_one_place() {
        for set in InstructionSet::available() {
            let pairs = Pairs::new(set, 7, 3);
            let mut seen: Vec<_> = (0..pairs.len()).filter_map(|at| pairs.filter(at)).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..21).collect::<Vec<_>>(), "{set:?}");
        }
    }
}
