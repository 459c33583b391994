//! The paper's network for MNIST.

use burn::module::Module;
use burn::tensor::{Device, Tensor, activation::relu};
use rand::Rng;

use super::GainLinear;
use crate::gain::Gain;

/// Configuration of an [`Mlp`].
///
/// | field | default | purpose |
/// |---|---|---|
/// | `inputs` | 784 | pixels |
/// | `hidden` | 400, 400 | units of the hidden layers |
/// | `outputs` | 10 | classes, of all tasks from the start |
/// | `hidden_std`, `output_std` | 0.01, 0.05 | standard deviation of the initial weights |
#[derive(Debug, Clone, PartialEq)]
pub struct MlpConfig {
    /// Number of input features.
    pub inputs: usize,
    /// Units of each hidden layer.
    pub hidden: Vec<usize>,
    /// Number of classes.
    pub outputs: usize,
    /// Standard deviation of the initial hidden weights.
    pub hidden_std: f64,
    /// Standard deviation of the initial output weights.
    pub output_std: f64,
}

impl MlpConfig {
    /// The paper's 784–400–400–10.
    pub fn new() -> Self {
        Self { inputs: 784, hidden: vec![400, 400], outputs: 10, hidden_std: 0.01, output_std: 0.05 }
    }

    /// Sets the number of input features.
    #[must_use]
    pub fn with_inputs(mut self, inputs: usize) -> Self {
        self.inputs = inputs;
        self
    }

    /// Sets the hidden layers.
    #[must_use]
    pub fn with_hidden(mut self, hidden: Vec<usize>) -> Self {
        self.hidden = hidden;
        self
    }

    /// Sets the number of classes.
    #[must_use]
    pub fn with_outputs(mut self, outputs: usize) -> Self {
        self.outputs = outputs;
        self
    }

    /// Draws the weights from `rng`: the same generator state gives the same network.
    pub fn init<R: Rng>(&self, rng: &mut R, device: &Device) -> Mlp {
        let mut inputs = self.inputs;
        let mut hidden = Vec::with_capacity(self.hidden.len());
        for &units in &self.hidden {
            hidden.push(GainLinear::new(inputs, units, self.hidden_std, rng, device));
            inputs = units;
        }
        Mlp { hidden, output: GainLinear::new(inputs, self.outputs, self.output_std, rng, device) }
    }
}

impl Default for MlpConfig {
    fn default() -> Self {
        Self::new()
    }
}

/// A ReLU network without biases, all of whose layers can be under one gain.
///
/// With a shared gain its logits scale by `g^L` (`L` layers): the gain changes loss, entropy and gradients, but never
/// the predicted class.
#[derive(Module, Debug)]
pub struct Mlp {
    /// Hidden layers.
    pub hidden: Vec<GainLinear>,
    /// Output layer.
    pub output: GainLinear,
}

impl Mlp {
    /// Puts every layer under `gain`.
    #[must_use]
    pub fn with_gain(self, gain: &Gain) -> Self {
        Self {
            hidden: self.hidden.into_iter().map(|layer| layer.with_gain(gain)).collect(),
            output: self.output.with_gain(gain),
        }
    }

    /// `[batch, inputs]` to logits `[batch, outputs]`.
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let mut layers = self.hidden.iter().chain([&self.output]);
        let first = layers.next().expect("there is an output layer");
        layers.fold(first.forward_data(x), |x, layer| layer.forward(relu(x)))
    }
}
