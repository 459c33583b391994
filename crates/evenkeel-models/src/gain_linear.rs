//! A bias-free linear layer under a gain.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor, TensorData};
use evenkeel::gain::Gain;
use rand::Rng;
use rand_distr::{Distribution, Normal};

use crate::ops::matmul_sparse_input;

/// `y = x · (g·w)`: a linear layer without bias whose weights are multiplied by a shared [`Gain`].
///
/// The product is taken as `g · (x·w)`, which is the same number and touches the smaller matrix. The gradient of `w`
/// carries the factor `g` by the chain rule (Lemma 1). Without a gain it is an ordinary linear layer. Records of the layer keep the gain.
#[derive(Module, Debug)]
pub struct GainLinear {
    /// Base weights `w`, `[inputs, outputs]`.
    pub weight: Param<Tensor<2>>,
    gain: Option<Gain>,
}

impl GainLinear {
    /// A layer with weights drawn from N(0, `std`²) with the given generator.
    pub fn new<R: Rng>(inputs: usize, outputs: usize, std: f64, rng: &mut R, device: &Device) -> Self {
        // A std that is NaN or negative is a bug of the caller; Normal says so.
        let normal = Normal::new(0.0, std).expect("a standard deviation");
        let weights: Vec<f32> = (0..inputs * outputs).map(|_| normal.sample(rng) as f32).collect();
        Self::from_weights(TensorData::new(weights, [inputs, outputs]), device)
    }

    /// A layer with the given weights, `[inputs, outputs]`.
    pub fn from_weights(weights: TensorData, device: &Device) -> Self {
        Self { weight: Param::from_data(weights, device), gain: None }
    }

    /// The same layer under `gain`.
    #[must_use]
    pub fn with_gain(mut self, gain: &Gain) -> Self {
        self.gain = Some(gain.clone());
        self
    }

    /// The gain's value; 1 without a gain.
    pub fn gain(&self) -> f64 {
        self.gain.as_ref().map_or(1.0, Gain::value)
    }

    /// `[batch, inputs]` to `[batch, outputs]`.
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        self.scaled(x.matmul(self.weight.val()))
    }

    /// [`forward`](Self::forward) for the first layer of a network: fast if `x` is mostly one number, as images with a background.
    pub fn forward_data(&self, x: Tensor<2>) -> Tensor<2> {
        self.scaled(matmul_sparse_input(x, self.weight.val()))
    }

    fn scaled(&self, y: Tensor<2>) -> Tensor<2> {
        match &self.gain {
            Some(gain) => gain.scale(y),
            None => y,
        }
    }
}
