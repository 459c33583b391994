//! Networks for experiments in continual learning, as [Burn](burn) modules that can be put under the gain of [`evenkeel`].
//!
//! | network | name | under the gain | on the CPU |
//! |---|---|---|---|
//! | [`Mlp`] | `mlp` | every layer | kernels that skip the background of images and silent units |
//! | [`SlimResNet`] | `slim-resnet18` | the head | kernels for training and evaluation, BatchNorm folded into the weights |
//! | [`SmallVit`] | `small-vit` | the head | Burn's operations |
//!
//! Each is an [`Architecture`]: what a program that trains any of them has to know. [`ModelSpec`] is one of them with its settings, as it
//! stands in an experiment file; [`ModelSpec::visit`] leads from there to the type of the network.
//!
//! ```
//! use burn::tensor::Device;
//! use evenkeel_models::{Architecture, InputShape, ModelSpec, Visit};
//! use rand::SeedableRng;
//!
//! /// Counts the parameters of a network for images of MNIST.
//! struct Count;
//! impl Visit for Count {
//!     type Output = usize;
//!     fn visit<N: Architecture>(self, config: &N::Config) -> usize {
//!         let shape = InputShape { channels: 1, height: 28, width: 28 };
//!         let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(0);
//!         N::init(config, shape, 10, &mut rng, &Device::flex()).num_params()
//!     }
//! }
//!
//! let spec = ModelSpec::named("mlp").expect("it is registered");
//! assert_eq!(spec.visit(Count), 784 * 400 + 400 * 400 + 400 * 10);
//! ```
//!
//! A network of your own is one file and one line: implement [`Architecture`] in a module of this crate and name it in `registry.rs`.
//!
//! | module | what lives there |
//! |---|---|
//! | [`architecture`] | the traits of a network, its evaluation, its training and its frozen part |
//! | [`state_dict`] | weights with the names and shapes of PyTorch |
//! | [`ops`] | the kernels of `evenkeel-kernels` as Burn operations with backward passes of their own |

pub mod architecture;
mod by_autodiff;
mod forward_pass;
mod gain_linear;
pub mod ops;
// As if this file held its text: the networks that it declares are files beside it.
#[path = "registry.rs"]
mod registry;
pub mod state_dict;

pub use architecture::{Architecture, Evaluator, Frozen, InputShape, NetworkSize, Pass, Trainer};
pub use by_autodiff::ByAutodiff;
pub use forward_pass::{FlatImages, ForwardPass};
pub use gain_linear::GainLinear;
pub use registry::*;
