//! NGM-SGD, its learning-rate ablation, and other optimizers, with PyTorch's semantics.
//!
//! The rules are Burn optimizers with PyTorch's definitions (Burn's own differ: its momentum dampening defaults to 0.1 and its Adam ε
//! to 1e-5), with checked parameters, a state reset and the gain. On the CPU they update weights and moments in place.
//!
//! Each is also a [`Method`], which asks for the gradients that it needs and says which weights are evaluated;
//! [`optimizer`] finds one by its name. A new one is a file in this folder and a line in the list below.

mod error;
mod method;
mod registry;
mod rule_optimizer;
mod update;

use serde::{Deserialize, Serialize};

pub use self::error::OptimError;
pub use self::method::{Feedback, Gradients, Method, NotFinite};
pub use self::registry::{NamedOptimizer, optimizer, optimizers};
pub use self::rule_optimizer::RuleOptimizer;
use crate::nn::Modulated;

/// What a file of this folder says of its optimizer.
pub trait MethodConfig {
    /// The optimizers that the file names.
    const NAMED: &'static [NamedOptimizer];

    /// Checks the ranges of the parameters.
    fn check(&self) -> Result<(), OptimError>;

    /// The method, ready for its first step on a model of this kind.
    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError>;
}

registry::rules! {
    NgmSgd = "ngm-sgd" in ngm_sgd: NgmSgdConfig;
    Sgd = "sgd" in sgd: SgdConfig;
    Adam = "adam" in adam: AdamConfig;
    EntropyLr = "entropy-lr" in entropy_lr: EntropyLrConfig;
    Nesterov = "nesterov" in nesterov: NesterovConfig;
    AdamW = "adamw" in adamw: AdamWConfig;
    Lion = "lion" in lion: LionConfig;
    RmsProp = "rmsprop" in rmsprop: RmsPropConfig;
}
