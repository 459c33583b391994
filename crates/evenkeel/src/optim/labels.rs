//! The classes that a stream has shown so far.

use burn::tensor::{Int, Tensor};

use super::OptimError;

/// A set of classes, found out by looking at the labels of batches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SeenClasses(Vec<bool>);

impl SeenClasses {
    /// Takes the labels of a batch in.
    pub(super) fn see(&mut self, labels: &Tensor<1, Int>) {
        for label in labels.to_data().iter::<i64>().filter_map(|label| usize::try_from(label).ok()) {
            if label >= self.0.len() {
                self.0.resize(label + 1, false);
            }
            self.0[label] = true;
        }
    }

    /// How many classes there are.
    pub(super) fn count(&self) -> usize {
        self.0.iter().filter(|seen| **seen).count()
    }

    /// Whether this one is among them.
    pub(super) fn has(&self, class: usize) -> bool {
        self.0.get(class).copied().unwrap_or(false)
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().map(|seen| u8::from(*seen)).collect()
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, OptimError> {
        let bit = |byte: &u8| match byte {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(OptimError::Record(format!("{other} where a class is seen or not"))),
        };
        bytes.iter().map(bit).collect::<Result<_, _>>().map(Self)
    }
}
