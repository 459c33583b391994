//! How the paper carries a ± across seeds into its composite metrics.
//!
//! Every function treats its terms as independent and adds their variances. They are not independent (all
//! come from the same seeds), so these ± describe how the paper's tables were made, not a confidence.

use crate::metrics::LEAST_ACCURACY;
use crate::reading::Estimate;

/// ± of a mean of `n` terms, `√(Σ σ²) / n`; 0 for no terms. Used for avg-ACC, avg-min-ACC and avg-SG.
pub fn pm_of_mean(pms: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, n) = pms.into_iter().fold((0.0, 0_usize), |(sum, n), pm| (sum + pm * pm, n + 1));
    if n == 0 { 0.0 } else { sum.sqrt() / n as f64 }
}

/// ± of WC-ACC, `√((σ_{E_K} / K)² + ((1 − 1/K) σ_{avg-min})²)`.
pub fn pm_of_worst_case(pm_end: f64, pm_avg_min: f64, tasks: usize) -> f64 {
    let share = 1.0 / tasks as f64;
    (share * pm_end).hypot((1.0 - share) * pm_avg_min)
}

/// ± of `SG_k`, with `E = E_{k−1}` and `m = m_k`: `√((σ_E² + σ_m²) / E² + (E − m)² σ_E² / E⁴)`.
///
/// `None` if `E` is zero or next to it, as for the gap itself. (First-order propagation would have `m² σ_E² / E⁴` in place of
/// the two `σ_E` terms: the paper treats numerator and denominator as independent.)
pub fn pm_of_stability_gap(end: Estimate, minimum: Estimate) -> Option<f64> {
    let drop = end.mean - minimum.mean;
    let relative = |pm: f64| pm / end.mean;
    (end.mean >= LEAST_ACCURACY).then(|| {
        let numerator = relative(end.pm).hypot(relative(minimum.pm));
        numerator.hypot(relative(drop) * relative(end.pm))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    /// Half a unit of the last printed digit, plus what the rounded inputs may add.
    #[track_caller]
    fn assert_printed(value: f64, printed: f64) {
        assert!((value - printed).abs() < 1.0e-3, "{value} does not print as {printed}");
    }

    #[test]
    fn avg_sg_of_the_paper_follows_from_its_transitions() {
        assert_printed(pm_of_mean([0.015, 0.006, 0.008, 0.004]), 0.005);
        assert_close(pm_of_mean([0.015, 0.006, 0.008, 0.004]), 0.000_341_f64.sqrt() / 4.0);
        assert_printed(pm_of_mean([0.097, 0.060, 0.094, 0.090]), 0.043);
        assert_printed(pm_of_mean([0.000, 0.013, 0.006, 0.009]), 0.004);
    }

    #[test]
    fn avg_acc_of_the_paper_follows_from_its_task_ends() {
        assert_printed(pm_of_mean([0.60, 2.09, 1.11, 3.99, 6.34]), 1.576);
    }

    #[test]
    fn wc_acc_of_the_paper_follows_from_the_last_end_and_avg_min() {
        assert_printed(pm_of_worst_case(6.34, 3.875, 5), 3.349);
    }

    #[test]
    fn a_hand_computed_gap() {
        let (end, minimum) = (Estimate { mean: 80.0, pm: 2.0 }, Estimate { mean: 60.0, pm: 3.0 });
        let variance: f64 = (4.0 + 9.0) / 6400.0 + 400.0 * 4.0 / 80.0_f64.powi(4);
        assert_close(pm_of_stability_gap(end, minimum).unwrap(), variance.sqrt());
        for nothing in [0.0, 1e-320] {
            assert_eq!(pm_of_stability_gap(Estimate { mean: nothing, pm: 1.0 }, minimum), None);
        }
    }

    #[test]
    fn nothing_to_combine_has_no_spread() {
        assert_close(pm_of_mean([]), 0.0);
    }
}
