//! NGM-SGD, its learning-rate ablation, and the baselines, with PyTorch's semantics.
//!
//! Burn's own optimizers do the arithmetic; what is here sets them up as PyTorch defines them (Burn's momentum
//! dampening defaults to 0.1 and its Adam ε to 1e-5; PyTorch's are 0 and 1e-8), checks the parameters, and adds a state
//! reset and the gain.

mod adam;
mod baseline;
mod entropy_lr;
mod error;
mod ngm_sgd;
mod sgd;

pub use adam::AdamConfig;
pub use baseline::Baseline;
pub use entropy_lr::{EntropyLr, EntropyLrConfig};
pub use error::OptimError;
pub use ngm_sgd::{NgmSgd, NgmSgdConfig};
pub use sgd::SgdConfig;
