//! The two register tiles that do all multiplications.
//!
//! Both hold five channels × [`Simd::WIDTH`] vectors of accumulators: enough independent sums to hide the
//! latency of fused multiply-add, few enough to stay in registers.

use crate::simd::Simd;

/// Output channels of one tile; weights are packed in groups of this many, the last filled up with zeros.
pub(crate) const GROUP: usize = 5;

/// Where one tap of a filter finds its numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tap {
    /// Offset of the first input channel, relative to the tile's first pixel.
    pub(crate) input: isize,
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
        let base = at.wrapping_add_signed(tap.input);
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

/// One operand of [`correlate`]: `count` vectors, `step` numbers apart, per channel.
#[derive(Clone, Copy)]
pub(crate) struct Strided<'a> {
    pub(crate) data: &'a [f32],
    pub(crate) at: usize,
    pub(crate) step: usize,
}

/// Adds `Σ_k Σ_lane a[k][o] · b[k][i]` to `out[o · row + i]` for `O` × `I` channels: a weight gradient.
///
/// # Safety
/// For every `k < count`, the vectors at `a.at + k · a.step + o · LANES` (`o < O`) lie in `a.data`, and
/// likewise those of `b` (`i < I`). `row · (O − 1) + I <= out.len()`.
#[inline(always)]
unsafe fn correlate_tile<S: Simd, const O: usize, const I: usize>(
    s: S,
    a: Strided<'_>,
    b: Strided<'_>,
    count: usize,
    out: &mut [f32],
    row: usize,
) {
    let mut sums = [[s.zero(); I]; O];
    for k in 0..count {
        let mut right = [s.zero(); I];
        for (i, right) in right.iter_mut().enumerate() {
            // SAFETY: promised by the caller for every `k` and `i`.
            *right = unsafe { s.load(b.data, b.at + k * b.step + i * S::LANES) };
        }
        for (o, sums) in sums.iter_mut().enumerate() {
            // SAFETY: promised by the caller for every `k` and `o`.
            let left = unsafe { s.load(a.data, a.at + k * a.step + o * S::LANES) };
            for (sum, &right) in sums.iter_mut().zip(&right) {
                *sum = s.fma(left, right, *sum);
            }
        }
    }
    for (o, sums) in sums.iter().enumerate() {
        let mut four = [s.zero(); 4];
        four[..I].copy_from_slice(sums);
        let four = s.sums(four);
        for (total, sum) in out[o * row..][..I].iter_mut().zip(four) {
            *total += sum;
        }
    }
}

/// [`correlate_tile`] over all `outputs` × `inputs` channels; `out` is `[outputs][inputs]`.
///
/// # Safety
/// For every `k < count`, the vectors at `a.at + k · a.step + o · LANES` (`o < outputs`) lie in `a.data`, and
/// likewise those of `b` (`i < inputs`). `outputs · inputs <= out.len()`.
#[inline(always)]
pub(crate) unsafe fn correlate<S: Simd>(
    s: S,
    a: Strided<'_>,
    b: Strided<'_>,
    count: usize,
    (outputs, inputs): (usize, usize),
    out: &mut [f32],
) {
    // Four groups of outputs stay in the first-level cache while the inputs pass by.
    for first in (0..outputs).step_by(4 * GROUP) {
        let last = (first + 4 * GROUP).min(outputs);
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
                    match (height, width) {
                        (GROUP, 4) => correlate_tile::<S, GROUP, 4>(s, a, b, count, out, inputs),
                        (GROUP, 3) => correlate_tile::<S, GROUP, 3>(s, a, b, count, out, inputs),
                        (GROUP, 2) => correlate_tile::<S, GROUP, 2>(s, a, b, count, out, inputs),
                        (GROUP, _) => correlate_tile::<S, GROUP, 1>(s, a, b, count, out, inputs),
                        (_, 4) => correlate_tile::<S, 1, 4>(s, a, b, count, out, inputs),
                        (_, 3) => correlate_tile::<S, 1, 3>(s, a, b, count, out, inputs),
                        (_, 2) => correlate_tile::<S, 1, 2>(s, a, b, count, out, inputs),
                        _ => correlate_tile::<S, 1, 1>(s, a, b, count, out, inputs),
                    }
                }
                o += height;
            }
            i += width;
        }
    }
}
