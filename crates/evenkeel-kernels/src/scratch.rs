//! Working memory that each thread keeps between calls.

use crate::buffer::Buffer;
use std::cell::RefCell;

thread_local! {
    static SPARE: RefCell<Vec<Buffer>> = const { RefCell::new(Vec::new()) };
}

/// Lends `len` numbers of this thread's working memory, aligned to a cache line, contents unspecified.
///
/// Calls may nest: the buffer is taken out while it is in use.
pub(crate) fn with<R>(len: usize, work: impl FnOnce(&mut [f32]) -> R) -> R {
    let mut buffer = SPARE.with_borrow_mut(Vec::pop).unwrap_or_default();
    buffer.resize(len);
    let result = work(&mut buffer);
    SPARE.with_borrow_mut(|spare| spare.push(buffer));
    result
}

#[cfg(test)]
mod tests {
    #[test]
    fn nested_loans_do_not_overlap() {
        super::with(4, |outer| {
            outer.fill(1.0);
            super::with(4, |inner| inner.fill(2.0));
            assert_eq!(outer, [1.0; 4]);
        });
    }
}
