//! The paper's network for MNIST.

mod evaluator;
mod trainer;

use burn::module::Module;
use burn::tensor::{Device, Tensor, activation::relu};
use evenkeel::gain::Gain;
use evenkeel::nn::Modulated;
use evenkeel::optim::LayerInputs;
use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::GainLinear;
use crate::architecture::{Architecture, InputShape, NetworkSize};
use crate::state_dict::StateDict;

pub use evaluator::{MlpEvaluator, MlpSnapshot};
pub use trainer::MlpTrainer;

/// Standard deviations of the initial weights.
const HIDDEN_STD: f64 = 0.01;
const OUTPUT_STD: f64 = 0.05;

/// Keys of an [`Mlp`] in an experiment file.
///
/// | key | default | range | purpose |
/// |---|---|---|---|
/// | `hidden` | 400, 400 | 0 to 100 layers of 1 to 100000 units | units of the hidden layers; none gives a linear classifier |
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MlpConfig {
    /// Units of each hidden layer.
    pub hidden: Vec<usize>,
}

impl Default for MlpConfig {
    fn default() -> Self {
        Self { hidden: vec![400, 400] }
    }
}

/// A ReLU network without biases, all of whose layers can be under one gain.
///
/// With a shared gain its logits scale by `g^L` (`L` layers): the gain changes loss, entropy and gradients, but never
/// the predicted class.
#[derive(Module, Debug)]
pub struct Mlp {
    /// The layers that a ReLU follows, from the input on.
    pub hidden: Vec<GainLinear>,
    /// The layer that gives the logits.
    pub output: GainLinear,
    under_gain: usize,
}

impl Mlp {
    /// Layers between `sizes`, which are those of the input, of the hidden layers and of the output; the initial weights of the hidden
    /// layers have standard deviation `hidden_std`, those of the output `output_std`.
    pub fn new<R: Rng>(
        sizes: &[usize],
        hidden_std: f64,
        output_std: f64,
        rng: &mut R,
        device: &Device,
    ) -> Self {
        let mut layer = |sizes: &[usize], std| GainLinear::new(sizes[0], sizes[1], std, rng, device);
        let (last, hidden) = (sizes.len() - 2, sizes[..sizes.len() - 1].windows(2));
        let hidden = hidden.map(|sizes| layer(sizes, hidden_std)).collect();
        Self::from_layers(hidden, layer(&sizes[last..], output_std))
    }

    /// Of these layers, all of which a gain will be on.
    pub fn from_layers(hidden: Vec<GainLinear>, output: GainLinear) -> Self {
        let under_gain = hidden.len() + 1;
        Self { hidden, output, under_gain }
    }

    /// All layers, from the input to the output.
    pub fn layers(&self) -> impl Iterator<Item = &GainLinear> {
        self.hidden.iter().chain([&self.output])
    }

    /// `[batch, inputs]` to logits `[batch, outputs]`.
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let mut layers = self.layers();
        let first = layers.next().expect("there is an output layer");
        layers.fold(first.forward_data(x), |x, layer| layer.forward(relu(x)))
    }
}

impl Modulated for Mlp {
    /// Puts every layer under `gain`, or as many as were asked for.
    fn with_gain(self, gain: &Gain) -> Self {
        let in_front = (self.hidden.len() + 1).saturating_sub(self.under_gain);
        let hidden = self.hidden.into_iter().enumerate();
        Self {
            hidden: hidden
                .map(|(i, layer)| if i < in_front { layer } else { layer.with_gain(gain) })
                .collect(),
            output: self.output.with_gain(gain),
            under_gain: self.under_gain,
        }
    }
}

impl Architecture for Mlp {
    const SHOWN: &'static str = "MLP";
    const SUMMARY: &'static str = "ReLU perceptron without biases, every layer under the gain";

    type Config = MlpConfig;
    type Evaluator = MlpEvaluator;
    type Trainer = MlpTrainer;

    fn check(config: &MlpConfig) -> Result<(), (&'static str, String)> {
        let hidden = &config.hidden;
        if hidden.len() > 100 || hidden.iter().any(|&units| units > 100_000) {
            return Err(("hidden", "at most 100 layers of 100000 units".into()));
        }
        if hidden.contains(&0) {
            return Err(("hidden", "each layer needs at least one unit; [] is a linear classifier".into()));
        }
        Ok(())
    }

    fn accepts(_: &MlpConfig, _: InputShape) -> Result<(), String> {
        Ok(())
    }

    fn size(config: &MlpConfig, shape: InputShape, outputs: usize) -> NetworkSize {
        let sizes = [&[shape.len()], config.hidden.as_slice(), &[outputs]].concat();
        let layer = |pair: &[usize]| (pair[0] as f64 + 1.0) * pair[1] as f64;
        NetworkSize {
            weights: sizes.windows(2).map(layer).sum(),
            kept_per_image: sizes.iter().map(|&units| units as f64).sum(),
        }
    }

    fn init<R: Rng>(
        config: &MlpConfig,
        shape: InputShape,
        outputs: usize,
        rng: &mut R,
        device: &Device,
    ) -> Self {
        let sizes = [&[shape.len()], config.hidden.as_slice(), &[outputs]].concat();
        Self::new(&sizes, HIDDEN_STD, OUTPUT_STD, rng, device)
    }

