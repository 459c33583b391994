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
//! | [`curvature`] | dominant Hessian eigenvalue of any module's loss, in base and effective coordinates |
//! | [`cpu`] | the numbers of a tensor on the CPU, without a copy |
//! | [`two_timescale`] | the scalar model that shows a gain boost as a two-timescale optimizer |
//!
//! Reference: Rodriguez-Garcia, Ghosh and Ramaswamy, *Dynamic gain neuromodulation attenuates the
//! stability gap under joint training* (2026).

#[cfg(feature = "flex")]
pub mod cpu;
pub mod curvature;
pub mod ema;
pub mod entropy;
pub mod gain;
pub mod nn;
pub mod optim;
mod recorded;
pub mod two_timescale;
