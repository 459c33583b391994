//! `g ← γ g + (1−γ) g0 + η H`: the update and what follows from it. No tensors.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why gain parameters were refused.
///
/// ```
/// use evenkeel::gain::{GainConfig, GainError};
/// assert_eq!(GainConfig::new().with_gamma(1.0).check(), Err(GainError::Gamma(1.0)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum GainError {
    /// The decay would not pull the gain back to its baseline.
    #[error("gamma must be in [0, 1), got {0}")]
    Gamma(f64),
    /// A negative gain scale would lower the gain when the network is uncertain.
    #[error("eta must be a finite number >= 0, got {0}")]
    Eta(f64),
    /// The tonic gain is at least the identity.
    #[error("g0 must be a finite number >= 1, got {0}")]
    G0(f64),
}

/// Parameters of the gain, not yet checked; [`check`](Self::check) makes them usable.
///
/// | field | paper | default | range | purpose |
/// |---|---|---|---|---|
/// | `gamma` | γ | 0.9 | `[0, 1)` | how slowly the gain decays to its baseline |
/// | `eta` | η | 0.4 | `>= 0` | how strongly entropy raises it (0.4 is the value for Split MNIST) |
/// | `g0` | g₀ | 1 | `>= 1` | tonic baseline |
///
/// ```
/// use evenkeel::gain::GainConfig;
/// let slower = GainConfig::new().with_gamma(0.95).with_eta(0.2);
/// assert!((slower.check()?.steady_state(0.1) - (1.0 + 0.2 * 0.1 / 0.05)).abs() < 1e-12);
/// # Ok::<(), evenkeel::gain::GainError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GainConfig {
    /// Decay γ.
    pub gamma: f64,
    /// Gain scale η.
    pub eta: f64,
    /// Tonic baseline g₀.
    pub g0: f64,
}

impl Default for GainConfig {
    fn default() -> Self {
        Self { gamma: 0.9, eta: 0.4, g0: 1.0 }
    }
}

impl GainConfig {
    /// The paper's parameters for Split MNIST.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the decay γ.
    #[must_use]
    pub fn with_gamma(mut self, gamma: f64) -> Self {
        self.gamma = gamma;
        self
    }

    /// Sets the gain scale η.
    #[must_use]
    pub fn with_eta(mut self, eta: f64) -> Self {
        self.eta = eta;
        self
    }

    /// Sets the tonic baseline g₀.
    #[must_use]
    pub fn with_g0(mut self, g0: f64) -> Self {
        self.g0 = g0;
        self
    }

    /// The special case η = 1−γ, in which the gain is an exponential moving average of `g0 + H`.
    #[must_use]
    pub fn ema(gamma: f64) -> Self {
        Self { gamma, eta: 1.0 - gamma, g0: 1.0 }
    }

    /// Checks the ranges; only what comes out of here can run.
    pub fn check(self) -> Result<GainDynamics, GainError> {
        // Written so that NaN fails each condition.
        if !(0.0..1.0).contains(&self.gamma) {
            return Err(GainError::Gamma(self.gamma));
        }
        if !(self.eta >= 0.0 && self.eta.is_finite()) {
            return Err(GainError::Eta(self.eta));
        }
        if !(self.g0 >= 1.0 && self.g0.is_finite()) {
            return Err(GainError::G0(self.g0));
        }
        Ok(GainDynamics(self))
    }
}

/// Checked gain parameters and the maths of the gain equation.
///
/// ```
/// use evenkeel::gain::GainConfig;
///
/// let gain = GainConfig::new().with_gamma(0.9).with_eta(0.5).check()?;
/// let mut g = gain.g0();
/// for _ in 0..500 {
///     g = gain.next(g, 0.2); // constant entropy of 0.2 nats
/// }
/// assert!((g - gain.steady_state(0.2)).abs() < 1e-12);
/// # Ok::<(), evenkeel::gain::GainError>(())
/// ```
///
/// Reference: equation 4 and the appendix on gain dynamics of the paper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GainDynamics(GainConfig);

impl GainDynamics {
    /// The parameters.
    pub fn config(&self) -> GainConfig {
        self.0
    }

    /// Tonic baseline g₀, where the gain starts.
    pub fn g0(&self) -> f64 {
        self.0.g0
    }

    /// One update: `γ g + (1−γ) g0 + η H`.
    pub fn next(&self, g: f64, entropy: f64) -> f64 {
        let GainConfig { gamma, eta, g0 } = self.0;
        gamma * g + (1.0 - gamma) * g0 + eta * entropy
    }

