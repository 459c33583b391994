//! A convolution with its BatchNorm.

use burn::module::{Module, Param, RunningState};
use burn::tensor::module::{conv2d, unfold4d};
use burn::tensor::ops::{ConvOptions, UnfoldOptions};
use burn::tensor::{Device, Tensor, TensorData, activation::relu};
use evenkeel::optim::{LayerInputs, WeightLayout};
use evenkeel_kernels::batch_norm::Moments;
use rand::{Rng, RngExt};

use super::ConvPlan;
use crate::ops::{self, Blocked, ConvNormParameters};

/// What PyTorch's BatchNorm adds to the variance, and the weight of a new batch in its running statistics.
const EPSILON: f64 = 1e-5;
const MOMENTUM: f32 = 0.1;

/// Patches of a 3×3 window are nine times as large as what they are of: so many images are unfolded at once.
const IMAGES_UNFOLDED: usize = 32;

/// `relu?(bn(x * w) + residual)`: a bias-free 3×3 (padding 1) or 1×1 convolution, BatchNorm, optional residual and ReLU.
#[derive(Module, Debug)]
pub struct ConvNorm {
    /// Weights `[outputs, inputs, k, k]`.
    pub weight: Param<Tensor<4>>,
    /// BatchNorm's scale γ.
    pub gamma: Param<Tensor<1>>,
    /// BatchNorm's shift β.
    pub beta: Param<Tensor<1>>,
    /// Running mean, for evaluation.
    pub running_mean: RunningState<Tensor<1>>,
    /// Running unbiased variance, for evaluation.
    pub running_var: RunningState<Tensor<1>>,
    stride: usize,
}

impl ConvNorm {
    /// PyTorch's default initialisation: weights from U(−1/√fan, 1/√fan) with `fan = inputs · k²`, γ = 1, β = 0.
    pub fn new<R: Rng>(plan: ConvPlan, rng: &mut R, device: &Device) -> Self {
        let ConvPlan { inputs, outputs, kernel, stride } = plan;
        let fan = inputs * kernel * kernel;
        let bound = 1.0 / (fan as f32).sqrt();
        let weights: Vec<f32> = (0..outputs * fan).map(|_| rng.random_range(-bound..bound)).collect();
        let constant = |value: f32| TensorData::new(vec![value; outputs], [outputs]);
        Self {
            weight: Param::from_data(TensorData::new(weights, [outputs, inputs, kernel, kernel]), device),
            gamma: Param::from_data(constant(1.0), device),
            beta: Param::from_data(constant(0.0), device),
            running_mean: RunningState::new(Tensor::from_data(constant(0.0), device)),
            running_var: RunningState::new(Tensor::from_data(constant(1.0), device)),
            stride,
        }
    }

    /// Distance between outputs in pixels of the input: 1 or 2.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// In training mode on the CPU's kernels.
    pub fn train_blocked(&self, x: Blocked, relu: bool) -> Blocked {
        let (y, moments) = ops::conv_norm(x, self.parameters(relu));
        self.update_running(&moments);
        y
    }

    /// What the operations on the CPU's kernels take.
    pub(super) fn parameters(&self, relu: bool) -> ConvNormParameters {
        ConvNormParameters {
            weight: self.weight.val(),
            gamma: self.gamma.val(),
            beta: self.beta.val(),
            stride: self.stride,
            relu,
            epsilon: EPSILON as f32,
        }
    }

    /// By Burn's own operations, on any device; `training` normalises by the batch and updates the running statistics.
    pub fn forward(
        &self,
        x: Tensor<4>,
        residual: Option<Tensor<4>>,
        with_relu: bool,
        training: bool,
    ) -> Tensor<4> {
        let [outputs, _, kernel, _] = self.weight.dims();
        let padding = kernel / 2;
        let options = ConvOptions::new([self.stride; 2], [padding; 2], [1, 1], 1);
        let z = conv2d(x, self.weight.val(), None, options);
        let (mean, variance) = if training {
            let [batch, _, height, width] = z.dims();
            let rows = z.clone().swap_dims(0, 1).reshape([outputs, batch * height * width]);
            let mean = rows.clone().mean_dim(1);
            let variance = (rows - mean.clone()).square().mean_dim(1);
            let (mean, variance) = (mean.reshape([outputs]), variance.reshape([outputs]));
            let count = (batch * height * width) as f64;
            let unbiased = variance.clone().detach().mul_scalar(count / (count - 1.0).max(1.0));
            blend(&self.running_mean, mean.clone().detach());
            blend(&self.running_var, unbiased);
            (mean, variance)
        } else {
            (self.running_mean.value(), self.running_var.value())
        };
        let per_channel = |tensor: Tensor<1>| tensor.reshape([1, outputs, 1, 1]);
        let scale = self.gamma.val() / variance.add_scalar(EPSILON).sqrt();
        let shift = self.beta.val() - mean * scale.clone();
        let y = z * per_channel(scale) + per_channel(shift);
        let y = match residual {
            Some(residual) => y + residual,
            None => y,
        };
        if with_relu { relu(y) } else { y }
    }

