//! The gap without a switch: how far the minimum of a noisy curve falls by itself.

use crate::curve::Curve;
use crate::metrics::stability_gap;

/// The statistic of a switch where there is none: `(E − m) / E`, with `E` the accuracy on task 1 after iteration `from` and `m` the
/// minimum after it, to the end of the curve.
///
/// The minimum over hundreds of evaluations of a network that goes on training lies below where it began, switch or not. What a control
/// shows, trained on for as long on the data that it has seen, is no gap; what a switch shows beyond it is:
///
/// ```text
/// excess_k = SG_k − SG_k of the control
/// ```
///
/// `None` if nothing was evaluated at `from` or after it, or if `E` is 0.
///
/// ```
/// use evenkeel_metrics::{Curve, Point, noise_floor::gap_after};
///
/// let points = (1..).zip([70.0, 80.0, 76.0, 79.0]).map(|(i, acc)| Point::new(i, 1, acc)).collect();
/// let control = Curve::new(points)?;
/// assert!((gap_after(&control, 2).unwrap() - 0.05).abs() < 1e-12);
/// assert_eq!(gap_after(&control, 4), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn gap_after(curve: &Curve, from: u64) -> Option<f64> {
    let start = curve.iterations().binary_search(&from).ok()?;
    let after = &curve.task1_acc()[start + 1..];
    let lowest = after.iter().copied().reduce(f64::min)?;
    stability_gap(curve.task1_acc()[start], lowest)
}

/// How far the task-1 loss of a control rises above where it was after iteration `from`, to the end of the curve: negative where it stays
/// below. What [`crate::Gap::loss_spike`] shows beyond it is the switch's.
///
/// `None` if a loss was not measured, or is not finite, at `from` or after it.
///
/// ```
/// use evenkeel_metrics::{Curve, Point, noise_floor::loss_rise_after};
///
/// let mut points: Vec<Point> = (1..=3).map(|i| Point::new(i, 1, 90.0)).collect();
/// for (point, loss) in points.iter_mut().zip([0.5, 0.75, 0.625]) {
///     point.task1_loss = Some(loss);
/// }
/// let control = Curve::new(points)?;
/// assert_eq!(loss_rise_after(&control, 1), Some(0.25));
/// assert_eq!(loss_rise_after(&control, 2), Some(-0.125));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn loss_rise_after(curve: &Curve, from: u64) -> Option<f64> {
    let start = curve.iterations().binary_search(&from).ok()?;
    let finite = |index: usize| curve.task1_loss(index).filter(|loss| loss.is_finite());
    let after: Vec<f64> = (start + 1..curve.iterations().len()).map(finite).collect::<Option<_>>()?;
    Some(after.into_iter().reduce(f64::max)? - finite(start)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::curve;

    #[test]
    fn only_what_comes_after_counts_and_only_if_it_was_evaluated() {
        let control = curve(&[&[10.0, 80.0, 90.0, 72.0, 81.0]]);
        assert_eq!(gap_after(&control, 3), Some(0.2));
        assert_eq!(gap_after(&control, 5), None);
        assert_eq!(gap_after(&control, 9), None);
        assert_eq!(gap_after(&curve(&[&[0.0, 80.0]]), 1), None);
    }
}
