//! Memory for packed weights, which are needed again and again and never for long.

use std::cell::RefCell;

use evenkeel_kernels::PackedWeights;

thread_local! {
    static PACKED: RefCell<PackedWeights> = RefCell::new(PackedWeights::new());
}

/// Lends this thread's packed weights, to be packed anew. A fresh pack of a wide layer would be four megabytes that the system has to
/// zero first. Calls may nest: the pack is taken out while it is in use.
pub(super) fn with_packed<R>(work: impl FnOnce(&mut PackedWeights) -> R) -> R {
    let mut packed = PACKED.take();
    let result = work(&mut packed);
    PACKED.set(packed);
    result
}
