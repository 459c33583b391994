//! The loss as a function of base and of effective weight, at the peak of the gain.

use serde::Serialize;

use super::{Learner, State, TwoTimescaleRun};

/// One abscissa of a [`Landscape`].
///
/// ```
/// let run = evenkeel::two_timescale::TwoTimescaleConfig::new().check()?.run()?;
/// let landscape = run.landscape(101);
/// let lowest = landscape.points.iter().min_by(|a, b| a.effective_loss.total_cmp(&b.effective_loss)).unwrap();
/// assert!((lowest.weight - landscape.target).abs() < 0.05);
/// # Ok::<(), evenkeel::two_timescale::TwoTimescaleError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LandscapePoint {
    /// A weight: `w` for the base loss, `W` for the effective loss.
    pub weight: f64,
    /// `L̃(w) = ½ (T − g·w)²`, with `w` = `weight`.
    pub base_loss: f64,
    /// `L(W) = ½ (T − W)²`, with `W` = `weight`.
    pub effective_loss: f64,
}

/// The loss at the time of peak gain, in the coordinates that are updated and in those that are used: Figure 2b, right panel.
///
/// ```text
/// d²L̃/dw² = g²     d²L/dW² = 1     effective curvature = base curvature / g²
/// ```
///
/// ```
/// let run = evenkeel::two_timescale::TwoTimescaleConfig::new().check()?.run()?;
/// let landscape = run.landscape(101);
/// assert!((landscape.base_curvature - landscape.gain.powi(2)).abs() < 1e-12);
/// # Ok::<(), evenkeel::two_timescale::TwoTimescaleError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Landscape {
    /// Time of peak gain.
    pub t: usize,
    /// Target at that time.
    pub target: f64,
    /// Gain `g` at that time.
    pub gain: f64,
    /// Curvature with respect to the base weight, `g²`.
    pub base_curvature: f64,
    /// Curvature with respect to the effective weight: the base curvature divided by `g²`.
    pub effective_curvature: f64,
    /// The two curves.
    pub points: Vec<LandscapePoint>,
    /// Where each learner is at that time, with the length of its next gradient step: dots and arrows of the figure.
    pub learners: [State; 3],
}

impl TwoTimescaleRun {
    /// The loss landscape at the peak of the gain, at `points` weights (at least two) spread evenly over a range in which
    /// both minima, `T/g` and `T`, and the effective weights of all learners lie.
    pub fn landscape(&self, points: usize) -> Landscape {
        let State { t, target, gain, .. } = self.peak();
        let learners = Learner::ALL.map(|learner| self.of(learner)[t]);
        let inside = [target, target / gain, 0.0].into_iter().chain(learners.map(|state| state.effective));
        let (low, high) =
            inside.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        let margin = 0.1 * (high - low).max(f64::MIN_POSITIVE);
        let (start, width) = (low - margin, high - low + 2.0 * margin);
        let last = points.max(2) - 1;
        let loss = |effective: f64| 0.5 * (target - effective).powi(2);
        let point = |i: usize| {
            let weight = start + width * i as f64 / last as f64;
            LandscapePoint { weight, base_loss: loss(gain * weight), effective_loss: loss(weight) }
        };
        let base_curvature = gain * gain;
        Landscape {
            t,
            target,
            gain,
            base_curvature,
            effective_curvature: base_curvature / (gain * gain),
            points: (0..=last).map(point).collect(),
            learners,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::TwoTimescaleConfig;
    use super::*;

    fn default_run() -> TwoTimescaleRun {
        TwoTimescaleConfig::new().check().unwrap().run().unwrap()
    }

    #[test]
    fn curvatures_are_the_second_differences_of_the_curves() {
        let landscape = default_run().landscape(41);
        let step = landscape.points[1].weight - landscape.points[0].weight;
        for three in landscape.points.windows(3) {
            let second = |loss: fn(&LandscapePoint) -> f64| {
                (loss(&three[0]) - 2.0 * loss(&three[1]) + loss(&three[2])) / (step * step)
            };
            let base = second(|point| point.base_loss);
            let effective = second(|point| point.effective_loss);
            assert!((base - landscape.base_curvature).abs() < 1e-9);
            assert!((effective - landscape.effective_curvature).abs() < 1e-9);
            assert!((base / effective - landscape.gain.powi(2)).abs() < 1e-9);
        }
    }

    #[test]
    fn both_minima_and_all_learners_are_in_view() {
        let landscape = default_run().landscape(2);
        let [first, last] = [landscape.points[0].weight, landscape.points[1].weight];
        let seen = |weight: f64| (first..last).contains(&weight);
        assert!(seen(landscape.target) && seen(landscape.target / landscape.gain));
        assert!(landscape.learners.iter().all(|state| seen(state.effective) && state.t == landscape.t));
    }

    #[test]
    fn a_step_of_the_base_weight_moves_the_effective_weight_by_the_step_length() {
        // Lemma 1: with g held, ΔW = g Δw = −α g² ∂L/∂W.
        let run = default_run();
        let landscape = run.landscape(2);
        let [now, next] = [landscape.t, landscape.t + 1].map(|t| run.gain_modulated[t]);
        assert!((now.gain * (next.base - now.base).abs() - now.step).abs() < 1e-14);
        let expected = 0.1 * now.gain.powi(2) * (now.target - now.effective).abs();
        assert!((landscape.learners[0].step - expected).abs() < 1e-14);
        assert!((landscape.learners[2].step - 0.1 * (now.target - run.slow[now.t].effective)).abs() < 1e-14);
    }
}
