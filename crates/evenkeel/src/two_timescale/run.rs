//! The three learners, iteration by iteration.

use std::fmt;

use serde::Serialize;

use super::{TwoTimescale, TwoTimescaleConfig, TwoTimescaleError};

/// Who learns.
///
/// ```text
/// gain-modulated    W = g·w               w ← w − α ∂L/∂w        g ← γ g + (1−γ) g0 + η |∂L/∂g|
/// fast–slow         W = w_slow + w_fast   w_slow ← w_slow − α_s ∂L/∂W
///                                         w_fast ← δ w_fast − α_f ∂L/∂W
/// slow              W = w                 w ← w − α ∂L/∂w
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Learner {
    /// One weight under a gain.
    GainModulated,
    /// A slow weight and a fast one that decays.
    FastSlow,
    /// One weight, plain SGD.
    Slow,
}

impl Learner {
    /// All three, in the order of the figure.
    pub const ALL: [Self; 3] = [Self::GainModulated, Self::FastSlow, Self::Slow];
}

impl fmt::Display for Learner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GainModulated => "gain-modulated",
            Self::FastSlow => "fast-slow",
            Self::Slow => "slow",
        })
    }
}

/// One learner at iteration `t`, before it is updated. As `x = 1`, its output `y` is `effective`.
///
/// ```
/// let run = evenkeel::two_timescale::TwoTimescaleConfig::new().check()?.run()?;
/// let last = run.gain_modulated.last().unwrap();
/// assert!((last.slow + last.fast - last.effective).abs() < 1e-12);
/// # Ok::<(), evenkeel::two_timescale::TwoTimescaleError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct State {
    /// Who.
    pub learner: Learner,
    /// Iteration.
    pub t: usize,
    /// Target `T(t)`.
    pub target: f64,
    /// The weight `w` that gradient descent updates; `w_slow` of the fast–slow learner.
    pub base: f64,
    /// Gain `g`; 1 for learners without one.
    pub gain: f64,
    /// Slow part of `W`: `g₀ w`, or `w_slow`.
    pub slow: f64,
    /// Fast part of `W`: `(g − g₀) w`, or `w_fast`.
    pub fast: f64,
    /// Effective weight `W`, and the output `y`.
    pub effective: f64,
    /// `½ (T − y)²`.
    pub loss: f64,
    /// Length of the next gradient step in `W`: `α g² |∂L/∂W|` under a gain, `(α_s + α_f) |∂L/∂W|` for fast and slow weights.
    pub step: f64,
}

impl TwoTimescale {
    /// Runs the three learners.
    pub fn run(&self) -> Result<TwoTimescaleRun, TwoTimescaleError> {
        let [gain_modulated, fast_slow, slow] = Learner::ALL.map(|learner| self.trajectory(learner));
        Ok(TwoTimescaleRun {
            config: self.config,
            gain_modulated: gain_modulated?,
            fast_slow: fast_slow?,
            slow: slow?,
        })
    }

    /// `W = g·w + f` for all: a learner that lacks a gain keeps `g = 1`, one that lacks a fast weight keeps `f = 0`.
    fn trajectory(&self, learner: Learner) -> Result<Vec<State>, TwoTimescaleError> {
        let config = &self.config;
        let (lr, fast_lr) = match learner {
            Learner::FastSlow => (config.slow_lr, config.fast_lr),
            Learner::GainModulated | Learner::Slow => (config.lr, 0.0),
        };
        let tonic = if learner == Learner::GainModulated { self.gain.g0() } else { 1.0 };
        let (mut w, mut g, mut f) = (config.w0, tonic, 0.0);
        let mut states = Vec::with_capacity(config.steps);
        for t in 0..config.steps {
            let target = self.target(t);
            let effective = g * w + f;
            let gradient = effective - target; // ∂L/∂W
            let state = State {
                learner,
                t,
                target,
                base: w,
                gain: g,
                slow: tonic * w,
                fast: (g - tonic) * w + f,
                effective,
                loss: 0.5 * gradient * gradient,
                step: (lr * g * g + fast_lr) * gradient.abs(),
            };
            if !(state.loss.is_finite() && state.step.is_finite()) {
                return Err(TwoTimescaleError::Diverged { learner, t });
            }
            states.push(state);

            let surprise = (gradient * w).abs(); // |∂L/∂g|
            w -= lr * g * gradient;
            f = config.fast_decay * f - fast_lr * gradient;
            if learner == Learner::GainModulated {
                g = self.gain.next(g, surprise);
            }
        }
        Ok(states)
    }
}

/// The trajectories of all learners: Figure 2b, left panel.
///
/// ```
/// use evenkeel::two_timescale::{Learner, TwoTimescaleConfig};
/// let run = TwoTimescaleConfig::new().check()?.run()?;
/// assert_eq!(run.of(Learner::Slow), run.slow);
/// # Ok::<(), evenkeel::two_timescale::TwoTimescaleError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TwoTimescaleRun {
    pub(super) config: TwoTimescaleConfig,
    /// States of the gain-modulated learner.
    pub gain_modulated: Vec<State>,
    /// States of the fast–slow learner.
    pub fast_slow: Vec<State>,
    /// States of slow weights alone.
    pub slow: Vec<State>,
}

impl TwoTimescaleRun {
    /// The states of one learner.
    pub fn of(&self, learner: Learner) -> &[State] {
        match learner {
            Learner::GainModulated => &self.gain_modulated,
            Learner::FastSlow => &self.fast_slow,
            Learner::Slow => &self.slow,
        }
    }

