//! Gain-modulated layers, modulation of any module, and the paper's MLP.

mod conv_norm;
mod gain_linear;
mod loss;
mod mlp;
mod mlp_evaluator;
mod modulate;
mod modulated;
mod resnet;
mod resnet_evaluator;

pub use conv_norm::ConvNorm;
pub use gain_linear::GainLinear;
pub use loss::cross_entropy;
pub use mlp::{Mlp, MlpConfig};
pub use mlp_evaluator::{MlpEvaluator, MlpSnapshot};
pub use modulated::Modulated;
pub use modulate::{GainModulation, ModulateError, modulate};
pub use resnet::{Backbone, ResidualBlock, SlimResNet, SlimResNetConfig};
pub use resnet_evaluator::{PackedImages, ResNetEvaluator};
