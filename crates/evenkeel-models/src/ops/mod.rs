//! Burn operations that run on the kernels of `evenkeel-kernels`, each with its own backward pass.
//!
//! They exist for the `flex` CPU backend, with autodiff and without. Activations travel between them as [`Blocked`]: a flat
//! tensor in the kernels' layout, which Burn's own operations cannot read but autodiff can carry.

mod activation_memory;
mod backend;
mod blocked;
mod conv_norm;
mod layer;
mod packed_memory;
mod pool;
mod sparse_input;

pub use blocked::Blocked;
pub use conv_norm::{ConvNormParameters, conv_norm, residual_block};
pub use pool::average_pool;
pub use sparse_input::matmul_sparse_input;