    /// Fixed point under constant entropy: `g0 + η H / (1−γ)`.
    pub fn steady_state(&self, entropy: f64) -> f64 {
        self.0.g0 + self.kappa() * entropy
    }

    /// Time constant `τ = Δt / (1−γ)`, for an iteration that lasts `dt`.
    pub fn tau(&self, dt: f64) -> f64 {
        dt / (1.0 - self.0.gamma)
    }

    /// Sensitivity `κ = η / (1−γ)`: gain per nat of sustained entropy.
    pub fn kappa(&self) -> f64 {
        self.0.eta / (1.0 - self.0.gamma)
    }

    /// Right-hand side of the continuous-time form `τ dg/dt = (g0 − g) + κ H`.
    pub fn derivative(&self, g: f64, entropy: f64, dt: f64) -> f64 {
        (self.0.g0 - g + self.kappa() * entropy) / self.tau(dt)
    }

    /// Exact solution of the continuous-time form after `t` under constant entropy, from `g` at time 0.
    pub fn continuous(&self, g: f64, entropy: f64, t: f64, dt: f64) -> f64 {
        let steady = self.steady_state(entropy);
        steady + (g - steady) * (-t / self.tau(dt)).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dynamics() -> impl Strategy<Value = GainDynamics> {
        (0.0..0.99_f64, 0.0..2.0_f64, 1.0..3.0_f64)
            .prop_map(|(gamma, eta, g0)| GainConfig { gamma, eta, g0 }.check().unwrap())
    }

    #[test]
    fn bad_parameters_are_named() {
        let config = GainConfig::new();
        for gamma in [-0.1, 1.0, 1.5, f64::NAN] {
            assert!(matches!(config.with_gamma(gamma).check(), Err(GainError::Gamma(_))));
        }
        for eta in [-1e-9, f64::INFINITY, f64::NAN] {
            assert!(matches!(config.with_eta(eta).check(), Err(GainError::Eta(_))));
        }
        for g0 in [0.0, 0.999, f64::INFINITY, f64::NAN] {
            assert!(matches!(config.with_g0(g0).check(), Err(GainError::G0(_))));
        }
        assert_eq!(config.with_gamma(1.0).check().unwrap_err().to_string(), "gamma must be in [0, 1), got 1");
    }

    proptest! {
        #[test]
        fn the_steady_state_is_a_fixed_point(d in dynamics(), h in 0.0..4.0_f64) {
            let g = d.steady_state(h);
            prop_assert!((d.next(g, h) - g).abs() <= 1e-12 * g.abs().max(1.0));
        }

        #[test]
        fn the_gain_never_falls_below_its_baseline(d in dynamics(), hs in prop::collection::vec(0.0..4.0_f64, 1..200)) {
            let mut g = d.g0();
            for h in hs {
                g = d.next(g, h);
                prop_assert!(g >= d.g0() - 1e-12);
            }
        }

        #[test]
        fn eta_of_one_minus_gamma_is_a_moving_average(gamma in 0.0..0.99_f64, hs in prop::collection::vec(0.0..4.0_f64, 1..100)) {
            let d = GainConfig::ema(gamma).check().unwrap();
            let alpha = 1.0 - gamma;
            let (mut g, mut ema) = (1.0, 1.0);
            for h in hs {
                g = d.next(g, h);
                ema = (1.0 - alpha) * ema + alpha * (1.0 + h);
                prop_assert!((g - ema).abs() < 1e-12);
            }
        }

        #[test]
        fn one_update_is_one_euler_step_of_the_continuous_form(d in dynamics(), g in 1.0..5.0_f64, h in 0.0..4.0_f64, dt in 0.01..10.0_f64) {
            let euler = g + dt * d.derivative(g, h, dt);
            prop_assert!((d.next(g, h) - euler).abs() < 1e-10);
        }

        #[test]
        fn refining_the_step_converges_to_the_exact_solution(d in dynamics(), g in 1.0..5.0_f64, h in 0.0..4.0_f64) {
            // The same τ and κ with a step a thousand times shorter.
            let (tau, kappa, n) = (d.tau(1.0), d.kappa(), 1000);
            let fine = 1.0 / f64::from(n);
            let gamma = 1.0 - fine / tau;
            let refined = GainConfig { gamma, eta: kappa * (1.0 - gamma), g0: d.g0() }.check().unwrap();
            let discrete = (0..n).fold(g, |g, _| refined.next(g, h));
            prop_assert!((discrete - d.continuous(g, h, 1.0, 1.0)).abs() < 2e-3 * (1.0 + kappa * h + g));
        }
    }
}
