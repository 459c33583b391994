//! Average pooling over windows of 4×4.

use crate::instruction_set::InstructionSet;
use crate::layout::BatchShape;
use crate::simd::{self, Kernel, Simd};
use rayon::prelude::*;

/// Side of the window and distance between windows.
const SIDE: usize = 4;

/// Shape after pooling: rows and columns that do not fill a window are dropped.
pub fn pooled(input: &BatchShape) -> BatchShape {
    BatchShape { height: input.height / SIDE, width: input.width / SIDE, ..*input }
}

/// Averages windows of 4×4 pixels.
pub fn average_pool(set: InstructionSet, input: &BatchShape, x: &[f32], y: &mut [f32]) {
    let output = pooled(input);
    input.check(set, "input", x.len());
    output.check(set, "output", y.len());
    assert!(!y.is_empty(), "no window fits into {input:?}");
    let blocks = x.par_chunks(input.block_len(set)).zip(y.par_chunks_mut(output.block_len(set)));
    blocks.for_each(|(x, y)| simd::run(set, Forward { input, x, y }));
}

/// Gradient of [`average_pool`]: every pixel of a window gets a sixteenth, dropped pixels zero.
pub fn average_pool_backward(set: InstructionSet, input: &BatchShape, dy: &[f32], dx: &mut [f32]) {
    let output = pooled(input);
    input.check(set, "input gradient", dx.len());
    output.check(set, "output gradient", dy.len());
    assert!(!dy.is_empty(), "no window fits into {input:?}");
    let blocks = dx.par_chunks_mut(input.block_len(set)).zip(dy.par_chunks(output.block_len(set)));
    blocks.for_each(|(dx, dy)| simd::run(set, Backward { input, dy, dx }));
}

struct Forward<'a> {
    input: &'a BatchShape,
    x: &'a [f32],
    y: &'a mut [f32],
}

impl Kernel for Forward<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let BatchShape { channels, width, .. } = *self.input;
        let across = width / SIDE;
        let pixel = channels * S::LANES;
        let share = s.splat(1.0 / (SIDE * SIDE) as f32);
        for (window, y) in self.y.chunks_exact_mut(pixel).enumerate() {
            let (row, column) = (window / across * SIDE, window % across * SIDE);
            for at in (0..pixel).step_by(S::LANES) {
                let mut sum = s.zero();
                for i in 0..SIDE {
                    for j in 0..SIDE {
                        let from = ((row + i) * width + column + j) * pixel + at;
                        sum = s.add(sum, s.get(self.x, from));
                    }
                }
                s.put(s.mul(sum, share), y, at);
            }
        }
    }
}

struct Backward<'a> {
    input: &'a BatchShape,
    dy: &'a [f32],
    dx: &'a mut [f32],
}

impl Kernel for Backward<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let BatchShape { channels, height, width, .. } = *self.input;
        let (down, across) = (height / SIDE, width / SIDE);
        let pixel = channels * S::LANES;
        let share = s.splat(1.0 / (SIDE * SIDE) as f32);
        for (index, dx) in self.dx.chunks_exact_mut(pixel).enumerate() {
            let (row, column) = (index / width / SIDE, index % width / SIDE);
            if row < down && column < across {
                let dy = &self.dy[(row * across + column) * pixel..][..pixel];
                for at in (0..pixel).step_by(S::LANES) {
                    s.put(s.mul(s.get(dy, at), share), dx, at);
                }
            } else {
                dx.fill(0.0);
            }
        }
    }
}
