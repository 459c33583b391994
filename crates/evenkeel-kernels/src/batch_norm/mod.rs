//! BatchNorm with residual and ReLU, training and evaluation, in as few passes over memory as possible.
//!
//! Training is split where the whole batch must be known:
//!
//! | step | function | reads | writes |
//! |---|---|---|---|
//! | statistics | [`forward_with_moments`](crate::conv::forward_with_moments), or [`Moments::of`] | – or `z` | – |
//! | `y = relu?(γ·ẑ + β + residual?)` | [`normalise`] | `z`, residual | `y` |
//! | `dγ`, `dβ` | [`backward_sums`] | `z`, `dy`, `y` | gated `dy`, if there is a residual |
//! | `dz` | [`backward_input`] | `z`, `dy` | `dz` |
//! | or `dz` and the convolution before it | [`conv::backward`](crate::conv::backward) | `z`, `dy`, `x` | `dx` |
//!
//! Where only one convolution reads `y`, it need not be stored: [`conv::Input::Normalised`](crate::conv::Input) makes it on the fly, there
//! and back, and the convolution's backward pass gives `dγ` and `dβ` as well.
//!
//! In evaluation [`Normaliser::fold`] moves everything into the weights and bias of the convolution before it.

mod backward;
mod moments;
mod normalise;
mod normaliser;

pub use backward::{Gate, GradientSums, NormGradient, backward_input, backward_sums};
pub use moments::Moments;
pub use normalise::normalise;
pub(crate) use normalise::normalise_blocks;
pub use normaliser::Normaliser;

/// PyTorch's default for the number that is added to the variance.
pub const EPSILON: f32 = 1e-5;
/// PyTorch's default for the weight of a new batch in the running statistics.
pub const MOMENTUM: f32 = 0.1;

/// Zeros the padding images of a block.
fn clear_padding(block: &mut [f32], lanes: usize, images: usize) {
    if images < lanes {
        for vector in block.chunks_exact_mut(lanes) {
            vector[images..].fill(0.0);
        }
    }
}
