//! Fused BatchNorm against its naive f64 twin, on every instruction set of this CPU.

mod common;

use common::{DIRECT, NaiveNorm, WINOGRAD, blocked, error, garbage, random, unblocked, wide};
use evenkeel_kernels::batch_norm::{self, EPSILON, Gate, Moments, NormGradient, Normaliser};
use evenkeel_kernels::conv::{self, Input};
use evenkeel_kernels::{BatchShape, ConvShape, Epilogue, InstructionSet, PackedWeights};
use proptest::prelude::*;

/// Runs forward and backward on all instruction sets and compares them with the twin.
fn agrees(shape: BatchShape, residual: bool, relu: bool, offset: f32) {
    let len = shape.batch * shape.image_len();
    let z: Vec<f32> = random(1, len).iter().map(|v| 0.5 * v + offset).collect();
    let (shortcut, dy) = (random(2, len), random(3, len));
    let (gamma, beta) = (random(4, shape.channels), random(5, shape.channels));
    let (wide_gamma, wide_beta) = (wide(&gamma), wide(&beta));
    let naive = NaiveNorm { shape, gamma: &wide_gamma, beta: &wide_beta, relu };
    let wide_shortcut = residual.then(|| wide(&shortcut));
    let expected = naive.forward(&wide(&z), wide_shortcut.as_deref());
    let gradients = naive.backward(&wide(&z), wide_shortcut.as_deref(), &wide(&dy));
    // Normalising a channel of few values divides by a small deviation: rounding of `z − μ` grows with it.
    let (_, smallest) = naive
        .statistics(&wide(&z))
        .into_iter()
        .fold((0.0, f64::INFINITY), |(_, low), (mean, variance)| (mean, low.min(variance)));
    let amplified = 1.0f64.max(f64::from(offset.abs().max(0.5)) / (smallest + 1e-5).sqrt());
    // A value within rounding of the ReLU's corner may fall on either side of it.
    let at_corner = naive
        .forward_without_relu(&wide(&z), wide_shortcut.as_deref())
        .iter()
        .any(|v| relu && v.abs() < 1e-5 * amplified);
    for set in InstructionSet::available() {
        let report = |what: &str, error: f64| {
            let tolerance = 4.0 * DIRECT * amplified;
            assert!(error <= tolerance, "{what}, {shape:?} on {set:?}: {error:.1e} > {tolerance:.0e}");
        };
        let blocked_z = blocked(set, &shape, &z);
        let blocked_shortcut = blocked(set, &shape, &shortcut);
        let moments = Moments::of(set, &shape, &blocked_z);
        let normaliser = Normaliser::of_batch(&moments, &gamma, &beta, EPSILON);
        let mut y = garbage(shape.blocked_len(set));
        let added = residual.then_some(&blocked_shortcut[..]);
        batch_norm::normalise(set, &shape, &normaliser, &blocked_z, added, relu, &mut y);
        report("forward", error(&unblocked(set, &shape, &y), &expected));
        let again = Moments::of(set, &shape, &y);
        let sum: f64 = again.sum.iter().sum();
        assert!(
            (sum - expected.iter().sum::<f64>()).abs() < 1e-3 * len as f64 * amplified,
            "padding is zero"
        );
        if at_corner {
            continue;
        }

        let gate = match (relu, residual) {
            (false, _) => Gate::Open,
            (true, false) => Gate::Input,
            (true, true) => Gate::Output(&y),
        };
        let mut g = blocked(set, &shape, &dy);
        let sums = batch_norm::backward_sums(set, &shape, &normaliser, &blocked_z, &mut g, gate);
        let scale = (naive.count() * 1.0).max(1.0);
        let worst = |actual: &[f32], expected: &[f64]| {
            actual.iter().zip(expected).fold(0.0, |m: f64, (&a, e)| m.max((f64::from(a) - e).abs())) / scale
        };
        report("gamma", worst(&sums.gamma, &gradients.gamma));
        report("beta", worst(&sums.beta, &gradients.beta));
        if residual {
            report("residual", error(&unblocked(set, &shape, &g), &gradients.residual));
        }
        let mut dz = garbage(shape.blocked_len(set));
        let gradient = NormGradient { normaliser: &normaliser, sums: &sums, z: &blocked_z, dy: &g, gate };
        batch_norm::backward_input(set, &shape, &gradient, &mut dz);
        // With few values per channel the three terms of dz cancel almost completely.
        let expected_dz: f64 = gradients.z.iter().fold(0.0, |m, v| m.max(v.abs()));
        let term = gamma.iter().fold(0.0f64, |m, &v| m.max(f64::from(v).abs())) / (smallest + 1e-5).sqrt();
        let relative =
            error(&unblocked(set, &shape, &dz), &gradients.z) * expected_dz / term.max(expected_dz);
        report("input", relative);
        if !shape.batch.is_multiple_of(set.lanes()) {
            let last = &dz[dz.len() - 1..];
            assert_eq!(last, [0.0], "padding of the gradient is zero");
        }
    }
}

