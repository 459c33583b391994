//! Eight lanes in AVX2 registers with fused multiply-add.

use super::{Simd, x86};
use std::arch::x86_64::{
    __m256, _CMP_GT_OQ, _mm_add_ps, _mm_storeu_ps, _mm256_add_ps, _mm256_and_ps, _mm256_blend_ps,
    _mm256_castps256_ps128, _mm256_cmp_ps, _mm256_extractf128_ps, _mm256_fmadd_ps, _mm256_loadu_ps,
    _mm256_max_ps, _mm256_movemask_ps, _mm256_mul_ps, _mm256_permute2f128_ps, _mm256_set1_ps,
    _mm256_setzero_ps, _mm256_shuffle_ps, _mm256_storeu_ps, _mm256_sub_ps, _mm256_unpackhi_ps,
    _mm256_unpacklo_ps,
};

x86::token!(Avx2, "AVX2 and FMA");

impl Simd for Avx2 {
    type V = __m256;
    const LANES: usize = 8;
    // Ten accumulators, two vectors and a broadcast of sixteen registers; twelve would spill.
    const WIDTH: usize = 2;
    // Eight sums whose lanes are added up together: as many as hide the latency of two multipliers.
    const ROWS: usize = 4;
    // Thirteen of sixteen registers.
    const STRIP: usize = 2;

    x86::operations! {
        __m256, set1: _mm256_set1_ps, add: _mm256_add_ps, sub: _mm256_sub_ps, mul: _mm256_mul_ps,
        fma: _mm256_fmadd_ps, max: _mm256_max_ps, load: _mm256_loadu_ps, store: _mm256_storeu_ps,
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
    fn sums_of_eight(self, v: [__m256; 8]) -> [f32; 8] {
        let mut out = [0.0; 8];
        // SAFETY: `self` proves AVX2, and `out` has room for the eight numbers.
        unsafe {
            // Lanes 0 and 2, 1 and 3 of two vectors in one. A blend takes no place in the two units that can shuffle.
            let mut pairs = [_mm256_setzero_ps(); 4];
            for (k, pair) in pairs.iter_mut().enumerate() {
                let (a, b) = (v[2 * k], v[2 * k + 1]);
                *pair = _mm256_add_ps(_mm256_blend_ps::<0xCC>(a, b), _mm256_shuffle_ps::<0x4E>(a, b));
            }
            let [ab, cd, ef, gh] = pairs;
            let abcd = _mm256_add_ps(_mm256_shuffle_ps::<0x88>(ab, cd), _mm256_shuffle_ps::<0xDD>(ab, cd));
            let efgh = _mm256_add_ps(_mm256_shuffle_ps::<0x88>(ef, gh), _mm256_shuffle_ps::<0xDD>(ef, gh));
            let (near, far) =
                (_mm256_blend_ps::<0xF0>(abcd, efgh), _mm256_permute2f128_ps::<0x21>(abcd, efgh));
            _mm256_storeu_ps(out.as_mut_ptr(), _mm256_add_ps(near, far));
        }
        out
    }
}
