//! Training of a network without kernels for a whole pass.

use burn::tensor::{Int, Tensor};

use crate::architecture::{InputShape, Pass, Trainer};

/// Gradients by autodiff through the network's forward pass.
#[derive(Debug, Default)]
pub struct ByAutodiff;

impl<N> Trainer<N> for ByAutodiff {
    fn pass(&mut self, _: &N, _: &Tensor<2>, _: &Tensor<1, Int>, _: InputShape) -> Option<Pass> {
        None
    }
}
