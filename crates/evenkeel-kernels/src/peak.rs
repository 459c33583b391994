//! The machine's speed limit, to compare kernels with.

use crate::instruction_set::InstructionSet;
use crate::simd::{self, Kernel, Simd};
use std::hint::black_box;
use std::time::Instant;

/// Independent sums: more than the latency of a fused multiply-add times two units, fewer than sixteen registers.
const SUMS: usize = 12;
const ROUNDS: usize = 2_000_000;

struct Probe;

impl Kernel for Probe {
    type Output = f32;

    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> f32 {
        let (a, b) = (s.splat(black_box(0.999)), s.splat(black_box(0.001)));
        // Different numbers, or the compiler sees that one sum is enough.
        let mut sums: [S::V; SUMS] = std::array::from_fn(|i| s.splat(i as f32));
        for _ in 0..ROUNDS {
            for sum in &mut sums {
                *sum = s.fma(*sum, a, b);
            }
        }
        let total = sums.into_iter().fold(s.zero(), |total, sum| s.add(total, sum));
        s.sums([total; 4])[0]
    }
}

/// Best GFLOP/s of fused multiply-adds on one thread, of a few tries.
///
/// ```
/// use evenkeel_kernels::{InstructionSet, peak};
///
/// assert!(peak::fma_gflops(InstructionSet::active()) > 0.0);
/// ```
pub fn fma_gflops(set: InstructionSet) -> f64 {
    let flops = 2.0 * (ROUNDS * SUMS * set.lanes()) as f64;
    let try_once = || {
        let start = Instant::now();
        black_box(simd::run(set, Probe));
        flops / start.elapsed().as_secs_f64() / 1e9
    };
    (0..5).map(|_| try_once()).fold(0.0, f64::max)
}
