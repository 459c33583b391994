//! `features:FILE`: numbers that a frozen network gave, with labels.

use super::Format;
use crate::features;

pub(super) static ENTRY: Format = Format {
    prefix: "features",
    usage: "features:FILE",
    summary: "rows of numbers with labels: .npy, .npz, .safetensors, .parquet or .csv, with optional task and split",
    options: &["test_fraction"],
    load: |path, options| Ok(features::load(path, options)?),
};
