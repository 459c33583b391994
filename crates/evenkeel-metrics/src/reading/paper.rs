//! The paper's reading: metrics of the mean curve.

use std::borrow::Borrow;

use serde::{Deserialize, Serialize};

use super::{Estimate, ReadingError};
use crate::curve::Curve;
use crate::error_propagation::{pm_of_mean, pm_of_stability_gap, pm_of_worst_case};
use crate::mean_curve::MeanCurve;
use crate::metrics::{Metrics, minimum_indices};

/// Metrics of the mean curve over seeds, with the paper's ±.
///
/// The definitions are those of [`Metrics`], taken on `Ā_i`. The ± of `E_k` and `m_k` is the population
/// standard deviation across seeds at that iteration; [`error_propagation`](crate::error_propagation) carries it to the
/// composite metrics. One seed has ± 0 throughout.
///
/// ```
/// use evenkeel_metrics::{Curve, PaperReading, Point, quantity};
///
/// let seed = |accuracy: [f64; 3]| {
///     let points = (1..).zip(accuracy).map(|(i, acc)| Point::new(i, if i == 1 { 1 } else { 2 }, acc));
///     Curve::new(points.collect())
/// };
/// // Both seeds dip to 20, one iteration apart, so the mean curve never shows 20.
/// let seeds = [seed([80.0, 20.0, 60.0])?, seed([80.0, 60.0, 20.0])?];
/// assert_eq!(PaperReading::of(&seeds)?.avg_min_acc.mean, 40.0);
/// let minimum = quantity("avg-min-ACC").unwrap();
/// assert_eq!(seeds.iter().map(|seed| (minimum.of)(seed)).collect::<Vec<_>>(), [Some(20.0), Some(20.0)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PaperReading {
    /// Number of seeds.
    pub seeds: usize,
    /// `E_k` for `k = 1..K`.
    pub ends: Vec<Estimate>,
    /// `m_k` for `k = 2..K`.
    pub minima: Vec<Estimate>,
    /// Iteration at which the mean curve first reaches `m_k`, for `k = 2..K`.
    pub minimum_iterations: Vec<u64>,
    /// avg-ACC.
    pub avg_acc: Estimate,
    /// avg-min-ACC.
    pub avg_min_acc: Estimate,
    /// WC-ACC.
    pub wc_acc: Estimate,
    /// avg-SG; `None` if any `SG_k` is.
    pub avg_sg: Option<Estimate>,
    /// `SG_k` for `k = 2..K`; `None` where `E_{k−1}` is zero or next to it.
    pub sg_per_transition: Vec<Option<Estimate>>,
}

impl PaperReading {
    /// Measures the mean of curves that share their iterations and tasks.
    pub fn of<C: Borrow<Curve>>(seeds: &[C]) -> Result<Self, ReadingError> {
        let MeanCurve { curve, pm } = MeanCurve::of(seeds)?;
        let metrics = Metrics::of(&curve)?;
        let at = |index: usize| Estimate { mean: curve.task1_acc()[index], pm: pm[index] };
        let tasks = curve.tasks();
        let ends: Vec<Estimate> = (1..=tasks).map(|k| at(curve.task_range(k).end - 1)).collect();
        let minima: Vec<Estimate> = minimum_indices(&curve).into_iter().map(at).collect();

        let sg_per_transition: Vec<Option<Estimate>> = (ends.iter().zip(&minima).zip(&metrics.sg))
            .map(|((&end, &minimum), &sg)| {
                sg.zip(pm_of_stability_gap(end, minimum)).map(|(mean, pm)| Estimate { mean, pm })
            })
            .collect();
        let avg_min_acc =
            Estimate { mean: metrics.avg_min_acc, pm: pm_of_mean(minima.iter().map(|min| min.pm)) };
        let avg_sg_pm = pm_of_mean(sg_per_transition.iter().flatten().map(|sg| sg.pm));
        Ok(Self {
            seeds: seeds.len(),
            avg_acc: Estimate { mean: metrics.avg_acc, pm: pm_of_mean(ends.iter().map(|end| end.pm)) },
            avg_min_acc,
            wc_acc: Estimate {
                mean: metrics.wc_acc,
                pm: pm_of_worst_case(ends[tasks - 1].pm, avg_min_acc.pm, tasks),
            },
            avg_sg: metrics.avg_sg.map(|mean| Estimate { mean, pm: avg_sg_pm }),
            sg_per_transition,
            minimum_iterations: metrics.minimum_iterations,
            ends,
            minima,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, curve};

    #[test]
    fn a_hand_computed_pair_of_seeds() {
        let seeds = [curve(&[&[82.0], &[66.0, 60.0], &[71.0]]), curve(&[&[78.0], &[62.0, 64.0], &[69.0]])];
        let reading = PaperReading::of(&seeds).unwrap();
        assert_eq!(reading.seeds, 2);
        assert_eq!(reading.minimum_iterations, [3, 4]);
        let estimates: Vec<_> = reading.ends.iter().map(|end| (end.mean, end.pm)).collect();
        assert_eq!(estimates, [(80.0, 2.0), (62.0, 2.0), (70.0, 1.0)]);
        let estimates: Vec<_> = reading.minima.iter().map(|min| (min.mean, min.pm)).collect();
        assert_eq!(estimates, [(62.0, 2.0), (70.0, 1.0)]);

        assert_close(reading.avg_acc.mean, 212.0 / 3.0);
        assert_close(reading.avg_acc.pm, 1.0);
        assert_close(reading.avg_min_acc.mean, 66.0);
        assert_close(reading.avg_min_acc.pm, 5.0_f64.sqrt() / 2.0);
        assert_close(reading.wc_acc.mean, 70.0 / 3.0 + 44.0);
        assert_close(reading.wc_acc.pm, (1.0_f64 / 9.0 + 4.0 / 9.0 * 1.25).sqrt());

        let first = reading.sg_per_transition[0].unwrap();
        assert_close(first.mean, 18.0 / 80.0);
        assert_close(first.pm, (8.0_f64 / 6400.0 + 324.0 * 4.0 / 80.0_f64.powi(4)).sqrt());
        let second = reading.sg_per_transition[1].unwrap();
        assert_close(second.mean, -8.0 / 62.0);
        let avg_sg = reading.avg_sg.unwrap();
        assert_close(avg_sg.mean, f64::midpoint(first.mean, second.mean));
        assert_close(avg_sg.pm, first.pm.hypot(second.pm) / 2.0);
    }

    #[test]
    fn an_undefined_gap_leaves_the_accuracies_standing() {
        let reading = PaperReading::of(&[curve(&[&[50.0], &[0.0], &[10.0]])]).unwrap();
        assert_eq!(reading.sg_per_transition, [Some(Estimate { mean: 1.0, pm: 0.0 }), None]);
        assert_eq!(reading.avg_sg, None);
        assert_close(reading.avg_acc.mean, 20.0);
    }

    #[test]
    fn one_task_has_no_reading() {
        assert!(matches!(PaperReading::of(&[curve(&[&[50.0]])]), Err(ReadingError::Metrics(_))));
        assert!(matches!(PaperReading::of::<Curve>(&[]), Err(ReadingError::Seeds(_))));
    }
}
