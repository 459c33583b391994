//! What a program that trains any network has to know about it.

use std::fmt::Debug;

use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor};
use evenkeel::nn::Modulated;
use evenkeel::optim::LayerInputs;
use rand::Rng;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::state_dict::StateDict;

/// Path pattern of what is in front of the head, in networks that have a field `backbone`.
pub(crate) const BACKBONE: &str = r"(^|\.)backbone\.";

/// Path pattern of the head, in networks that have a field `head`.
pub(crate) const HEAD: &str = r"(^|\.)head\.";

/// Channels, height and width of the images that a network sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputShape {
    /// 1 for grey images, 3 for colours.
    pub channels: usize,
    /// Rows of pixels.
    pub height: usize,
    /// Columns of pixels.
    pub width: usize,
}

impl InputShape {
    /// Numbers per image.
    #[allow(clippy::len_without_is_empty)] // an image is never empty
    pub fn len(self) -> usize {
        self.channels * self.height * self.width
    }

    /// Flattened images `[batch, pixels]` as `[batch, channels, height, width]`.
    pub fn unflatten(self, x: Tensor<2>) -> Tensor<4> {
        let [batch, _] = x.dims();
        x.reshape([batch, self.channels, self.height, self.width])
    }
}

/// How large a network is, counted before anything of it is in memory. Floating point, as settings can name more than a word counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NetworkSize {
    /// Numbers that are learnt.
    pub weights: f64,
    /// Numbers per image that a training step keeps for its gradients, at least.
    pub kept_per_image: f64,
}

/// A network that the lab can train: registered in one line of `registry.rs`.
pub trait Architecture: Modulated + Sized + Send + 'static {
    /// How tables and figures call it.
    const SHOWN: &'static str;
    /// One line for lists.
    const SUMMARY: &'static str;

    /// Its keys in an experiment file, each with a default.
    type Config: Serialize + DeserializeOwned + Default + Clone + PartialEq + Debug + Send + Sync + 'static;
    /// How it is evaluated: kernels of its own, or [`ForwardPass`](crate::ForwardPass).
    type Evaluator: Evaluator<Self>;
    /// How the gradients of its cross-entropy are computed: kernels of its own, or [`ByAutodiff`](crate::ByAutodiff).
    type Trainer: Trainer<Self>;

    /// What is wrong with the keys, as (key, reason).
    fn check(config: &Self::Config) -> Result<(), (&'static str, String)>;

    /// Whether it can see such images; the reason if not. The keys have passed [`check`](Self::check).
    fn accepts(config: &Self::Config, shape: InputShape) -> Result<(), String>;

    /// How large it would be. The keys have passed [`check`](Self::check), and it [`accepts`](Self::accepts) such images.
    fn size(config: &Self::Config, shape: InputShape, outputs: usize) -> NetworkSize;

    /// Draws the weights from `rng`: the same state of the generator gives the same network.
    fn init<R: Rng>(
        config: &Self::Config,
        shape: InputShape,
        outputs: usize,
        rng: &mut R,
        device: &Device,
    ) -> Self;

    /// Flattened images `[batch, pixels]` to logits `[batch, outputs]`, in training mode on an autodiff device.
    fn forward(&self, x: Tensor<2>, shape: InputShape) -> Tensor<2>;

    /// The same in evaluation mode, by operations that can be differentiated and work in any precision.
    fn forward_still(&self, x: Tensor<2>, shape: InputShape) -> Tensor<2>;

    /// The value of the gain that the network is under; 1 without a gain.
    fn gain(&self) -> f64;

    /// Path pattern of the weights under the gain.
    fn modulated(&self) -> String;

    /// Whether all weights are under the gain: then a curvature in base coordinates is g² times that in effective ones.
    fn fully_modulated(&self) -> bool {
        false
    }

    /// How many layers are under the gain, where fewer could be; `None` if there is no choice.
    fn layers_under_gain(_config: &Self::Config) -> Option<usize> {
        None
    }

    /// The same with only so many layers, counted from the output, under the gain. To be said before the gain is there.
    #[must_use]
    fn with_layers_under_gain(self, _layers: usize) -> Self {
        self
    }

    /// Whether it tells its [`layer_inputs`](Self::layer_inputs).
    fn tells_layer_inputs() -> bool {
        false
    }

    /// What comes into each layer for these images in evaluation mode, for methods that ask for it; `None` if it cannot say.
    fn layer_inputs(&self, _x: Tensor<2>, _shape: InputShape) -> Option<Vec<LayerInputs>> {
        None
    }

    /// The network with everything but its head frozen as it is now; `None` if it has no such part.
    fn freeze_backbone(&self, _shape: InputShape) -> Option<Box<dyn Frozen<Self>>> {
        None
    }

    /// The weights for PyTorch, with the gain worked into those under it.
    fn state_dict(&self) -> StateDict;
}

/// Everything but the head of a network, as it was when it was frozen.
pub trait Frozen<N>: Send {
    /// Logits of a batch: frozen features, then the head of `network` as it is now. Gradients go to the head alone.
    fn forward(&self, network: &N, x: Tensor<2>) -> Tensor<2>;
}

/// How a network is evaluated on test images that are converted once, while training goes on.
pub trait Evaluator<N>: Default + Send {
    /// Test images, converted once.
    type Images: Send + Sync;
    /// The network as it was: neither training nor a change of the gain reaches it.
    type Snapshot: Send;

    /// `values`: normalised images one after the other; `background`: the number that most of an image is, for sparse ones.
    fn pack(values: &[f32], shape: InputShape, background: f32) -> Self::Images;

    /// The network as it is now.
    fn snapshot(network: &N, shape: InputShape) -> Self::Snapshot;

    /// Logits of each set of images, image by image.
    fn logits_of_sets(&mut self, snapshot: Self::Snapshot, sets: &[&Self::Images]) -> Vec<Vec<f32>>;

    /// Logits of one set of images.
    fn logits(&mut self, snapshot: Self::Snapshot, images: &Self::Images) -> Vec<f32> {
        self.logits_of_sets(snapshot, &[images]).pop().expect("one for each set")
    }
}

/// What one pass forward and backward over a batch gives.
pub struct Pass {
    /// Mean cross-entropy.
    pub loss: f64,
    /// Mean output entropy in nats.
    pub entropy: f64,
    /// Rows whose label has the largest logit.
    pub hits: usize,
    /// Of the loss with respect to the base weights.
    pub gradients: GradientsParams,
}

/// How the gradients of a network's mean cross-entropy are computed in training mode, with memory that is kept between steps.
pub trait Trainer<N>: Default + Send {
    /// Flattened images `[batch, pixels]` and their labels, forward and backward; `None` where autodiff has to do it.
    fn pass(
        &mut self,
        network: &N,
        x: &Tensor<2>,
        labels: &Tensor<1, Int>,
        shape: InputShape,
    ) -> Option<Pass>;
}
