//! Paired comparison of two methods over the same seeds.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::stats::{Summary, mean};

/// Upper limit for the number of resamples: more adds no precision that a report could show.
pub const MAX_RESAMPLES: usize = 1_000_000;

/// Mean difference between two methods over the same seeds, `d_s = a_s − b_s`, with two 95 % intervals.
///
/// The runs of one seed share data order and initial weights, so the differences carry none of the variation
/// that those cause, and their interval is narrower than what the two separate intervals suggest. The
/// bootstrap assumes no shape: differences of accuracies near a bound or of recovery times are skewed, which
/// an interval symmetric around the mean cannot express.
///
/// **With few seeds the percentile interval is too narrow.** It resamples only what was seen: for normal
/// differences the nominal 95 % cover the truth in about 74 % of cases with 3 seeds, 84 % with 5 and 90 % with
/// 10. `t_ci95` keeps its 95 % there if the differences are near normal. Call two methods different only
/// where both intervals leave 0 out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PairedDifference {
    /// `d̄`, positive if `a` is larger.
    pub mean: f64,
    /// 2.5 % and 97.5 % percentiles of the resampled means.
    pub ci95: [f64; 2],
    /// Student's interval of the differences, `d̄ ± t_{0.975, n−1} · s_d/√n`.
    pub t_ci95: [f64; 2],
    /// Number of pairs.
    pub n: usize,
}

/// Why two samples cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BootstrapError {
    /// Values are paired by seed.
    #[error("the samples have {a} and {b} values, so they cannot be paired")]
    LengthMismatch {
        /// Values in the first sample.
        a: usize,
        /// Values in the second sample.
        b: usize,
    },
    /// One difference says nothing about its spread.
    #[error("{n} pairs are too few, at least two are needed")]
    TooFewPairs {
        /// Pairs given.
        n: usize,
    },
    /// The number of resamples is 0 or above [`MAX_RESAMPLES`].
    #[error("{resamples} resamples are outside 1..={MAX_RESAMPLES}")]
    Resamples {
        /// Resamples asked for.
        resamples: usize,
    },
    /// A value, or a difference, is infinite or not a number.
    #[error("pair {pair} has no finite difference")]
    NotFinite {
        /// The pair, from 1.
        pair: usize,
    },
}

/// Percentile bootstrap of the mean paired difference `a − b`; the same seed gives the same interval.
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `a`, `b` | one value per seed, in the same order | equal length, at least 2, finite |
/// | `resamples` | bootstrap samples; 10 000 is plenty | 1..=[`MAX_RESAMPLES`] |
/// | `seed` | of the ChaCha8 generator that draws them | any |
///
/// ```
/// use evenkeel_metrics::paired_bootstrap;
///
/// // The methods differ by far less than the seeds do, and yet consistently.
/// let difference = paired_bootstrap(&[71.0, 84.0, 93.0, 78.0], &[70.0, 82.5, 92.2, 77.1], 10_000, 7)?;
/// assert!((difference.mean - 1.05).abs() < 1e-9);
/// assert!(difference.ci95[0] > 0.0);
/// # Ok::<(), evenkeel_metrics::BootstrapError>(())
/// ```
pub fn paired_bootstrap(
    a: &[f64],
    b: &[f64],
    resamples: usize,
    seed: u64,
) -> Result<PairedDifference, BootstrapError> {
    let n = a.len();
    if n != b.len() {
        return Err(BootstrapError::LengthMismatch { a: n, b: b.len() });
    }
    if !(1..=MAX_RESAMPLES).contains(&resamples) {
        return Err(BootstrapError::Resamples { resamples });
    }
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    if let Some(index) = differences.iter().position(|difference| !difference.is_finite()) {
        return Err(BootstrapError::NotFinite { pair: index + 1 });
    }
    let student = Summary::of(&differences).and_then(|summary| summary.ci95);
    let t_ci95 = student.ok_or(BootstrapError::TooFewPairs { n })?;

    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut resample = || (0..n).map(|_| differences[rng.random_range(0..n)]).sum::<f64>() / n as f64;
    let mut means: Vec<f64> = (0..resamples).map(|_| resample()).collect();
    means.sort_by(f64::total_cmp);
    let ci95 = [percentile(&means, 0.025), percentile(&means, 0.975)];
    Ok(PairedDifference { mean: mean(&differences), ci95, t_ci95, n })
}

/// Linear interpolation between the two order statistics around `share`.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let position = share * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
    low + position.fract() * (high - low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        let (a, b) = ([1.03, 5.11, 3.2, 8.07, 2.0], [0.5, 5.5, 1.0, 6.0, 2.51]);
        let run = |seed| paired_bootstrap(&a, &b, 100, seed).unwrap();
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
        let [low, high] = run(1).ci95;
        assert!(low < run(1).mean && run(1).mean < high);
        // Too narrow with five pairs, as documented.
        assert!(run(1).t_ci95[0] < low && high < run(1).t_ci95[1]);
    }

    #[test]
    fn a_constant_difference_has_no_width() {
        let difference = paired_bootstrap(&[3.0, 9.0, 5.0], &[1.0, 7.0, 3.0], 100, 0).unwrap();
        assert_eq!(difference, PairedDifference { mean: 2.0, ci95: [2.0; 2], t_ci95: [2.0; 2], n: 3 });
    }

    #[test]
    fn swapping_the_methods_mirrors_the_interval() {
        let (a, b) = ([1.0, 5.0, 3.0, 9.0], [0.0, 7.0, 2.0, 4.0]);
        let (forth, back) =
            (paired_bootstrap(&a, &b, 999, 3).unwrap(), paired_bootstrap(&b, &a, 999, 3).unwrap());
        assert_close(forth.mean, -back.mean);
        assert_close(forth.ci95[0], -back.ci95[1]);
        assert_close(forth.ci95[1], -back.ci95[0]);
    }

    #[test]
    fn percentiles_interpolate() {
        assert_close(percentile(&[0.0, 10.0, 20.0], 0.25), 5.0);
        assert_close(percentile(&[4.0], 0.975), 4.0);
    }

    #[test]
    fn bad_samples_are_refused() {
        let fault = |a: &[f64], b: &[f64], resamples| paired_bootstrap(a, b, resamples, 0).unwrap_err();
        assert_eq!(fault(&[1.0, 2.0], &[1.0], 10), BootstrapError::LengthMismatch { a: 2, b: 1 });
        assert_eq!(fault(&[], &[], 10), BootstrapError::TooFewPairs { n: 0 });
        assert_eq!(fault(&[1.0], &[1.0], 10), BootstrapError::TooFewPairs { n: 1 });
        assert_eq!(fault(&[1.0, 2.0], &[1.0, 2.0], 0), BootstrapError::Resamples { resamples: 0 });
        assert_eq!(
            fault(&[1.0; 2], &[1.0; 2], usize::MAX),
            BootstrapError::Resamples { resamples: usize::MAX }
        );
        assert_eq!(fault(&[1.0, f64::NAN], &[1.0, 2.0], 10), BootstrapError::NotFinite { pair: 2 });
        assert_eq!(fault(&[f64::MAX; 2], &[-f64::MAX; 2], 10), BootstrapError::NotFinite { pair: 1 });
    }
}
