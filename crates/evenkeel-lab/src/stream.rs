//! From the settings to the stream of tasks: loads the data, checks it, and cuts it into tasks.

use std::path::Path;

use evenkeel_data::folder::{self, FolderError, FolderOptions};
use evenkeel_data::source::{self, Catalogue, Progress, SourceError};
use evenkeel_data::{
    DataSet, FormatError, Normalization, NormalizationError, Shape, Stream, StreamError, idx,
};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::spec::{Model, Scenario, Settings};

/// Three halvings, rounded up, must leave a window of 4×4.
const SMALLEST_IMAGE: usize = 25;

/// Why there is no stream.
#[derive(Debug, Error)]
pub enum PrepareError {
    /// The data set cannot be had.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A file is malformed.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A folder of images.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// `class_order` does not divide into tasks.
    #[error("class_order: {classes} classes do not divide into tasks of {per_task}")]
    ClassOrder {
        /// Classes named.
        classes: usize,
        /// Classes a task.
        per_task: usize,
    },
    /// Without a switch there is no stability gap.
    #[error("these settings give one task only; a stability gap needs at least two")]
    OneTask,
    /// Images that the network cannot take.
    #[error("slim-resnet18 needs square images of at least 25×25 pixels, these have {height}×{width}")]
    ImageSize {
        /// Their height.
        height: usize,
        /// Their width.
        width: usize,
    },
    /// mini-ImageNet cannot be downloaded.
    #[error(
        "{folder}: no such folder; mini-ImageNet cannot be downloaded: put one folder of images a class there"
    )]
    NoMiniImagenet {
        /// Where it is looked for.
        folder: String,
    },
    /// A file of the user's cannot be read.
    #[error("{path}: {error}; an idx: folder holds {}", IDX_FILES.join(", "))]
    Read {
        /// The file.
        path: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// The tasks do not fit the data.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// The pixels are all the same.
    #[error(transparent)]
    Normalization(#[from] NormalizationError),
    /// A setting that the scenario needs is missing.
    #[error("scenario '{scenario}' needs the key '{key}'")]
    MissingKey {
        /// The scenario.
        scenario: &'static str,
        /// The key.
        key: &'static str,
    },
}

impl PrepareError {
    /// Whether the input is at fault and not the network or the disk: exit code 2.
    pub fn is_bad_input(&self) -> bool {
        match self {
            PrepareError::Source(error) => {
                !matches!(error, SourceError::Unavailable { .. } | SourceError::Io { .. })
            }
            _ => true,
        }
    }
}

/// A stream, and what the training loop needs to know of its data.
pub struct Prepared {
    /// The tasks.
    pub stream: Stream,
    /// How pixels become numbers.
    pub normalization: Normalization,
    /// Checksum of data that is not in the catalogue: it belongs to the identity of a run.
    pub data_sha256: Option<String>,
}

/// Loads the data and cuts it into tasks.
pub fn prepare(settings: &Settings, progress: &mut dyn Progress) -> Result<Prepared, PrepareError> {
    let of_the_user = match settings.data.split_once(':') {
        Some(("idx", dir)) => Some(load_idx(Path::new(dir))?),
        Some(("folder", dir)) => Some(folder::load(Path::new(dir), FolderOptions::default())?),
        _ => None,
    };
    let (data, normalization, data_sha256) = if let Some(data) = of_the_user {
        let (normalization, sha256) = (Normalization::measure(data.train())?, fingerprint(&data));
        (data, normalization, Some(sha256))
    } else if settings.data == MINI_IMAGENET {
        let data = load_mini_imagenet()?;
        let sha256 = fingerprint(&data);
        (data, Normalization::imagenet(), Some(sha256))
    } else {
        let set: Catalogue = settings.data.parse()?;
        (source::load(set, progress)?, set.normalization(), None)
    };
    let stream = cut(settings, &data)?;
    if stream.len() < 2 {
        return Err(PrepareError::OneTask);
    }
    let Shape { height, width, .. } = stream.shape();
    if settings.model == Model::SlimResnet18 && (height != width || height < SMALLEST_IMAGE) {
        return Err(PrepareError::ImageSize { height, width });
    }
    Ok(Prepared { stream, normalization, data_sha256 })
}

fn cut(settings: &Settings, data: &DataSet) -> Result<Stream, PrepareError> {
    let missing = |scenario, key| PrepareError::MissingKey { scenario, key };
    Ok(match settings.scenario {
        Scenario::Split => {
            let per_task = settings.classes_per_task.ok_or(missing("split", "classes_per_task"))?;
            match &settings.class_order {
                None => Stream::split(data, per_task)?,
                Some(order) => {
                    if per_task == 0 || !order.len().is_multiple_of(per_task) {
                        return Err(PrepareError::ClassOrder { classes: order.len(), per_task });
                    }
                    let tasks: Vec<Vec<u16>> = order.chunks(per_task).map(<[u16]>::to_vec).collect();
                    Stream::split_classes(data, &tasks)?
                }
            }
        }
        Scenario::Rotated => {
            Stream::rotated(data, settings.degrees.as_ref().ok_or(missing("rotated", "degrees"))?)?
        }
        Scenario::Domain => Stream::domain(data, settings.domains.ok_or(missing("domain", "domains"))?)?,
    })
}

const MINI_IMAGENET: &str = "mini-imagenet";

/// The user's images in the cache folder: 84×84, the first fifty classes.
fn load_mini_imagenet() -> Result<DataSet, PrepareError> {
    let root = source::cache_dir()?.join(MINI_IMAGENET);
    if !root.is_dir() {
        return Err(PrepareError::NoMiniImagenet { folder: root.display().to_string() });
    }
    Ok(folder::load(
        &root,
        FolderOptions { size: Some((84, 84)), classes: Some(50), ..FolderOptions::default() },
    )?)
}

const IDX_FILES: [&str; 4] = [
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
];

/// The four files of an MNIST-like data set of the user's, plain or with `.gz`; as many classes as the labels name.
fn load_idx(folder: &Path) -> Result<DataSet, PrepareError> {
    let read = |name: &str| {
        let plain = folder.join(name);
        let path = if plain.exists() { plain } else { folder.join(format!("{name}.gz")) };
        match std::fs::read(&path) {
            Ok(bytes) => Ok((path.display().to_string(), bytes)),
            Err(error) => Err(PrepareError::Read { path: path.display().to_string(), error }),
        }
    };
    let [train_images, train_labels, test_images, test_labels] = IDX_FILES.map(read);
    let (train_images, train_labels) = (train_images?, train_labels?);
    let (test_images, test_labels) = (test_images?, test_labels?);
    let labels = idx::labels(&train_labels.0, &train_labels.1, 256)?;
    let classes = labels.iter().max().map_or(1, |&label| usize::from(label) + 1);
    let train =
        idx::labelled((&train_images.0, &train_images.1), (&train_labels.0, &train_labels.1), classes)?;
    let test = idx::labelled((&test_images.0, &test_images.1), (&test_labels.0, &test_labels.1), classes)?;
    Ok(DataSet::new(format!("idx:{}", folder.display()), train, test)?)
}

fn fingerprint(data: &DataSet) -> String {
    let mut hash = Sha256::new();
    for part in [data.train(), data.test()] {
        for i in 0..part.len() {
            hash.update(part.image(i));
            hash.update(part.label(i).to_le_bytes());
        }
    }
    crate::hash::hex(&hash.finalize())
}
