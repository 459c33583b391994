//! The models that experiments train.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use evenkeel::gain::Gain;
use evenkeel::nn::{Mlp, MlpConfig, SlimResNet, SlimResNetConfig};
use evenkeel_data::{Shape, Stream};
use rand::Rng;

use crate::spec::{Model, Settings};

/// Parameters below this path train with momentum under NGM-SGD: they are not modulated.
pub const BACKBONE: &str = r"(^|\.)backbone\.";

/// A model of the paper.
#[allow(clippy::large_enum_variant)] // there is one of them in a process
#[derive(Module, Debug)]
pub enum Network {
    /// Perceptron, all layers modulated.
    Mlp(Mlp),
    /// Slim ResNet-18, only its head modulated.
    SlimResNet(SlimResNet),
}

impl Network {
    /// Draws the weights from `rng`.
    pub fn new<R: Rng>(settings: &Settings, stream: &Stream, rng: &mut R, device: &Device) -> Self {
        let (shape, outputs) = (stream.shape(), stream.outputs());
        match settings.model {
            Model::Mlp => {
                let config = MlpConfig::new().with_inputs(shape.len()).with_outputs(outputs);
                Self::Mlp(config.with_hidden(settings.hidden.clone()).init(rng, device))
            }
            Model::SlimResnet18 => {
                let config = SlimResNetConfig::new().with_inputs(shape.channels).with_size(shape.height);
                Self::SlimResNet(config.with_outputs(outputs).init(rng, device))
            }
        }
    }

    /// Puts the modulated layers under `gain`.
    #[must_use]
    pub fn with_gain(self, gain: &Gain) -> Self {
        match self {
            Self::Mlp(model) => Self::Mlp(model.with_gain(gain)),
            Self::SlimResNet(model) => Self::SlimResNet(model.with_gain(gain)),
        }
    }

    /// A batch of flattened images `[batch, pixels]` to logits, in training mode.
    pub fn forward(&self, x: Tensor<2>, shape: Shape) -> Tensor<2> {
        match self {
            Self::Mlp(model) => model.forward(x),
            Self::SlimResNet(model) => {
                let [batch, _] = x.dims();
                model.forward(x.reshape([batch, shape.channels, shape.height, shape.width]))
            }
        }
    }
}
