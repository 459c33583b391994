//! Weights for PyTorch: safetensors with the names and shapes of a `state_dict`.
//!
//! Layers under a gain are written as they act, `W = g·w`, so that the same network without a gain gives the same logits; the
//! gain itself is in the file's metadata.

use std::collections::HashMap;
use std::path::Path;

use evenkeel_data::files;
use evenkeel_models::Architecture;
use evenkeel_models::state_dict::Values;
use safetensors::tensor::{Dtype, SafeTensorError, TensorView};
use thiserror::Error;

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
pub fn write<N: Architecture>(
    path: &Path,
    network: &N,
    gain: Option<f64>,
    spec: &RunSpec,
) -> Result<(), WeightsError> {
    let bytes = to_bytes(network, gain, spec)?;
    files::write(path, &bytes).map_err(|error| WeightsError::Io { path: path.display().to_string(), error })
}

fn to_bytes<N: Architecture>(
    network: &N,
    gain: Option<f64>,
    spec: &RunSpec,
) -> Result<Vec<u8>, SafeTensorError> {
    let metadata = HashMap::from([
        ("format".to_string(), "pt".to_string()),
        ("gain".to_string(), gain.unwrap_or(1.0).to_string()),
        ("run".to_string(), spec.folder()),
        ("benchmark".to_string(), spec.benchmark.clone()),
    ]);
    let tensors = network.state_dict().tensors;
    let bytes: Vec<Vec<u8>> = tensors.iter().map(|tensor| tensor.values.to_le_bytes()).collect();
    let views: Result<Vec<(&str, TensorView<'_>)>, SafeTensorError> = tensors
        .iter()
        .zip(&bytes)
        .map(|(tensor, bytes)| {
            let dtype = match tensor.values {
                Values::F32(_) => Dtype::F32,
                Values::I64(_) => Dtype::I64,
            };
            Ok((tensor.name.as_str(), TensorView::new(dtype, tensor.shape.clone(), bytes)?))
        })
        .collect();
    safetensors::serialize(views?, Some(metadata))
}

#[cfg(test)]
mod tests;
