//! Convolution: forward, gradient of the input, gradient of the weights.

mod direct;
mod direct_grad;
mod epilogue;
mod pack;
mod plan;
mod shape;
mod weights;

pub use epilogue::Epilogue;
pub(crate) use epilogue::Tally;
pub use pack::PackedWeights;
pub use shape::{Algorithm, ConvShape};
pub use weights::backward_weights;

use crate::batch_norm::Moments;
use crate::path::Path;
use crate::winograd::{Tiles, WinogradForward};
use crate::{scratch, simd};
use direct::Direct;
use plan::Plan;
use rayon::prelude::*;

/// `y = epilogue(x * w)`, with weights from [`PackedWeights::pack_forward`].
///
/// `x` and `y` are blocked, of [`ConvShape::input`] and [`ConvShape::output`].
pub fn forward(
    path: Path,
    conv: &ConvShape,
    x: &[f32],
    w: &PackedWeights,
    y: &mut [f32],
    epilogue: Epilogue<'_>,
) {
    pass(path, conv, Direction::Forward, x, w.for_forward(conv), y, epilogue, false);
}

/// [`forward`] without an epilogue that also gathers the output's [`Moments`] for a BatchNorm, for free:
/// the output need not be read again.
pub fn forward_with_moments(
    path: Path,
    conv: &ConvShape,
    x: &[f32],
    w: &PackedWeights,
    y: &mut [f32],
) -> Moments {
    let totals = pass(path, conv, Direction::Forward, x, w.for_forward(conv), y, Epilogue::default(), true);
    Moments::reduce(&conv.output(), &totals)
}

/// `dx = epilogue(gradient of the input)`, with weights from [`PackedWeights::pack_backward`].
///
/// Set [`Epilogue::accumulate`] to add to a gradient that is already in `dx`, or [`Epilogue::residual`] to add
/// one from elsewhere.
pub fn backward_data(
    path: Path,
    conv: &ConvShape,
    dy: &[f32],
    w: &PackedWeights,
    dx: &mut [f32],
    epilogue: Epilogue<'_>,
) {
    pass(path, conv, Direction::Backward, dy, w.for_backward(conv), dx, epilogue, false);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

/// Either direction; returns `[sum, square]` per channel for every task, in order, if `tally` is set.
#[allow(clippy::too_many_arguments)]
fn pass(
    path: Path,
    conv: &ConvShape,
    direction: Direction,
    x: &[f32],
    weights: &[f32],
    y: &mut [f32],
    epilogue: Epilogue<'_>,
    tally: bool,
) -> Vec<Vec<f64>> {
    let (input, output) = match direction {
        Direction::Forward => (conv.input(), conv.output()),
        Direction::Backward => (conv.output(), conv.input()),
    };
    input.check(path, "input", x.len());
    output.check(path, "output", y.len());
    epilogue.check(path, &output);
    let (in_len, out_len) = (input.block_len(path), output.block_len(path));
    let sums_len = if tally { 2 * output.channels * path.lanes() } else { 0 };
    // Runs a task with its sums; they are reduced in the order of the tasks, whatever thread runs them.
    let tallied = |work: &mut dyn FnMut(Option<Tally<'_>>)| {
        let mut totals = vec![0.0; if tally { 2 * output.channels } else { 0 }];
        scratch::with(sums_len, |lanes| {
            lanes.fill(0.0);
            work(tally.then_some(Tally { lanes, totals: &mut totals }));
        });
        totals
    };
    match conv.algorithm {
        Algorithm::Direct => {
            let plan = match direction {
                Direction::Forward => Plan::forward(conv),
                Direction::Backward => Plan::backward(conv),
            };
            let task = |(block, y): (usize, &mut [f32])| {
                tallied(&mut |tally| {
                    let epilogue = epilogue.part(block * out_len, y.len());
                    let x = &x[block * in_len..][..in_len];
                    simd::run(path, Direct { plan: &plan, x, weights, y: &mut *y, epilogue, tally });
                })
            };
            y.par_chunks_mut(out_len).enumerate().map(task).collect()
        }
        Algorithm::Winograd => {
            let tiles = Tiles::new(path, conv.height, conv.width, input.channels, output.channels);
            let blocks = tiles.blocks_per_task();
            let task = |(index, y): (usize, &mut [f32])| {
                tallied(&mut |tally| {
                    let epilogue = epilogue.part(index * blocks * out_len, y.len());
                    let x = &x[index * blocks * in_len..][..y.len() / out_len * in_len];
                    scratch::with(tiles.scratch_len(), |scratch| {
                        let y = &mut *y;
                        simd::run(path, WinogradForward { tiles, x, weights, y, epilogue, tally, scratch });
                    });
                })
            };
            y.par_chunks_mut(blocks * out_len).enumerate().map(task).collect()
        }
    }
}
