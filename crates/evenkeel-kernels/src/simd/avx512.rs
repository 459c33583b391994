//! Sixteen lanes in AVX-512 registers.

use super::Simd;
use std::arch::x86_64::{
    __m512, _CMP_GT_OQ, _MM_HINT_ET0, _MM_HINT_T1, _mm_add_ps, _mm_prefetch, _mm_storeu_ps, _mm256_add_ps,
    _mm256_castps256_ps128, _mm256_extractf128_ps, _mm512_add_epi32, _mm512_add_ps, _mm512_castps512_ps256,
    _mm512_cmp_ps_mask, _mm512_extractf32x8_ps, _mm512_fmadd_ps, _mm512_loadu_ps,
    _mm512_maskz_compress_epi32, _mm512_maskz_mov_ps, _mm512_max_ps, _mm512_mul_ps, _mm512_set1_epi32,
    _mm512_set1_ps, _mm512_setr_epi32, _mm512_setzero_ps, _mm512_shuffle_ps, _mm512_storeu_epi32,
    _mm512_storeu_ps, _mm512_sub_ps, _mm512_unpackhi_ps, _mm512_unpacklo_ps,
};

/// Proof that the CPU has AVX-512 F, DQ and VL, AVX2 and FMA.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// # Safety
    /// The CPU has AVX-512 F, DQ and VL, AVX2 and FMA.
    pub(super) unsafe fn new() -> Self {
        Self(())
    }
}

impl Simd for Avx512 {
    type V = __m512;
    const LANES: usize = 16;
    // Twenty accumulators, four vectors and a broadcast of thirty-two registers.
    const WIDTH: usize = 4;

    #[inline(always)]
    fn splat(self, value: f32) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_set1_ps(value) }
    }
    #[inline(always)]
    fn add(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_add_ps(a, b) }
    }
    #[inline(always)]
    fn sub(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_sub_ps(a, b) }
    }
    #[inline(always)]
    fn mul(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_mul_ps(a, b) }
    }
    #[inline(always)]
    fn fma(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_fmadd_ps(a, b, c) }
    }
    #[inline(always)]
    fn relu(self, a: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_max_ps(a, _mm512_setzero_ps()) }
    }
    #[inline(always)]
    fn gated(self, value: __m512, gate: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_maskz_mov_ps(_mm512_cmp_ps_mask::<_CMP_GT_OQ>(gate, _mm512_setzero_ps()), value) }
    }
    #[inline(always)]
    fn positive(self, a: __m512) -> u32 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_cmp_ps_mask::<_CMP_GT_OQ>(a, _mm512_setzero_ps()).into() }
    }
    #[inline(always)]
    fn append_positive(self, a: __m512, first: u32, to: &mut [u32], count: usize) -> usize {
        let to = &mut to[count..count + Self::LANES];
        let positive = self.positive(a);
        // SAFETY: `self` proves AVX-512 F, and `to` has room for sixteen numbers.
        unsafe {
            let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            let numbers = _mm512_add_epi32(lanes, _mm512_set1_epi32(first.cast_signed()));
            let packed = _mm512_maskz_compress_epi32(positive as u16, numbers);
            _mm512_storeu_epi32(to.as_mut_ptr().cast(), packed);
        }
        count + positive.count_ones() as usize
    }
    #[inline(always)]
    fn sums(self, v: [__m512; 4]) -> [f32; 4] {
        let mut out = [0.0; 4];
        // SAFETY: `self` proves AVX-512 F, DQ and VL and AVX2, and `out` has room for the four numbers.
        unsafe {
            // Within each quarter: sums of lanes 0 and 2, 1 and 3, then all four. `hadd` would be shorter,
            // but it exists for the first sixteen registers only and makes the compiler spill the others.
            let ab = _mm512_add_ps(_mm512_unpacklo_ps(v[0], v[1]), _mm512_unpackhi_ps(v[0], v[1]));
            let cd = _mm512_add_ps(_mm512_unpacklo_ps(v[2], v[3]), _mm512_unpackhi_ps(v[2], v[3]));
            let quarters =
                _mm512_add_ps(_mm512_shuffle_ps::<0x44>(ab, cd), _mm512_shuffle_ps::<0xEE>(ab, cd));
            let halves =
                _mm256_add_ps(_mm512_castps512_ps256(quarters), _mm512_extractf32x8_ps::<1>(quarters));
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
    unsafe fn load(self, from: &[f32], at: usize) -> __m512 {
        debug_assert!(at + Self::LANES <= from.len());
        // SAFETY: the caller promises that sixteen numbers follow `at`; `self` proves AVX-512 F.
        unsafe { _mm512_loadu_ps(from.as_ptr().add(at)) }
    }
    #[inline(always)]
    unsafe fn store(self, v: __m512, to: &mut [f32], at: usize) {
        debug_assert!(at + Self::LANES <= to.len());
        // SAFETY: the caller promises that sixteen numbers follow `at`; `self` proves AVX-512 F.
        unsafe { _mm512_storeu_ps(to.as_mut_ptr().add(at), v) }
    }
}
