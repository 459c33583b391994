//! Weights for PyTorch: safetensors with the names and shapes of a `state_dict`.
//!
//! Layers under a gain are written as they act, `W = g·w`, so that the same network without a gain gives the same logits; the
//! gain itself is in the file's metadata. Linear weights are `[outputs, inputs]`, as in `torch.nn.Linear`.

use std::collections::HashMap;
use std::path::Path;

use burn::tensor::{Tensor, TensorData};
use evenkeel::nn::{ConvNorm, GainLinear};
use safetensors::tensor::{Dtype, SafeTensorError, TensorView};
use thiserror::Error;

use crate::atomic_file;
use crate::network::Network;
use crate::spec::RunSpec;

/// Name of the file in a run's folder.
pub const FILE: &str = "weights.safetensors";

/// Why weights cannot be written.
#[derive(Debug, Error)]
pub enum WeightsError {
    /// The disk.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// The format.
    #[error("{0}")]
    Format(#[from] SafeTensorError),
}

/// The weights of `network` as a safetensors file.
pub fn write(path: &Path, network: &Network, spec: &RunSpec) -> Result<(), WeightsError> {
    let bytes = to_bytes(network, spec)?;
    atomic_file::write(path, &bytes)
        .map_err(|error| WeightsError::Io { path: path.display().to_string(), error })
}

fn to_bytes(network: &Network, spec: &RunSpec) -> Result<Vec<u8>, SafeTensorError> {
    let mut tensors = Tensors::default();
    let gain = match network {
        Network::Mlp(model) => {
            for (i, layer) in model.hidden.iter().enumerate() {
                tensors.linear(&format!("hidden.{i}"), layer);
            }
            tensors.linear("output", &model.output);
            model.output.gain()
        }
        Network::SlimResNet(model) => {
            tensors.conv_norm("backbone.stem", &model.backbone.stem);
            for (i, block) in model.backbone.blocks.iter().enumerate() {
                tensors.conv_norm(&format!("backbone.blocks.{i}.first"), &block.first);
                tensors.conv_norm(&format!("backbone.blocks.{i}.second"), &block.second);
                if let Some(shortcut) = &block.shortcut {
                    tensors.conv_norm(&format!("backbone.blocks.{i}.shortcut"), shortcut);
                }
            }
            tensors.linear("head", &model.head);
            model.head.gain()
        }
    };
    let metadata = HashMap::from([
        ("format".to_string(), "pt".to_string()),
        ("gain".to_string(), gain.to_string()),
        ("run".to_string(), spec.folder()),
        ("benchmark".to_string(), spec.benchmark.clone()),
    ]);
    tensors.serialize(metadata)
}

/// Name, type, shape and bytes of each tensor.
#[derive(Default)]
struct Tensors(Vec<(String, Dtype, Vec<usize>, Vec<u8>)>);

impl Tensors {
    fn float<const D: usize>(&mut self, name: String, tensor: Tensor<D>) {
        let shape = tensor.dims().to_vec();
        let values: Vec<f32> = tensor.into_data().try_to_vec().expect("weights are f32");
        let bytes = values.into_iter().flat_map(f32::to_le_bytes).collect();
        self.0.push((name, Dtype::F32, shape, bytes));
    }

    fn linear(&mut self, name: &str, layer: &GainLinear) {
        let [inputs, outputs] = layer.weight.dims();
        let gain = layer.gain();
        let values: Vec<f32> = layer.weight.val().into_data().try_to_vec().expect("weights are f32");
        let effective = (0..outputs)
            .flat_map(|o| (0..inputs).map(move |i| (o, i)))
            .map(|(o, i)| (gain * f64::from(values[i * outputs + o])) as f32);
        let data = TensorData::new(effective.collect::<Vec<f32>>(), [outputs, inputs]);
        let tensor = Tensor::<2>::from_data(data, &burn::tensor::Device::flex());
        self.float(format!("{name}.weight"), tensor);
    }

    fn conv_norm(&mut self, name: &str, layer: &ConvNorm) {
        self.float(format!("{name}.conv.weight"), layer.weight.val());
        self.float(format!("{name}.bn.weight"), layer.gamma.val());
        self.float(format!("{name}.bn.bias"), layer.beta.val());
        self.float(format!("{name}.bn.running_mean"), layer.running_mean.value());
        self.float(format!("{name}.bn.running_var"), layer.running_var.value());
        // PyTorch's `load_state_dict` asks for it; with a fixed momentum it changes nothing.
        let count = 0_i64.to_le_bytes().to_vec();
        self.0.push((format!("{name}.bn.num_batches_tracked"), Dtype::I64, vec![], count));
    }

    fn serialize(self, metadata: HashMap<String, String>) -> Result<Vec<u8>, SafeTensorError> {
        let views: Result<Vec<(&str, TensorView<'_>)>, SafeTensorError> = self
            .0
            .iter()
            .map(|(name, dtype, shape, bytes)| {
                Ok((name.as_str(), TensorView::new(*dtype, shape.clone(), bytes)?))
            })
            .collect();
        safetensors::serialize(views?, Some(metadata))
    }
}

#[cfg(test)]
mod tests;
