//! The arithmetic of optimizers: in place on the CPU, by Burn's operations elsewhere.

use burn::tensor::Tensor;
use evenkeel_kernels::{Path, update};

use super::flex::{contiguous, flex, in_place};

/// `a·y + b·x`.
pub(crate) fn scaled_sum<const D: usize>(a: f64, y: Tensor<D>, b: f64, x: Tensor<D>) -> Tensor<D> {
    let on_cpu = with_numbers([&x], y, |y, [x]| update::scaled_sum(Path::active(), a as f32, y, b as f32, x));
    on_cpu.unwrap_or_else(|y| y.mul_scalar(a) + x.mul_scalar(b))
}

/// `a·y + b·x²`.
pub(crate) fn scaled_sum_of_squares<const D: usize>(a: f64, y: Tensor<D>, b: f64, x: Tensor<D>) -> Tensor<D> {
    let on_cpu = with_numbers([&x], y, |y, [x]| {
        update::scaled_sum_of_squares(Path::active(), a as f32, y, b as f32, x);
    });
    on_cpu.unwrap_or_else(|y| y.mul_scalar(a) + x.square().mul_scalar(b))
}

/// `w − rate · m / (√v + epsilon)`.
pub(crate) fn scaled_quotient<const D: usize>(
    w: Tensor<D>,
    rate: f64,
    m: Tensor<D>,
    v: Tensor<D>,
    epsilon: f64,
) -> Tensor<D> {
    let on_cpu = with_numbers([&m, &v], w, |w, [m, v]| {
        update::scaled_quotient(Path::active(), w, rate as f32, m, v, epsilon as f32);
    });
    on_cpu.unwrap_or_else(|w| w - m.mul_scalar(rate) / v.sqrt().add_scalar(epsilon))
}

/// Runs `work` on the numbers of `y`, which it changes, and of `inputs`. Returns `y` as it was if one of them is not a tensor of
/// `f32` on the CPU.
#[allow(clippy::result_large_err)] // the tensor comes back either way
fn with_numbers<const D: usize, const N: usize>(
    inputs: [&Tensor<D>; N],
    y: Tensor<D>,
    work: impl FnOnce(&mut [f32], [&[f32]; N]),
) -> Result<Tensor<D>, Tensor<D>> {
    let inputs = inputs.map(|input| flex(input.clone()).map(contiguous));
    let numbers = inputs.each_ref().map(|input| input.as_ref().and_then(|input| input.as_slice::<f32>()));
    if numbers.iter().any(Option::is_none) {
        return Err(y);
    }
    in_place(y, |y| work(y, numbers.map(Option::unwrap_or_default)))
}
