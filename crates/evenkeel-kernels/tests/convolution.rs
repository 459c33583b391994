//! Every convolution kernel against its naive f64 twin, on every instruction set of this CPU.

mod common;

use common::{DIRECT, Naive, WINOGRAD, blocked, error, garbage, random, unblocked, wide};
use evenkeel_kernels::batch_norm::Moments;
use evenkeel_kernels::conv::{self, Input};
use evenkeel_kernels::{Algorithm, BatchShape, Buffer, ConvShape, Epilogue, InstructionSet, PackedWeights};
use proptest::prelude::*;

/// Runs all three passes of a convolution on all instruction sets and compares them with the twin.
fn agrees(shape: BatchShape, outputs: usize, kernel: usize, stride: usize, algorithm: Option<Algorithm>) {
    let conv = match kernel {
        1 => ConvShape::one(shape, outputs, stride),
        _ => ConvShape::three(shape, outputs, stride),
    };
    let conv = algorithm.map_or(conv, |algorithm| conv.with_algorithm(algorithm));
    let tolerance = if conv.algorithm() == Algorithm::Winograd { WINOGRAD } else { DIRECT };
    let naive = Naive::new(&conv, kernel, stride);
    let (input, output) = (conv.input(), conv.output());
    let x = random(1, input.batch * input.image_len());
    let dy = random(2, output.batch * output.image_len());
    let w = random(3, conv.weight_len());
    let y_expected = naive.forward(&wide(&x), &wide(&w));
    let dx_expected = naive.backward_data(&wide(&dy), &wide(&w));
    let dw_expected = naive.backward_weights(&wide(&x), &wide(&dy));
    for set in InstructionSet::available() {
        let report = |pass: &str, error: f64| {
            assert!(error <= tolerance, "{pass} of {conv:?} on {set:?}: {error:.1e} > {tolerance:.0e}");
        };
        let (x, dy) = (blocked(set, &input, &x), blocked(set, &output, &dy));
        let mut pack = PackedWeights::new();

        pack.pack_forward(set, &conv, &w);
        let mut y = garbage(output.blocked_len(set));
        let moments = conv::forward_with_moments(set, &conv, Input::Stored(&x), &pack, &mut y);
        report("forward", error(&unblocked(set, &output, &y), &y_expected));
        check_moments(&moments, &Moments::of(set, &output, &y), &output, &y_expected);

        pack.pack_backward(set, &conv, &w);
        let mut dx = garbage(input.blocked_len(set));
        conv::backward_data(set, &conv, &dy, &pack, &mut dx, Epilogue::default());
        report("backward-data", error(&unblocked(set, &input, &dx), &dx_expected));

        let mut dw = vec![f32::NAN; conv.weight_len()];
        conv::backward_weights(set, &conv, &x, &dy, &mut dw);
        report("backward-weights", error(&dw, &dw_expected));
    }
}

