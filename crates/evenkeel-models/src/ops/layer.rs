//! A convolution with its BatchNorm on the kernels: there and back.

use std::sync::{Arc, Mutex, PoisonError};

use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, ExtensionType, Flex};
use burn::tensor::TensorData;
use evenkeel::cpu::contiguous;
use evenkeel_kernels::batch_norm::{self, Gate, Moments, NormGradient, Normaliser};
use evenkeel_kernels::{ConvShape, Epilogue, InstructionSet, PackedWeights, conv};

use super::activation_memory::{filled, recycle};

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

/// What the backward pass looks at again.
#[derive(Debug, Clone)]
pub(super) struct Saved {
    x: FlexTensor,
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
    /// Of the residual: what came in, behind the ReLU.
    pub(super) residual: FlexTensor,
}

pub(super) fn slice(tensor: &FlexTensor) -> &[f32] {
    tensor.as_slice().expect("contiguous f32")
}

impl Layer<Flex> {
    /// `relu?(bn(x * w) + residual)`, normalised by the batch.
    pub(super) fn forward(self, x: FlexTensor, residual: Option<&FlexTensor>) -> (FlexTensor, Saved) {
        let set = InstructionSet::active();
        let spec = self.spec;
        let [x, weight, gamma, beta] = [x, self.weight, self.gamma, self.beta].map(contiguous);
        let output = spec.conv.output();
        let mut packed = PackedWeights::new();
        packed.pack_forward(set, &spec.conv, slice(&weight));
        let len = output.blocked_len(set);
        let (z, moments) =
            filled(len, |z| conv::forward_with_moments(set, &spec.conv, slice(&x), &packed, z));
        let normaliser = Normaliser::of_batch(&moments, slice(&gamma), slice(&beta), spec.epsilon);
        *spec.moments.lock().unwrap_or_else(PoisonError::into_inner) = Some(moments);
        let (y, ()) = filled(len, |y| {
            let residual = residual.map(slice);
            batch_norm::normalise(set, &output, &normaliser, slice(&z), residual, spec.relu, y);
        });
        let gate = (residual.is_some() && spec.relu).then(|| y.clone());
        (y, Saved { x, weight, z, y: gate, normaliser: Arc::new(normaliser), spec })
    }
}

impl Saved {
    /// From the gradient `dy` of the output.
    pub(super) fn backward(self, dy: FlexTensor, dx: InputGradient) -> LayerGradients {
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
        let sums = batch_norm::backward_sums(set, &output, &self.normaliser, z, dy.storage_mut(), gate);
        let gradient = NormGradient { normaliser: &self.normaliser, sums: &sums, z, dy: slice(&dy), gate };
        let x = slice(&self.x);
        let mut dw = vec![0.0; conv.weight_len()];
        let mut into = |dx: &mut [f32], accumulate: bool| {
            let mut packed = PackedWeights::new();
            packed.pack_backward(set, conv, slice(&self.weight));
            let epilogue = Epilogue { accumulate, ..Epilogue::default() };
            conv::backward(set, conv, x, &gradient, &mut dw, Some((&packed, dx, epilogue)));
        };
        let dx = match dx {
            InputGradient::Unwanted => {
                conv::backward(set, conv, x, &gradient, &mut dw, None);
                None
            }
            InputGradient::New => Some(filled(conv.input().blocked_len(set), |dx| into(dx, false)).0),
            InputGradient::AddedTo(mut dx) => {
                into(dx.storage_mut(), true);
                Some(dx)
            }
        };
        let dw = FlexTensor::from_data(TensorData::new(dw, self.weight.layout().shape().clone()));
        let per_channel =
            |values: Vec<f32>| FlexTensor::from_data(TensorData::new(values, [output.channels]));
        let parameters = [dw, per_channel(sums.gamma), per_channel(sums.beta)];
        [Some(self.z), Some(self.x), self.y].into_iter().flatten().for_each(recycle);
        LayerGradients { x: dx, parameters, residual: dy }
    }
}
