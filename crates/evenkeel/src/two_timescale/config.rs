//! Parameters of the scalar model.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Learner;
use crate::gain::{GainConfig, GainDynamics, GainError};

/// Why the scalar model was refused, or stopped.
///
/// ```
/// use evenkeel::two_timescale::{TwoTimescaleConfig, TwoTimescaleError};
/// let refused = TwoTimescaleConfig { fast_decay: 1.0, ..TwoTimescaleConfig::new() }.check();
/// assert_eq!(refused, Err(TwoTimescaleError::FastDecay(1.0)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum TwoTimescaleError {
    /// A number that has to be finite is not.
    #[error("{name} must be finite, got {value}")]
    NotFinite {
        /// The field.
        name: &'static str,
        /// What was given.
        value: f64,
    },
    /// A learning rate at which even plain SGD does not converge: its error is multiplied by `1 − α` a step.
    #[error("{name} must be in (0, 2), got {value}")]
    Lr {
        /// `lr`, `slow_lr` or `fast_lr`.
        name: &'static str,
        /// What was given.
        value: f64,
    },
    /// Fast weights that would not decay.
    #[error("fast_decay must be in [0, 1), got {0}")]
    FastDecay(f64),
    /// No iteration before or none after the switch.
    #[error("switch must be in 1..{steps}, got {switch}")]
    Switch {
        /// The iteration of the switch.
        switch: usize,
        /// All iterations.
        steps: usize,
    },
    /// Parameters of the gain.
    #[error(transparent)]
    Gain(#[from] GainError),
    /// Learning rate or gain scale are too large for these targets.
    #[error("the {learner} learner diverges at t = {t}; try a smaller learning rate or eta")]
    Diverged {
        /// Which learner.
        learner: Learner,
        /// The iteration whose state is no longer finite.
        t: usize,
    },
}

/// Parameters of the scalar model, not yet checked; [`check`](Self::check) makes them usable.
///
/// The paper prints none of these values but `g₀ = 1`. The defaults are this project's: they show the picture of
/// Figure 2, a gain that peaks right after the switch and a faster approach to the new target.
///
/// | field | paper | default | range | purpose |
/// |---|---|---|---|---|
/// | `t1`, `t2` | T₁, T₂ | 1, 2 | finite | target before and after the switch |
/// | `switch` | – | 100 | `1..steps` | first iteration with target T₂ |
/// | `steps` | – | 300 | `> switch` | iterations |
/// | `w0` | – | 0 | finite | initial weight |
/// | `lr` | α | 0.1 | `(0, 2)` | learning rate of the gain-modulated learner and of slow weights alone |
/// | `gain` | γ, η, g₀ | 0.9, 0.2, 1 | see [`GainConfig`] | the gain, driven by `H = |∂L/∂g|` |
/// | `slow_lr`, `fast_lr` | – | 0.1, 0.2 | `(0, 2)` | learning rates of slow and fast weights |
/// | `fast_decay` | – | 0.9 | `[0, 1)` | what is left of the fast weight after an iteration |
///
/// The fast–slow learner has the slow learning rate of the other two, a fast one twice as large, and fast weights that
/// decay at the gain's rate γ, so that no learner has the longer memory.
///
/// ```
/// use evenkeel::two_timescale::TwoTimescaleConfig;
/// let harder = TwoTimescaleConfig { t2: -2.0, ..TwoTimescaleConfig::new() };
/// assert!(harder.check().is_ok());
/// ```
///
/// References: Figure 2 and equations 3–4 of the paper; Hinton and Plaut, *Using fast weights to deblur old memories*
/// (1987), for fast weights; the scalar model follows Jones et al. (2022).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TwoTimescaleConfig {
    /// Target T₁ before the switch.
    pub t1: f64,
    /// Target T₂ from the switch on.
    pub t2: f64,
    /// First iteration with target T₂.
    pub switch: usize,
    /// Number of iterations.
    pub steps: usize,
    /// Initial weight, of all learners.
    pub w0: f64,
    /// Learning rate α of the gain-modulated learner and of slow weights alone.
    pub lr: f64,
    /// The gain.
    pub gain: GainConfig,
    /// Learning rate of the slow weight beside a fast one.
    pub slow_lr: f64,
    /// Learning rate of the fast weight.
    pub fast_lr: f64,
    /// Factor by which the fast weight decays at each iteration.
    pub fast_decay: f64,
}

