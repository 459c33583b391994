//! The training loss.

use burn::tensor::{Int, Tensor, activation::log_softmax};

/// Cross-entropy of integer targets, mean over the batch, as `torch.nn.functional.cross_entropy`.
///
/// `logits`: `[batch, classes]`; `targets`: `[batch]`.
pub fn cross_entropy(logits: Tensor<2>, targets: Tensor<1, Int>) -> Tensor<1> {
    log_softmax(logits, 1).gather(1, targets.unsqueeze_dim(1)).mean().neg()
}
