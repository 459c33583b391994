//! Results must be the same bits for any number of threads.

mod common;

use common::{blocked, garbage, random};
use evenkeel_kernels::batch_norm::{self, EPSILON, Gate, NormGradient, Normaliser};
use evenkeel_kernels::conv::{self, Input};
use evenkeel_kernels::{BatchShape, ConvShape, Epilogue, InstructionSet, PackedWeights};

/// Every number that a convolution and its BatchNorm produce, as bits.
fn everything(set: InstructionSet, conv: &ConvShape) -> Vec<u64> {
    let (input, output) = (conv.input(), conv.output());
    let x = blocked(set, &input, &random(1, input.batch * input.image_len()));
    let w = random(2, conv.weight_len());
    let mut pack = PackedWeights::new();
    pack.pack_forward(set, conv, &w);
    let mut z = garbage(output.blocked_len(set));
    let moments = conv::forward_with_moments(set, conv, Input::Stored(&x), &pack, &mut z);
    let (gamma, beta) = (random(3, output.channels), random(4, output.channels));
    let normaliser = Normaliser::of_batch(&moments, &gamma, &beta, EPSILON);
    let mut y = garbage(z.len());
    batch_norm::normalise(set, &output, &normaliser, &z, None, true, &mut y);
    let mut dy = blocked(set, &output, &random(5, output.batch * output.image_len()));
    let sums = batch_norm::backward_sums(set, &output, &normaliser, &z, &mut dy, Gate::Input);
    let gradient = NormGradient { normaliser: &normaliser, sums: &sums, z: &z, dy: &dy, gate: Gate::Input };
    let mut dz = garbage(z.len());
    batch_norm::backward_input(set, &output, &gradient, &mut dz);
    let mut dw = vec![f32::NAN; w.len()];
    conv::backward_weights(set, conv, &x, &dz, &mut dw);
    pack.pack_backward(set, conv, &w);
    let mut dx = garbage(x.len());
    conv::backward_data(set, conv, &dz, &pack, &mut dx, Epilogue::default());
    let (mut fused_dw, mut fused_dx) = (vec![f32::NAN; w.len()], garbage(x.len()));
    let into = Some((&pack, &mut fused_dx[..], Epilogue::default()));
    conv::backward(set, conv, Input::Stored(&x), &gradient, &mut fused_dw, into);
    let singles = [&z[..], &y, &dz, &dw, &dx, &fused_dw, &fused_dx, &sums.gamma, &sums.beta];
    let wide = moments.sum.iter().chain(&moments.square).map(|v| v.to_bits());
    singles.into_iter().flatten().map(|v| u64::from(v.to_bits())).chain(wide).collect()
}

#[test]
fn one_two_and_five_threads_give_the_same_bits() {
    for set in InstructionSet::available() {
        for conv in [
            ConvShape::three(BatchShape::new(150, 3, 9, 9), 8, 1),
            ConvShape::three(BatchShape::new(150, 10, 9, 9), 10, 1),
            ConvShape::three(BatchShape::new(150, 10, 4, 4), 20, 1),
            ConvShape::three(BatchShape::new(150, 10, 8, 8), 10, 2),
            ConvShape::one(BatchShape::new(150, 10, 8, 8), 10, 2),
        ] {
            let with = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| everything(set, &conv))
            };
            let one = with(1);
            assert!(one == with(2), "{conv:?} on {set:?} with two threads");
            assert!(one == with(5), "{conv:?} on {set:?} with five threads");
        }
    }
}
