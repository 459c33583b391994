//! A gain on the weights of any module, the trait of networks that know which of their layers it belongs on, and the loss.

mod loss;
mod modulate;
mod modulated;

pub use loss::cross_entropy;
pub use modulate::{GainModulation, ModulateError, modulate};
pub use modulated::Modulated;
