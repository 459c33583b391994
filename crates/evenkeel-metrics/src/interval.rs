//! Mean over seeds with Student's 95 % interval.

use serde::{Deserialize, Serialize};

use crate::stats::{mean, sample_sd};
use crate::student_t::t_quantile_95;

/// With fewer seeds than this there is no interval and no test: one or two say next to nothing of their own spread.
pub const FEWEST_SEEDS: usize = 3;

/// Mean over seeds with its spread and a 95 % confidence interval.
///
/// The interval is Student's, `x̄ ± t_{0.975, n−1} · s/√n`: a handful of seeds estimates its own spread badly, and Student's t
/// accounts for exactly that. To *compare* two methods do not look whether their intervals overlap, but use
/// [`Evidence`](crate::Evidence): runs of the same seed share data order and initial weights, and the pairing removes that common
/// part.
///
/// ```
/// use evenkeel_metrics::Interval;
///
/// let interval = Interval::of(&[1.0, 2.0, 3.0]).unwrap();
/// assert_eq!((interval.mean, interval.sd), (2.0, Some(1.0)));
/// let [low, high] = interval.ci95.unwrap();
/// assert!((low + 0.4841).abs() < 1e-4 && (high - 4.4841).abs() < 1e-4);
/// assert_eq!(Interval::of(&[1.0, 2.0]).unwrap().ci95, None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Number of seeds.
    pub n: usize,
    /// `x̄`.
    pub mean: f64,
    /// `s`, the sample standard deviation; `None` for one seed.
    pub sd: Option<f64>,
    /// Lower and upper bound of the mean; `None` for fewer than [`FEWEST_SEEDS`].
    pub ci95: Option<[f64; 2]>,
}

impl Interval {
    /// Of values, one per seed; `None` if there are none or one is not finite.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() || !values.iter().all(|value| value.is_finite()) {
            return None;
        }
        let (n, mean, sd) = (values.len(), mean(values), sample_sd(values));
        let quantile = (n >= FEWEST_SEEDS).then(|| t_quantile_95(n - 1)).flatten();
        let ci95 = sd.zip(quantile).map(|(sd, t)| {
            let half = t * sd / (n as f64).sqrt();
            [mean - half, mean + half]
        });
        Some(Self { n, mean, sd, ci95 })
    }

    /// The same interval cut to the values that are possible at all, such as [0, 100] for an accuracy.
    #[must_use]
    pub fn clamped(mut self, [low, high]: [f64; 2]) -> Self {
        self.ci95 = self.ci95.map(|bounds| bounds.map(|bound| bound.clamp(low, high)));
        self
    }

    /// Standard error of the mean, `s/√n`; `None` for one seed.
    pub fn standard_error(&self) -> Option<f64> {
        self.sd.map(|sd| sd / (self.n as f64).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    #[test]
    fn one_or_two_seeds_have_no_interval() {
        assert_eq!(Interval::of(&[3.0]), Some(Interval { n: 1, mean: 3.0, sd: None, ci95: None }));
        let two = Interval::of(&[3.0, 5.0]).unwrap();
        assert_eq!((two.n, two.mean, two.sd, two.ci95), (2, 4.0, Some(2.0_f64.sqrt()), None));
    }

    #[test]
    fn no_values_or_a_missing_one_give_nothing() {
        assert_eq!(Interval::of(&[]), None);
        assert_eq!(Interval::of(&[1.0, f64::INFINITY]), None);
    }

    #[test]
    fn five_seeds_use_four_degrees_of_freedom() {
        let interval = Interval::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let half = 2.776_445_105 * (2.5_f64 / 5.0).sqrt();
        assert_close(interval.ci95.unwrap()[1], 3.0 + half);
        assert_close(interval.standard_error().unwrap(), (2.5_f64 / 5.0).sqrt());
    }

    #[test]
    fn an_accuracy_cannot_be_above_a_hundred() {
        let [low, high] = Interval::of(&[90.0, 100.0, 99.0]).unwrap().clamped([0.0, 100.0]).ci95.unwrap();
        assert!(low < 90.0 && low > 0.0);
        assert_close(high, 100.0);
    }
}
