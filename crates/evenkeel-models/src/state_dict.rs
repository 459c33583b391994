//! Weights for PyTorch: tensors with the names and shapes of a `state_dict`.
//!
//! Layers under a gain are written as they act, `W = g·w`, so that the same network without a gain gives the same logits. Linear weights
//! are `[outputs, inputs]`, as in `torch.nn.Linear`.

use burn::module::Param;
use burn::nn::{LayerNorm, Linear};
use burn::tensor::Tensor;

use crate::GainLinear;

/// The tensors of a network, in the order of its layers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StateDict {
    /// Each with a name of its own.
    pub tensors: Vec<NamedTensor>,
}

/// A tensor of a [`StateDict`].
#[derive(Debug, Clone, PartialEq)]
pub struct NamedTensor {
    /// As PyTorch names it, for example `backbone.stem.conv.weight`.
    pub name: String,
    /// Empty for a single number.
    pub shape: Vec<usize>,
    /// The numbers, row by row.
    pub values: Values,
}

/// The numbers of a [`NamedTensor`].
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// `torch.float32`
    F32(Vec<f32>),
    /// `torch.int64`
    I64(Vec<i64>),
}

impl Values {
    /// The numbers as bytes, least significant first.
    pub fn to_le_bytes(&self) -> Vec<u8> {
        match self {
            Self::F32(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
            Self::I64(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        }
    }
}

impl StateDict {
    /// No tensors yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The tensor of that name.
    pub fn get(&self, name: &str) -> Option<&NamedTensor> {
        self.tensors.iter().find(|tensor| tensor.name == name)
    }

    /// Adds a tensor as it is.
    pub fn float<const D: usize>(&mut self, name: impl Into<String>, tensor: Tensor<D>) {
        let shape = tensor.dims().to_vec();
        let values = Values::F32(numbers(tensor));
        self.tensors.push(NamedTensor { name: name.into(), shape, values });
    }

    /// Adds a single integer.
    pub fn integer(&mut self, name: impl Into<String>, value: i64) {
        self.tensors.push(NamedTensor { name: name.into(), shape: vec![], values: Values::I64(vec![value]) });
    }

    /// Adds `{name}.weight` of a layer without bias, its gain worked in.
    pub fn gain_linear(&mut self, name: &str, layer: &GainLinear) {
        self.transposed(format!("{name}.weight"), &layer.weight, layer.gain());
    }

    /// Adds `{weight}` and, if there is one, `{bias}` of a layer.
    pub fn linear(&mut self, [weight, bias]: [String; 2], layer: &Linear) {
        self.transposed(weight, &layer.weight, 1.0);
        if let Some(values) = &layer.bias {
            self.float(bias, values.val());
        }
    }

    /// Adds `{name}.weight` and, if there is one, `{name}.bias` of a normalisation.
    pub fn layer_norm(&mut self, name: &str, norm: &LayerNorm) {
        self.float(format!("{name}.weight"), norm.gamma.val());
        if let Some(beta) = &norm.beta {
            self.float(format!("{name}.bias"), beta.val());
        }
    }

    /// Adds `factor · weightᵀ`.
    fn transposed(&mut self, name: String, weight: &Param<Tensor<2>>, factor: f64) {
        let [inputs, outputs] = weight.dims();
        let values = numbers(weight.val());
        let transposed = (0..outputs)
            .flat_map(|o| (0..inputs).map(move |i| (o, i)))
            .map(|(o, i)| (factor * f64::from(values[i * outputs + o])) as f32);
        let values = Values::F32(transposed.collect());
        self.tensors.push(NamedTensor { name, shape: vec![outputs, inputs], values });
    }
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_to_vec().expect("weights are f32")
}
