//! Training and evaluation of multi-layer perceptrons on images whose pixels are mostly background.
//!
//! Four of five pixels of MNIST are zero before normalisation, and equal to one number after it. With
//! `x = x' + b·1` the first product is `x·W = x'·W + b·colsum(W)`, and only the pixels that differ from the
//! background `b` are multiplied: [`SparseRows`] packs them once, five similar images at a time, and
//! [`logits`] takes each group of images through all layers while its activations are in the cache, without the
//! hidden units that are silent in the whole group. [`SparseBatch`] packs a training batch, and [`Training`] takes it forward and backward.

mod active;
mod batch;
mod cross_entropy;
mod gradient;
mod listed;
mod panels;
mod passes;
mod rows;
mod stack;
mod tile;
mod training;
mod transpose;

pub use batch::SparseBatch;
pub use panels::{Layer, PackedLayers};
pub use rows::SparseRows;
pub use stack::logits;
pub use training::{Seen, Training};
