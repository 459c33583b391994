//! The register tile of the forward and backward-data passes.
//!
//! It holds five channels × [`Simd::WIDTH`] vectors of accumulators: enough independent sums to hide the
//! latency of fused multiply-add, few enough to stay in registers. Weight gradients have a tile of their own (see `correlate`).

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
