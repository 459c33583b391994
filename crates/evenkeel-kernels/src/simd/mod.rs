//! One vocabulary of vector operations, three instruction sets.
//!
//! A kernel is a struct that holds its arguments and implements [`Kernel`]: its body is generic over
//! [`Simd`] and inlined into a function that carries the target feature, so it is written once and compiled
//! three times. Threads are started outside of kernels: a closure would lose the target feature.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::instruction_set::{InstructionSet, Kind};

/// Vector operations of one instruction set. A value is a proof that the CPU has it.
pub(crate) trait Simd: Copy {
    /// A register of [`Simd::LANES`] numbers, one per image of the block.
    type V: Copy;
    /// Images per block.
    const LANES: usize;
    /// How many vectors a register tile holds beside five broadcast channels (see `tile`).
    const WIDTH: usize;
    /// How many channels the register tile of weight gradients holds beside [`Simd::WIDTH`] others (see `correlate`).
    const ROWS: usize;
    /// How many vectors of outputs a perceptron's tile of five rows holds: the accumulators, as many weights and a broadcast must fit
    /// the registers (see `mlp::tile`).
    const STRIP: usize;

    fn splat(self, value: f32) -> Self::V;
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a · b + c`, with one rounding where the instruction set fuses.
    fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// `max(a, 0)`.
    fn relu(self, a: Self::V) -> Self::V;
    /// `value` in the lanes where `gate` is positive, zero elsewhere.
    fn gated(self, value: Self::V, gate: Self::V) -> Self::V;
    /// One bit for each lane, the first one lowest: whether it is positive.
    fn positive(self, a: Self::V) -> u32;
    /// The sum over the lanes of each of four vectors.
    fn sums(self, v: [Self::V; 4]) -> [f32; 4];

    /// The sum over the lanes of each of eight vectors, by the same tree as [`Simd::sums`].
    #[inline(always)]
    fn sums_of_eight(self, v: [Self::V; 8]) -> [f32; 8] {
        let [a, b, c, d, e, f, g, h] = v;
        let ([a, b, c, d], [e, f, g, h]) = (self.sums([a, b, c, d]), self.sums([e, f, g, h]));
        [a, b, c, d, e, f, g, h]
    }

    /// The vector at `from[at..]`.
    ///
    /// # Safety
    /// `at + LANES <= from.len()`.
    unsafe fn load(self, from: &[f32], at: usize) -> Self::V;

    /// Writes the vector to `to[at..]`.
    ///
    /// # Safety
    /// `at + LANES <= to.len()`.
    unsafe fn store(self, v: Self::V, to: &mut [f32], at: usize);

    /// Asks for the cache line at `from[at]`, if there is one, to be brought near.
    fn prefetch(self, from: &[f32], at: usize);

    /// [`Simd::prefetch`] of a line that is going to be overwritten.
    fn prefetch_to_write(self, to: &mut [f32], at: usize);

    /// Writes `first + lane` for every positive lane to `to[count..]`, in order, and returns how many numbers there are now. What lies
    /// behind them, up to one vector, is unspecified afterwards.
    #[inline(always)]
    fn append_positive(self, a: Self::V, first: u32, to: &mut [u32], count: usize) -> usize {
        let to = &mut to[count..count + Self::LANES];
        let (mut bits, mut n) = (self.positive(a), 0);
        while bits != 0 {
            to[n] = first + bits.trailing_zeros();
            bits &= bits - 1;
            n += 1;
        }
        count + n
    }

    #[inline(always)]
    fn zero(self) -> Self::V {
        self.splat(0.0)
    }

    /// [`Simd::load`] with a bounds check, for code that waits for memory anyway.
    #[inline(always)]
    fn get(self, from: &[f32], at: usize) -> Self::V {
        assert!(at + Self::LANES <= from.len());
        // SAFETY: checked on the line above.
        unsafe { self.load(from, at) }
    }

    /// [`Simd::store`] with a bounds check.
    #[inline(always)]
    fn put(self, v: Self::V, to: &mut [f32], at: usize) {
        assert!(at + Self::LANES <= to.len());
        // SAFETY: checked on the line above.
        unsafe { self.store(v, to, at) }
    }
}

/// A computation that is written once for every instruction set.
pub(crate) trait Kernel {
    type Output;
    /// The body. Implementations must be `#[inline(always)]`, or they are compiled without the instruction set.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

/// Runs a kernel on the given instruction set.
pub(crate) fn run<K: Kernel>(set: InstructionSet, kernel: K) -> K::Output {
    match set.kind() {
        Kind::Portable => kernel.run(portable::Portable),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `InstructionSet` of this kind exists only where AVX2, FMA and POPCNT were detected.
        Kind::Avx2 => unsafe { run_avx2(kernel) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `InstructionSet` of this kind exists only where these features were detected.
        Kind::Avx512 => unsafe { run_avx512(kernel) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,popcnt")]
fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
    // SAFETY: this function itself requires the features that the token vouches for.
    kernel.run(unsafe { avx2::Avx2::new() })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma,popcnt")]
fn run_avx512<K: Kernel>(kernel: K) -> K::Output {
    // SAFETY: this function itself requires the features that the token vouches for.
    kernel.run(unsafe { avx512::Avx512::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exercises every operation on small integers, where all instruction sets are exact.
    struct Probe;

    impl Kernel for Probe {
        type Output = (Vec<f32>, [f32; 4], [f32; 8], Vec<u32>);
        #[inline(always)]
        fn run<S: Simd>(self, s: S) -> Self::Output {
            let data: Vec<f32> = (0..S::LANES).map(|i| i as f32 - 3.0).collect();
            let x = s.get(&data, 0);
            let two = s.splat(2.0);
            let mut out = vec![0.0; 6 * S::LANES];
            for (i, v) in
                [s.add(x, two), s.sub(x, two), s.mul(x, two), s.fma(x, x, two), s.relu(x), s.gated(two, x)]
                    .into_iter()
                    .enumerate()
            {
                s.put(v, &mut out, i * S::LANES);
            }
            let mut positive = vec![7; 2 + S::LANES];
            let count = s.append_positive(x, 100, &mut positive, 2);
            positive.truncate(count);
            let square = s.mul(x, x);
            let eight = s.sums_of_eight([x, two, s.zero(), square, square, s.add(x, two), x, two]);
            (out, s.sums([x, two, s.zero(), square]), eight, positive)
        }
    }

    #[test]
    fn operations_mean_the_same_on_every_set() {
        for set in InstructionSet::available() {
            let (out, sums, eight, positive) = run(set, Probe);
            let n = set.lanes();
            let x: Vec<f32> = (0..n).map(|i| i as f32 - 3.0).collect();
            let expected: Vec<f32> = (0..6 * n)
                .map(|k| {
                    let v = x[k % n];
                    [v + 2.0, v - 2.0, v * 2.0, v * v + 2.0, v.max(0.0), if v > 0.0 { 2.0 } else { 0.0 }]
                        [k / n]
                })
                .collect();
            assert_eq!(out, expected, "{set:?}");
            let square: f32 = x.iter().map(|v| v * v).sum();
            // All lanes but those with −3, −2, −1 and 0, behind what was there.
            let lanes = [7, 7].into_iter().chain(104..100 + n as u32);
            assert_eq!(positive, lanes.collect::<Vec<u32>>(), "{set:?}");
            let (sum, twos) = (x.iter().sum::<f32>(), 2.0 * n as f32);
            assert_eq!(sums, [sum, twos, 0.0, square], "{set:?}");
            assert_eq!(eight, [sum, twos, 0.0, square, square, sum + twos, sum, twos], "{set:?}");
        }
    }

    #[test]
    #[should_panic(expected = "at + Self::LANES <= from.len()")]
    fn a_checked_load_past_the_end_panics() {
        struct Past;
        impl Kernel for Past {
            type Output = ();
            #[inline(always)]
            fn run<S: Simd>(self, s: S) {
                s.get(&vec![0.0; S::LANES], 1);
            }
        }
        run(InstructionSet::PORTABLE, Past);
    }
}
