//! One direction of a convolution, ready to run on any number of blocks.

use super::direct::Direct;
use super::epilogue::{Epilogue, Tally};
use super::plan::Plan;
use super::shape::{Algorithm, ConvShape};
use crate::layout::Shape;
use crate::path::Path;
use crate::winograd::{Tiles, WinogradForward};
use crate::{scratch, simd};

/// Forward or backward-data: what is read, what is written, and how.
pub(crate) struct Pass<'a> {
    pub(crate) path: Path,
    pub(crate) input: Shape,
    pub(crate) output: Shape,
    weights: &'a [f32],
    method: Method,
}

enum Method {
    Direct(Plan),
    Winograd(Tiles),
}

impl<'a> Pass<'a> {
    pub(crate) fn forward(path: Path, conv: &ConvShape, weights: &'a [f32]) -> Self {
        Self::new(path, conv, (conv.input(), conv.output()), weights, Plan::forward)
    }

    pub(crate) fn backward(path: Path, conv: &ConvShape, weights: &'a [f32]) -> Self {
        Self::new(path, conv, (conv.output(), conv.input()), weights, Plan::backward)
    }

    fn new(
        path: Path,
        conv: &ConvShape,
        (input, output): (Shape, Shape),
        weights: &'a [f32],
        plan: impl Fn(&ConvShape) -> Plan,
    ) -> Self {
        let method = match conv.algorithm {
            Algorithm::Direct => Method::Direct(plan(conv)),
            Algorithm::Winograd => {
                Method::Winograd(Tiles::new(path, conv.height, conv.width, input.channels, output.channels))
            }
        };
        Self { path, input, output, weights, method }
    }

    /// Blocks that one task should take at a time.
    pub(crate) fn blocks_per_task(&self) -> usize {
        match &self.method {
            Method::Direct(_) => 1,
            Method::Winograd(tiles) => tiles.blocks_per_task(),
        }
    }

    /// Computes the whole blocks `y` from the blocks `x` on this thread; the epilogue is the part for `y`.
    pub(crate) fn run(&self, x: &[f32], y: &mut [f32], epilogue: Epilogue<'_>, mut tally: Option<Tally<'_>>) {
        let (path, weights) = (self.path, self.weights);
        match &self.method {
            Method::Direct(plan) => {
                let (in_len, out_len) = (self.input.block_len(path), self.output.block_len(path));
                let blocks = x.chunks_exact(in_len).zip(y.chunks_exact_mut(out_len));
                for (block, (x, y)) in blocks.enumerate() {
                    let epilogue = epilogue.part(block * out_len, out_len);
                    let tally = tally.as_mut().map(Tally::reborrow);
                    simd::run(path, Direct { plan, x, weights, y, epilogue, tally });
                }
            }
            &Method::Winograd(tiles) => scratch::with(tiles.scratch_len(), |scratch| {
                simd::run(path, WinogradForward { tiles, x, weights, y, epilogue, tally, scratch });
            }),
        }
    }
}
