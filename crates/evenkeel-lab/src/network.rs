//! The models that experiments train.

use std::sync::Arc;

use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use evenkeel::gain::Gain;
use evenkeel::nn::{
    GainLinear, Mlp, MlpConfig, MlpSnapshot, PackedImages, ResNetEvaluator, SlimResNet, SlimResNetConfig,
};
use evenkeel_data::{Shape, Stream};
use rand::Rng;

use crate::spec::{Model, Settings};

/// Parameters below this path train with momentum under NGM-SGD: they are not modulated.
pub const BACKBONE: &str = r"(^|\.)backbone\.";

/// Parameters below this path are under the gain of a convolutional network.
pub const HEAD: &str = r"(^|\.)head\.";

/// A model of the paper.
#[allow(clippy::large_enum_variant)] // there is one of them in a process
#[derive(Module, Debug)]
pub enum Network {
    /// Perceptron, all layers modulated.
    Mlp(Mlp),
    /// Slim ResNet-18, only its head modulated.
    SlimResNet(SlimResNet),
}

/// A [`Network`] as it was.
#[derive(Clone)]
pub enum Snapshot {
    /// Perceptron.
    Mlp(MlpSnapshot),
    /// Slim ResNet-18.
    SlimResNet(Arc<ResNetEvaluator>),
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

    /// The model as it is now, ready to be evaluated on images of this shape while training goes on.
    pub fn snapshot(&self, shape: Shape) -> Snapshot {
        match self {
            Self::Mlp(model) => Snapshot::Mlp(MlpSnapshot::of(model)),
            Self::SlimResNet(model) => {
                Snapshot::SlimResNet(Arc::new(ResNetEvaluator::new(model, shape.height, shape.width)))
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

    /// A batch to logits with the convolutional part frozen: features in evaluation mode and without gradients, so that
    /// its BatchNorm statistics are frozen too and the features of an image stay as they are. An MLP has no such part.
    pub fn forward_frozen(&self, x: Tensor<2>, shape: Shape) -> Tensor<2> {
        let Self::SlimResNet(model) = self else { return self.forward(x, shape) };
        let (device, [batch, _], [features, _]) = (x.device(), x.dims(), model.head.weight.dims());
        let images: Vec<f32> = x.into_data().try_to_vec().expect("images are f32");
        let images = PackedImages::pack(&images, shape.channels, shape.height, shape.width);
        // With the identity for a head, what comes out is what goes into the head.
        let mut identity = vec![0.0_f32; features * features];
        identity.iter_mut().step_by(features + 1).for_each(|diagonal| *diagonal = 1.0);
        let head = GainLinear::from_weights(TensorData::new(identity, [features, features]), &device);
        let extractor = SlimResNet { head, ..model.clone() };
        let values = ResNetEvaluator::new(&extractor, shape.height, shape.width).logits(&images);
        model.head.forward(Tensor::from_data(TensorData::new(values, [batch, features]), &device))
    }

    /// A batch to logits in evaluation mode by operations that can be differentiated and work in any precision.
    pub fn forward_still(&self, x: Tensor<2>, shape: Shape) -> Tensor<2> {
        match self {
            Self::Mlp(model) => model.forward(x),
            Self::SlimResNet(model) => {
                let [batch, _] = x.dims();
                let x = x.reshape([batch, shape.channels, shape.height, shape.width]);
                model.forward_on_burn(x, false)
            }
        }
    }

    /// Path pattern of the weights under the gain.
    pub fn modulated(&self) -> &'static str {
        match self {
            Self::Mlp(_) => ".*",
            Self::SlimResNet(_) => HEAD,
        }
    }
}
