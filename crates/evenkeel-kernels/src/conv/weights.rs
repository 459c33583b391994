//! Gradient of the weights.

use super::direct_grad::DirectGradient;
use super::shape::{Algorithm, ConvShape};
use crate::correlate::Pairs;
use crate::instruction_set::InstructionSet;
use crate::winograd::{self, Tiles, WinogradGradient};
use crate::{scratch, simd};
use rayon::prelude::*;

/// Most partial gradients that are held at a time. Fixed, so that sums do not depend on the threads.
const RUNS: usize = 8;
/// Fewest Winograd tiles per run: adding up the lanes of a partial gradient costs as much as several.
const TILES: usize = 16;

/// `dw = Σ_images dy ⋆ x`, as `[outputs][inputs][k][k]`; overwrites `dw`.
///
/// `x` and `dy` are blocked; padding images must be zero in one of them, as every kernel of this crate
/// leaves them in training.
pub fn backward_weights(set: InstructionSet, conv: &ConvShape, x: &[f32], dy: &[f32], dw: &mut [f32]) {
    conv.input().check(set, "input", x.len());
    conv.output().check(set, "output gradient", dy.len());
    let sums = WeightSums::new(set, conv);
    scratch::with(sums.parts_len(), |parts| {
        parts.par_chunks_mut(sums.part_len).enumerate().for_each(|(part, gradient)| {
            let blocks = sums.blocks_of(part % sums.runs);
            let x = &x[blocks.start * conv.input().block_len(set)..blocks.end * conv.input().block_len(set)];
            let dy =
                &dy[blocks.start * conv.output().block_len(set)..blocks.end * conv.output().block_len(set)];
            sums.sum(part / sums.runs, x, dy, gradient, false);
        });
        sums.finish(parts, dw);
    });
}

/// How the sum over the batch is split: into runs of blocks, each with its partial gradient, and where there
/// is one run only, into halves of the outputs. Partial gradients are ordered `[half][run]`.
pub(crate) struct WeightSums<'a> {
    set: InstructionSet,
    conv: &'a ConvShape,
    tiles: Tiles,
    /// The pairs of channels of a partial gradient.
    pairs: Pairs,
    /// Runs of blocks.
    pub(crate) runs: usize,
    /// Parts that the outputs are split into.
    pub(crate) halves: usize,
    /// Blocks of one run; the last may have fewer.
    blocks: usize,
    /// Numbers of one partial gradient.
    pub(crate) part_len: usize,
}

impl<'a> WeightSums<'a> {
    pub(crate) fn new(set: InstructionSet, conv: &'a ConvShape) -> Self {
        let tiles = Tiles::new(set, conv.height, conv.width, conv.inputs, conv.outputs).for_gradient();
        let total = conv.input().blocks(set);
        let most = match conv.algorithm {
            Algorithm::Direct => RUNS,
            Algorithm::Winograd => (total * tiles.per_block() / TILES).clamp(1, RUNS),
        };
        let blocks = total.div_ceil(most);
        let runs = total.div_ceil(blocks);
        // A single run would leave other threads idle.
        let split = conv.algorithm == Algorithm::Winograd && runs == 1 && conv.outputs.is_multiple_of(2);
        let halves = if split { 2 } else { 1 };
        let tiles = tiles.with_outputs(conv.outputs / halves);
        let pairs = Pairs::new(set, tiles.outputs, conv.inputs);
        let part_len = match conv.algorithm {
            Algorithm::Direct => conv.kernel * conv.kernel * pairs.len(),
            Algorithm::Winograd => winograd::gradient_len(&pairs),
        };
        Self { set, conv, tiles, pairs, runs, halves, blocks, part_len }
    }

    /// Numbers of all partial gradients.
    pub(crate) fn parts_len(&self) -> usize {
        self.halves * self.runs * self.part_len
    }

    /// The blocks of one run.
    pub(crate) fn blocks_of(&self, run: usize) -> std::ops::Range<usize> {
        run * self.blocks..((run + 1) * self.blocks).min(self.conv.input().blocks(self.set))
    }

    /// Blocks that are worth a call of [`WeightSums::sum`].
    pub(crate) fn blocks_per_call(&self) -> usize {
        match self.conv.algorithm {
            Algorithm::Direct => 1,
            Algorithm::Winograd => self.tiles.blocks_per_task().min(self.blocks),
        }
    }

    /// Sums over some whole blocks on this thread; adds to `gradient` or overwrites it.
    pub(crate) fn sum(&self, half: usize, x: &[f32], dy: &[f32], gradient: &mut [f32], add: bool) {
        let (set, conv, tiles, pairs) = (self.set, self.conv, self.tiles, self.pairs);
        match conv.algorithm {
            Algorithm::Direct => {
                if !add {
                    gradient.fill(0.0);
                }
                let (in_len, out_len) = (conv.input().block_len(set), conv.output().block_len(set));
                for (x, dy) in x.chunks_exact(in_len).zip(dy.chunks_exact(out_len)) {
                    simd::run(set, DirectGradient { conv, x, dy, pairs, gradient: &mut *gradient });
                }
            }
            Algorithm::Winograd => scratch::with(tiles.scratch_len(), |scratch| {
                let (first, channels) = (half * tiles.outputs, conv.outputs);
                simd::run(set, WinogradGradient { tiles, first, channels, x, dy, add, gradient, scratch });
            }),
        }
    }

    /// Adds up the partial gradients in their order and brings them to `[outputs][inputs][k][k]`.
    pub(crate) fn finish(&self, parts: &[f32], dw: &mut [f32]) {
        assert_eq!(dw.len(), self.conv.weight_len(), "weight gradient: {:?}", self.conv);
        match self.conv.algorithm {
            Algorithm::Direct => {
                let (taps, len) = (self.conv.kernel * self.conv.kernel, self.pairs.len());
                for at in 0..len {
                    let Some(filter) = self.pairs.filter(at) else { continue };
                    for (tap, dw) in dw[filter * taps..][..taps].iter_mut().enumerate() {
                        *dw = (0..self.runs).map(|run| parts[(run * taps + tap) * len + at]).sum();
                    }
                }
            }
            Algorithm::Winograd => {
                let parts = parts.par_chunks(self.runs * self.part_len);
                let halves = parts.zip(dw.par_chunks_mut(self.conv.weight_len() / self.halves));
                halves.for_each(|(parts, dw)| winograd::unpack_gradient(self.set, &self.pairs, parts, dw));
            }
        }
    }
}
