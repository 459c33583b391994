//! What AVX2 and AVX-512 have in common: the same operations on registers of different width.

/// A token that proves that the CPU has an instruction set.
macro_rules! token {
    ($token:ident, $features:literal) => {
        #[doc = concat!("Proof that the CPU has ", $features, ".")]
        #[derive(Clone, Copy)]
        pub(crate) struct $token(());

        impl $token {
            /// # Safety
            #[doc = concat!("The CPU has ", $features, ".")]
            pub(super) unsafe fn new() -> Self {
                Self(())
            }
        }
    };
}
pub(super) use token;

/// The operations of [`Simd`](super::Simd) that are one instruction each, for its implementation by such a token.
macro_rules! operations {
    (
        $vector:ty, set1: $set1:ident, add: $add:ident, sub: $sub:ident, mul: $mul:ident,
        fma: $fma:ident, max: $max:ident, load: $load:ident, store: $store:ident,
    ) => {
        #[inline(always)]
        fn splat(self, value: f32) -> $vector {
            // SAFETY: `self` proves the instruction set.
            unsafe { $set1(value) }
        }
        #[inline(always)]
        fn add(self, a: $vector, b: $vector) -> $vector {
            // SAFETY: `self` proves the instruction set.
            unsafe { $add(a, b) }
        }
        #[inline(always)]
        fn sub(self, a: $vector, b: $vector) -> $vector {
            // SAFETY: `self` proves the instruction set.
            unsafe { $sub(a, b) }
        }
        #[inline(always)]
        fn mul(self, a: $vector, b: $vector) -> $vector {
            // SAFETY: `self` proves the instruction set.
            unsafe { $mul(a, b) }
        }
        #[inline(always)]
        fn fma(self, a: $vector, b: $vector, c: $vector) -> $vector {
            // SAFETY: `self` proves the instruction set.
            unsafe { $fma(a, b, c) }
        }
        #[inline(always)]
        fn relu(self, a: $vector) -> $vector {
            // SAFETY: `self` proves the instruction set.
            unsafe { $max(a, $set1(0.0)) }
        }
        #[inline(always)]
        fn prefetch(self, from: &[f32], at: usize) {
            use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
            // SAFETY: a prefetch does not access memory; it may be given any address.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(from.as_ptr().wrapping_add(at).cast()) }
        }
        #[inline(always)]
        fn prefetch_to_write(self, to: &mut [f32], at: usize) {
            use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
            // SAFETY: a prefetch does not access memory; it may be given any address.
            unsafe { _mm_prefetch::<_MM_HINT_ET0>(to.as_ptr().wrapping_add(at).cast()) }
        }
        #[inline(always)]
        unsafe fn load(self, from: &[f32], at: usize) -> $vector {
            debug_assert!(at + Self::LANES <= from.len());
            // SAFETY: the caller promises that a whole vector follows `at`; `self` proves the instruction set.
            unsafe { $load(from.as_ptr().add(at)) }
        }
        #[inline(always)]
        unsafe fn store(self, v: $vector, to: &mut [f32], at: usize) {
            debug_assert!(at + Self::LANES <= to.len());
            // SAFETY: the caller promises that a whole vector follows `at`; `self` proves the instruction set.
            unsafe { $store(to.as_mut_ptr().add(at), v) }
        }
    };
}
pub(super) use operations;
