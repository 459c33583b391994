//! The per-channel affine map that a BatchNorm applies.

use super::Moments;

/// `y = scale · z + shift` per channel, with `scale = γ / σ` and `shift = β − γ μ / σ`.
#[derive(Clone, Debug, PartialEq)]
pub struct Normaliser {
    pub(super) mean: Vec<f32>,
    /// `1 / σ`.
    pub(super) inverse: Vec<f32>,
    pub(super) scale: Vec<f32>,
    pub(super) shift: Vec<f32>,
}

impl Normaliser {
    /// Normalises by the statistics of a batch (training).
    pub fn of_batch(moments: &Moments, gamma: &[f32], beta: &[f32], epsilon: f32) -> Self {
        let channels = 0..moments.sum.len();
        let mean: Vec<_> = channels.clone().map(|c| moments.mean(c)).collect();
        let variance: Vec<_> = channels.map(|c| moments.variance(c)).collect();
        Self::new(&mean, &variance, gamma, beta, epsilon)
    }

    /// Normalises by running statistics (evaluation).
    pub fn of_running(mean: &[f32], variance: &[f32], gamma: &[f32], beta: &[f32], epsilon: f32) -> Self {
        let wide = |values: &[f32]| values.iter().map(|&v| f64::from(v)).collect::<Vec<_>>();
        Self::new(&wide(mean), &wide(variance), gamma, beta, epsilon)
    }

    fn new(mean: &[f64], variance: &[f64], gamma: &[f32], beta: &[f32], epsilon: f32) -> Self {
        let channels = mean.len();
        assert!([variance.len(), gamma.len(), beta.len()] == [channels; 3], "one number per channel");
        let inverse: Vec<f64> = variance.iter().map(|v| 1.0 / (v + f64::from(epsilon)).sqrt()).collect();
        let scale = |c: usize| f64::from(gamma[c]) * inverse[c];
        Self {
            mean: mean.iter().map(|&m| m as f32).collect(),
            scale: (0..channels).map(|c| scale(c) as f32).collect(),
            shift: (0..channels).map(|c| (f64::from(beta[c]) - scale(c) * mean[c]) as f32).collect(),
            inverse: inverse.iter().map(|&v| v as f32).collect(),
        }
    }

    /// How many channels it normalises.
    pub fn channels(&self) -> usize {
        self.scale.len()
    }

    /// `γ / σ` per channel.
    pub fn scale(&self) -> &[f32] {
        &self.scale
    }

    /// `β − γ μ / σ` per channel: the bias of a convolution with [folded](Self::fold) weights.
    pub fn shift(&self) -> &[f32] {
        &self.shift
    }

    /// Scales the weights `[outputs][…]` of the convolution before this BatchNorm, so that
    /// `conv(x, folded) + shift = scale · conv(x, weights) + shift`.
    pub fn fold(&self, weights: &[f32], folded: &mut [f32]) {
        assert!(
            weights.len() == folded.len() && weights.len().is_multiple_of(self.channels()),
            "weights per channel"
        );
        let filter = weights.len() / self.channels();
        let filters = weights.chunks_exact(filter).zip(folded.chunks_exact_mut(filter));
        for ((from, to), &scale) in filters.zip(&self.scale) {
            for (from, to) in from.iter().zip(to) {
                *to = from * scale;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_statistics_follow_pytorch() {
        // torch: bn = nn.BatchNorm1d(1); bn(torch.tensor([[1.], [2.], [6.]])); bn.running_mean, bn.running_var
        let moments = Moments { sum: vec![9.0], square: vec![41.0], count: 3 };
        let (mut mean, mut variance) = ([0.0], [1.0]);
        moments.update_running(super::super::MOMENTUM, &mut mean, &mut variance);
        assert!((mean[0] - 0.3).abs() < 1e-6 && (variance[0] - 1.6).abs() < 1e-6);
    }

    #[test]
    fn folding_scales_each_filter() {
        let normaliser = Normaliser::of_running(&[1.0, 0.0], &[4.0, 1.0], &[1.0, 3.0], &[0.0, 5.0], 0.0);
        let mut folded = [0.0; 4];
        normaliser.fold(&[2.0, 4.0, 1.0, 2.0], &mut folded);
        assert_eq!(folded, [1.0, 2.0, 3.0, 6.0]);
        assert_eq!(normaliser.shift(), [-0.5, 5.0]);
    }
}
