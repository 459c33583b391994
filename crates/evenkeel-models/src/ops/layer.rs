//! A convolution with its BatchNorm on the kernels: there and back.

use std::sync::{Arc, Mutex, PoisonError};

use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, ExtensionType, Flex};
use burn::tensor::TensorData;
use evenkeel::cpu::contiguous;
use evenkeel_kernels::batch_norm::{self, Gate, GradientSums, Moments, NormGradient, Normaliser};
use evenkeel_kernels::conv::{self, Input};
use evenkeel_kernels::{ConvShape, Epilogue, InstructionSet};

use super::activation_memory::{filled, recycle};
use super::packed_memory::with_packed;

/// What a convolution with BatchNorm needs beside its tensors.
#[derive(Debug, Clone)]
pub(super) struct LayerSpec {
    pub(super) conv: ConvShape,
    pub(super) relu: bool,
    pub(super) epsilon: f32,
    /// Takes the moments of the batch, for the running statistics.
    pub(super) moments: Arc<Mutex<Option<Moments>>>,
}

/// A convolution with its BatchNorm.
#[derive(ExtensionType)]
pub(super) struct Layer<B: Backend> {
    pub(super) weight: FloatTensor<B>,
    pub(super) gamma: FloatTensor<B>,
    pub(super) beta: FloatTensor<B>,
    pub(super) spec: LayerSpec,
}

/// What a layer reads.
#[derive(Debug, Clone)]
pub(super) enum LayerInput {
    /// Activations as they are.
    Stored(FlexTensor),
    /// The output of a convolution whose BatchNorm is applied on the fly: nothing but this layer reads the result.
    Normalised { z: FlexTensor, normaliser: Arc<Normaliser>, relu: bool },
}

impl LayerInput {
    fn as_input(&self) -> Input<'_> {
        match self {
            Self::Stored(x) => Input::Stored(slice(x)),
            Self::Normalised { z, normaliser, relu } => {
                Input::Normalised { z: slice(z), normaliser, relu: *relu }
            }
        }
    }

    fn recycle(self) {
        let (Self::Stored(tensor) | Self::Normalised { z: tensor, .. }) = self;
        recycle(tensor);
    }
}

/// What the backward pass looks at again.
#[derive(Debug, Clone)]
pub(super) struct Saved {
    x: LayerInput,
    weight: FlexTensor,
    /// The convolution's output, before BatchNorm.
    z: FlexTensor,
    /// The result, where a ReLU after a residual needs it.
    y: Option<FlexTensor>,
    normaliser: Arc<Normaliser>,
    spec: LayerSpec,
}

/// Where the gradient of a layer's input goes.
pub(super) enum InputGradient {
    /// Nobody asks for it: the input is data.
    Unwanted,
    /// To a new tensor.
    New,
    /// On top of another gradient of the same input.
    AddedTo(FlexTensor),
}

/// What a backward pass gives.
pub(super) struct LayerGradients {
    /// Of the input, if it was wanted.
    pub(super) x: Option<FlexTensor>,
    /// Of weight, gamma and beta.
    pub(super) parameters: [FlexTensor; 3],
    /// If the input is normalised on the fly: the sums that the layer before needs first.
    pub(super) before: Option<GradientSums>,
    /// Of the residual: what came in, behind the ReLU.
    pub(super) residual: FlexTensor,
}

pub(super) fn slice(tensor: &FlexTensor) -> &[f32] {
    tensor.as_slice().expect("contiguous f32")
}

impl Layer<Flex> {
    /// `relu?(bn(x * w) + residual)`, normalised by the batch.
    pub(super) fn forward(self, x: FlexTensor, residual: Option<&FlexTensor>) -> (FlexTensor, Saved) {
        self.convolve(LayerInput::Stored(contiguous(x))).normalise(residual)
    }

