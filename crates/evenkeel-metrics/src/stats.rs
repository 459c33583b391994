//! Mean, spread and confidence interval of a few seeds.

use serde::{Deserialize, Serialize};

use crate::student_t::t_quantile_95;

/// Arithmetic mean, `x̄ = Σ x / n`; 0 for no values.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Population standard deviation, `√(Σ (x − x̄)² / n)`; 0 for no values. The paper's ± across seeds.
pub fn population_sd(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { (squared_deviations(values) / values.len() as f64).sqrt() }
}

/// Sample standard deviation, `√(Σ (x − x̄)² / (n − 1))`; `None` for fewer than two values.
pub fn sample_sd(values: &[f64]) -> Option<f64> {
    (values.len() >= 2).then(|| (squared_deviations(values) / (values.len() - 1) as f64).sqrt())
}

fn squared_deviations(values: &[f64]) -> f64 {
    let centre = mean(values);
    values.iter().map(|value| (value - centre).powi(2)).sum()
}

/// Mean over seeds with its spread and a 95 % confidence interval.
///
/// The interval is Student's, `x̄ ± t_{0.975, n−1} · s/√n`. A handful of seeds estimates its own spread badly,
/// and Student's t accounts for exactly that; a bootstrap of one mean would be too narrow at such sizes. To
/// *compare* two methods do not look whether their intervals overlap, but use
/// [`paired_bootstrap`](crate::paired_bootstrap): runs of the same seed share data order and initial weights,
/// and the pairing removes that common part.
///
/// ```
/// use evenkeel_metrics::Summary;
///
/// let summary = Summary::of(&[1.0, 2.0, 3.0]).unwrap();
/// assert_eq!((summary.mean, summary.sd), (2.0, Some(1.0)));
/// let [low, high] = summary.ci95.unwrap();
/// assert!((low + 0.4841).abs() < 1e-4 && (high - 4.4841).abs() < 1e-4);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// `x̄`.
    pub mean: f64,
    /// `s`, the sample standard deviation; `None` for one seed.
    pub sd: Option<f64>,
    /// Lower and upper bound of the mean; `None` for one seed.
    pub ci95: Option<[f64; 2]>,
}

impl Summary {
    /// Summarises the values, one per seed; `None` if there are none or one is not finite.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() || !values.iter().all(|value| value.is_finite()) {
            return None;
        }
        let mean = mean(values);
        let sd = sample_sd(values);
        let ci95 = sd.zip(t_quantile_95(values.len() - 1)).map(|(sd, t)| {
            let half = t * sd / (values.len() as f64).sqrt();
            [mean - half, mean + half]
        });
        Some(Self { mean, sd, ci95 })
    }

    /// Summarises the values if every seed has one.
    ///
    /// Leaving out the seeds without a value would favour a method for the runs in which it failed.
    pub fn of_all(values: impl IntoIterator<Item = Option<f64>>) -> Option<Self> {
        Self::of(&values.into_iter().collect::<Option<Vec<f64>>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    #[test]
    fn both_spreads_of_a_known_sample() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_close(mean(&values), 5.0);
        assert_close(population_sd(&values), 2.0);
        assert_close(sample_sd(&values).unwrap(), (32.0_f64 / 7.0).sqrt());
    }

    #[test]
    fn one_seed_has_a_mean_and_nothing_else() {
        assert_eq!(Summary::of(&[3.0]), Some(Summary { mean: 3.0, sd: None, ci95: None }));
        assert_close(population_sd(&[3.0]), 0.0);
    }

    #[test]
    fn no_values_or_a_missing_one_give_no_summary() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[1.0, f64::INFINITY]), None);
        assert_eq!(Summary::of_all([Some(1.0), None]), None);
        assert_eq!(Summary::of_all([Some(1.0), Some(2.0)]), Summary::of(&[1.0, 2.0]));
    }

    #[test]
    fn five_seeds_use_four_degrees_of_freedom() {
        let summary = Summary::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let half = 2.776_445_105 * (2.5_f64 / 5.0).sqrt();
        assert_close(summary.ci95.unwrap()[1], 3.0 + half);
    }
}
