//! The state of a method as bytes: numbers, vectors and the states of what it is made of, under the name of its rule.

use std::collections::BTreeMap;

use burn::tensor::{Bytes, DType, Device, Tensor, TensorData};
use burn_pack::{Reader, Scalar, Writer};

use super::OptimError;
use super::vector::Vector;

/// First line of a saved state; the second names the rule.
const MAGIC: &str = "evenkeel optimizer 1";

/// What comes before the state of the rule called `kind`.
pub(super) fn header(kind: &str) -> String {
    format!("{MAGIC}\n{kind}\n")
}

/// The state behind the header of the rule called `kind`; another header is an error that says whose it is.
pub(super) fn behind_header<'a>(kind: &str, bytes: &'a [u8]) -> Result<&'a [u8], OptimError> {
    if let Some(state) = bytes.strip_prefix(header(kind).as_bytes()) {
        return Ok(state);
    }
    let mut lines = bytes.splitn(3, |byte| *byte == b'\n').map(String::from_utf8_lossy);
    Err(bad(match (lines.next(), lines.next()) {
        (Some(magic), Some(other)) if magic == MAGIC => format!("it is of '{other}', and this is '{kind}'"),
        _ => "it does not begin as one".into(),
    }))
}

fn bad(error: impl std::fmt::Display) -> OptimError {
    OptimError::Record(error.to_string())
}

/// A state that is being written.
pub(super) struct StateWriter {
    kind: String,
    numbers: BTreeMap<&'static str, f64>,
    tensors: Vec<burn_pack::Tensor>,
}

impl StateWriter {
    pub(super) fn new(kind: &str) -> Self {
        Self { kind: kind.to_string(), numbers: BTreeMap::new(), tensors: Vec::new() }
    }

    pub(super) fn number(mut self, name: &'static str, value: f64) -> Self {
        self.numbers.insert(name, value);
        self
    }

    /// A vector; nothing is written of one that is not there yet.
    pub(super) fn vector(mut self, name: &str, vector: Option<&Vector>) -> Self {
        for (id, values) in vector.iter().flat_map(|vector| &vector.0) {
            let (bytes, shape, dtype) = values.to_data().into_parts();
            self.tensors.push(burn_pack::Tensor::new(format!("{name}.{id}"), dtype, shape, Some(*id), bytes));
        }
        self
    }

    /// The state of a part that writes its own.
    pub(super) fn part(mut self, name: &str, state: Vec<u8>) -> Self {
        let (shape, bytes) = ([state.len()], Bytes::from_bytes_vec(state));
        self.tensors.push(burn_pack::Tensor::new(format!("{name}.part"), DType::U8, shape, None, bytes));
        self
    }

    pub(super) fn finish(self) -> Result<Vec<u8>, OptimError> {
        let mut writer = Writer::new(self.tensors);
        for (name, value) in self.numbers {
            writer = writer.with_scalar(name, Scalar::Float(value));
        }
        let state = writer.into_bytes().map_err(bad)?;
        Ok([header(&self.kind).as_bytes(), &state].concat())
    }
}

/// A state that is being read.
pub(super) struct StateReader {
    numbers: BTreeMap<String, Scalar>,
    tensors: Vec<burn_pack::Tensor>,
}

impl StateReader {
    /// Opens the state of the rule called `kind`.
    pub(super) fn open(kind: &str, bytes: &[u8]) -> Result<Self, OptimError> {
        let state = behind_header(kind, bytes)?;
        let reader = Reader::from_bytes(Bytes::from_bytes_vec(state.to_vec())).map_err(bad)?;
        Ok(Self { numbers: reader.scalars().clone(), tensors: reader.into_tensors().map_err(bad)? })
    }

    /// A finite number.
    pub(super) fn number(&self, name: &str) -> Result<f64, OptimError> {
        let value = self.numbers.get(name).and_then(|value| f64::try_from(*value).ok());
        let value = value.ok_or_else(|| bad(format!("{name} is missing")))?;
        if value.is_finite() { Ok(value) } else { Err(bad(format!("{name} is {value}"))) }
    }

    /// A vector, if it was there when the state was saved.
    pub(super) fn vector(&self, name: &str) -> Result<Option<Vector>, OptimError> {
        let mut vector = Vector::default();
        for tensor in &self.tensors {
            if let (Some((of, _)), Some(id)) = (tensor.name.rsplit_once('.'), tensor.param_id)
                && of == name
            {
                let bytes = tensor.to_bytes().map_err(bad)?;
                let data = TensorData::from_bytes(bytes, tensor.shape.clone(), tensor.dtype);
                // It moves to its parameter's device with the first step.
                vector.0.insert(id, Tensor::from_data(data, &Device::default()));
            }
        }
        Ok((!vector.0.is_empty()).then_some(vector))
    }

    /// The state of a part.
    pub(super) fn part(&self, name: &str) -> Result<Vec<u8>, OptimError> {
        let name = format!("{name}.part");
        let found = self.tensors.iter().find(|tensor| tensor.name == name);
        let tensor = found.ok_or_else(|| bad(format!("{name} is missing")))?;
        Ok(tensor.to_bytes().map_err(bad)?.to_vec())
    }
}
