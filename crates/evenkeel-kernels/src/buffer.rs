//! Numbers in memory that starts on a cache line.

use std::ops::{Deref, DerefMut};

/// One cache line of sixteen numbers, the widest vector of any instruction set.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([f32; 16]);

/// A growable, zero-initialised `[f32]` aligned to 64 bytes.
///
/// The kernels accept any slice, but a vector that straddles two cache lines costs two accesses: keep
/// activations in a `Buffer` and every load of AVX-512 hits one line. It dereferences to a slice.
///
/// ```
/// use evenkeel_kernels::Buffer;
///
/// let mut activations = Buffer::zeroed(100);
/// activations[99] = 1.0;
/// assert_eq!(activations.len(), 100);
/// assert_eq!(activations.as_ptr() as usize % 64, 0);
/// ```
#[derive(Clone, Default)]
pub struct Buffer {
    lines: Vec<Line>,
    len: usize,
}

impl Buffer {
    /// A buffer of `len` zeros.
    pub fn zeroed(len: usize) -> Self {
        Self { lines: vec![Line([0.0; 16]); len.div_ceil(16)], len }
    }

    /// Makes the buffer `len` long and keeps its memory. The contents are unspecified afterwards: zeros
    /// where memory is new, old numbers elsewhere.
    pub fn resize(&mut self, len: usize) {
        let lines = len.div_ceil(16);
        if lines > self.lines.len() {
            self.lines.resize(lines, Line([0.0; 16]));
        }
        self.len = len;
    }
}

impl Deref for Buffer {
    type Target = [f32];
    fn deref(&self) -> &[f32] {
        // SAFETY: `Line` is sixteen `f32` without padding (64 bytes, aligned to 64), so the lines are
        // `16 · lines.len() ≥ len` initialised numbers in one allocation.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: as in `deref`; `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Buffer").field("len", &self.len).finish_non_exhaustive()
    }
}

impl From<&[f32]> for Buffer {
    fn from(values: &[f32]) -> Self {
        let mut buffer = Self::zeroed(values.len());
        buffer.copy_from_slice(values);
        buffer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shrinking_and_growing_keeps_the_length_honest() {
        let mut buffer = Buffer::zeroed(33);
        buffer.resize(5);
        assert_eq!(buffer.len(), 5);
        buffer.resize(70);
        assert_eq!(buffer.len(), 70);
        assert!(buffer.iter().all(|&v| v == 0.0));
    }
}
