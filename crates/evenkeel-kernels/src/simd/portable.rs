//! Safe scalar twin of the vector operations: arrays of eight, every access checked.

use super::Simd;

/// Eight lanes of plain Rust.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

const N: usize = 8;

#[inline(always)]
fn zip(a: [f32; N], b: [f32; N], f: impl Fn(f32, f32) -> f32) -> [f32; N] {
    std::array::from_fn(|i| f(a[i], b[i]))
}

impl Simd for Portable {
    type V = [f32; N];
    const LANES: usize = N;
    const WIDTH: usize = 2;
    // As on AVX2.
    const ROWS: usize = 4;
    const STRIP: usize = 2;

    #[inline(always)]
    fn splat(self, value: f32) -> Self::V {
        [value; N]
    }
    #[inline(always)]
    fn add(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |a, b| a * b)
    }
    #[inline(always)]
    fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        // Two roundings: `f32::mul_add` is a slow library call where the CPU has no such instruction.
        std::array::from_fn(|i| a[i] * b[i] + c[i])
    }
    #[inline(always)]
    fn relu(self, a: Self::V) -> Self::V {
        a.map(|v| if v > 0.0 { v } else { 0.0 })
    }
    #[inline(always)]
    fn gated(self, value: Self::V, gate: Self::V) -> Self::V {
        zip(value, gate, |value, gate| if gate > 0.0 { value } else { 0.0 })
    }
    #[inline(always)]
    fn positive(self, a: Self::V) -> u32 {
        a.iter().rev().fold(0, |bits, v| bits << 1 | u32::from(*v > 0.0))
    }
    #[inline(always)]
    fn sums(self, v: [Self::V; 4]) -> [f32; 4] {
        // The same tree as on AVX2: four lanes of each half, then the halves.
        v.map(|v| ((v[0] + v[2]) + (v[1] + v[3])) + ((v[4] + v[6]) + (v[5] + v[7])))
    }
    #[inline(always)]
    fn prefetch(self, _: &[f32], _: usize) {}
    #[inline(always)]
    fn prefetch_to_write(self, _: &mut [f32], _: usize) {}
    #[inline(always)]
    unsafe fn load(self, from: &[f32], at: usize) -> Self::V {
        let lanes = &from[at..at + N];
        std::array::from_fn(|i| lanes[i])
    }
    #[inline(always)]
    unsafe fn store(self, v: Self::V, to: &mut [f32], at: usize) {
        to[at..at + N].copy_from_slice(&v);
    }
}