impl NaiveNorm<'_> {
    fn forward_without_relu(&self, z: &[f64], residual: Option<&[f64]>) -> Vec<f64> {
        NaiveNorm { relu: false, shape: self.shape, gamma: self.gamma, beta: self.beta }.forward(z, residual)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn fused_batch_norm_agrees_on_random_shapes(
        (n, c) in (1usize..40, 1usize..9),
        (h, w) in (1usize..=13, 1usize..=13),
        (residual, relu) in (any::<bool>(), any::<bool>()),
        offset in -2.0f32..2.0,
    ) {
        agrees(BatchShape::new(n, c, h, w), residual, relu, offset);
    }
}

#[test]
fn fused_batch_norm_agrees_on_a_layer_of_slim_resnet() {
    agrees(BatchShape::new(37, 20, 16, 16), true, true, 0.1);
    agrees(BatchShape::new(37, 40, 8, 8), false, true, -0.3);
}

#[test]
fn a_folded_convolution_equals_convolution_then_batch_norm() {
    let conv = ConvShape::three(BatchShape::new(9, 20, 8, 8), 20, 1);
    let output = conv.output();
    let (x, w) = (random(1, conv.input().batch * conv.input().image_len()), random(2, conv.weight_len()));
    let shortcut = random(3, output.batch * output.image_len());
    let (gamma, beta, mean) = (random(4, 20), random(5, 20), random(6, 20));
    let variance: Vec<f32> = random(7, 20).iter().map(|v| v.abs() + 0.5).collect();
    for set in InstructionSet::available() {
        let (x, shortcut) = (blocked(set, &conv.input(), &x), blocked(set, &output, &shortcut));
        let normaliser = Normaliser::of_running(&mean, &variance, &gamma, &beta, EPSILON);
        let mut pack = PackedWeights::new();
        pack.pack_forward(set, &conv, &w);
        let mut z = garbage(output.blocked_len(set));
        conv::forward(set, &conv, &x, &pack, &mut z, Epilogue::default());
        let mut expected = garbage(output.blocked_len(set));
        batch_norm::normalise(set, &output, &normaliser, &z, Some(&shortcut), true, &mut expected);

        let mut folded = vec![0.0; w.len()];
        normaliser.fold(&w, &mut folded);
        pack.pack_forward(set, &conv, &folded);
        let bias = Some(normaliser.shift());
        let epilogue = Epilogue { bias, residual: Some(&shortcut), relu: true, accumulate: false };
        conv::forward(set, &conv, &x, &pack, &mut z, epilogue);
        let expected = wide(&unblocked(set, &output, &expected));
        assert!(error(&unblocked(set, &output, &z), &expected) <= WINOGRAD);
    }
}