    /// What comes into the convolution: the patches that its window sees, a few images at a time.
    pub(super) fn inputs(&self, x: &Tensor<4>) -> LayerInputs {
        let [_, inputs, kernel, _] = self.weight.dims();
        let [images, _, height, width] = x.dims();
        let columns = inputs * kernel * kernel;
        let options = UnfoldOptions::new([self.stride; 2], [kernel / 2; 2], [1, 1]);
        let mut products = Tensor::zeros([columns, columns], &x.device());
        for first in (0..images).step_by(IMAGES_UNFOLDED) {
            let some = first..images.min(first + IMAGES_UNFOLDED);
            let patches = unfold4d(
                x.clone().slice([some.clone(), 0..inputs, 0..height, 0..width]),
                [kernel; 2],
                options.clone(),
            );
            let [_, _, places] = patches.dims();
            let z = patches.swap_dims(0, 1).reshape([columns, some.len() * places]);
            products = products + z.clone().matmul(z.transpose());
        }
        let places = height.div_ceil(self.stride) * width.div_ceil(self.stride);
        LayerInputs {
            parameter: self.weight.id,
            products,
            rows: images * places,
            weights: WeightLayout::InputsLast,
        }
    }

    /// Moves the running statistics towards those of a batch.
    pub(super) fn update_running(&self, moments: &Moments) {
        let values = |state: &RunningState<Tensor<1>>| -> Vec<f32> {
            state.value().into_data().try_to_vec().expect("statistics are f32")
        };
        let (mut mean, mut variance) = (values(&self.running_mean), values(&self.running_var));
        moments.update_running(MOMENTUM, &mut mean, &mut variance);
        for (state, values) in [(&self.running_mean, mean), (&self.running_var, variance)] {
            let (device, channels) = (state.value().device(), values.len());
            set(state, Tensor::from_data(TensorData::new(values, [channels]), &device));
        }
    }
}

fn blend(state: &RunningState<Tensor<1>>, batch: Tensor<1>) {
    let old = state.value();
    let new = old.mul_scalar(1.0 - f64::from(MOMENTUM)) + batch.mul_scalar(f64::from(MOMENTUM));
    set(state, new);
}

/// Makes the value visible to records at once, not only after the next synchronisation.
fn set(state: &RunningState<Tensor<1>>, value: Tensor<1>) {
    state.update(value);
    state.value_sync();
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// The sum of the squares of what a convolution gives is Σ w ZᵀZ wᵀ.
    #[test]
    fn the_products_of_patches_are_those_of_the_convolution() {
        let device = Device::flex();
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        // More images than are unfolded at once.
        let (images, inputs, side) = (IMAGES_UNFOLDED + 3, 2, 5);
        let x: Vec<f32> = (0..images * inputs * side * side).map(|_| rng.random_range(-1.0..1.0)).collect();
        let x = Tensor::<4>::from_data(TensorData::new(x, [images, inputs, side, side]), &device);
        for (kernel, stride) in [(3, 1), (3, 2), (1, 2)] {
            let layer = ConvNorm::new(ConvPlan { inputs, outputs: 3, kernel, stride }, &mut rng, &device);
            let told = layer.inputs(&x);
            let options = ConvOptions::new([stride; 2], [kernel / 2; 2], [1, 1], 1);
            let z = conv2d(x.clone(), layer.weight.val(), None, options);
            let [_, outputs, height, width] = z.dims();
            assert_eq!((told.rows, told.weights), (images * height * width, WeightLayout::InputsLast));
            let w = layer.weight.val().reshape([outputs, inputs * kernel * kernel]);
            let by_products = (w.clone().matmul(told.products) * w).sum().into_scalar::<f32>();
            let directly = z.square().sum().into_scalar::<f32>();
            assert!((by_products / directly - 1.0).abs() < 1e-5, "{by_products} {directly}");
        }
    }
}
