//! The gain equation: parameters, its closed forms, and the state that layers and optimizer share.

mod dynamics;
mod shared;

pub use dynamics::{GainConfig, GainDynamics, GainError};
pub use shared::Gain;
