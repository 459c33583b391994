//! Winograd convolution F(4×4, 3×3): `y = Aᵀ [ (G g Gᵀ) ⊙ (Bᵀ d B) ] A` on tiles of 4×4 outputs.
//!
//! A tile of 6×6 inputs `d` and a filter `g` are brought to 36 positions where the convolution is a product,
//! summed over the channels: 36 small matrix products per tile instead of 144. The interpolation points are
//! 0, ±1, ±2 and ∞. Reference: A. Lavin, S. Gray, *Fast Algorithms for Convolutional Neural Networks*, 2016.
//!
//! The weight gradient is the adjoint: `dg = Gᵀ [ Σ (Bᵀ d B) ⊙ (A dy Aᵀ) ] G`.

mod forward;
mod gradient;
mod tiles;
mod transform;
mod weights;

pub(crate) use forward::WinogradForward;
pub(crate) use gradient::WinogradGradient;
pub(crate) use tiles::Tiles;
pub(crate) use weights::{gradient_len, pack, unpack_gradient};

/// Positions of the transformed domain.
const POSITIONS: usize = 36;
