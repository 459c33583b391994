//! What the quantities that are measured at every switch share.

use crate::curve::Curve;
use crate::gap::{Gap, RECOVERED_FRACTION, gaps};
use crate::stats::mean;

/// Mean over the switches of a curve; `value` also gets the length of the task after the switch in iterations.
///
/// `None` if there is no switch, one has no value, or together they are too large for a number.
pub(super) fn mean_of(curve: &Curve, value: impl Fn(&Gap, u64) -> Option<f64>) -> Option<f64> {
    let ends: Vec<u64> = curve.task_ends().map(|end| end.iteration).collect();
    let lengths = ends.windows(2).map(|pair| pair[1] - pair[0]);
    let gaps = gaps(curve, RECOVERED_FRACTION);
    let values: Option<Vec<f64>> = gaps.iter().zip(lengths).map(|(gap, length)| value(gap, length)).collect();
    let mean = values.filter(|values| !values.is_empty()).map(|values| mean(&values));
    mean.filter(|mean| mean.is_finite())
}
