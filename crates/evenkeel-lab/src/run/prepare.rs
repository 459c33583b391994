//! From the settings to the stream of tasks: loads the data, checks that it fits, and cuts it into tasks.

use std::path::Path;

use evenkeel_data::source::Progress;
use evenkeel_data::{DecodedError, LoadError, Loaded, Normalization, StreamError, TaskStream};
use evenkeel_models::InputShape;
use thiserror::Error;

use super::memory::{self, TooLarge};
use crate::spec::Settings;

/// Why there is no stream.
#[derive(Debug, Error)]
pub enum PrepareError {
    /// The data set cannot be had.
    #[error(transparent)]
    Data(#[from] LoadError),
    /// What another process has decoded cannot be read.
    #[error(transparent)]
    Decoded(#[from] DecodedError),
    /// Without a switch there is no stability gap.
    #[error("these settings give one task only; a stability gap needs at least two")]
    OneTask,
    /// Images that the network cannot take.
    #[error("{0}")]
    Network(String),
    /// More than this machine has, known before it is asked for.
    #[error(transparent)]
    Memory(#[from] TooLarge),
    /// Crops of something that is no image.
    #[error("crop_padding: {data} holds no images that could be cropped and flipped; remove crop_padding")]
    NotImages {
        /// The data.
        data: String,
    },
    /// Lengths of tasks that are not there, or too few.
    #[error("task_iterations: lists {listed} tasks, but the stream has {tasks}")]
    TaskIterations {
        /// The number of lengths.
        listed: usize,
        /// The number of tasks.
        tasks: usize,
    },
    /// A switch that there is not.
    #[error("hold: there is no switch after task {last}, as the stream has {tasks} tasks")]
    Hold {
        /// The task that is to be the last.
        last: usize,
        /// The number of tasks.
        tasks: usize,
    },
    /// The tasks do not fit the data.
    #[error(transparent)]
    Stream(#[from] StreamError),
}

impl PrepareError {
    /// Whether the input is at fault and not the network or the disk: exit code 2.
    pub fn is_bad_input(&self) -> bool {
        match self {
            PrepareError::Data(error) => error.is_bad_input(),
            PrepareError::Decoded(_) => false,
            _ => true,
        }
    }
}

/// A stream, and what the training loop needs to know of its data.
pub struct Prepared {
    /// The tasks.
    pub stream: TaskStream,
    /// How pixels become numbers.
    pub normalization: Normalization,
    /// Checksum of data that is not in the catalogue: it belongs to the identity of a run.
    pub data_sha256: Option<String>,
}

impl Prepared {
    /// The shape of every image.
    pub fn input_shape(&self) -> InputShape {
        let shape = self.stream.shape();
        InputShape { channels: shape.channels, height: shape.height, width: shape.width }
    }
}

/// Loads the data and cuts it into tasks; the seed decides what is random about them.
pub fn prepare(
    settings: &Settings,
    seed: u64,
    progress: &mut dyn Progress,
) -> Result<Prepared, PrepareError> {
    cut(settings, seed, evenkeel_data::load_with(&settings.data, &settings.data_options, progress)?)
}

/// Cuts data that another process has decoded and verified into tasks.
pub fn prepare_decoded(settings: &Settings, seed: u64, decoded: &Path) -> Result<Prepared, PrepareError> {
    cut(settings, seed, Loaded::read(decoded)?)
}

/// Cuts loaded data into tasks, if they suit the network.
pub fn cut(settings: &Settings, seed: u64, loaded: Loaded) -> Result<Prepared, PrepareError> {
    if settings.crop_padding.is_some() && !loaded.data.train().is_images() {
        return Err(PrepareError::NotImages { data: settings.data.clone() });
    }
    let mut stream = settings.stream.cut(&loaded.data, seed)?;
    if let Some(order) = &settings.task_order {
        stream = stream.reordered(order, seed)?;
    }
    let tasks = stream.len();
    if tasks < 2 {
        return Err(PrepareError::OneTask);
    }
    if let Some(listed) = settings.task_iterations.as_ref().map(Vec::len).filter(|listed| *listed != tasks) {
        return Err(PrepareError::TaskIterations { listed, tasks });
    }
    if let Some(last) = settings.hold.filter(|last| *last >= tasks) {
        return Err(PrepareError::Hold { last, tasks });
    }
    let prepared = Prepared { stream, normalization: loaded.normalization, data_sha256: loaded.sha256 };
    settings.model.accepts(prepared.input_shape()).map_err(PrepareError::Network)?;
    memory::check(settings, prepared.input_shape(), prepared.stream.outputs())?;
    Ok(prepared)
}
