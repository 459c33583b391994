//! Eight lanes in AVX2 registers with fused multiply-add.

use super::Simd;
use std::arch::x86_64::{
    __m256, _CMP_GT_OQ, _MM_HINT_ET0, _MM_HINT_T1, _mm_add_ps, _mm_prefetch, _mm_storeu_ps, _mm256_add_ps,
    _mm256_and_ps, _mm256_castps256_ps128, _mm256_cmp_ps, _mm256_extractf128_ps, _mm256_fmadd_ps,
    _mm256_loadu_ps, _mm256_max_ps, _mm256_movemask_ps, _mm256_mul_ps, _mm256_set1_ps, _mm256_setzero_ps,
    _mm256_shuffle_ps, _mm256_storeu_ps, _mm256_sub_ps, _mm256_unpackhi_ps, _mm256_unpacklo_ps,
};

/// Proof that the CPU has AVX2 and FMA.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// # Safety
    /// The CPU has AVX2 and FMA.
    pub(super) unsafe fn new() -> Self {
        Self(())
    }
}

impl Simd for Avx2 {
    type V = __m256;
    const LANES: usize = 8;
    // Ten accumulators, two vectors and a broadcast of sixteen registers; twelve would spill.
    const WIDTH: usize = 2;

    #[inline(always)]
    fn splat(self, value: f32) -> __m256 {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_set1_ps(value) }
    }
    #[inline(always)]
    fn add(self, a: __m256, b: __m256) -> __m256 {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_add_ps(a, b) }
    }
    #[inline(always)]
    fn sub(self, a: __m256, b: __m256) -> __m256 {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_sub_ps(a, b) }
    }
    #[inline(always)]
    fn mul(self, a: __m256, b: __m256) -> __m256 {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_mul_ps(a, b) }
    }
    #[inline(always)]
    fn fma(self, a: __m256, b: __m256, c: __m256) -> __m256 {
        // SAFETY: `self` proves FMA.
        unsafe { _mm256_fmadd_ps(a, b, c) }
    }
    #[inline(always)]
    fn relu(self, a: __m256) -> __m256 {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_max_ps(a, _mm256_setzero_ps()) }
    }
    #[inline(always)]
    fn gated(self, value: __m256, gate: __m256) -> __m256 {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_and_ps(value, _mm256_cmp_ps::<_CMP_GT_OQ>(gate, _mm256_setzero_ps())) }
    }
    #[inline(always)]
    fn positive(self, a: __m256) -> u32 {
        // SAFETY: `self` proves AVX2.
        let bits = unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(a, _mm256_setzero_ps())) };
        bits.cast_unsigned()
    }
    #[inline(always)]
    fn sums(self, v: [__m256; 4]) -> [f32; 4] {
        let mut out = [0.0; 4];
        // SAFETY: `self` proves AVX2, and `out` has room for the four numbers.
        unsafe {
            // Within each half: sums of lanes 0 and 2, 1 and 3, then all four.
            let ab = _mm256_add_ps(_mm256_unpacklo_ps(v[0], v[1]), _mm256_unpackhi_ps(v[0], v[1]));
            let cd = _mm256_add_ps(_mm256_unpacklo_ps(v[2], v[3]), _mm256_unpackhi_ps(v[2], v[3]));
            let halves = _mm256_add_ps(_mm256_shuffle_ps::<0x44>(ab, cd), _mm256_shuffle_ps::<0xEE>(ab, cd));
            let sum = _mm_add_ps(_mm256_castps256_ps128(halves), _mm256_extractf128_ps::<1>(halves));
            _mm_storeu_ps(out.as_mut_ptr(), sum);
        }
        out
    }
    #[inline(always)]
    fn prefetch(self, from: &[f32], at: usize) {
        // SAFETY: a prefetch does not access memory; it may be given any address.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(from.as_ptr().wrapping_add(at).cast()) }
    }
    #[inline(always)]
    fn prefetch_to_write(self, to: &mut [f32], at: usize) {
        // SAFETY: a prefetch does not access memory; it may be given any address.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(to.as_ptr().wrapping_add(at).cast()) }
    }
    #[inline(always)]
    unsafe fn load(self, from: &[f32], at: usize) -> __m256 {
        debug_assert!(at + Self::LANES <= from.len());
        // SAFETY: the caller promises that eight numbers follow `at`; `self` proves AVX2.
        unsafe { _mm256_loadu_ps(from.as_ptr().add(at)) }
    }
    #[inline(always)]
    unsafe fn store(self, v: __m256, to: &mut [f32], at: usize) {
        debug_assert!(at + Self::LANES <= to.len());
        // SAFETY: the caller promises that eight numbers follow `at`; `self` proves AVX2.
        unsafe { _mm256_storeu_ps(to.as_mut_ptr().add(at), v) }
    }
}
