//! The register tile: six rows × two vectors of outputs.

use super::rows::ROWS;
use crate::simd::Simd;

/// Vectors of outputs in a tile: twelve accumulators, two weights and a broadcast fit sixteen registers.
pub(crate) const VECTORS: usize = 2;

pub(crate) type Tile<V> = [[V; VECTORS]; ROWS];

/// `Σ_e value[e][r] · panel[column[e]]` for six rows.
///
/// # Safety
/// Every column lies below `panel.len() / (VECTORS · LANES)`.
#[inline(always)]
pub(crate) unsafe fn sparse<S: Simd>(
    s: S,
    column: &[u32],
    value: &[[f32; ROWS]],
    panel: &[f32],
) -> Tile<S::V> {
    // SAFETY: the caller promises that each column's vectors lie in the panel.
    unsafe { strided::<S, VECTORS>(s, column, value, panel, VECTORS * S::LANES, 0) }
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

/// `Σ_k x[g][k][r] · panel[k]` for six rows of each of `G` groups.
///
/// Two groups at once need 24 accumulators, for which AVX-512 has the registers; each weight is then loaded half as often.
///
/// # Safety
/// All of `x` have the same length, and `panel.len() >= x[0].len() · VECTORS · LANES`.
#[inline(always)]
pub(crate) unsafe fn dense<S: Simd, const G: usize>(
    s: S,
    x: [&[[f32; ROWS]]; G],
    panel: &[f32],
) -> [Tile<S::V>; G] {
    let mut tiles = [[[s.zero(); VECTORS]; ROWS]; G];
    for k in 0..x[0].len() {
        let at = k * VECTORS * S::LANES;
        // SAFETY: `k < x[0].len()`, for which the caller promises the vectors.
        let w: [S::V; VECTORS] = std::array::from_fn(|v| unsafe { s.load(panel, at + v * S::LANES) });
        for (sums, x) in tiles.iter_mut().zip(x) {
            // SAFETY: all of `x` have the same length.
            let x = unsafe { x.get_unchecked(k) };
            for (sums, &x) in sums.iter_mut().zip(x) {
                let x = s.splat(x);
                for (sum, w) in sums.iter_mut().zip(w) {
                    *sum = s.fma(x, w, *sum);
                }
            }
        }
    }
    tiles
}
