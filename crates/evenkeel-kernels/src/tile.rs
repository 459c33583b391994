//! The two register tiles that do all multiplications.
//!
//! Both hold five channels × [`Simd::WIDTH`] vectors of accumulators: enough independent sums to hide the
//! latency of fused multiply-add, few enough to stay in registers.

use crate::simd::Simd;

/// Output channels of one tile; weights are packed in groups of this many, the last filled up with zeros.
pub(crate) const GROUP: usize = 5;

/// Evaluates an expression with a constant that equals a width known at run time only: one of some numbers, or else the last one.
/// Accumulators stay in registers only if the compiler knows how many there are.
macro_rules! with_width {
    ($width:ident in [$($one:tt),+] or $other:tt, $constant:ident => $call:expr) => {
        match $width {
            $($one => {
                const $constant: usize = $one;
                $call
            })+
            _ => {
                const $constant: usize = $other;
                $call
            }
        }
    };
}
pub(crate) use with_width;

/// Where one tap of a filter finds its numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tap {
    /// Offset of the first input channel, relative to the tile's first pixel.
    pub(crate) input: usize,
    /// Offset of the tap's weights `[input channel][GROUP]`.
    pub(crate) weight: usize,
}

/// Sums `input · weight` over taps and input channels, for `GROUP` output channels × `W` pixels.
///
/// # Safety
/// For every tap, pixel `p < W` and channel `c < depth`, the vector at
/// `at + tap.input + p · step + c · LANES` lies in `x`, and `tap.weight + depth · GROUP <= w.len()`.
#[inline(always)]
pub(crate) unsafe fn multiply<S: Simd, const W: usize>(
    s: S,
    x: &[f32],
    at: usize,
    step: usize,
    w: &[f32],
    taps: &[Tap],
    depth: usize,
) -> [[S::V; W]; GROUP] {
    let mut sums = [[s.zero(); W]; GROUP];
    for tap in taps {
        let base = at + tap.input;
        debug_assert!(tap.weight + depth * GROUP <= w.len());
        // SAFETY: the caller promises this tap's weights; the pointer stays within `w`.
        let weights = unsafe { w.as_ptr().add(tap.weight) };
        for c in 0..depth {
            let mut v = [s.zero(); W];
            for (p, v) in v.iter_mut().enumerate() {
                // SAFETY: promised by the caller for every tap, pixel and channel.
                *v = unsafe { s.load(x, base + p * step + c * S::LANES) };
            }
            for (o, row) in sums.iter_mut().enumerate() {
                // SAFETY: `c < depth` and `o < GROUP`, so this is one of the tap's weights.
                let weight = s.splat(unsafe { *weights.add(c * GROUP + o) });
                for (sum, &v) in row.iter_mut().zip(&v) {
                    *sum = s.fma(v, weight, *sum);
                }
            }
        }
    }
    sums
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

/// Adds `Σ_k Σ_lane a[k][o] · b[k][i]` to `out[o · line + i]` for `O` × `I` channels, a weight gradient, or
/// writes it there if `add` is not set.
///
/// # Safety
/// For every position `(r, k)` of the grid, the vectors at `a.at + r · a.row + k · a.step + o · LANES`
/// (`o < O`) lie in `a.data`, and likewise those of `b` (`i < I`).
#[inline(always)]
unsafe fn correlate_tile<S: Simd, const O: usize, const I: usize>(
    s: S,
    a: Strided<'_>,
    b: Strided<'_>,
    grid: (usize, usize),
    out: &mut [f32],
    line: usize,
    add: bool,
) {
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
    // Two rows of two vectors, or one of up to four, are added up at a time.
    let rows = if I == 2 { 2 } else { 1 };
    for o in (0..O).step_by(rows) {
        let mut four = [s.zero(); 4];
        four[..I].copy_from_slice(&sums[o]);
        if I == 2 && o + 1 < O {
            four[2..].copy_from_slice(&sums[o + 1][..I]);
        }
        let four = s.sums(four);
        for (k, four) in four.chunks_exact(if I == 2 { 2 } else { 4 }).enumerate() {
            if o + k < O {
                let totals = &mut out[(o + k) * line..][..I];
                for (total, &sum) in totals.iter_mut().zip(four) {
                    *total = if add { *total + sum } else { sum };
                }
            }
        }
    }
}

/// [`correlate_tile`] over all `outputs` × `inputs` channels; `out` is `[outputs][inputs]`.
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
    // As many outputs as keep to half of the first-level cache stay there while the inputs pass by.
    let fitting = 5120 / (grid.0 * grid.1 * S::LANES).max(1) / GROUP * GROUP;
    let stay = fitting.clamp(GROUP, 4 * GROUP);
    for first in (0..outputs).step_by(stay) {
        let last = (first + stay).min(outputs);
        let mut i = 0;
        while i < inputs {
            let width = (inputs - i).min(S::WIDTH);
            let b = Strided { at: b.at + i * S::LANES, ..b };
            let mut o = first;
            while o < last {
                let height = if last - o >= GROUP { GROUP } else { 1 };
                let a = Strided { at: a.at + o * S::LANES, ..a };
                let out = &mut out[o * inputs + i..];
                // SAFETY: the tile covers channels `o..o + height` and `i..i + width`, all of them promised.
                unsafe {
                    with_width!(height in [GROUP] or 1, O => with_width!(width in [4, 3, 2] or 1, I =>
                        correlate_tile::<S, O, I>(s, a, b, grid, out, inputs, add)));
                }
                o += height;
            }
            i += width;
        }
    }
}
