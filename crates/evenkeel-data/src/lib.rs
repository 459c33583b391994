//! Verified data sets, task streams and batch sampling for continual learning.
//!
//! Plain bytes and numbers: no tensors, no framework. The parts, in the order in which a run uses them:
//!
//! | part | what it does |
//! |---|---|
//! | [`source`] | finds, fetches, verifies and loads known data sets |
//! | [`idx`], [`cifar`], [`folder`], [`digits()`] | read or draw images and labels |
//! | [`Stream`] | makes a sequence of tasks: split, [rotated](mod@rotate) or by domain |
//! | [`Sampler`] | draws batches: joint training or experience replay |
//! | [`mod@augment`], [`Normalization`] | turn 8-bit images into what a network sees |
//!
//! Everything random is a pure function of a seed and a position, so a run can stop and go on anywhere
//! and runs that share a seed see the same batches.
//!
//! # Example
//!
//! ```
//! use evenkeel_data::{Normalization, Sampler, Stream, digits};
//!
//! // Five tasks of two digits each, and the third iteration of the second task.
//! let stream = Stream::split(&digits(500, 100, 0), 2)?;
//! let sampler = Sampler::joint(42).in_task(&stream, 2)?;
//! let batch = sampler.batch(203, 128);
//!
//! let (mut images, mut labels) = (Vec::new(), Vec::new());
//! stream.gather(&batch, &Normalization::mnist(), &mut images, &mut labels);
//! assert_eq!(images.len(), 128 * 28 * 28);
//! assert!(labels.iter().all(|&label| label < 4));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod augment;
mod buffer;
pub mod cifar;
mod dataset;
mod digits;
mod error;
pub mod folder;
pub mod idx;
mod images;
mod normalize;
mod random;
pub mod rotate;
mod sample;
pub mod source;
mod stream;
#[cfg(test)]
mod toy;

pub use augment::CropFlip;
pub use buffer::replay_buffer;
pub use dataset::{Coarse, DataSet};
pub use digits::digits;
pub use error::{FormatError, Problem};
pub use images::{Images, Labelled, Shape};
pub use normalize::{Normalization, NormalizationError};
pub use sample::{ExampleId, NoSuchTask, Sampler, TaskSampler, evaluation_subset};
pub use stream::{Stream, StreamError, Task};
