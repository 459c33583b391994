//! The arithmetic of optimizers, in place and in one pass.

use crate::path::Path;
use crate::simd::{self, Kernel, Simd};
use rayon::prelude::*;

/// Numbers that one task works on.
const CHUNK: usize = 1 << 15;

/// `y ← a·y + b·x`: momentum, weight decay, and the step itself.
///
/// ```
/// use evenkeel_kernels::{Path, update::scaled_sum};
///
/// let mut w = [1.0, 2.0];
/// scaled_sum(Path::active(), 1.0, &mut w, -0.5, &[2.0, 2.0]); // a step against the gradient (2, 2)
/// assert_eq!(w, [0.0, 1.0]);
/// ```
pub fn scaled_sum(path: Path, a: f32, y: &mut [f32], b: f32, x: &[f32]) {
    assert_eq!(y.len(), x.len(), "y and x");
    y.par_chunks_mut(CHUNK)
        .zip(x.par_chunks(CHUNK))
        .for_each(|(y, x)| simd::run(path, Sum::<1> { a, y, b, x }));
}

/// `y ← a·y + b·x²`: the second moment of Adam.
pub fn scaled_sum_of_squares(path: Path, a: f32, y: &mut [f32], b: f32, x: &[f32]) {
    assert_eq!(y.len(), x.len(), "y and x");
    y.par_chunks_mut(CHUNK)
        .zip(x.par_chunks(CHUNK))
        .for_each(|(y, x)| simd::run(path, Sum::<2> { a, y, b, x }));
}

/// `w ← w − rate · m / (√v + epsilon)`: the step of Adam.
pub fn scaled_quotient(path: Path, w: &mut [f32], rate: f32, m: &[f32], v: &[f32], epsilon: f32) {
    assert!(w.len() == m.len() && w.len() == v.len(), "w, m and v");
    let chunks = w.par_chunks_mut(CHUNK).zip(m.par_chunks(CHUNK)).zip(v.par_chunks(CHUNK));
    chunks.for_each(|((w, m), v)| simd::run(path, Quotient { w, rate, m, v, epsilon }));
}

/// `y ← a·y + b·x^POWER`, with a power of 1 or 2.
struct Sum<'a, const POWER: usize> {
    a: f32,
    y: &'a mut [f32],
    b: f32,
    x: &'a [f32],
}

// Plain loops: the compiler vectorises them for the instruction set that `run` is inlined into.
impl<const POWER: usize> Kernel for Sum<'_, POWER> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        for (y, &x) in self.y.iter_mut().zip(self.x) {
            let power = if POWER == 2 { x * x } else { x };
            *y = self.a * *y + self.b * power;
        }
    }
}

struct Quotient<'a> {
    w: &'a mut [f32],
    rate: f32,
    m: &'a [f32],
    v: &'a [f32],
    epsilon: f32,
}

impl Kernel for Quotient<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        for ((w, m), v) in self.w.iter_mut().zip(self.m).zip(self.v) {
            *w -= self.rate * m / (v.sqrt() + self.epsilon);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_computes_the_definitions() {
        // More than one chunk, and not a multiple of any vector.
        let n = CHUNK + 77;
        let x: Vec<f32> = (0..n).map(|i| (i % 101) as f32 / 50.0 - 1.0).collect();
        let v: Vec<f32> = (0..n).map(|i| (i % 37) as f32 / 9.0).collect();
        for path in Path::available() {
            let (mut sum, mut squares, mut quotient) = (v.clone(), v.clone(), v.clone());
            scaled_sum(path, 0.9, &mut sum, -0.25, &x);
            scaled_sum_of_squares(path, 0.9, &mut squares, 0.25, &x);
            scaled_quotient(path, &mut quotient, 0.1, &x, &v, 1e-3);
            for i in 0..n {
                let (x, v) = (f64::from(x[i]), f64::from(v[i]));
                for (ours, exact) in [
                    (sum[i], 0.9 * v - 0.25 * x),
                    (squares[i], 0.9 * v + 0.25 * x * x),
                    (quotient[i], v - 0.1 * x / (v.sqrt() + 1e-3)),
                ] {
                    assert!((f64::from(ours) - exact).abs() <= 1e-6 * exact.abs().max(4.0), "{path:?} {i}");
                }
            }
        }
    }
}
