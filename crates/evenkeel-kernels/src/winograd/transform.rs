//! The one-dimensional transforms, on vectors of images.

use crate::simd::Simd;

/// `Bᵀ d`: six inputs to six positions.
#[inline(always)]
pub(crate) fn input<S: Simd>(s: S, d: [S::V; 6]) -> [S::V; 6] {
    let (two, four, minus_four, minus_five) = (s.splat(2.0), s.splat(4.0), s.splat(-4.0), s.splat(-5.0));
    let even = s.fma(d[2], minus_four, d[4]);
    let odd = s.fma(d[1], minus_four, d[3]);
    let even2 = s.sub(d[4], d[2]);
    let odd2 = s.mul(two, s.sub(d[3], d[1]));
    [
        s.fma(d[0], four, s.fma(d[2], minus_five, d[4])),
        s.add(even, odd),
        s.sub(even, odd),
        s.add(even2, odd2),
        s.sub(even2, odd2),
        s.fma(d[1], four, s.fma(d[3], minus_five, d[5])),
    ]
}

/// `Aᵀ m`: six positions to four outputs.
#[inline(always)]
pub(crate) fn output<S: Simd>(s: S, m: [S::V; 6]) -> [S::V; 4] {
    let (two, four, eight) = (s.splat(2.0), s.splat(4.0), s.splat(8.0));
    let (sum1, difference1) = (s.add(m[1], m[2]), s.sub(m[1], m[2]));
    let (sum2, difference2) = (s.add(m[3], m[4]), s.sub(m[3], m[4]));
    [
        s.add(m[0], s.add(sum1, sum2)),
        s.fma(difference2, two, difference1),
        s.fma(sum2, four, sum1),
        s.add(m[5], s.fma(difference2, eight, difference1)),
    ]
}

/// `A y`: four output gradients to six positions, the adjoint of [`output`].
#[inline(always)]
pub(crate) fn output_adjoint<S: Simd>(s: S, y: [S::V; 4]) -> [S::V; 6] {
    let (two, four) = (s.splat(2.0), s.splat(4.0));
    let (even, odd) = (s.add(y[0], y[2]), s.add(y[1], y[3]));
    let even2 = s.fma(y[2], four, y[0]);
    let odd2 = s.mul(two, s.fma(y[3], four, y[1]));
    [y[0], s.add(even, odd), s.sub(even, odd), s.add(even2, odd2), s.sub(even2, odd2), y[3]]
}

/// `G g`: three taps to six positions.
#[inline(always)]
pub(crate) fn filter<S: Simd>(s: S, g: [S::V; 3]) -> [S::V; 6] {
    let (quarter, sixth) = (s.splat(0.25), s.splat(-1.0 / 6.0));
    let (twelfth, twenty_fourth) = (s.splat(1.0 / 12.0), s.splat(1.0 / 24.0));
    let (outer, inner) = (s.mul(s.add(g[0], g[2]), sixth), s.mul(g[1], sixth));
    let outer2 = s.fma(g[0], twenty_fourth, s.mul(g[2], s.splat(1.0 / 6.0)));
    let inner2 = s.mul(g[1], twelfth);
    [
        s.mul(g[0], quarter),
        s.add(outer, inner),
        s.sub(outer, inner),
        s.add(outer2, inner2),
        s.sub(outer2, inner2),
        g[2],
    ]
}

/// `Gᵀ u`: six positions to three taps, the adjoint of [`filter`].
#[inline(always)]
pub(crate) fn filter_adjoint<S: Simd>(s: S, u: [S::V; 6]) -> [S::V; 3] {
    let sixth = s.splat(1.0 / 6.0);
    let sum1 = s.mul(s.add(u[1], u[2]), s.splat(-1.0 / 6.0));
    let sum2 = s.add(u[3], u[4]);
    [
        s.add(s.fma(u[0], s.splat(0.25), sum1), s.mul(sum2, s.splat(1.0 / 24.0))),
        s.fma(s.sub(u[2], u[1]), sixth, s.mul(s.sub(u[3], u[4]), s.splat(1.0 / 12.0))),
        s.add(s.fma(sum2, sixth, sum1), u[5]),
    ]
}
