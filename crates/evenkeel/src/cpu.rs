//! The numbers of a tensor on Burn's CPU backend, without a copy.
//!
//! For code of your own that computes on slices: an optimizer that updates weights in place, or a kernel. Each function says what it does
//! with tensors of other devices.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use evenkeel::cpu;
//!
//! let tensor = Tensor::<1>::from_data([1.0, 2.0], &Device::flex());
//! let doubled = cpu::in_place(tensor, |values| values.iter_mut().for_each(|v| *v *= 2.0)).expect("f32 on the CPU");
//! assert_eq!(cpu::on_cpu(doubled).as_slice::<f32>(), Some(&[2.0, 4.0][..]));
//! ```

use burn::backend::flex::FlexTensor;
use burn::backend::{BackendTensor, DispatchAutodiffContext, DispatchTensor, DispatchTensorKind};
use burn::tensor::{DType, Tensor};

/// The tensor as the CPU backend has it; `None` on other devices. Autodiff's record of the tensor is left behind.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// let tensor = evenkeel::cpu::flex(Tensor::<1>::ones([2], &Device::flex().autodiff())).expect("it is on the CPU");
/// assert_eq!(tensor.as_slice::<f32>(), Some(&[1.0, 1.0][..]));
/// ```
pub fn flex<const D: usize>(tensor: Tensor<D>) -> Option<FlexTensor> {
    let mut kind = tensor.into_dispatch().kind;
    while let DispatchTensorKind::Autodiff(inner) = kind {
        kind = *inner;
    }
    match kind {
        DispatchTensorKind::Flex(BackendTensor::Float(tensor)) => Some(tensor),
        DispatchTensorKind::Flex(tensor @ BackendTensor::Autodiff(_)) => Some(tensor.autodiff_inner()),
        #[allow(unreachable_patterns)] // other backends exist with other features of Burn
        _ => None,
    }
}

/// A tensor of the CPU backend as any code of Burn takes it, without autodiff.
///
/// ```
/// use burn::{backend::flex::FlexTensor, tensor::TensorData};
/// let ones = evenkeel::cpu::tensor::<1>(FlexTensor::from_data(TensorData::from([1.0_f32, 1.0])));
/// assert_eq!(ones.sum().into_scalar::<f32>(), 2.0);
/// ```
pub fn tensor<const D: usize>(tensor: FlexTensor) -> Tensor<D> {
    let kind = DispatchTensorKind::Flex(BackendTensor::Float(tensor));
    Tensor::from_dispatch(DispatchTensor { kind, autodiff: DispatchAutodiffContext::Disabled })
}

/// The numbers of a tensor as contiguous `f32`, copied only from other devices.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// let turned = Tensor::<2>::from_data([[1.0, 2.0], [3.0, 4.0]], &Device::flex()).transpose();
/// assert_eq!(evenkeel::cpu::on_cpu(turned).as_slice::<f32>(), Some(&[1.0, 3.0, 2.0, 4.0][..]));
/// ```
pub fn on_cpu<const D: usize>(tensor: Tensor<D>) -> FlexTensor {
    match flex(tensor.clone()) {
        Some(tensor) => contiguous(tensor),
        None => FlexTensor::from_data(tensor.into_data()),
    }
}

/// Runs `work` on the numbers of a tensor, in place where nobody else holds them. Returns the tensor as it was where that
/// cannot be: on other devices, for other kinds of numbers, under autodiff.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// let ones = Tensor::<1>::ones([3], &Device::flex());
/// let negative = evenkeel::cpu::in_place(ones, |values| values.iter_mut().for_each(|v| *v = -*v)).unwrap();
/// assert_eq!(negative.sum().into_scalar::<f32>(), -3.0);
/// ```
#[allow(clippy::result_large_err)] // the tensor comes back either way
pub fn in_place<const D: usize>(
    tensor: Tensor<D>,
    work: impl FnOnce(&mut [f32]),
) -> Result<Tensor<D>, Tensor<D>> {
    let DispatchTensor { kind, autodiff } = tensor.into_dispatch();
    let again = |kind| Tensor::from_dispatch(DispatchTensor { kind, autodiff });
    match kind {
        DispatchTensorKind::Flex(BackendTensor::Float(tensor)) if tensor.dtype() == DType::F32 => {
            let mut tensor = contiguous(tensor);
            work(tensor.storage_mut());
            Ok(again(DispatchTensorKind::Flex(BackendTensor::Float(tensor))))
        }
        other => Err(again(other)),
    }
}

/// The same tensor, or a copy without strides or offset if it has any.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use evenkeel::cpu::{contiguous, flex};
/// let second = flex(Tensor::<1>::from_data([1.0, 2.0, 3.0], &Device::flex()).slice([1..2])).unwrap();
/// assert_eq!(contiguous(second).bytes().len(), 4);
/// ```
pub fn contiguous(tensor: FlexTensor) -> FlexTensor {
    let whole = tensor.as_slice::<f32>().is_some_and(|values| size_of_val(values) == tensor.bytes().len());
    if whole { tensor } else { tensor.to_contiguous() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    #[test]
    fn the_numbers_are_found_with_and_without_autodiff_and_are_not_copied() {
        for device in [Device::flex(), Device::flex().autodiff()] {
            let tensor = Tensor::<1>::from_data([1.0, 2.0], &device);
            let (a, b) = (flex(tensor.clone()).unwrap(), flex(tensor).unwrap());
            assert_eq!(a.as_slice::<f32>().unwrap(), [1.0, 2.0]);
            assert_eq!(a.bytes().as_ptr(), b.bytes().as_ptr());
        }
    }

    #[test]
    fn what_others_hold_is_not_changed() {
        let tensor = Tensor::<1>::from_data([1.0, 2.0], &Device::flex());
        let changed = in_place(tensor.clone(), |values| values[0] = 9.0).unwrap();
        assert_eq!(tensor.into_data().as_slice::<f32>().unwrap(), [1.0, 2.0]);
        assert_eq!(changed.into_data().as_slice::<f32>().unwrap(), [9.0, 2.0]);
    }

    #[test]
    fn other_numbers_are_left_to_burn() {
        let tensor = Tensor::<1>::from_data([1.0, 2.0], &Device::flex()).cast(DType::F64);
        assert!(in_place(tensor, |_| ()).is_err());
    }
}
