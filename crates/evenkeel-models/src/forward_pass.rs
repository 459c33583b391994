//! Evaluation of a network without kernels of its own.

use burn::tensor::{Device, Tensor, TensorData};
use evenkeel::gain::{Gain, GainConfig};

use crate::architecture::{Architecture, Evaluator, InputShape};

/// Images that go through the network together.
const CHUNK: usize = 256;

/// Evaluation by the network's own forward pass: for any network without kernels of its own.
#[derive(Debug, Default)]
pub struct ForwardPass;

/// Normalised images, one after the other.
#[derive(Debug, Clone)]
pub struct FlatImages {
    values: Vec<f32>,
    shape: InputShape,
}

impl<N: Architecture> Evaluator<N> for ForwardPass {
    type Images = FlatImages;
    type Snapshot = N;

    fn pack(values: &[f32], shape: InputShape, _background: f32) -> FlatImages {
        FlatImages { values: values.to_vec(), shape }
    }

    fn snapshot(network: &N, _shape: InputShape) -> N {
        // A gain of its own: the network's is shared with the optimizer, which goes on changing it.
        let gain = Gain::new(GainConfig::new().check().expect("defaults are valid"));
        gain.set(network.gain());
        network.valid().with_gain(&gain)
    }

    fn logits_of_sets(&mut self, network: N, sets: &[&FlatImages]) -> Vec<Vec<f32>> {
        let device = network.devices().into_iter().next().unwrap_or_else(Device::flex);
        let of_set = |FlatImages { values, shape }: &FlatImages| {
            let logits = values.chunks(CHUNK * shape.len()).flat_map(|chunk| {
                let data = TensorData::new(chunk.to_vec(), [chunk.len() / shape.len(), shape.len()]);
                let logits = network.forward_still(Tensor::from_data(data, &device), *shape);
                logits.into_data().try_to_vec::<f32>().expect("logits are f32")
            });
            logits.collect()
        };
        sets.iter().map(|set| of_set(set)).collect()
    }
}
