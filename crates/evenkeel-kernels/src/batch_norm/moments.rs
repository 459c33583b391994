//! Sums over a batch, from which its mean and variance follow.

use crate::conv::Tally;
use crate::instruction_set::InstructionSet;
use crate::layout::BatchShape;
use crate::scratch;
use crate::simd::{self, Kernel, Simd};
use rayon::prelude::*;

/// Pixels between two flushes to f64.
pub(super) const FLUSH: usize = 128;

/// Sums of a batch per channel, over all images and pixels.
///
/// Sums over more than a few hundred values are in f64, so the variance survives a mean that is several
/// hundred times the standard deviation. Padding images are not counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    /// `Σ x`.
    pub sum: Vec<f64>,
    /// `Σ x²`.
    pub square: Vec<f64>,
    /// Values per channel.
    pub count: usize,
}

impl Moments {
    /// Reads a blocked batch whose padding images are zero.
    pub fn of(set: InstructionSet, shape: &BatchShape, x: &[f32]) -> Self {
        shape.check(set, "batch", x.len());
        let len = 2 * shape.channels * set.lanes();
        let totals: Vec<_> = x
            .par_chunks(shape.block_len(set))
            .map(|x| {
                let mut totals = vec![0.0; 2 * shape.channels];
                scratch::with(len, |lanes| {
                    lanes.fill(0.0);
                    simd::run(set, Sums { x, tally: Tally { lanes, totals: &mut totals } });
                });
                totals
            })
            .collect();
        Self::reduce(shape, &totals)
    }

    /// Adds up `[channel][sum, square]` of several tasks in their order.
    pub(crate) fn reduce(shape: &BatchShape, tasks: &[Vec<f64>]) -> Self {
        let total = |channel: usize, which: usize| tasks.iter().map(|t| t[2 * channel + which]).sum();
        Self {
            sum: (0..shape.channels).map(|c| total(c, 0)).collect(),
            square: (0..shape.channels).map(|c| total(c, 1)).collect(),
            count: shape.batch * shape.height * shape.width,
        }
    }

    /// Mean of a channel.
    pub fn mean(&self, channel: usize) -> f64 {
        self.sum[channel] / self.count as f64
    }

    /// Biased variance of a channel, the one that a batch is normalised by.
    pub fn variance(&self, channel: usize) -> f64 {
        let mean = self.mean(channel);
        (self.square[channel] / self.count as f64 - mean * mean).max(0.0)
    }

    /// Moves running statistics towards this batch as PyTorch does:
    /// `running ← (1 − momentum) · running + momentum · batch`, with the *unbiased* variance.
    pub fn update_running(&self, momentum: f32, mean: &mut [f32], variance: &mut [f32]) {
        assert!(mean.len() == self.sum.len() && variance.len() == self.sum.len(), "one number per channel");
        let unbias = self.count as f64 / (self.count.max(2) - 1) as f64;
        let momentum = f64::from(momentum);
        for (channel, (mean, variance)) in mean.iter_mut().zip(variance).enumerate() {
            let blend = |old: f32, new: f64| ((1.0 - momentum) * f64::from(old) + momentum * new) as f32;
            *mean = blend(*mean, self.mean(channel));
            *variance = blend(*variance, self.variance(channel) * unbias);
        }
    }
}

struct Sums<'a> {
    x: &'a [f32],
    tally: Tally<'a>,
}

impl Kernel for Sums<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let channels = self.tally.totals.len() / 2;
        for run in self.x.chunks(FLUSH * channels * S::LANES) {
            for pixel in run.chunks_exact(channels * S::LANES) {
                for channel in 0..channels {
                    let x = s.get(pixel, channel * S::LANES);
                    self.tally.add(s, channel, x, s.mul(x, x));
                }
            }
            self.tally.flush(s);
        }
    }
}
