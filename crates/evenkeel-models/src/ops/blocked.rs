//! Activations in the kernels' layout.

use burn::backend::Dispatch;
use burn::tensor::Tensor;
use evenkeel_kernels::BatchShape;

use super::backend::ResidualOps;

/// A batch of activations in the kernels' layout: `[images / L][height][width][channels][L]`, `L` images in the lanes.
#[derive(Debug, Clone)]
pub struct Blocked {
    pub(super) data: Tensor<1>,
    pub(super) shape: BatchShape,
}

impl Blocked {
    /// From images `[batch, channels, height, width]` on the CPU. No gradient goes back to them.
    pub fn from_images(x: Tensor<4>) -> Self {
        let [batch, channels, height, width] = x.dims();
        let shape = BatchShape::new(batch, channels, height, width);
        let data = Tensor::from_dispatch(<Dispatch as ResidualOps>::to_blocked(x.into_dispatch(), shape));
        Self { data, shape }
    }

    /// Batch, channels, height and width.
    pub fn shape(&self) -> BatchShape {
        self.shape
    }
}