    fn forward(&self, x: Tensor<2>, _: InputShape) -> Tensor<2> {
        Mlp::forward(self, x)
    }

    fn forward_still(&self, x: Tensor<2>, _: InputShape) -> Tensor<2> {
        Mlp::forward(self, x)
    }

    fn tells_layer_inputs() -> bool {
        true
    }

    fn layer_inputs(&self, mut x: Tensor<2>, _: InputShape) -> Option<Vec<LayerInputs>> {
        let inputs = self.layers().map(|layer| {
            let rows = x.clone();
            x = relu(layer.forward(rows.clone()));
            LayerInputs::of_linear(layer.weight.id, rows)
        });
        Some(inputs.collect())
    }

    fn layers_under_gain(config: &MlpConfig) -> Option<usize> {
        Some(config.hidden.len() + 1)
    }

    fn with_layers_under_gain(self, layers: usize) -> Self {
        Self { under_gain: layers, ..self }
    }

    fn gain(&self) -> f64 {
        self.output.gain()
    }

    fn modulated(&self) -> String {
        if self.fully_modulated() {
            return ".*".to_string();
        }
        let in_front = (self.hidden.len() + 1).saturating_sub(self.under_gain);
        let hidden = (in_front..self.hidden.len()).map(|i| format!("hidden\\.{i}|"));
        format!("^({}output)\\.", hidden.collect::<String>())
    }

    fn fully_modulated(&self) -> bool {
        self.under_gain > self.hidden.len()
    }

    fn state_dict(&self) -> StateDict {
        let mut tensors = StateDict::new();
        for (i, layer) in self.hidden.iter().enumerate() {
            tensors.gain_linear(&format!("hidden.{i}"), layer);
        }
        tensors.gain_linear("output", &self.output);
        tensors
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::TensorData;
    use evenkeel::gain::GainConfig;
    use evenkeel::nn::modulate;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::state_dict::Values;

    #[test]
    fn a_perceptron_without_a_gain_gives_the_same_logits_from_its_state_dict() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let gain = Gain::new(GainConfig::new().check().unwrap());
        gain.set(1.7);
        let model = Mlp::new(&[7, 6, 5, 4], 0.3, 0.3, &mut rng, &Device::flex()).with_gain(&gain);
        let x: Vec<f32> = (0..3 * 7).map(|_| rng.random_range(-1.0..1.0)).collect();
        let mut rows: Vec<Vec<f32>> = x.chunks(7).map(<[f32]>::to_vec).collect();
        let logits = model.forward(Tensor::from_data(TensorData::new(x, [3, 7]), &Device::flex()));
        let ours: Vec<f32> = logits.into_data().try_to_vec().unwrap();

        let tensors = model.state_dict().tensors;
        let names: Vec<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
        assert_eq!(names, ["hidden.0.weight", "hidden.1.weight", "output.weight"]);
        for tensor in &tensors {
            let (outputs, inputs) = (tensor.shape[0], tensor.shape[1]);
            let Values::F32(w) = &tensor.values else { panic!("weights are f32") };
            for row in &mut rows {
                // torch.nn.Linear: y = x Wᵀ.
                let y = (0..outputs).map(|o| (0..inputs).map(|i| row[i] * w[o * inputs + i]).sum::<f32>());
                *row = y.map(|y| if tensor.name == "output.weight" { y } else { y.max(0.0) }).collect();
            }
        }
        assert!(ours.iter().any(|z| z.abs() > 0.01), "logits that say something");
        for (a, b) in ours.iter().zip(rows.iter().flatten()) {
            assert!((a - b).abs() < 1e-4 * (1.0 + a.abs()), "{a} {b}");
        }
    }

    #[test]
    fn so_many_layers_as_asked_for_are_under_the_gain() {
        assert_eq!(Mlp::layers_under_gain(&MlpConfig { hidden: vec![6, 5] }), Some(3));
        let gain = Gain::new(GainConfig::new().check().unwrap());
        gain.set(1.7);
        let x = Tensor::<2>::from_data(
            TensorData::new((0..7).map(|i| i as f32 - 3.0).collect(), [1, 7]),
            &Device::flex(),
        );
        let logits = |model: &Mlp| model.forward(x.clone()).into_data().try_to_vec::<f32>().unwrap();
        for layers in 1..=3_usize {
            let rng = &mut ChaCha8Rng::seed_from_u64(1);
            let plain =
                Mlp::new(&[7, 6, 5, 4], 0.5, 0.5, rng, &Device::flex()).with_layers_under_gain(layers);
            let before = logits(&plain);
            assert!(before.iter().all(|z| z.abs() > 0.01), "logits that tell a factor: {before:?}");
            let from_outside = modulate(plain.clone(), &gain, &plain.modulated()).unwrap();
            let under = plain.with_gain(&gain);
            assert_eq!((under.fully_modulated(), under.gain()), (layers == 3, 1.7));
            for ((z, other), before) in logits(&under).into_iter().zip(logits(&from_outside)).zip(before) {
                let expected = before * 1.7_f32.powi(layers as i32);
                for z in [z, other] {
                    assert!((z - expected).abs() < 1e-5 * expected.abs(), "{layers}: {z} {expected}");
                }
            }
        }
    }
}
