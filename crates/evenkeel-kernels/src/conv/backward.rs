//! Both gradients of a convolution that is followed by a BatchNorm, without storing the gradient in between.

use super::epilogue::Epilogue;
use super::input::Input;
use super::pack::PackedWeights;
use super::pass::Pass;
use super::shape::ConvShape;
use super::weights::WeightSums;
use super::{backward_data, backward_weights};
use crate::batch_norm::{GradientSums, NormGradient};
use crate::instruction_set::InstructionSet;
use crate::scratch;
use rayon::prelude::*;

/// Gradients of the weights and, if `dx` is given, of the input: the same as
/// [`backward_input`](crate::batch_norm::backward_input) followed by [`backward_weights`](super::backward_weights)
/// and [`backward_data`](super::backward_data), but the gradient `dz` behind the BatchNorm is computed for a
/// few images at a time and used while it is in the cache.
///
/// `dx` brings the packed weights, the gradient to write and its epilogue. If the input is [`Input::Normalised`], `dx` goes on to the
/// BatchNorm that makes it, and its [`backward_sums`](crate::batch_norm::backward_sums) come back, gathered while `dx` is in the cache.
pub fn backward(
    set: InstructionSet,
    conv: &ConvShape,
    x: Input<'_>,
    dz: &NormGradient<'_>,
    dw: &mut [f32],
    dx: Option<(&PackedWeights, &mut [f32], Epilogue<'_>)>,
) -> Option<GradientSums> {
    let (input, output) = (conv.input(), conv.output());
    x.check(set, &input);
    dz.check(set, &output);
    let coefficients = dz.coefficients();
    let (in_len, out_len) = (input.block_len(set), output.block_len(set));
    let sums = WeightSums::new(set, conv);
    if sums.runs == 1 {
        // A small map: `dz` fits into the cache as a whole, and the parts find more threads by themselves.
        return scratch::with(output.blocked_len(set), |whole| {
            let blocks = whole.par_chunks_mut(out_len).enumerate();
            blocks.for_each(|(block, out)| dz.blocks(set, &output, &coefficients, block, out));
            x.with_blocks(set, &input, 0..input.blocks(set), |x| backward_weights(set, conv, x, whole, dw));
            let (w, dx, epilogue) = dx?;
            backward_data(set, conv, whole, w, dx, epilogue);
            let blocks = dx.par_chunks_mut(in_len).enumerate();
            let sums: Option<Vec<_>> =
                blocks.map(|(block, dx)| x.gradient_sums(set, &input, block, dx)).collect();
            sums.map(|sums| GradientSums::reduce(&input, &sums))
        });
    }
    let (pass, mut dx, epilogue) = match dx {
        Some((w, dx, epilogue)) => {
            input.check(set, "input gradient", dx.len());
            epilogue.check(set, &input);
            (Some(Pass::backward(set, conv, w.for_backward(conv))), dx, epilogue)
        }
        None => (None, &mut [][..], Epilogue::default()),
    };
    // A run owns its part of the input's gradient and its partial gradient of the weights.
    let mut gradients: Vec<&mut [f32]> = Vec::with_capacity(sums.runs);
    for run in 0..sums.runs {
        let len = if pass.is_some() { sums.blocks_of(run).len() * in_len } else { 0 };
        gradients.push(dx.split_off_mut(..len).expect("a gradient of the checked length"));
    }
    scratch::with(sums.parts_len(), |parts| {
        let tasks = parts.par_chunks_mut(sums.part_len).zip(gradients).enumerate();
        let before: Vec<Vec<Vec<f64>>> = tasks
            .map(|(run, (part, dx))| {
                let blocks = sums.blocks_of(run);
                let step = sums.blocks_per_call();
                let mut before = Vec::new();
                scratch::with(step * out_len, |dz_blocks| {
                    for start in blocks.clone().step_by(step) {
                        let end = (start + step).min(blocks.end);
                        let dz_blocks = &mut dz_blocks[..(end - start) * out_len];
                        dz.blocks(set, &output, &coefficients, start, dz_blocks);
                        x.with_blocks(set, &input, start..end, |x| {
                            sums.sum(0, x, dz_blocks, part, start > blocks.start);
                        });
                        if let Some(pass) = &pass {
                            let dx = &mut dx[(start - blocks.start) * in_len..(end - blocks.start) * in_len];
                            let epilogue = epilogue.part(start * in_len, (end - start) * in_len);
                            pass.run(dz_blocks, dx, epilogue, None);
                            let dx = (start..).zip(dx.chunks_exact_mut(in_len));
                            before
                                .extend(dx.filter_map(|(block, dx)| x.gradient_sums(set, &input, block, dx)));
                        }
                    }
                });
                before
            })
            .collect();
        sums.finish(parts, dw);
        let before = before.concat();
        (!before.is_empty()).then(|| GradientSums::reduce(&input, &before))
    })
}
