//! Memory of finished activations, for the next ones.
//!
//! A training step of slim ResNet-18 needs some sixty buffers of up to 20 MB. Fresh ones would be zeroed by the system page by page, on one
//! thread, and cost a third of the step. So an operation gives back what its backward pass has seen for the last time.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use burn::backend::flex::FlexTensor;
use burn::tensor::TensorData;

/// Flat `f32` tensors that nobody else holds, by length. There are never more than were alive at once.
static SPARE: Mutex<BTreeMap<usize, Vec<FlexTensor>>> = Mutex::new(BTreeMap::new());

fn spare() -> MutexGuard<'static, BTreeMap<usize, Vec<FlexTensor>>> {
    SPARE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A flat tensor of `len` numbers that `fill` has written. What `fill` finds there is unspecified: zeros or old numbers.
pub(super) fn filled<R>(len: usize, fill: impl FnOnce(&mut [f32]) -> R) -> (FlexTensor, R) {
    let old = spare().get_mut(&len).and_then(Vec::pop);
    let mut tensor = old.unwrap_or_else(|| FlexTensor::from_data(TensorData::new(vec![0.0_f32; len], [len])));
    let result = fill(tensor.storage_mut());
    (tensor, result)
}

/// Keeps the memory of `tensor` for later, unless somebody else still holds it.
pub(super) fn recycle(tensor: FlexTensor) {
    let whole = tensor.as_slice::<f32>().map(<[f32]>::len);
    if let Some(len) = whole
        && tensor.is_unique()
        && tensor.bytes().len() == len * size_of::<f32>()
    {
        spare().entry(len).or_default().push(tensor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_goes_round_only_when_nobody_holds_it() {
        // A length that no other test uses: the spare memory belongs to the process.
        let (tensor, ()) = filled(12_347, |values| values.fill(1.0));
        let held = tensor.clone();
        recycle(tensor);
        let (other, first) = filled(12_347, |values| values[0]);
        assert_eq!(first, 0.0);
        recycle(held);
        let (_, first) = filled(12_347, |values| values[0]);
        assert_eq!(first, 1.0);
        drop(other);
    }
}
