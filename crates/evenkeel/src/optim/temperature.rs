//! The gain on the logits instead of on the weights: a temperature.

use burn::config::Config;

use super::error::not_negative;
use super::{
    Feedback, Method, MethodConfig, NamedOptimizer, NotFinite, Objective, OptimError, Outputs, Rule,
    RuleOptimizer, SgdConfig,
};
use crate::gain::{GainConfig, GainDynamics};
use crate::nn::{Modulated, cross_entropy};

/// SGD on the cross-entropy of scaled logits, whose scale follows the gain equation.
///
/// ```text
/// L = cross-entropy(gᴸ · logits);  w ← w − α ∂L/∂w;  g ← γ g + (1−γ) g0 + η H
/// ```
///
/// with `H` the entropy of the scaled logits. In a ReLU network without biases, all of whose `L` layers would be under the gain, this is
/// [`NgmSgd`](super::NgmSgd) itself; in any other network it is the cheap way to it, for no layer has to know of a gain.
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α |
/// | `gamma`, `eta`, `g0` | 0.9, 0.4, 1 | see [`GainConfig`] | the gain equation |
/// | `layers` | 3 | `>= 0` | L: layers that the gain would be on; 3 for the paper's perceptron, 1 for its ResNet's head |
///
/// ```
/// use evenkeel::optim::{MethodConfig, TemperatureConfig};
/// assert!(TemperatureConfig::new(0.01).check().is_ok());
/// ```
#[derive(Config, Debug, PartialEq)]
pub struct TemperatureConfig {
    /// Learning rate α.
    pub lr: f64,
    /// Decay γ of the gain.
    #[config(default = 0.9)]
    pub gamma: f64,
    /// Gain scale η.
    #[config(default = 0.4)]
    pub eta: f64,
    /// Tonic gain g₀.
    #[config(default = 1.0)]
    pub g0: f64,
    /// Layers L.
    #[config(default = 3.0)]
    pub layers: f64,
}

impl TemperatureConfig {
    fn dynamics(&self) -> Result<GainDynamics, OptimError> {
        Ok(GainConfig { gamma: self.gamma, eta: self.eta, g0: self.g0 }.check()?)
    }
}

impl MethodConfig for TemperatureConfig {
    const NAMED: &'static [NamedOptimizer] = &[NamedOptimizer::new(
        "temperature",
        "Temperature",
        "NGM-SGD's gain on the logits: the same in the perceptron, cheap elsewhere",
        |_| Rule::Temperature(TemperatureConfig::new(0.01)),
    )];

    fn check(&self) -> Result<(), OptimError> {
        not_negative("lr", self.lr)?;
        not_negative("layers", self.layers)?;
        self.dynamics().map(drop)
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        self.check()?;
        let dynamics = self.dynamics()?;
        let optimizer = RuleOptimizer::new("temperature", self.lr, SgdConfig::new(self.lr).init()?);
        Ok(Box::new(Temperature { layers: self.layers, g: dynamics.g0(), dynamics, optimizer }))
    }
}

struct Temperature {
    layers: f64,
    g: f64,
    dynamics: GainDynamics,
    optimizer: RuleOptimizer,
}

impl<M: Modulated> Method<M> for Temperature {
    fn step(&mut self, model: M, feedback: &mut dyn Feedback<M>) -> Result<M, NotFinite> {
        let scale = self.g.powf(self.layers);
        let gradients = feedback.gradients_of(&model, &mut |Outputs { logits, labels, .. }| {
            let logits = logits.mul_scalar(scale);
            Objective { loss: cross_entropy(logits.clone(), labels), logits }
        })?;
        self.g = self.dynamics.next(self.g, gradients.entropy);
        Ok(self.optimizer.step(model, gradients.of))
    }

    fn gain(&self) -> Option<f64> {
        Some(self.g)
    }

    /// Nothing: like a gain, the temperature is not tied to tasks.
    fn reset(&mut self) {}

    fn save(&self) -> Result<Vec<u8>, OptimError> {
        self.optimizer.to_bytes_with_gain(self.g)
    }

    fn load(&mut self, state: &[u8]) -> Result<(), OptimError> {
        self.g = self.optimizer.load_bytes_with_gain(state)?;
        Ok(())
    }
}
