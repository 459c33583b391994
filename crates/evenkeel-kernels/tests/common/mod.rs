//! Naive f64 twins of the kernels, written for clarity, and helpers to compare with them.
#![allow(dead_code)] // Every test file uses its own part.

use evenkeel_kernels::{BatchShape, Buffer, ConvShape, InstructionSet, layout};

/// Allowed error of sums of products, relative to the largest value: a few ulp (2⁻²⁴ ≈ 6e-8) of partial
/// sums that may exceed the result.
pub(crate) const DIRECT: f64 = 2e-6;
/// Allowed error of Winograd F(4×4): its transforms amplify rounding by the products of their entries.
pub(crate) const WINOGRAD: f64 = 5e-5;

/// Uniform numbers in `[-1, 1)` from a small generator, the same for every run.
pub(crate) fn random(seed: u64, len: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    (0..len).map(|_| (next() >> 40) as f32 / (1u64 << 23) as f32 - 1.0).collect()
}

pub(crate) fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&v| f64::from(v)).collect()
}

pub(crate) fn blocked(set: InstructionSet, shape: &BatchShape, nchw: &[f32]) -> Buffer {
    let mut out = Buffer::zeroed(shape.blocked_len(set));
    layout::to_blocked(set, shape, nchw, &mut out);
    out
}

pub(crate) fn unblocked(set: InstructionSet, shape: &BatchShape, blocked: &[f32]) -> Vec<f32> {
    let mut out = vec![0.0; shape.batch * shape.image_len()];
    layout::from_blocked(set, shape, blocked, &mut out);
    out
}

/// A buffer full of NaN: what a kernel must overwrite.
pub(crate) fn garbage(len: usize) -> Buffer {
    let mut buffer = Buffer::zeroed(len);
    buffer.fill(f32::NAN);
    buffer
}

/// Largest difference relative to the largest expected value.
pub(crate) fn error(actual: &[f32], expected: &[f64]) -> f64 {
    assert_eq!(actual.len(), expected.len());
    let scale = expected.iter().fold(1e-30, |m: f64, v| m.max(v.abs()));
    let worst = actual.iter().zip(expected).fold(0.0, |m: f64, (&a, e)| {
        let difference = (f64::from(a) - e).abs();
        if difference.is_nan() { f64::INFINITY } else { m.max(difference) }
    });
    worst / scale
}

/// Size, kernel and stride of a convolution, in the terms of the naive twins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Naive {
    pub(crate) input: BatchShape,
    pub(crate) output: BatchShape,
    pub(crate) kernel: usize,
    pub(crate) stride: usize,
}

impl Naive {
    pub(crate) fn new(conv: &ConvShape, kernel: usize, stride: usize) -> Self {
        Self { input: conv.input(), output: conv.output(), kernel, stride }
    }

