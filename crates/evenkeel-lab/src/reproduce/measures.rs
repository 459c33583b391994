//! Numbers per seed that several results need beside the registered quantities.

use evenkeel_metrics::{Curve, Metrics, RECOVERED_FRACTION, gaps, stats};

use crate::analysis::Measure;

/// Iterations at the end of a task over which a level is averaged.
const LEVEL: usize = 50;

/// Iterations after a switch in which a phasic response is looked for.
const EARLY: std::ops::RangeInclusive<usize> = 5..=25;

/// SG at the switch k→k+1; a diverged seed counts 1.
pub(super) fn sg(k: usize) -> Measure<'static> {
    let name = format!("SG {k}→{}", k + 1);
    let of = move |curve: &Curve| Metrics::of(curve).ok()?.sg.get(k - 1).copied().flatten();
    Measure { worst: Some(1.0), ..Measure::new(name, 3, move |seed| of(&seed.curve)) }
}

/// All gaps of a seed; `None` if one is undefined.
pub(super) fn all_sg(curve: &Curve) -> Option<Vec<f64>> {
    Metrics::of(curve).ok()?.sg.into_iter().collect()
}

/// Loss spike at the switch k→k+1.
pub(super) fn loss_spike(k: usize) -> Measure<'static> {
    let name = format!("loss spike {k}→{}", k + 1);
    Measure::new(name, 3, move |seed| {
        gaps(&seed.curve, RECOVERED_FRACTION).get(k - 1).and_then(|gap| gap.loss_spike)
    })
}

/// Gains of the iterations of task `k`.
fn gains(curve: &Curve, k: usize) -> Option<Vec<f64>> {
    let range = (k <= curve.tasks()).then(|| curve.task_range(k))?;
    curve.points().slice(range).iter().map(|point| point.gain).collect()
}

/// Mean gain over all iterations of task `k`.
pub(super) fn mean_gain(curve: &Curve, k: usize) -> Option<f64> {
    gains(curve, k).map(|gains| stats::mean(&gains))
}

/// Mean gain over the last iterations of task `k`: the level to which it has decayed.
pub(super) fn gain_level(curve: &Curve, k: usize) -> Option<f64> {
    let gains = gains(curve, k)?;
    Some(stats::mean(&gains[gains.len().saturating_sub(LEVEL)..]))
}

/// Mean gain soon after the beginning of task `k`. Not its maximum: that of a noisy curve is above its mean by selection.
pub(super) fn early_gain(curve: &Curve, k: usize) -> Option<f64> {
    let gains = gains(curve, k)?;
    gains.get(EARLY).map(stats::mean)
}

/// Least-squares slope through values at 1, 2, 3, ….
pub(super) fn slope(values: &[f64]) -> f64 {
    let (x, y) = ((values.len() + 1) as f64 / 2.0, stats::mean(values));
    let offsets = || (1..=values.len()).map(|k| k as f64 - x);
    let covariance: f64 = offsets().zip(values).map(|(dx, value)| dx * (value - y)).sum();
    covariance / offsets().map(|dx| dx * dx).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_that_of_the_line_through_the_values() {
        assert!((slope(&[2.0, 2.5, 4.0]) - 1.0).abs() < 1e-12);
        assert!((slope(&[1.0, 3.0]) - 2.0).abs() < 1e-12);
    }
}
