//! Convolutions with BatchNorm, and residual blocks of them, as one operation each.

use std::sync::{Arc, Mutex, PoisonError};

use burn::backend::Dispatch;
use burn::tensor::Tensor;
use evenkeel_kernels::batch_norm::Moments;
use evenkeel_kernels::{BatchShape, ConvShape};

use super::Blocked;
use super::backend::{ResidualOps, Shortcut};
use super::layer::{Layer, LayerSpec};

/// The parameters of a convolution with its BatchNorm.
#[derive(Debug, Clone)]
pub struct ConvNormParameters {
    /// Weights `[outputs, inputs, k, k]`, `k` 1 or 3 (padding 1).
    pub weight: Tensor<4>,
    /// BatchNorm's scale γ.
    pub gamma: Tensor<1>,
    /// BatchNorm's shift β.
    pub beta: Tensor<1>,
    /// 1 or 2.
    pub stride: usize,
    /// Whether a ReLU follows, after the residual if there is one.
    pub relu: bool,
    /// ε of BatchNorm.
    pub epsilon: f32,
}

/// A layer on its way to the backend, and where it will leave the moments of the batch.
struct Prepared {
    layer: Layer<Dispatch>,
    output: BatchShape,
    moments: Arc<Mutex<Option<Moments>>>,
}

impl ConvNormParameters {
    fn prepare(self, input: BatchShape) -> Prepared {
        let [outputs, _, kernel, _] = self.weight.dims();
        let conv = ConvShape::new(input, outputs, kernel, self.stride);
        let moments = Arc::new(Mutex::new(None));
        let spec = LayerSpec { conv, relu: self.relu, epsilon: self.epsilon, moments: Arc::clone(&moments) };
        let layer = Layer {
            weight: self.weight.into_dispatch(),
            gamma: self.gamma.into_dispatch(),
            beta: self.beta.into_dispatch(),
            spec,
        };
        Prepared { layer, output: conv.output(), moments }
    }
}

fn taken(moments: &Mutex<Option<Moments>>) -> Moments {
    let mut moments = moments.lock().unwrap_or_else(PoisonError::into_inner);
    moments.take().expect("the forward pass leaves them")
}

/// `relu?(bn(x * w))` in training mode: normalised by the batch, whose moments come back for the running statistics.
pub fn conv_norm(x: Blocked, layer: ConvNormParameters) -> (Blocked, Moments) {
    let Prepared { layer, output, moments } = layer.prepare(x.shape);
    let y = <Dispatch as ResidualOps>::conv_norm(x.data.into_dispatch(), layer);
    (Blocked { data: Tensor::from_dispatch(y), shape: output }, taken(&moments))
}

/// `relu?(second(first(x)) + shortcut(x))` in training mode; without a shortcut, `x` itself is added. The moments come back in
/// the order first, second, shortcut.
pub fn residual_block(
    x: Blocked,
    first: ConvNormParameters,
    second: ConvNormParameters,
    shortcut: Option<ConvNormParameters>,
) -> (Blocked, Vec<Moments>) {
    let first = first.prepare(x.shape);
    let second = second.prepare(first.output);
    let shortcut = shortcut.map(|shortcut| shortcut.prepare(x.shape));
    let mut moments = vec![first.moments, second.moments];
    let shortcut = match shortcut {
        None => Shortcut::Identity,
        Some(shortcut) => {
            moments.push(shortcut.moments);
            Shortcut::Conv(shortcut.layer)
        }
    };
    let x = x.data.into_dispatch();
    let y = <Dispatch as ResidualOps>::residual_block(x, first.layer, second.layer, shortcut);
    let moments = moments.iter().map(|moments| taken(moments)).collect();
    (Blocked { data: Tensor::from_dispatch(y), shape: second.output }, moments)
}