    /// Calls `visit(x index, w index, y index)` for every product of the convolution.
    fn products(&self, mut visit: impl FnMut(usize, usize, usize)) {
        let (i, o, k) = (self.input, self.output, self.kernel);
        let pad = (k - 1) / 2;
        for n in 0..i.batch {
            for co in 0..o.channels {
                for ci in 0..i.channels {
                    for oy in 0..o.height {
                        for ky in 0..k {
                            let Some(y) = (oy * self.stride + ky).checked_sub(pad).filter(|&y| y < i.height)
                            else {
                                continue;
                            };
                            for ox in 0..o.width {
                                for kx in 0..k {
                                    let x = (ox * self.stride + kx).checked_sub(pad);
                                    let Some(x) = x.filter(|&x| x < i.width) else { continue };
                                    visit(
                                        ((n * i.channels + ci) * i.height + y) * i.width + x,
                                        ((co * i.channels + ci) * k + ky) * k + kx,
                                        ((n * o.channels + co) * o.height + oy) * o.width + ox,
                                    );
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    pub(crate) fn forward(&self, x: &[f64], w: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.output.batch * self.output.image_len()];
        self.products(|xi, wi, yi| y[yi] += x[xi] * w[wi]);
        y
    }

    pub(crate) fn backward_data(&self, dy: &[f64], w: &[f64]) -> Vec<f64> {
        let mut dx = vec![0.0; self.input.batch * self.input.image_len()];
        self.products(|xi, wi, yi| dx[xi] += dy[yi] * w[wi]);
        dx
    }

    pub(crate) fn backward_weights(&self, x: &[f64], dy: &[f64]) -> Vec<f64> {
        let mut dw = vec![0.0; self.output.channels * self.input.channels * self.kernel * self.kernel];
        self.products(|xi, wi, yi| dw[wi] += dy[yi] * x[xi]);
        dw
    }
}

/// BatchNorm in f64: `relu?(γ (z − μ)/σ + β + residual?)`.
pub(crate) struct NaiveNorm<'a> {
    pub(crate) shape: BatchShape,
    pub(crate) gamma: &'a [f64],
    pub(crate) beta: &'a [f64],
    pub(crate) relu: bool,
}

/// What the backward pass of [`NaiveNorm`] returns.
pub(crate) struct NormGradients {
    pub(crate) z: Vec<f64>,
    pub(crate) residual: Vec<f64>,
    pub(crate) gamma: Vec<f64>,
    pub(crate) beta: Vec<f64>,
}

impl NaiveNorm<'_> {
    pub(crate) fn channel(&self, index: usize) -> usize {
        index / (self.shape.height * self.shape.width) % self.shape.channels
    }

    pub(crate) fn count(&self) -> f64 {
        (self.shape.batch * self.shape.height * self.shape.width) as f64
    }

    /// Mean and biased variance per channel.
    pub(crate) fn statistics(&self, z: &[f64]) -> Vec<(f64, f64)> {
        let over = |channel: usize, f: &dyn Fn(f64) -> f64| {
            let values = z.iter().enumerate().filter(|&(i, _)| self.channel(i) == channel);
            values.map(|(_, &v)| f(v)).sum::<f64>() / self.count()
        };
        let of = |c: usize| {
            let mean = over(c, &|v| v);
            (mean, over(c, &|v| (v - mean) * (v - mean)))
        };
        (0..self.shape.channels).map(of).collect()
    }

    fn hats(&self, z: &[f64]) -> Vec<f64> {
        let statistics = self.statistics(z);
        let hat = |(i, &v): (usize, &f64)| {
            let (mean, variance) = statistics[self.channel(i)];
            (v - mean) / (variance + 1e-5).sqrt()
        };
        z.iter().enumerate().map(hat).collect()
    }

    pub(crate) fn forward(&self, z: &[f64], residual: Option<&[f64]>) -> Vec<f64> {
        let finish = |(i, hat): (usize, f64)| {
            let c = self.channel(i);
            let v = self.gamma[c] * hat + self.beta[c] + residual.map_or(0.0, |r| r[i]);
            if self.relu { v.max(0.0) } else { v }
        };
        self.hats(z).into_iter().enumerate().map(finish).collect()
    }

    pub(crate) fn backward(&self, z: &[f64], residual: Option<&[f64]>, dy: &[f64]) -> NormGradients {
        let y = self.forward(z, residual);
        let gate = |(&dy, &y): (&f64, &f64)| if self.relu && y <= 0.0 { 0.0 } else { dy };
        let g: Vec<f64> = dy.iter().zip(&y).map(gate).collect();
        let (hats, statistics) = (self.hats(z), self.statistics(z));
        let (mut gamma, mut beta) = (vec![0.0; self.shape.channels], vec![0.0; self.shape.channels]);
        for (i, (&g, &hat)) in g.iter().zip(&hats).enumerate() {
            gamma[self.channel(i)] += g * hat;
            beta[self.channel(i)] += g;
        }
        let input = |(i, (&g, &hat)): (usize, (&f64, &f64))| {
            let c = self.channel(i);
            let scale = self.gamma[c] / (statistics[c].1 + 1e-5).sqrt();
            scale * (g - beta[c] / self.count() - hat * gamma[c] / self.count())
        };
        let dz = g.iter().zip(&hats).enumerate().map(input).collect();
        NormGradients { z: dz, residual: g, gamma, beta }
    }
}