impl Default for TwoTimescaleConfig {
    fn default() -> Self {
        Self {
            t1: 1.0,
            t2: 2.0,
            switch: 100,
            steps: 300,
            w0: 0.0,
            lr: 0.1,
            gain: GainConfig { gamma: 0.9, eta: 0.2, g0: 1.0 },
            slow_lr: 0.1,
            fast_lr: 0.2,
            fast_decay: 0.9,
        }
    }
}

impl TwoTimescaleConfig {
    /// The parameters of the table above.
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks the ranges; only what comes out of here can run.
    pub fn check(self) -> Result<TwoTimescale, TwoTimescaleError> {
        for (name, value) in [("t1", self.t1), ("t2", self.t2), ("w0", self.w0)] {
            if !value.is_finite() {
                return Err(TwoTimescaleError::NotFinite { name, value });
            }
        }
        for (name, value) in [("lr", self.lr), ("slow_lr", self.slow_lr), ("fast_lr", self.fast_lr)] {
            if !(value > 0.0 && value < 2.0) {
                return Err(TwoTimescaleError::Lr { name, value });
            }
        }
        if !(0.0..1.0).contains(&self.fast_decay) {
            return Err(TwoTimescaleError::FastDecay(self.fast_decay));
        }
        if !(1..self.steps).contains(&self.switch) {
            return Err(TwoTimescaleError::Switch { switch: self.switch, steps: self.steps });
        }
        Ok(TwoTimescale { config: self, gain: self.gain.check()? })
    }
}

/// The scalar model with checked parameters; [`run`](Self::run) is in the module's example.
///
/// ```
/// let model = evenkeel::two_timescale::TwoTimescaleConfig::new().check()?;
/// assert_eq!((model.target(99), model.target(100)), (1.0, 2.0));
/// # Ok::<(), evenkeel::two_timescale::TwoTimescaleError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoTimescale {
    pub(super) config: TwoTimescaleConfig,
    pub(super) gain: GainDynamics,
}

impl TwoTimescale {
    /// The parameters.
    pub fn config(&self) -> TwoTimescaleConfig {
        self.config
    }

    /// The target `T(t)`.
    pub fn target(&self, t: usize) -> f64 {
        if t < self.config.switch { self.config.t1 } else { self.config.t2 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_parameters_are_refused() {
        let good = TwoTimescaleConfig::new();
        assert!(good.check().is_ok());
        let cases = [
            (TwoTimescaleConfig { t2: f64::NAN, ..good }, "t2 must be finite, got NaN"),
            (TwoTimescaleConfig { w0: f64::INFINITY, ..good }, "w0 must be finite, got inf"),
            (TwoTimescaleConfig { lr: 0.0, ..good }, "lr must be in (0, 2), got 0"),
            (TwoTimescaleConfig { slow_lr: 2.0, ..good }, "slow_lr must be in (0, 2), got 2"),
            (TwoTimescaleConfig { fast_lr: f64::NAN, ..good }, "fast_lr must be in (0, 2), got NaN"),
            (TwoTimescaleConfig { fast_decay: 1.0, ..good }, "fast_decay must be in [0, 1), got 1"),
            (TwoTimescaleConfig { switch: 0, ..good }, "switch must be in 1..300, got 0"),
            (TwoTimescaleConfig { switch: 300, ..good }, "switch must be in 1..300, got 300"),
            (TwoTimescaleConfig { steps: 0, ..good }, "switch must be in 1..0, got 100"),
            (
                TwoTimescaleConfig { gain: good.gain.with_gamma(1.0), ..good },
                "gamma must be in [0, 1), got 1",
            ),
        ];
        for (config, message) in cases {
            assert_eq!(config.check().unwrap_err().to_string(), message);
        }
    }
}
