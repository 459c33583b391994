//! What an optimizer configuration or record can get wrong.

use thiserror::Error;

use crate::gain::GainError;

/// Why an optimizer was refused.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum OptimError {
    /// Learning rate below zero, infinite or NaN.
    #[error("lr must be a finite number >= 0, got {0}")]
    Lr(f64),
    /// Momentum outside its range.
    #[error("momentum must be in [0, 1), got {0}")]
    Momentum(f64),
    /// Dampening outside its range.
    #[error("dampening must be in [0, 1], got {0}")]
    Dampening(f64),
    /// Negative, infinite or NaN weight decay.
    #[error("weight_decay must be a finite number >= 0, got {0}")]
    WeightDecay(f64),
    /// As PyTorch: Nesterov needs a momentum and no dampening.
    #[error("nesterov needs momentum > 0 and dampening = 0")]
    Nesterov,
    /// A moment's decay outside its range.
    #[error("{name} must be in [0, 1), got {value}")]
    Beta {
        /// `beta1` or `beta2`.
        name: &'static str,
        /// What was given.
        value: f64,
    },
    /// Negative, infinite or NaN ε.
    #[error("eps must be a finite number >= 0, got {0}")]
    Eps(f64),
    /// Parameters of the gain.
    #[error(transparent)]
    Gain(#[from] GainError),
    /// A parameter group that is not a regular expression.
    #[error("'{0}' is not a regular expression for parameter paths")]
    Group(String),
    /// A saved state that cannot be read.
    #[error("not a saved optimizer state: {0}")]
    Record(String),
}

/// `value` if it is finite and not negative.
pub(super) fn not_negative(value: f64, error: fn(f64) -> OptimError) -> Result<(), OptimError> {
    if value >= 0.0 && value.is_finite() { Ok(()) } else { Err(error(value)) }
}
