//! NGM-SGD for [Burn](burn): stochastic gradient descent under a dynamic neuronal gain.
//!
//! When a model that learns a stream of tasks meets a new one, its accuracy on the old ones collapses for
//! a while even if all old data is still trained on: the *stability gap*. NGM-SGD multiplies the weights in
//! the forward pass with a gain `g` that rises with the entropy of the network's output and decays afterwards:
//!
//! ```text
//! W = g·w                                  forward pass
//! w ← w − α ∂L/∂w                          plain SGD on the base weights
//! g ← γ g + (1−γ) g0 + η H                 H: mean output entropy of the batch, in nats
//! ```
//!
//! # NGM-SGD in your own loop
//!
//! ```
//! use burn::{nn::LinearConfig, optim::GradientsParams, tensor::{Device, Int, Tensor}};
//! use evenkeel::{entropy::mean_entropy, nn::{cross_entropy, modulate}, optim::NgmSgdConfig};
//!
//! let device = Device::flex().autodiff();
//! let mut ngm = NgmSgdConfig::new(0.01).with_eta(0.4).init()?;
//! let model = LinearConfig::new(4, 3).with_bias(false).init(&device);   // any Burn module
//! let mut model = modulate(model, ngm.gain(), ".*")?;                   // W = g·w from here on
//!
//! let x = Tensor::<2>::ones([8, 4], &device);
//! let y = Tensor::<1, Int>::zeros([8], &device);
//! for _ in 0..10 {
//!     let logits = model.forward(x.clone());
//!     let entropy = mean_entropy(&logits);
//!     let gradients = cross_entropy(logits, y.clone()).backward();
//!     let gradients = GradientsParams::from_grads(gradients, &model);
//!     model = ngm.step(model, gradients, entropy);
//! }
//! assert!(ngm.gain().value() > 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | what lives there |
//! |---|---|
//! | [`gain`] | the gain equation as pure maths, and the handle that layers and optimizer share |
//! | [`entropy`] | Shannon entropy of a softmax, in nats, from logits |
//! | [`nn`] | modulation of any module, networks that are modulated, the loss |
//! | [`optim`] | NGM-SGD, its learning-rate ablation, and the baselines with PyTorch's semantics |
//! | [`ema`] | an average of the weights of any module over training |
//! | `monitor` | the stability gap of any training, in a file for `evenkeel metrics` |
//! | [`curvature`] | dominant Hessian eigenvalue of any module's loss, in base and effective coordinates |
//! | [`cpu`] | the numbers of a tensor on the CPU, without a copy |
//! | [`two_timescale`] | the scalar model that shows a gain boost as a two-timescale optimizer |
//!
//! In burn-train, a `Learner` takes [`NgmSgd::optimizer`](optim::NgmSgd::optimizer), and schedules, clipping, checkpoints and resuming are
//! Burn's own: see [`which_optimizer`], which also says when to take which.
//!
//! # Feature flags
//!
//! | feature | default | what |
//! |---|---|---|
//! | `flex` | yes | Burn's CPU backend, on which optimizers work in place and on all threads |
//! | `monitor` | yes | curve files of any training, for `evenkeel metrics` |
//! | `ndarray`, `wgpu`, `cuda` | no | Burn's other backends; a choice in your own dependency on Burn does as well |
//!
//! Everything runs on every device of Burn by Burn's operations. Without default features the crate brings no backend.
//!
//! Reference: Rodriguez-Garcia, Ghosh and Ramaswamy, *Dynamic gain neuromodulation attenuates the
//! stability gap under joint training* (2026).

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "flex")]
pub mod cpu;
pub mod curvature;
pub mod ema;
pub mod entropy;
pub mod gain;
#[cfg(feature = "monitor")]
pub mod monitor;
pub mod nn;
pub mod optim;
mod recorded;
pub mod two_timescale;

#[doc = include_str!("../docs/which-optimizer.md")]
pub mod which_optimizer {}
