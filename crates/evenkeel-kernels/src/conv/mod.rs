//! Convolution: forward, gradient of the input, gradient of the weights.

mod backward;
mod direct;
mod direct_grad;
mod epilogue;
mod pack;
mod pass;
mod plan;
mod shape;
mod weights;

pub use backward::backward;
pub use epilogue::Epilogue;
pub(crate) use epilogue::{Output, Tally, Written};
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
    run(&Pass::forward(set, conv, w.for_forward(conv)), x, y, epilogue, false);
}

/// [`forward`] without an epilogue that also gathers the output's [`Moments`] for a BatchNorm, for free:
/// the output need not be read again.
pub fn forward_with_moments(
    set: InstructionSet,
    conv: &ConvShape,
    x: &[f32],
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
    run(&Pass::backward(set, conv, w.for_backward(conv)), dy, dx, epilogue, false);
}

/// Runs a pass over all blocks; returns `[sum, square]` per channel for every task, in order, if `tally` is
/// set.
fn run(pass: &Pass<'_>, x: &[f32], y: &mut [f32], epilogue: Epilogue<'_>, tally: bool) -> Vec<Vec<f64>> {
    let Pass { set, input, output, .. } = *pass;
    input.check(set, "input", x.len());
    output.check(set, "output", y.len());
    epilogue.check(set, &output);
    let blocks = pass.blocks_per_task();
    let (in_len, out_len) = (blocks * input.block_len(set), blocks * output.block_len(set));
    let task = |(index, y): (usize, &mut [f32])| {
        let x = &x[index * in_len..x.len().min((index + 1) * in_len)];
        let epilogue = epilogue.part(index * out_len, y.len());
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
    };
    y.par_chunks_mut(out_len).enumerate().map(task).collect()
}
