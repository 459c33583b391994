//! Average pooling from the kernels' layout to features.

use burn::backend::Dispatch;
use burn::tensor::Tensor;

use super::Blocked;
use super::backend::ResidualOps;

/// Averages over windows of 4×4 (what does not fill one is dropped) to features `[images, channels · windows]`.
pub fn average_pool(x: Blocked) -> Tensor<2> {
    Tensor::from_dispatch(<Dispatch as ResidualOps>::average_pool(x.data.into_dispatch(), x.shape))
}
