//! What an optimizer configuration or record can get wrong.

use thiserror::Error;

use crate::gain::GainError;

/// Why an optimizer was refused.
///
/// ```
/// use evenkeel::optim::{OptimError, SgdConfig};
/// let refused = SgdConfig::new(-0.1).init().err();
/// assert_eq!(refused, Some(OptimError::Negative { name: "lr", value: -0.1 }));
/// ```
#[derive(Debug, Clone, PartialEq, Error)]
pub enum OptimError {
    /// A parameter that is negative, infinite or NaN.
    #[error("{name} must be a finite number >= 0, got {value}")]
    Negative {
        /// The parameter.
        name: &'static str,
        /// What was given.
        value: f64,
    },
    /// A momentum or the decay of a moment outside its range.
    #[error("{name} must be in [0, 1), got {value}")]
    Decay {
        /// The parameter.
        name: &'static str,
        /// What was given.
        value: f64,
    },
    /// Another parameter outside its range.
    #[error("{name} must be {range}, got {value}")]
    Range {
        /// The parameter.
        name: &'static str,
        /// What it may be.
        range: &'static str,
        /// What was given.
        value: f64,
    },
    /// Dampening outside its range.
    #[error("dampening must be in [0, 1], got {0}")]
    Dampening(f64),
    /// As PyTorch: Nesterov needs a momentum and no dampening.
    #[error("nesterov needs momentum > 0 and dampening = 0")]
    Nesterov,
    /// Parameters of the gain.
    #[error(transparent)]
    Gain(#[from] GainError),
    /// A parameter group that is not a regular expression.
    #[error("'{0}' is not a regular expression for parameter paths")]
    Group(String),
    /// A parameter group without parameters.
    #[error("no parameter has a path that matches '{0}'")]
    NothingMatches(String),
    /// A saved state that cannot be read, or that is of another optimizer.
    #[error("not a saved state of this optimizer: {0}")]
    Record(String),
}

/// Refuses a `value` that is negative, infinite or NaN.
pub(super) fn not_negative(name: &'static str, value: f64) -> Result<(), OptimError> {
    let fits = value >= 0.0 && value.is_finite();
    if fits { Ok(()) } else { Err(OptimError::Negative { name, value }) }
}

/// Refuses a `value` outside [0, 1).
pub(super) fn below_one(name: &'static str, value: f64) -> Result<(), OptimError> {
    if (0.0..1.0).contains(&value) { Ok(()) } else { Err(OptimError::Decay { name, value }) }
}