#[test]
fn the_fused_backward_pass_equals_its_parts() {
    for conv in [
        ConvShape::three(BatchShape::new(150, 10, 8, 8), 10, 1),
        ConvShape::three(BatchShape::new(40, 10, 4, 4), 10, 1),
        ConvShape::three(BatchShape::new(70, 4, 6, 5), 7, 2),
        ConvShape::one(BatchShape::new(70, 4, 6, 5), 7, 2),
    ] {
        let (input, output) = (conv.input(), conv.output());
        let w = random(1, conv.weight_len());
        let (gamma, beta) = (random(2, output.channels), random(3, output.channels));
        for set in InstructionSet::available() {
            let x = blocked(set, &input, &random(4, input.batch * input.image_len()));
            let residual = blocked(set, &input, &random(5, input.batch * input.image_len()));
            let mut dy = blocked(set, &output, &random(6, output.batch * output.image_len()));
            let mut pack = PackedWeights::new();
            pack.pack_forward(set, &conv, &w);
            let mut z = garbage(output.blocked_len(set));
            let moments = conv::forward_with_moments(set, &conv, Input::Stored(&x), &pack, &mut z);
            let normaliser = Normaliser::of_batch(&moments, &gamma, &beta, EPSILON);
            let gate = Gate::Input;
            let sums = batch_norm::backward_sums(set, &output, &normaliser, &z, &mut dy, gate);
            let gradient = NormGradient { normaliser: &normaliser, sums: &sums, z: &z, dy: &dy, gate };
            pack.pack_backward(set, &conv, &w);
            let epilogue = Epilogue { residual: Some(&residual), ..Epilogue::default() };

            let mut dz = garbage(dy.len());
            batch_norm::backward_input(set, &output, &gradient, &mut dz);
            let (mut dw, mut dx) = (vec![f32::NAN; w.len()], garbage(x.len()));
            conv::backward_weights(set, &conv, &x, &dz, &mut dw);
            conv::backward_data(set, &conv, &dz, &pack, &mut dx, epilogue);

            let (mut fused_dw, mut fused_dx) = (vec![f32::NAN; w.len()], garbage(x.len()));
            conv::backward(
                set,
                &conv,
                Input::Stored(&x),
                &gradient,
                &mut fused_dw,
                Some((&pack, &mut fused_dx, epilogue)),
            );
            assert_eq!(dx[..], fused_dx[..], "{conv:?} on {set:?}");
            // Chunks of tiles may fall differently into the runs: the order of a few sums differs.
            assert!(error(&fused_dw, &wide(&dw)) <= DIRECT, "{conv:?} on {set:?}");
            let mut alone = vec![f32::NAN; w.len()];
            conv::backward(set, &conv, Input::Stored(&x), &gradient, &mut alone, None);
            assert_eq!(alone, fused_dw);
        }
    }
}

#[test]
fn an_input_that_is_normalised_on_the_fly_is_the_stored_one() {
    for conv in [
        ConvShape::three(BatchShape::new(150, 10, 8, 8), 10, 1),
        ConvShape::three(BatchShape::new(40, 10, 4, 4), 10, 1),
        ConvShape::three(BatchShape::new(70, 4, 6, 5), 7, 2),
        ConvShape::one(BatchShape::new(70, 4, 6, 5), 7, 2),
    ] {
        let (input, output) = (conv.input(), conv.output());
        let w = random(1, conv.weight_len());
        for (set, relu) in InstructionSet::available().into_iter().flat_map(|set| [(set, true), (set, false)])
        {
            let z = blocked(set, &input, &random(2, input.batch * input.image_len()));
            let (gamma, beta) = (random(3, input.channels), random(4, input.channels));
            let before = Normaliser::of_batch(&Moments::of(set, &input, &z), &gamma, &beta, EPSILON);
            let mut x = garbage(z.len());
            batch_norm::normalise(set, &input, &before, &z, None, relu, &mut x);
            let dy = blocked(set, &output, &random(5, output.batch * output.image_len()));

            let everything = |x: Input<'_>| {
                let mut pack = PackedWeights::new();
                pack.pack_forward(set, &conv, &w);
                let mut z = garbage(output.blocked_len(set));
                let moments = conv::forward_with_moments(set, &conv, x, &pack, &mut z);
                let (gamma, beta) = (random(6, output.channels), random(7, output.channels));
                let normaliser = Normaliser::of_batch(&moments, &gamma, &beta, EPSILON);
                let (gate, mut dy) = (Gate::Input, dy.clone());
                let sums = batch_norm::backward_sums(set, &output, &normaliser, &z, &mut dy, gate);
                let gradient = NormGradient { normaliser: &normaliser, sums: &sums, z: &z, dy: &dy, gate };
                pack.pack_backward(set, &conv, &w);
                let (mut dw, mut dx) = (vec![f32::NAN; w.len()], garbage(input.blocked_len(set)));
                let into = Some((&pack, &mut dx[..], Epilogue::default()));
                let before = conv::backward(set, &conv, x, &gradient, &mut dw, into);
                (z, dw, dx, before)
            };
            let (z_stored, dw_stored, mut dx_stored, none) = everything(Input::Stored(&x));
            let on_the_fly = Input::Normalised { z: &z, normaliser: &before, relu };
            let (z_fused, dw_fused, dx_fused, sums) = everything(on_the_fly);
            assert!(none.is_none());
            assert_eq!((&z_stored[..], &dw_stored, &dx_stored[..]), (&z_fused[..], &dw_fused, &dx_fused[..]));
            let gate = if relu { Gate::Input } else { Gate::Open };
            let expected = batch_norm::backward_sums(set, &input, &before, &z, &mut dx_stored, gate);
            assert_eq!(sums, Some(expected), "{conv:?} on {set:?}");
        }
    }
}
