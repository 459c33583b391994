//! The register tile: some rows × some vectors of outputs.

use super::rows::ROWS;
use crate::simd::Simd;

/// So many vectors in strips of at most `widest`: the first vector of each strip, and how many it has.
pub(super) fn strips(vectors: usize, widest: usize) -> impl ExactSizeIterator<Item = (usize, usize)> {
    (0..vectors.div_ceil(widest)).map(move |i| (i * widest, widest.min(vectors - i * widest)))
}

/// `Σ_e value[e][r] · weights[column[e]][at..]` for a group's rows and `V` vectors, with rows of `stride` weights.
///
/// # Safety
/// For every column, `column · stride + at + V · LANES <= weights.len()`.
#[inline(always)]
pub(crate) unsafe fn strided<S: Simd, const V: usize>(
    s: S,
    column: &[u32],
    value: &[[f32; ROWS]],
    weights: &[f32],
    stride: usize,
    at: usize,
) -> [[S::V; V]; ROWS] {
    let mut sums = [[s.zero(); V]; ROWS];
    for (&c, x) in column.iter().zip(value) {
        let at = c as usize * stride + at;
        // SAFETY: the caller promises that the column's vectors lie in the weights.
        let w: [S::V; V] = std::array::from_fn(|v| unsafe { s.load(weights, at + v * S::LANES) });
        for (sums, &x) in sums.iter_mut().zip(x) {
            let x = s.splat(x);
            for (sum, w) in sums.iter_mut().zip(w) {
                *sum = s.fma(x, w, *sum);
            }
        }
    }
    sums
}

/// `Σ_u x[r][u] · panel[u]` over some units `u` of the layer before, for a group's rows and `V` vectors of outputs. The group's
/// activations `x` lie as `[vector of units][row][LANES]`.
///
/// # Safety
/// For every unit, `(u + 1) · V · LANES <= panel.len()`, and `x` has its vector.
#[inline(always)]
pub(crate) unsafe fn active<S: Simd, const V: usize>(
    s: S,
    units: &[u32],
    x: &[f32],
    panel: &[f32],
) -> [[S::V; V]; ROWS] {
    let mut sums = [[s.zero(); V]; ROWS];
    for &unit in units {
        let unit = unit as usize;
        let (row, at) = (unit * V * S::LANES, unit / S::LANES * ROWS * S::LANES + unit % S::LANES);
        // SAFETY: the caller promises that the unit's vectors lie in the panel.
        let w: [S::V; V] = std::array::from_fn(|v| unsafe { s.load(panel, row + v * S::LANES) });
        for (r, sums) in sums.iter_mut().enumerate() {
            // SAFETY: the caller promises the unit's activations.
            let x = s.splat(unsafe { *x.get_unchecked(at + r * S::LANES) });
            for (sum, w) in sums.iter_mut().zip(w) {
                *sum = s.fma(x, w, *sum);
            }
        }
    }
    sums
}

/// `Σ_u x[r][u] · weights[u][at..]` over some units `u` of the layer before, for a group's rows of `width` activations each and `V` vectors
/// of outputs, with rows of `stride` weights.
///
/// # Safety
/// For every unit, `u < width`, `u · stride + at + V · LANES <= weights.len()`, and `x` has [`ROWS`] rows of `width`.
#[inline(always)]
pub(crate) unsafe fn units<S: Simd, const V: usize>(
    s: S,
    units: &[u32],
    (x, width): (&[f32], usize),
    weights: &[f32],
    stride: usize,
    at: usize,
) -> [[S::V; V]; ROWS] {
    let mut sums = [[s.zero(); V]; ROWS];
    for &unit in units {
        let unit = unit as usize;
        let at = unit * stride + at;
        // SAFETY: the caller promises that the unit's vectors lie in the weights.
        let w: [S::V; V] = std::array::from_fn(|v| unsafe { s.load(weights, at + v * S::LANES) });
        for (r, sums) in sums.iter_mut().enumerate() {
            // SAFETY: the caller promises the unit's activations in every row.
            let x = s.splat(unsafe { *x.get_unchecked(r * width + unit) });
            for (sum, w) in sums.iter_mut().zip(w) {
                *sum = s.fma(x, w, *sum);
            }
        }
    }
    sums
}
