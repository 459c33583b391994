//! Verified data sets, task streams and batch sampling for continual learning.
//!
//! Plain bytes and numbers: no tensors, no framework. The parts, in the order in which a run uses them:
//!
//! | part | what it does |
//! |---|---|
//! | [`load()`] | loads a data set by name: one of the [`sets`], or files of your own in one of the [`formats`] |
//! | [`source`] | finds, fetches and verifies the files of named data sets |
//! | [`idx`], [`cifar`], [`folder`], [`digits()`] | read or draw images and labels |
//! | [`streams`] | cut a data set into a [`TaskStream`]: split, [rotated](mod@rotate) or by domain |
//! | [`Sampler`] | draws batches: joint training or experience replay |
//! | [`mod@augment`], [`Normalization`] | turn 8-bit images into what a network sees |
//! | [`files`] | writes files that appear whole or not at all |
//!
//! Everything random is a pure function of a seed and a position, so a run can stop and go on anywhere
//! and runs that share a seed see the same batches.
//!
//! # Example
//!
//! ```
//! use evenkeel_data::streams::{Split, StreamKind};
//! use evenkeel_data::{Normalization, Sampler, digits};
//!
//! // Five tasks of two digits each, and the third iteration of the second task.
//! let stream = Split::new(2).cut(&digits(500, 100, 0), 0)?;
//! let sampler = Sampler::joint(42).in_task(&stream, 2)?;
//! let batch = sampler.batch(203, 128);
//!
//! let (mut images, mut labels) = (Vec::new(), Vec::new());
//! stream.gather(&batch, &Normalization::mnist(), &mut images, &mut labels);
//! assert_eq!(images.len(), 128 * 28 * 28);
//! assert!(labels.iter().all(|&label| label < 4));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[macro_use]
mod registry;

pub mod augment;
mod buffer;
pub mod cifar;
mod dataset;
mod decoded;
mod digits;
mod error;
mod examples;
mod features;
pub mod files;
pub mod folder;
pub mod formats;
#[cfg(fuzzing)]
pub mod fuzzing;
pub mod idx;
mod images;
mod labelled;
mod load;
mod normalize;
pub mod numbers;
pub mod options;
mod random;
pub mod rotate;
mod sample;
pub mod sets;
pub mod source;
pub mod sparse;
pub mod streams;
pub mod table;
mod task_stream;
pub mod text;
mod text_file;
#[cfg(test)]
mod toy;

pub use augment::CropFlip;
pub use buffer::replay_buffer;
pub use dataset::{Coarse, DataSet, TaskColumn};
pub use decoded::DecodedError;
pub use digits::digits;
pub use error::{FormatError, Problem};
pub use examples::Examples;
pub use images::{ImageShape, Images};
pub use labelled::Labelled;
pub use load::{LoadError, Loaded, check, check_name, classes, known_names, load, load_with};
pub use normalize::{Normalization, NormalizationError};
pub use options::DataOptions;
pub use sample::{ExampleId, NoSuchTask, Sampler, TaskSampler, evaluation_subset};
pub use streams::{ScenarioType, StreamError, StreamKind, StreamSpec};
pub use task_stream::{Task, TaskStream};
