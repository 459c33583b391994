//! NGM-SGD, its learning-rate ablation, and the baselines, with PyTorch's semantics.
//!
//! The rules are Burn optimizers with PyTorch's definitions (Burn's own differ: its momentum dampening defaults to 0.1 and its Adam ε
//! to 1e-5), with checked parameters, a state reset and the gain. On the CPU they update weights and moments in place.

mod adam;
mod baseline;
mod entropy_lr;
mod error;
mod ngm_sgd;
mod sgd;
mod update;

pub use adam::AdamConfig;
pub use baseline::Baseline;
pub use entropy_lr::{EntropyLr, EntropyLrConfig};
pub use error::OptimError;
pub use ngm_sgd::{NgmSgd, NgmSgdConfig};
pub use sgd::SgdConfig;
