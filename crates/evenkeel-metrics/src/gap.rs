//! The shape of a stability gap: how long it lasts and how far the loss jumps.

use serde::{Deserialize, Serialize};

use crate::curve::Curve;
use crate::metrics::minimum_indices;

/// Share of `E_{k−1}` that counts as recovered unless a caller chooses otherwise.
pub const RECOVERED_FRACTION: f64 = 0.95;

/// The gap after one task switch, with `θ = fraction · E_{k−1}` as the recovered level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    /// Iterations of task `k` spent below `θ`, `Σ_{i: A_i < θ} ρ_i`.
    ///
    /// A point stands for the `ρ_i` iterations since the evaluation before it: `ρ`, or less for the last point
    /// of a task that `ρ` does not divide. So the width never exceeds the task.
    pub width: u64,
    /// Iterations from the switch to the first evaluation after the minimum `m_k` with `A_i ≥ θ`.
    ///
    /// 0 if the accuracy never falls below `θ`; `None` if it does not come back within the task.
    pub recovery: Option<u64>,
    /// `max_{i in task k} L_i − L_end(k−1)`, the jump of the task-1 test loss.
    ///
    /// `None` unless the loss is known and finite at the switch and throughout the task: a spike may hide in
    /// a missing value, and a diverged run has no largest loss. Nor where it is too large to be a number.
    pub loss_spike: Option<f64>,
}

/// The gaps of all transitions, `k = 2..K`; none for a single task.
///
/// `fraction` sets the recovered level relative to `E_{k−1}`, sensibly within 0..=1; the usual choice is
/// [`RECOVERED_FRACTION`].
///
/// ```
/// use evenkeel_metrics::{Curve, Point, RECOVERED_FRACTION, gaps};
///
/// let accuracy = [(1, 100.0), (2, 60.0), (2, 40.0), (2, 90.0), (2, 97.0)];
/// let points = (1..).zip(accuracy).map(|(i, (task, acc))| Point::new(i, task, acc)).collect();
/// let gap = gaps(&Curve::new(points)?, RECOVERED_FRACTION)[0];
/// assert_eq!(gap.width, 3);
/// assert_eq!(gap.recovery, Some(4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn gaps(curve: &Curve, fraction: f64) -> Vec<Gap> {
    (2..).zip(minimum_indices(curve)).map(|(k, lowest)| gap(curve, k, lowest, fraction)).collect()
}

fn gap(curve: &Curve, k: usize, lowest: usize, fraction: f64) -> Gap {
    let range = curve.task_range(k);
    let (iterations, accuracy) = (curve.iterations(), curve.task1_acc());
    // Tasks from the second on have a predecessor, so the subtraction cannot wrap.
    let switch = range.start - 1;
    let level = fraction * accuracy[switch];
    let below = range.clone().filter(|&i| accuracy[i] < level);
    let width = below.map(|i| iterations[i] - iterations[i - 1]).sum();
    let recovery = if width == 0 {
        Some(0)
    } else {
        let back = (lowest..range.end).find(|&i| accuracy[i] >= level);
        back.map(|i| iterations[i] - iterations[switch])
    };
    let finite = |index: usize| curve.task1_loss(index).filter(|loss| loss.is_finite());
    let highest = range.map(finite).try_fold(f64::NEG_INFINITY, |highest, loss| Some(highest.max(loss?)));
    let loss_spike = highest.zip(finite(switch)).map(|(highest, start)| highest - start);
    let loss_spike = loss_spike.filter(|spike| spike.is_finite());
    Gap { width, recovery, loss_spike }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Point;
    use crate::testing::{curve, points};

    #[test]
    fn recovery_counts_from_the_switch_and_only_after_the_minimum() {
        // Back above 95 at iteration 3, but the minimum comes later.
        let curve = curve(&[&[100.0], &[80.0, 96.0, 50.0, 94.0, 95.0, 90.0]]);
        let gap = gaps(&curve, RECOVERED_FRACTION)[0];
        assert_eq!(gap.width, 4);
        assert_eq!(gap.recovery, Some(5));
        assert_eq!(gap.loss_spike, None);
    }

    #[test]
    fn a_gap_may_stay_open_or_never_open() {
        let gaps = gaps(&curve(&[&[80.0], &[40.0, 50.0], &[49.0, 48.0], &[48.0]]), RECOVERED_FRACTION);
        assert_eq!(gaps.iter().map(|gap| gap.width).collect::<Vec<_>>(), [2, 0, 0]);
        assert_eq!(gaps.iter().map(|gap| gap.recovery).collect::<Vec<_>>(), [None, Some(0), Some(0)]);
    }

    #[test]
    fn points_weigh_the_iterations_since_the_last_evaluation() {
        let rows =
            [(10, 1, 100.0), (20, 1, 100.0), (25, 1, 100.0), (35, 2, 10.0), (45, 2, 96.0), (50, 2, 20.0)];
        let points = rows.map(|(iteration, task, acc)| Point::new(iteration, task, acc)).to_vec();
        let gap = gaps(&Curve::new(points).unwrap(), RECOVERED_FRACTION)[0];
        assert_eq!(gap.width, 10 + 5);
        assert_eq!(gap.recovery, Some(20));
    }

    #[test]
    fn the_loss_spike_is_the_rise_above_the_loss_at_the_switch() {
        let spike = |losses: [Option<f64>; 4]| {
            let mut points = points(&[&[90.0, 95.0], &[50.0, 90.0]]);
            for (point, loss) in points.iter_mut().zip(losses) {
                point.task1_loss = loss;
            }
            gaps(&Curve::new(points).unwrap(), RECOVERED_FRACTION)[0].loss_spike
        };
        assert_eq!(spike([Some(9.0), Some(0.25), Some(2.0), Some(0.5)]), Some(1.75));
        assert_eq!(spike([None, Some(0.25), Some(0.125), Some(0.0)]), Some(-0.125));
        assert_eq!(spike([None, Some(0.25), None, Some(0.5)]), None);
        assert_eq!(spike([None, None, Some(2.0), Some(0.5)]), None);
        assert_eq!(spike([None, Some(0.25), Some(f64::NAN), Some(0.5)]), None);
    }

    #[test]
    fn one_task_has_no_gap() {
        assert_eq!(gaps(&curve(&[&[1.0]]), RECOVERED_FRACTION), []);
    }
}
