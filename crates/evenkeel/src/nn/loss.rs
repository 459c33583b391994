//! The training loss.

use burn::tensor::{Int, Tensor, activation::log_softmax};

/// Cross-entropy of integer targets, mean over the batch, as `torch.nn.functional.cross_entropy`.
///
/// `logits`: `[batch, classes]`; `targets`: `[batch]`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// let device = Device::flex();
/// let undecided = Tensor::<2>::zeros([4, 10], &device);
/// let loss: f32 = evenkeel::nn::cross_entropy(undecided, Tensor::zeros([4], &device)).into_scalar();
/// assert!((loss - 10_f32.ln()).abs() < 1e-6);
/// ```
pub fn cross_entropy(logits: Tensor<2>, targets: Tensor<1, Int>) -> Tensor<1> {
    log_softmax(logits, 1).gather(1, targets.unsqueeze_dim(1)).mean().neg()
}
