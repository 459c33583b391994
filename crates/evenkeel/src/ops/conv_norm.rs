//! Convolution, BatchNorm, residual and ReLU as one operation.

use std::sync::{Arc, Mutex, PoisonError};

use burn::backend::Dispatch;
use burn::tensor::Tensor;
use evenkeel_kernels::ConvShape;
use evenkeel_kernels::batch_norm::Moments;

use super::Blocked;
use super::backend::{ConvNormSpec, ResidualOps};

/// The tensors of [`conv_norm`].
pub struct ConvNormInput {
    /// Weights `[outputs, inputs, k, k]`, `k` 1 or 3 (padding 1).
    pub weight: Tensor<4>,
    /// BatchNorm's scale γ.
    pub gamma: Tensor<1>,
    /// BatchNorm's shift β.
    pub beta: Tensor<1>,
    /// Added before the ReLU.
    pub residual: Option<Blocked>,
    /// 1 or 2.
    pub stride: usize,
    /// Whether a ReLU follows.
    pub relu: bool,
    /// ε of BatchNorm.
    pub epsilon: f32,
}

/// `relu?(bn(x * w) + residual)` in training mode: normalised by the batch, whose moments come back for the running
/// statistics.
pub fn conv_norm(x: &Blocked, input: ConvNormInput) -> (Blocked, Moments) {
    let [outputs, _, kernel, _] = input.weight.dims();
    let conv = match kernel {
        1 => ConvShape::one(x.shape, outputs, input.stride),
        _ => ConvShape::three(x.shape, outputs, input.stride),
    };
    let moments = Arc::new(Mutex::new(None));
    let spec = ConvNormSpec { conv, relu: input.relu, epsilon: input.epsilon, moments: Arc::clone(&moments) };
    let (x, weight) = (x.data.clone().into_dispatch(), input.weight.into_dispatch());
    let (gamma, beta) = (input.gamma.into_dispatch(), input.beta.into_dispatch());
    let y = match input.residual {
        None => <Dispatch as ResidualOps>::conv_norm(x, weight, gamma, beta, spec),
        Some(residual) => <Dispatch as ResidualOps>::conv_norm_residual(
            x,
            weight,
            gamma,
            beta,
            residual.data.into_dispatch(),
            spec,
        ),
    };
    let moments =
        moments.lock().unwrap_or_else(PoisonError::into_inner).take().expect("the forward pass leaves them");
    (Blocked { data: Tensor::from_dispatch(y), shape: conv.output() }, moments)
}
