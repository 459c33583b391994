//! Gradient of the weights.

use super::direct_grad::DirectGradient;
use super::shape::{Algorithm, ConvShape};
use crate::path::Path;
use crate::winograd::{self, Tiles, WinogradGradient};
use crate::{scratch, simd};
use rayon::prelude::*;

/// Most partial gradients that are held at a time. Fixed, so that sums do not depend on the threads.
const TASKS: usize = 8;
/// Fewest Winograd tiles per task: adding up the lanes of a partial gradient costs as much as several.
const TILES: usize = 16;

/// `dw = Σ_images dy ⋆ x`, as `[outputs][inputs][k][k]`; overwrites `dw`.
///
/// `x` and `dy` are blocked; padding images must be zero in one of them, as every kernel of this crate
/// leaves them in training.
pub fn backward_weights(path: Path, conv: &ConvShape, x: &[f32], dy: &[f32], dw: &mut [f32]) {
    conv.input().check(path, "input", x.len());
    conv.output().check(path, "output gradient", dy.len());
    assert_eq!(dw.len(), conv.weight_len(), "weight gradient: {conv:?}");
    match conv.algorithm {
        Algorithm::Direct => direct(path, conv, x, dy, dw),
        Algorithm::Winograd => winograd(path, conv, x, dy, dw),
    }
}

/// Runs of blocks that are summed up by one task each.
struct Runs<'a> {
    x: &'a [f32],
    dy: &'a [f32],
    /// Numbers of one run in `x` and `dy`; the last may be shorter.
    in_len: usize,
    out_len: usize,
    count: usize,
}

impl<'a> Runs<'a> {
    fn new(path: Path, conv: &ConvShape, x: &'a [f32], dy: &'a [f32], most: usize) -> Self {
        let total = conv.input().blocks(path);
        let blocks = total.div_ceil(most);
        let (in_len, out_len) = (conv.input().block_len(path), conv.output().block_len(path));
        Self { x, dy, in_len: blocks * in_len, out_len: blocks * out_len, count: total.div_ceil(blocks) }
    }

    fn get(&self, run: usize) -> (&'a [f32], &'a [f32]) {
        let part = |data: &'a [f32], len: usize| &data[run * len..data.len().min((run + 1) * len)];
        (part(self.x, self.in_len), part(self.dy, self.out_len))
    }
}

fn direct(path: Path, conv: &ConvShape, x: &[f32], dy: &[f32], dw: &mut [f32]) {
    let (in_len, out_len) = (conv.input().block_len(path), conv.output().block_len(path));
    let (taps, pairs) = (conv.kernel * conv.kernel, conv.outputs * conv.inputs);
    let runs = Runs::new(path, conv, x, dy, TASKS);
    scratch::with(runs.count * taps * pairs, |parts| {
        parts.par_chunks_mut(taps * pairs).enumerate().for_each(|(run, gradient)| {
            gradient.fill(0.0);
            let (x, dy) = runs.get(run);
            for (x, dy) in x.chunks_exact(in_len).zip(dy.chunks_exact(out_len)) {
                simd::run(path, DirectGradient { conv, x, dy, gradient: &mut *gradient });
            }
        });
        for (pair, dw) in dw.chunks_exact_mut(taps).enumerate() {
            for (tap, dw) in dw.iter_mut().enumerate() {
                *dw = (0..runs.count).map(|run| parts[(run * taps + tap) * pairs + pair]).sum();
            }
        }
    });
}

fn winograd(path: Path, conv: &ConvShape, x: &[f32], dy: &[f32], dw: &mut [f32]) {
    let tiles = Tiles::new(path, conv.height, conv.width, conv.inputs, conv.outputs).for_gradient();
    let total = conv.input().blocks(path) * tiles.per_block();
    let runs = Runs::new(path, conv, x, dy, (total / TILES).clamp(1, TASKS));
    // A single run leaves other threads idle: halve the outputs instead.
    let halves = if runs.count == 1 && conv.outputs.is_multiple_of(2) { 2 } else { 1 };
    let outputs = conv.outputs / halves;
    let tiles = tiles.with_outputs(outputs);
    let len = winograd::gradient_len(outputs, conv.inputs);
    scratch::with(halves * runs.count * len, |parts| {
        parts.par_chunks_mut(len).enumerate().for_each(|(task, gradient)| {
            let (half, run) = (task / runs.count, task % runs.count);
            let (x, dy) = runs.get(run);
            let (first, channels) = (half * outputs, conv.outputs);
            scratch::with(tiles.scratch_len(), |scratch| {
                simd::run(path, WinogradGradient { tiles, first, channels, x, dy, gradient, scratch });
            });
        });
        let halves = parts.par_chunks(runs.count * len).zip(dw.par_chunks_mut(outputs * conv.inputs * 9));
        halves.for_each(|(parts, dw)| winograd::unpack_gradient(path, parts, len, dw));
    });
}