    /// The gain-modulated learner when its gain is highest after the switch (the first such iteration).
    pub fn peak(&self) -> State {
        self.gain_modulated[self.config.switch..]
            .iter()
            .copied()
            .reduce(|best, state| if state.gain > best.gain { state } else { best })
            .expect("a checked configuration has an iteration after the switch")
    }

    /// Iterations after the switch until `|T₂ − y|` is first at most `fraction` of `|T₂ − T₁|`; `None` if never.
    ///
    /// A learner with a fast component approaches quickly (`fraction` around ½), then waits for its slow weight to take over
    /// while the fast component decays: at the default parameters slow weights alone come within 5 % of the target first.
    pub fn adaptation_time(&self, learner: Learner, fraction: f64) -> Option<usize> {
        let allowed = fraction * (self.config.t2 - self.config.t1).abs();
        let after = &self.of(learner)[self.config.switch..];
        after.iter().position(|state| (state.target - state.effective).abs() <= allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gain::GainConfig;

    fn default_run() -> TwoTimescaleRun {
        TwoTimescaleConfig::new().check().unwrap().run().unwrap()
    }

    #[test]
    fn slow_weights_lose_a_fraction_of_their_error_at_each_step() {
        let config = TwoTimescaleConfig { lr: 0.07, w0: -0.5, ..TwoTimescaleConfig::new() };
        let run = config.check().unwrap().run().unwrap();
        for t in [1_usize, 10, 99] {
            // T − y = (T − w₀) (1−α)ᵗ
            let expected = (config.t1 - config.w0) * (1.0_f64 - 0.07).powi(t as i32);
            assert!((config.t1 - run.slow[t].effective - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn fast_weights_follow_their_linear_recurrence() {
        let config = TwoTimescaleConfig::new();
        let states = default_run().fast_slow;
        for pair in states.windows(2) {
            let gradient = pair[0].effective - pair[0].target;
            assert!((pair[1].slow - (pair[0].slow - config.slow_lr * gradient)).abs() < 1e-14);
            let fast = config.fast_decay * pair[0].fast - config.fast_lr * gradient;
            assert!((pair[1].fast - fast).abs() < 1e-14);
        }
        // The fast weight has handed over to the slow one.
        let last = states.last().unwrap();
        assert!(last.fast.abs() < 0.01 && (last.slow - last.target).abs() < 0.01, "{last:?}");
    }

    #[test]
    fn a_gain_that_never_moves_leaves_slow_weights() {
        let gain = GainConfig { eta: 0.0, ..TwoTimescaleConfig::new().gain };
        let run = TwoTimescaleConfig { gain, ..TwoTimescaleConfig::new() }.check().unwrap().run().unwrap();
        for (a, b) in run.gain_modulated.iter().zip(&run.slow) {
            assert_eq!(State { learner: Learner::Slow, ..*a }, *b);
        }
    }

    #[test]
    fn the_effective_weight_is_its_slow_and_fast_parts() {
        let gain = GainConfig { g0: 1.3, ..TwoTimescaleConfig::new().gain };
        let run = TwoTimescaleConfig { gain, ..TwoTimescaleConfig::new() }.check().unwrap().run().unwrap();
        for state in Learner::ALL.iter().flat_map(|learner| run.of(*learner)) {
            assert!((state.slow + state.fast - state.effective).abs() < 1e-12, "{state:?}");
        }
    }

    #[test]
    fn the_picture_of_figure_2_holds_at_the_defaults() {
        let run = default_run();
        let (peak, switch) = (run.peak(), TwoTimescaleConfig::new().switch);
        let gains: Vec<f64> = run.gain_modulated.iter().map(|state| state.gain).collect();
        // The gain peaks shortly after the switch, higher than ever before, and decays to its baseline.
        assert!((switch + 1..switch + 10).contains(&peak.t), "{peak:?}");
        assert!(gains.iter().all(|g| *g <= peak.gain));
        assert!(gains[peak.t..].windows(2).all(|pair| pair[1] <= pair[0]));
        assert!(gains.last().unwrap() - 1.0 < 0.1 * (peak.gain - 1.0), "{:?}", gains.last());
        // It approaches the new target faster than slow weights alone, and loses less on the way …
        let time = |learner, fraction| run.adaptation_time(learner, fraction).unwrap();
        for fraction in [0.5, 0.2, 0.1] {
            assert!(time(Learner::GainModulated, fraction) < time(Learner::Slow, fraction), "{fraction}");
        }
        // … but the last of the error waits for the base weight.
        assert!(time(Learner::GainModulated, 0.05) > time(Learner::Slow, 0.05));
        let loss = |learner| run.of(learner)[switch..].iter().map(|state| state.loss).sum::<f64>();
        assert!(loss(Learner::GainModulated) < loss(Learner::FastSlow));
        assert!(loss(Learner::FastSlow) < loss(Learner::Slow));
    }

    #[test]
    fn divergence_is_an_error() {
        let gain = GainConfig { eta: 5.0, ..TwoTimescaleConfig::new().gain };
        let error = TwoTimescaleConfig { gain, ..TwoTimescaleConfig::new() }.check().unwrap().run();
        assert!(matches!(error, Err(TwoTimescaleError::Diverged { learner: Learner::GainModulated, .. })));
    }
}