    /// `x * w` and the moments that it is going to be normalised by.
    pub(super) fn convolve(self, x: LayerInput) -> Saved {
        let set = InstructionSet::active();
        let spec = self.spec;
        let [weight, gamma, beta] = [self.weight, self.gamma, self.beta].map(contiguous);
        let len = spec.conv.output().blocked_len(set);
        let (z, moments) = filled(len, |z| {
            with_packed(|packed| {
                packed.pack_forward(set, &spec.conv, slice(&weight));
                conv::forward_with_moments(set, &spec.conv, x.as_input(), packed, z)
            })
        });
        let normaliser = Normaliser::of_batch(&moments, slice(&gamma), slice(&beta), spec.epsilon);
        *spec.moments.lock().unwrap_or_else(PoisonError::into_inner) = Some(moments);
        Saved { x, weight, z, y: None, normaliser: Arc::new(normaliser), spec }
    }
}

impl Saved {
    /// `relu?(bn(z) + residual)` of a convolution.
    pub(super) fn normalise(mut self, residual: Option<&FlexTensor>) -> (FlexTensor, Self) {
        let set = InstructionSet::active();
        let (output, relu, z) = (self.spec.conv.output(), self.spec.relu, slice(&self.z));
        let (y, ()) = filled(z.len(), |y| {
            batch_norm::normalise(set, &output, &self.normaliser, z, residual.map(slice), relu, y);
        });
        self.y = (residual.is_some() && relu).then(|| y.clone());
        (y, self)
    }

    /// `relu?(bn(z))` for the one layer that reads it.
    pub(super) fn normalised(&self) -> LayerInput {
        let (normaliser, relu) = (Arc::clone(&self.normaliser), self.spec.relu);
        LayerInput::Normalised { z: self.z.clone(), normaliser, relu }
    }

    /// From the gradient `dy` of the output, and the sums of BatchNorm's backward pass if the layer behind has gathered them already.
    pub(super) fn backward(
        self,
        dy: FlexTensor,
        sums: Option<GradientSums>,
        dx: InputGradient,
    ) -> LayerGradients {
        let set = InstructionSet::active();
        let conv = &self.spec.conv;
        let output = conv.output();
        let gate = match &self.y {
            Some(y) => Gate::Output(slice(y)),
            None if self.spec.relu => Gate::Input,
            None => Gate::Open,
        };
        let mut dy = contiguous(dy);
        let z = slice(&self.z);
        let sums = sums.unwrap_or_else(|| {
            batch_norm::backward_sums(set, &output, &self.normaliser, z, dy.storage_mut(), gate)
        });
        let gradient = NormGradient { normaliser: &self.normaliser, sums: &sums, z, dy: slice(&dy), gate };
        let x = self.x.as_input();
        let mut dw = vec![0.0; conv.weight_len()];
        let mut into = |dx: &mut [f32], accumulate: bool| {
            with_packed(|packed| {
                packed.pack_backward(set, conv, slice(&self.weight));
                let epilogue = Epilogue { accumulate, ..Epilogue::default() };
                conv::backward(set, conv, x, &gradient, &mut dw, Some((packed, dx, epilogue)))
            })
        };
        let (dx, before) = match dx {
            InputGradient::Unwanted => {
                conv::backward(set, conv, x, &gradient, &mut dw, None);
                (None, None)
            }
            InputGradient::New => {
                let (dx, before) = filled(conv.input().blocked_len(set), |dx| into(dx, false));
                (Some(dx), before)
            }
            InputGradient::AddedTo(mut dx) => {
                let before = into(dx.storage_mut(), true);
                (Some(dx), before)
            }
        };
        let dw = FlexTensor::from_data(TensorData::new(dw, self.weight.layout().shape().clone()));
        let per_channel =
            |values: Vec<f32>| FlexTensor::from_data(TensorData::new(values, [output.channels]));
        let parameters = [dw, per_channel(sums.gamma), per_channel(sums.beta)];
        self.x.recycle();
        [Some(self.z), self.y].into_iter().flatten().for_each(recycle);
        LayerGradients { x: dx, parameters, before, residual: dy }
    }
}
