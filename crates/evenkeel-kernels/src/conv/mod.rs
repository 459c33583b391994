//! Convolution: forward, gradient of the input, gradient of the weights.

mod backward;
mod direct;
mod direct_grad;
mod epilogue;
mod input;
mod pack;
mod pass;
mod plan;
mod shape;
mod weights;

pub use backward::backward;
pub use epilogue::Epilogue;
pub(crate) use epilogue::{Output, Tally, Written};
pub use input::Input;
pub use pack::PackedWeights;
pub use shape::{Algorithm, ConvShape};
pub use weights::backward_weights;

use crate::batch_norm::Moments;
use crate::instruction_set::InstructionSet;
use crate::scratch;
use pass::Pass;
use rayon::prelude::*;

/// `y = epilogue(x * w)`, with weights from [`PackedWeights::pack_forward`].
///
/// `x` and `y` are blocked, of [`ConvShape::input`] and [`ConvShape::output`].
pub fn forward(
    set: InstructionSet,
    conv: &ConvShape,
    x: &[f32],
    w: &PackedWeights,
    y: &mut [f32],
    epilogue: Epilogue<'_>,
) {
    run(&Pass::forward(set, conv, w.for_forward(conv)), Input::Stored(x), y, epilogue, false);
}

/// [`forward`] without an epilogue that also gathers the output's [`Moments`] for a BatchNorm, for free:
/// the output need not be read again.
pub fn forward_with_moments(
    set: InstructionSet,
    conv: &ConvShape,
    x: Input<'_>,
    w: &PackedWeights,
    y: &mut [f32],
) -> Moments {
    let totals = run(&Pass::forward(set, conv, w.for_forward(conv)), x, y, Epilogue::default(), true);
    Moments::reduce(&conv.output(), &totals)
}

/// `dx = epilogue(gradient of the input)`, with weights from [`PackedWeights::pack_backward`].
///
/// Set [`Epilogue::accumulate`] to add to a gradient that is already in `dx`, or [`Epilogue::residual`] to add
/// one from elsewhere.
pub fn backward_data(
    set: InstructionSet,
    conv: &ConvShape,
    dy: &[f32],
    w: &PackedWeights,
    dx: &mut [f32],
    epilogue: Epilogue<'_>,
) {
    run(&Pass::backward(set, conv, w.for_backward(conv)), Input::Stored(dy), dx, epilogue, false);
}

/// Runs a pass over all blocks; returns `[sum, square]` per channel for every task, in order, if `tally` is
/// set.
fn run(pass: &Pass<'_>, x: Input<'_>, y: &mut [f32], epilogue: Epilogue<'_>, tally: bool) -> Vec<Vec<f64>> {
    let Pass { set, input, output, .. } = *pass;
    x.check(set, &input);
    output.check(set, "output", y.len());
    epilogue.check(set, &output);
    let (blocks, out_len) = (pass.blocks_per_task(), output.block_len(set));
    let task = |(index, y): (usize, &mut [f32])| {
        let first = index * blocks;
        let epilogue = epilogue.part(first * out_len, y.len());
        x.with_blocks(set, &input, first..first + y.len() / out_len, |x| {
            if !tally {
                pass.run(x, y, epilogue, None);
                return Vec::new();
            }
            let mut totals = vec![0.0; 2 * output.channels];
            scratch::with(2 * output.channels * set.lanes(), |lanes| {
                lanes.fill(0.0);
                pass.run(x, y, epilogue, Some(Tally { lanes, totals: &mut totals }));
            });
            totals
        })
    };
    y.par_chunks_mut(blocks * out_len).enumerate().map(task).collect()
}
