//! The arithmetic of optimizers: in place and in one pass on the CPU, by Burn's operations elsewhere.

use burn::tensor::Tensor;

/// Numbers that one task works on.
#[cfg(feature = "flex")]
const CHUNK: usize = 1 << 15;

/// `a·y + b·x`.
pub(crate) fn scaled_sum<const D: usize>(a: f64, y: Tensor<D>, b: f64, x: Tensor<D>) -> Tensor<D> {
    let (a32, b32) = (a as f32, b as f32);
    let on_cpu = with_numbers([&x], y, |y, [x]| {
        for (y, x) in y.iter_mut().zip(x) {
            *y = a32 * *y + b32 * x;
        }
    });
    on_cpu.unwrap_or_else(|y| y.mul_scalar(a) + x.mul_scalar(b))
}

/// `a·y + b·x²`.
pub(crate) fn scaled_sum_of_squares<const D: usize>(a: f64, y: Tensor<D>, b: f64, x: Tensor<D>) -> Tensor<D> {
    let (a32, b32) = (a as f32, b as f32);
    let on_cpu = with_numbers([&x], y, |y, [x]| {
        for (y, x) in y.iter_mut().zip(x) {
            *y = a32 * *y + b32 * (x * x);
        }
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
    let (rate32, epsilon32) = (rate as f32, epsilon as f32);
    let on_cpu = with_numbers([&m, &v], w, |w, [m, v]| {
        for ((w, m), v) in w.iter_mut().zip(m).zip(v) {
            *w -= rate32 * m / (v.sqrt() + epsilon32);
        }
    });
    on_cpu.unwrap_or_else(|w| w - m.mul_scalar(rate) / v.sqrt().add_scalar(epsilon))
}

/// `⟨a, b⟩`, summed in f64; on the CPU in an order that does not depend on the number of threads.
pub(crate) fn inner_product(a: &Tensor<1>, b: &Tensor<1>) -> f64 {
    #[cfg(feature = "flex")]
    {
        use rayon::prelude::*;

        use crate::cpu::{contiguous, flex};

        let numbers = [a, b].map(|tensor| flex(tensor.clone()).map(contiguous));
        let slice = |i: usize| numbers[i].as_ref().and_then(|numbers| numbers.as_slice::<f32>());
        if let (Some(a), Some(b)) = (slice(0), slice(1)) {
            let product = |a: &[f32], b: &[f32]| -> f64 {
                a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
            };
            let parts = a.par_chunks(CHUNK).zip(b.par_chunks(CHUNK)).map(|(a, b)| product(a, b));
            return parts.collect::<Vec<f64>>().into_iter().sum();
        }
    }
    let b = b.clone().to_device(&a.device());
    (a.clone() * b).sum().into_data().iter::<f64>().sum()
}

/// `‖x‖`, summed as by [`inner_product`].
pub(crate) fn norm<const D: usize>(x: &Tensor<D>) -> f64 {
    let flat: Tensor<1> = x.clone().flatten(0, D - 1);
    inner_product(&flat, &flat).sqrt()
}

/// Without a CPU backend there are no numbers to be had.
#[cfg(not(feature = "flex"))]
#[allow(clippy::result_large_err)]
fn with_numbers<const D: usize, const N: usize>(
    _: [&Tensor<D>; N],
    y: Tensor<D>,
    _: impl Fn(&mut [f32], [&[f32]; N]) + Sync,
) -> Result<Tensor<D>, Tensor<D>> {
    Err(y)
}

/// Runs `work` on parts of the numbers of `y`, which it changes, with the same parts of `inputs`, on all threads. Returns `y` as it was
/// if one of them is not a tensor of `f32` on the CPU.
#[cfg(feature = "flex")]
#[allow(clippy::result_large_err)] // the tensor comes back either way
fn with_numbers<const D: usize, const N: usize>(
    inputs: [&Tensor<D>; N],
    y: Tensor<D>,
    work: impl Fn(&mut [f32], [&[f32]; N]) + Sync,
) -> Result<Tensor<D>, Tensor<D>> {
    use rayon::prelude::*;

    use crate::cpu::{contiguous, flex, in_place};

    let inputs = inputs.map(|input| flex(input.clone()).map(contiguous));
    let numbers = inputs.each_ref().map(|input| input.as_ref().and_then(|input| input.as_slice::<f32>()));
    if numbers.iter().any(Option::is_none) {
        return Err(y);
    }
    let numbers = numbers.map(Option::unwrap_or_default);
    in_place(y, |y| {
        assert!(numbers.iter().all(|input| input.len() == y.len()), "tensors of one shape");
        y.par_chunks_mut(CHUNK).enumerate().for_each(|(i, y)| {
            let len = y.len();
            work(y, numbers.map(|input| &input[i * CHUNK..][..len]));
        });
    })
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use burn::tensor::{Device, TensorData};

    use super::*;

    /// More than one chunk, and not a multiple of any vector.
    const LEN: usize = CHUNK + 77;

    fn tensor(value: impl Fn(usize) -> f32) -> Tensor<1> {
        let values: Vec<f32> = (0..LEN).map(value).collect();
        Tensor::from_data(TensorData::new(values, [LEN]), &Device::flex())
    }

    fn values(tensor: Tensor<1>) -> Vec<f32> {
        tensor.into_data().try_to_vec().unwrap()
    }

    #[test]
    fn every_number_is_what_the_definition_says_to_the_bit() {
        let (x, v) = (|i: usize| (i % 101) as f32 / 50.0 - 1.0, |i: usize| (i % 37) as f32 / 9.0);
        let sum = values(scaled_sum(0.9, tensor(v), -0.25, tensor(x)));
        let squares = values(scaled_sum_of_squares(0.9, tensor(v), 0.25, tensor(x)));
        let product = inner_product(&tensor(v), &tensor(x));
        let expected: f64 = (0..LEN).map(|i| f64::from(v(i)) * f64::from(x(i))).sum();
        assert!((product - expected).abs() < 1e-9 * expected.abs().max(1.0), "{product} {expected}");
        let quotient = values(scaled_quotient(tensor(v), 0.1, tensor(x), tensor(v), 1e-3));
        for i in 0..LEN {
            let (x, v) = (x(i), v(i));
            assert_eq!(sum[i], 0.9 * v + -0.25 * x);
            assert_eq!(squares[i], 0.9 * v + 0.25 * (x * x));
            assert_eq!(quotient[i], v - 0.1 * x / (v.sqrt() + 1e-3));
        }
    }

    /// Where the numbers cannot be had, Burn's operations compute the same up to rounding: here in f64.
    #[test]
    fn other_numbers_go_through_burns_operations() {
        let wide = |value: f32| tensor(move |_| value).cast(burn::tensor::DType::F64);
        let last = |tensor: Tensor<1>| tensor.into_data().try_to_vec::<f64>().unwrap()[LEN - 1];
        assert_eq!(last(scaled_sum(0.5, wide(3.0), 2.0, wide(4.0))), 9.5);
        assert_eq!(last(scaled_sum_of_squares(0.5, wide(3.0), 2.0, wide(4.0))), 33.5);
        assert_eq!(inner_product(&wide(3.0), &wide(0.5)), 1.5 * LEN as f64);
        assert_eq!(last(scaled_quotient(wide(3.0), 2.0, wide(4.0), wide(9.0), 1.0)), 1.0);
    }
}
