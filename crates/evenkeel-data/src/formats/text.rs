//! `text:FILE`: sentences with labels.

use super::Format;
use crate::text_file;

pub(super) static ENTRY: Format = Format {
    prefix: "text",
    usage: "text:FILE",
    summary: "sentences in CSV or JSONL with text, label and optional task and split, as hashed character n-grams",
    options: &["test_fraction", "dimension", "ngrams"],
    load: |path, options| Ok(text_file::load(path, options)?),
};
