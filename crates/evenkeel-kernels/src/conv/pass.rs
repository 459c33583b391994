//! One direction of a convolution, ready to run on any number of blocks.

use super::direct::Direct;
use super::epilogue::{Epilogue, Output, Tally};
use super::plan::Plan;
use super::shape::{Algorithm, ConvShape};
use crate::instruction_set::InstructionSet;
use crate::layout::BatchShape;
use crate::winograd::{Tiles, WinogradForward};
use crate::{scratch, simd};

/// Forward or backward-data: what is read, what is written, and how.
pub(crate) struct Pass<'a> {
    pub(crate) set: InstructionSet,
    pub(crate) input: BatchShape,
    pub(crate) output: BatchShape,
    weights: &'a [f32],
    method: Method,
}

enum Method {
    Direct(Plan),
    Winograd(Tiles),
}

impl<'a> Pass<'a> {
    pub(crate) fn forward(set: InstructionSet, conv: &ConvShape, weights: &'a [f32]) -> Self {
        Self::new(set, conv, (conv.input(), conv.output()), weights, Plan::forward)
    }

    pub(crate) fn backward(set: InstructionSet, conv: &ConvShape, weights: &'a [f32]) -> Self {
        Self::new(set, conv, (conv.output(), conv.input()), weights, Plan::backward)
    }

    fn new(
        set: InstructionSet,
        conv: &ConvShape,
        (input, output): (BatchShape, BatchShape),
        weights: &'a [f32],
        plan: impl Fn(&ConvShape) -> Plan,
    ) -> Self {
        let method = match conv.algorithm {
            Algorithm::Direct => Method::Direct(plan(conv)),
            Algorithm::Winograd => {
                Method::Winograd(Tiles::new(set, conv.height, conv.width, input.channels, output.channels))
            }
        };
        Self { set, input, output, weights, method }
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
        let (set, weights) = (self.set, self.weights);
        match &self.method {
            Method::Direct(plan) => {
                let (in_len, out_len) = (self.input.block_len(set), self.output.block_len(set));
                let blocks = x.chunks_exact(in_len).zip(y.chunks_exact_mut(out_len));
                for (block, (x, y)) in blocks.enumerate() {
                    let epilogue = epilogue.part(block * out_len, out_len);
                    let tally = tally.as_mut().map(Tally::reborrow);
                    simd::run(set, Direct { plan, x, weights, output: Output { y, epilogue, tally } });
                }
            }
            &Method::Winograd(tiles) => scratch::with(tiles.scratch_len(), |scratch| {
                let output = Output { y, epilogue, tally };
                simd::run(set, WinogradForward { tiles, x, weights, output, scratch });
            }),
        }
    }
}
