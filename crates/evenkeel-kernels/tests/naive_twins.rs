//! The naive backward passes against finite differences of the naive forward passes: twins must be right
//! before anything is compared with them.

mod common;

use common::{Naive, NaiveNorm, random, wide};
use evenkeel_kernels::{BatchShape, ConvShape};

/// Central differences of `loss` at `at`; in f64 with step 1e-5 they are good to about 1e-9.
fn differences(at: &[f64], loss: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let mut point = at.to_vec();
    (0..at.len())
        .map(|i| {
            point[i] = at[i] + 1e-5;
            let above = loss(&point);
            point[i] = at[i] - 1e-5;
            let below = loss(&point);
            point[i] = at[i];
            (above - below) / 2e-5
        })
        .collect()
}

fn close(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= 1e-6 * (1.0 + b.abs()), "{a} and {b}");
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn convolution_gradients_are_finite_differences() {
    for (kernel, stride) in [(3, 1), (3, 2), (1, 1), (1, 2)] {
        let input = BatchShape::new(2, 2, 5, 4);
        let conv =
            if kernel == 1 { ConvShape::one(input, 3, stride) } else { ConvShape::three(input, 3, stride) };
        let naive = Naive::new(&conv, kernel, stride);
        let x = wide(&random(1, input.batch * input.image_len()));
        let w = wide(&random(2, conv.weight_len()));
        let dy = wide(&random(3, conv.output().batch * conv.output().image_len()));
        close(&naive.backward_data(&dy, &w), &differences(&x, |x| dot(&naive.forward(x, &w), &dy)));
        close(&naive.backward_weights(&x, &dy), &differences(&w, |w| dot(&naive.forward(&x, w), &dy)));
    }
}

#[test]
fn batch_norm_gradients_are_finite_differences() {
    let shape = BatchShape::new(3, 2, 3, 2);
    let len = shape.batch * shape.image_len();
    let (z, residual, dy) = (wide(&random(1, len)), wide(&random(2, len)), wide(&random(3, len)));
    let (gamma, beta) = (wide(&random(4, 2)), wide(&random(5, 2)));
    for relu in [false, true] {
        let norm = NaiveNorm { shape, gamma: &gamma, beta: &beta, relu };
        let gradients = norm.backward(&z, Some(&residual), &dy);
        close(&gradients.z, &differences(&z, |z| dot(&norm.forward(z, Some(&residual)), &dy)));
        close(&gradients.residual, &differences(&residual, |r| dot(&norm.forward(&z, Some(r)), &dy)));
        let with = |gamma: &[f64], beta: &[f64]| {
            dot(&NaiveNorm { shape, gamma, beta, relu }.forward(&z, Some(&residual)), &dy)
        };
        close(&gradients.gamma, &differences(&gamma, |gamma| with(gamma, &beta)));
        close(&gradients.beta, &differences(&beta, |beta| with(&gamma, beta)));
    }
}
