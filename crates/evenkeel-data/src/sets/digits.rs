//! Synthetic digits, for a first look and for tests: no download.

use super::entry::{Entry, Origin};
use crate::normalize::Normalization;

/// The seed is part of what the name stands for: runs on `digits` see the same images everywhere.
const SEED: u64 = 0;

pub(super) static ENTRY: Entry = Entry {
    name: "digits",
    summary: "10,000 + 2,000 synthetic digits, 28×28 grey; no download",
    classes: 10,
    sparse: true,
    // They are drawn to look like MNIST's.
    normalization: Normalization::mnist,
    origin: Origin::Drawn(|| crate::digits(10_000, 2_000, SEED)),
};
