//! Sixteen lanes in AVX-512 registers.

use super::{Simd, x86};
use std::arch::x86_64::{
    __m512, _CMP_GT_OQ, _mm_add_ps, _mm_storeu_ps, _mm256_add_ps, _mm256_castps256_ps128,
    _mm256_extractf128_ps, _mm512_add_epi32, _mm512_add_ps, _mm512_castps512_ps256, _mm512_cmp_ps_mask,
    _mm512_extractf32x8_ps, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_maskz_compress_epi32,
    _mm512_maskz_mov_ps, _mm512_max_ps, _mm512_mul_ps, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setr_epi32,
    _mm512_setzero_ps, _mm512_shuffle_ps, _mm512_storeu_epi32, _mm512_storeu_ps, _mm512_sub_ps,
    _mm512_unpackhi_ps, _mm512_unpacklo_ps,
};

x86::token!(Avx512, "AVX-512 F, DQ and VL, AVX2 and FMA");

impl Simd for Avx512 {
    type V = __m512;
    const LANES: usize = 16;
    // Twenty accumulators, four vectors and a broadcast of thirty-two registers.
    const WIDTH: usize = 4;
    // Twenty sums, four vectors and a broadcast of thirty-two registers.
    const ROWS: usize = 5;
    // Thirty-one of thirty-two registers. The paper's 400 outputs are five times five vectors.
    const STRIP: usize = 5;

    x86::operations! {
        __m512, set1: _mm512_set1_ps, add: _mm512_add_ps, sub: _mm512_sub_ps, mul: _mm512_mul_ps,
        fma: _mm512_fmadd_ps, max: _mm512_max_ps, load: _mm512_loadu_ps, store: _mm512_storeu_ps,
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
}
