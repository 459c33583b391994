//! The register tile: six rows × two vectors of outputs.

use super::rows::ROWS;
use crate::simd::Simd;

/// Vectors of outputs in a tile: twelve accumulators, two weights and a broadcast fit sixteen registers.
pub(crate) const VECTORS: usize = 2;

/// `Σ_e value[e][r] · panel[column[e]]` for six rows and `P` panels.
///
/// Two panels at once need 24 accumulators, for which AVX-512 has the registers; each value is then broadcast half as often.
///
/// # Safety
/// Every column lies below `panel.len() / (VECTORS · LANES)` of each panel.
#[inline(always)]
pub(crate) unsafe fn sparse<S: Simd, const P: usize>(
    s: S,
    column: &[u32],
    value: &[[f32; ROWS]],
    panels: [&[f32]; P],
) -> [[[S::V; VECTORS]; ROWS]; P] {
    let mut sums = [[[s.zero(); VECTORS]; ROWS]; P];
    for (&c, x) in column.iter().zip(value) {
        let at = c as usize * VECTORS * S::LANES;
        let w: [[S::V; VECTORS]; P] = panels.map(|panel| {
            // SAFETY: the caller promises that the column's vectors lie in each panel.
            std::array::from_fn(|v| unsafe { s.load(panel, at + v * S::LANES) })
        });
        for (r, &x) in x.iter().enumerate() {
            let x = s.splat(x);
            for (sums, w) in sums.iter_mut().zip(w) {
                for (sum, w) in sums[r].iter_mut().zip(w) {
                    *sum = s.fma(x, w, *sum);
                }
            }
        }
    }
    sums
}

/// `Σ_e value[e][r] · weights[column[e]][at..]` for six rows and `V` vectors, with rows of `stride` weights.
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

/// `Σ_k x[r][k] · panel[k]` for `R` rows of `stride` numbers, of which the first `inputs` count.
///
/// Twelve rows need 24 accumulators, for which AVX-512 has the registers; each weight is then loaded half as often.
///
/// # Safety
/// `(R − 1) · stride + inputs <= x.len()` and `inputs · VECTORS · LANES <= panel.len()`.
#[inline(always)]
pub(crate) unsafe fn dense<S: Simd, const R: usize>(
    s: S,
    x: &[f32],
    stride: usize,
    inputs: usize,
    panel: &[f32],
) -> [[S::V; VECTORS]; R] {
    let mut sums = [[s.zero(); VECTORS]; R];
    for k in 0..inputs {
        let at = k * VECTORS * S::LANES;
        // SAFETY: `k < inputs`, for which the caller promises the vectors.
        let w: [S::V; VECTORS] = std::array::from_fn(|v| unsafe { s.load(panel, at + v * S::LANES) });
        for (r, sums) in sums.iter_mut().enumerate() {
            // SAFETY: `r < R` and `k < inputs`, for which the caller promises the number.
            let x = s.splat(unsafe { *x.get_unchecked(r * stride + k) });
            for (sum, w) in sums.iter_mut().zip(w) {
                *sum = s.fma(x, w, *sum);
            }
        }
    }
    sums
}
