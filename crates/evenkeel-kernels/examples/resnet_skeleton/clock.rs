//! Time of this thread on a CPU, which other jobs on the machine do not disturb, and the FMA peak.

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

unsafe extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
}

/// Milliseconds that this thread has spent on a CPU (Linux: `CLOCK_THREAD_CPUTIME_ID`).
pub(crate) fn thread_ms() -> f64 {
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: `time` is a valid `struct timespec` of 64-bit Linux, and 3 is the clock of the thread.
    unsafe { clock_gettime(3, &raw mut time) };
    time.seconds as f64 * 1e3 + time.nanoseconds as f64 / 1e6
}

/// Best GFLOP/s of fused multiply-adds on one thread, sixteen or eight lanes at a time (x86-64 with AVX2).
pub(crate) fn peak_gflops(lanes: usize) -> f64 {
    #[cfg(target_arch = "x86_64")]
    {
        const ROUNDS: u32 = 4_000_000;
        let best = (0..5)
            .map(|_| {
                let start = thread_ms();
                let rounds = std::hint::black_box(ROUNDS);
                // SAFETY: the caller's path has these lanes only where the features were detected.
                let sum = unsafe { if lanes == 16 { fma_512(rounds) } else { fma_256(rounds) } };
                std::hint::black_box(sum);
                thread_ms() - start
            })
            .fold(f64::INFINITY, f64::min);
        f64::from(ROUNDS) * 12.0 * lanes as f64 * 2.0 / best / 1e6
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = lanes;
        f64::NAN
    }
}

#[cfg(target_arch = "x86_64")]
macro_rules! fma_probe {
    ($name:ident, $features:literal, $set:ident, $fma:ident, $store:ident, $lanes:literal) => {
        #[target_feature(enable = $features)]
        fn $name(rounds: u32) -> f32 {
            use std::arch::x86_64::{$fma, $set, $store};
            let (a, b) = (std::hint::black_box($set(0.999)), std::hint::black_box($set(0.001)));
            // Different numbers, or the compiler finds that one sum is enough.
            let mut sums = [$set(0.0); 12];
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum = $set(i as f32);
            }
            for _ in 0..rounds {
                for sum in &mut sums {
                    *sum = $fma(*sum, a, b);
                }
            }
            let mut out = [0.0f32; $lanes];
            let mut total = 0.0;
            for sum in sums {
                // SAFETY: `out` has room for one vector.
                unsafe { $store(out.as_mut_ptr(), sum) };
                total += out[0];
            }
            total
        }
    };
}

#[cfg(target_arch = "x86_64")]
fma_probe!(fma_256, "avx2,fma", _mm256_set1_ps, _mm256_fmadd_ps, _mm256_storeu_ps, 8);
#[cfg(target_arch = "x86_64")]
fma_probe!(fma_512, "avx512f", _mm512_set1_ps, _mm512_fmadd_ps, _mm512_storeu_ps, 16);