/// Statistics from the epilogue and from a separate pass against those of the twin's output. The sums may
/// cancel, so they are compared on the scale of the square root of count times the sum of squares.
fn check_moments(epilogue: &Moments, separate: &Moments, output: &BatchShape, expected: &[f64]) {
    let plane = output.height * output.width;
    for channel in 0..output.channels {
        let mut sums = (0.0, 0.0);
        for (i, v) in expected.iter().enumerate().filter(|(i, _)| i / plane % output.channels == channel) {
            let _ = i;
            sums = (sums.0 + v, sums.1 + v * v);
        }
        for moments in [epilogue, separate] {
            let scale = (sums.1 * moments.count as f64).sqrt();
            assert!((moments.sum[channel] - sums.0).abs() <= 1e-5 * scale);
            assert!((moments.square[channel] - sums.1).abs() <= 1e-5 * sums.1.max(1e-20));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn direct_kernels_agree_on_random_shapes(
        (n, ci, co) in (1usize..20, 1usize..9, 1usize..12),
        (h, w) in (1usize..=13, 1usize..=13),
        (three, two) in (any::<bool>(), any::<bool>()),
    ) {
        let (kernel, stride) = (if three { 3 } else { 1 }, if two { 2 } else { 1 });
        agrees(BatchShape::new(n, ci, h, w), co, kernel, stride, Some(Algorithm::Direct));
    }

    #[test]
    fn winograd_kernels_agree_on_random_shapes(
        (n, ci, co) in (1usize..20, 1usize..24, 1usize..24),
        (h, w) in (1usize..=13, 1usize..=13),
    ) {
        agrees(BatchShape::new(n, ci, h, w), co, 3, 1, Some(Algorithm::Winograd));
    }
}

#[test]
fn layers_of_slim_resnet_agree() {
    for (channels, outputs, size, kernel, stride) in [
        (3, 20, 32, 3, 1),
        (20, 20, 32, 3, 1),
        (20, 40, 32, 3, 2),
        (20, 40, 32, 1, 2),
        (40, 40, 16, 3, 1),
        (40, 80, 16, 3, 2),
        (80, 80, 8, 3, 1),
        (80, 160, 8, 3, 2),
        (80, 160, 8, 1, 2),
        (160, 160, 4, 3, 1),
    ] {
        agrees(BatchShape::new(3, channels, size, size), outputs, kernel, stride, None);
    }
}

#[test]
fn layers_of_slim_resnet_at_84_pixels_agree() {
    for (channels, outputs, size, kernel, stride) in [
        (3, 20, 84, 3, 1),
        (20, 20, 84, 3, 1),
        (20, 40, 84, 3, 2),
        (40, 40, 42, 3, 1),
        (40, 80, 42, 1, 2),
        (80, 80, 21, 3, 1),
        (80, 160, 21, 3, 2),
        (160, 160, 11, 3, 1),
    ] {
        agrees(BatchShape::new(1, channels, size, size), outputs, kernel, stride, None);
    }
}

#[test]
fn a_batch_of_many_blocks_agrees() {
    agrees(BatchShape::new(133, 20, 4, 4), 20, 3, 1, None);
    agrees(BatchShape::new(133, 4, 4, 4), 5, 3, 2, None);
}

#[test]
fn the_epilogue_adds_bias_residual_and_old_output_and_cuts_off() {
    for conv in [
        ConvShape::three(BatchShape::new(11, 9, 7, 6), 8, 1),
        ConvShape::three(BatchShape::new(11, 9, 7, 6), 8, 2),
        ConvShape::one(BatchShape::new(11, 9, 7, 6), 8, 2),
    ] {
        let (input, output) = (conv.input(), conv.output());
        let kernel = if conv.weight_len() == 72 { 1 } else { 3 };
        let naive = Naive::new(&conv, kernel, input.height.div_ceil(output.height));
        let (x, w) = (random(1, input.batch * input.image_len()), random(2, conv.weight_len()));
        let (bias, len) = (random(3, output.channels), output.batch * output.image_len());
        let (residual, old) = (random(4, len), random(5, len));
        let mut expected = naive.forward(&wide(&x), &wide(&w));
        for (i, v) in expected.iter_mut().enumerate() {
            let channel = i / (output.height * output.width) % output.channels;
            *v = (*v + f64::from(bias[channel]) + f64::from(residual[i]) + f64::from(old[i])).max(0.0);
        }
        for set in InstructionSet::available() {
            let mut pack = PackedWeights::new();
            pack.pack_forward(set, &conv, &w);
            let mut y = blocked(set, &output, &old);
            let residual = blocked(set, &output, &residual);
            let epilogue =
                Epilogue { bias: Some(&bias), residual: Some(&residual), accumulate: true, relu: true };
            conv::forward(set, &conv, &blocked(set, &input, &x), &pack, &mut y, epilogue);
            let error = error(&unblocked(set, &output, &y), &expected);
            assert!(error <= WINOGRAD, "{conv:?} on {set:?}: {error:.1e}");
        }
    }
}

#[test]
fn strided_input_gradients_add_to_what_is_there() {
    let conv = ConvShape::one(BatchShape::new(5, 3, 5, 5), 4, 2);
    let (input, output) = (conv.input(), conv.output());
    let (dy, w) = (random(1, output.batch * output.image_len()), random(2, conv.weight_len()));
    let old = random(3, input.batch * input.image_len());
    let mut expected = Naive::new(&conv, 1, 2).backward_data(&wide(&dy), &wide(&w));
    expected.iter_mut().zip(&old).for_each(|(e, &o)| *e += f64::from(o));
    for set in InstructionSet::available() {
        let mut pack = PackedWeights::new();
        pack.pack_backward(set, &conv, &w);
        let mut dx = blocked(set, &input, &old);
        let epilogue = Epilogue { accumulate: true, ..Epilogue::default() };
        conv::backward_data(set, &conv, &blocked(set, &output, &dy), &pack, &mut dx, epilogue);
        assert!(error(&unblocked(set, &input, &dx), &expected) <= DIRECT);
    }
}

#[test]
fn slices_need_no_alignment() {
    let conv = ConvShape::three(BatchShape::new(3, 8, 5, 5), 8, 1);
    let w = random(1, conv.weight_len());
    for set in InstructionSet::available() {
        let len = conv.input().blocked_len(set);
        let data = random(2, len);
        let mut pack = PackedWeights::new();
        pack.pack_forward(set, &conv, &w);
        let (mut y, mut shifted) = (Buffer::zeroed(len), Buffer::zeroed(len + 1));
        conv::forward(set, &conv, &data, &pack, &mut y, Epilogue::default());
        let mut x = Buffer::zeroed(len + 3);
        x[3..].copy_from_slice(&data);
        conv::forward(set, &conv, &x[3..], &pack, &mut shifted[1..], Epilogue::default());
        assert_eq!(y[..], shifted[1..]);
    }
}

#[test]
#[should_panic(expected = "input: BatchShape")]
fn a_short_input_is_refused() {
    let conv = ConvShape::one(BatchShape::new(3, 2, 5, 5), 2, 1);
    let mut pack = PackedWeights::new();
    pack.pack_forward(InstructionSet::PORTABLE, &conv, &[0.0; 4]);
    let mut y = vec![0.0; conv.output().blocked_len(InstructionSet::PORTABLE)];
    conv::forward(InstructionSet::PORTABLE, &conv, &[0.0; 7], &pack, &mut y, Epilogue::default());
}
