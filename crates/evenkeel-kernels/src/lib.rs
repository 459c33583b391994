//! CPU kernels over plain `f32` slices for training and evaluating small residual networks.
//!
//! Convolutions (3×3 and 1×1, stride 1 and 2), BatchNorm with residual and ReLU, and average pooling, each
//! forward and backward. The networks are small, 20 to 160 channels at 32×32 pixels, so the lanes of a SIMD
//! register hold *images* rather than channels: see [`BatchShape`] for the layout.
//!
//! * [`InstructionSet`] picks AVX-512, AVX2 or portable code at run time; [`instruction_set::VARIABLE`] forces one.
//! * [`layout`] converts from and to NCHW.
//! * [`conv`] computes 3×3 convolutions with stride 1 by Winograd F(4×4, 3×3), the others directly.
//! * [`batch_norm`] fuses normalisation, residual and ReLU, and folds BatchNorm into weights for evaluation.
//! * [`pool`] averages 4×4 windows.
//! * [`mlp`] trains and evaluates perceptrons on images that are mostly background.
//!
//! Work is spread over blocks of images with rayon's current pool. Every sum across threads has a fixed
//! order: results are the same bits for any number of threads. They differ between instruction sets by rounding only.
//!
//! Every function checks the length of its slices and panics if one does not fit its shape.
//!
//! # Example: one convolution
//!
//! ```
//! use evenkeel_kernels::{Buffer, ConvShape, Epilogue, PackedWeights, InstructionSet, BatchShape, conv, layout};
//!
//! let set = InstructionSet::active();
//! let shape = ConvShape::three(BatchShape::new(2, 1, 4, 4), 1, 1);
//! let mut weights = PackedWeights::new();
//! weights.pack_forward(set, &shape, &[0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0]);
//!
//! let images: Vec<f32> = (0..32).map(|i| i as f32).collect();
//! let mut x = Buffer::zeroed(shape.input().blocked_len(set));
//! layout::to_blocked(set, &shape.input(), &images, &mut x);
//! let mut y = Buffer::zeroed(shape.output().blocked_len(set));
//! conv::forward(set, &shape, &x, &weights, &mut y, Epilogue::default());
//!
//! let mut doubled = vec![0.0; 32];
//! layout::from_blocked(set, &shape.output(), &y, &mut doubled);
//! assert_eq!(doubled[31], 62.0);
//! ```

pub mod batch_norm;
mod buffer;
pub mod conv;
mod correlate;
pub mod instruction_set;
pub mod layout;
pub mod mlp;
pub mod peak;
pub mod pool;
mod scratch;
mod simd;
mod tile;
mod winograd;

pub use buffer::Buffer;
pub use conv::{Algorithm, ConvShape, Epilogue, PackedWeights};
pub use instruction_set::InstructionSet;
pub use layout::BatchShape;
