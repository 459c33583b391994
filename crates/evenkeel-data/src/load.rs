//! Any data set by its name, ready to be cut into tasks.

use std::io;
use std::path::PathBuf;

use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::dataset::DataSet;
use crate::error::FormatError;
use crate::files::hex;
use crate::folder::FolderError;
use crate::normalize::{Normalization, NormalizationError};
use crate::options::DataOptions;
use crate::source::{Cache, Progress, SourceError};
use crate::table::TableError;
use crate::{formats, sets};

/// A data set and what a training loop needs to know about it.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The images and labels.
    pub data: DataSet,
    /// How pixels become numbers.
    pub normalization: Normalization,
    /// The checksum of all images and labels, where the name does not say what they are: it belongs to the identity of
    /// a run on them.
    pub sha256: Option<String>,
}

impl Loaded {
    /// Data of a user's own.
    pub(crate) fn measured(data: DataSet) -> Result<Self, LoadError> {
        let normalization = Normalization::measure(data.train())?;
        Ok(Self { sha256: Some(fingerprint(&data)), data, normalization })
    }
}

/// Why a data set cannot be loaded. Its text is one line.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// No data set has this name, or it cannot be had.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A file is malformed.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A folder of images is not as it should be.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A file of the user's cannot be read.
    #[error("{path}: {error}; {hint}", path = path.display())]
    Read {
        /// The file that was looked for.
        path: PathBuf,
        /// What the operating system says.
        error: io::Error,
        /// What should be there.
        hint: String,
    },
    /// A file of examples is not as it should be.
    #[error(transparent)]
    Table(#[from] TableError),
    /// An option that this data does not know, or that is out of range.
    #[error("{key}: {reason}")]
    Option {
        /// The key of the option.
        key: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The pixels are all the same.
    #[error(transparent)]
    Normalization(#[from] NormalizationError),
}

impl LoadError {
    /// Whether the input is at fault, and not the network or the disk.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Source(error) => error.is_bad_input(),
            _ => true,
        }
    }
}

/// Loads one of the [`sets`], or files of the user's in one of the [`formats`], fetching what is missing.
///
/// ```
/// use evenkeel_data::source::Quiet;
///
/// let loaded = evenkeel_data::load("digits", &mut Quiet)?;
/// assert_eq!(loaded.data.train().len(), 10_000);
/// # Ok::<(), evenkeel_data::LoadError>(())
/// ```
pub fn load(name: &str, progress: &mut dyn Progress) -> Result<Loaded, LoadError> {
    load_with(name, &DataOptions::default(), progress)
}

/// As [`load()`], with what the user says about files of their own.
pub fn load_with(
    name: &str,
    options: &DataOptions,
    progress: &mut dyn Progress,
) -> Result<Loaded, LoadError> {
    load_from(Cache::open, name, options, progress)
}

fn load_from(
    cache: impl FnOnce() -> Result<Cache, SourceError>,
    name: &str,
    options: &DataOptions,
    progress: &mut dyn Progress,
) -> Result<Loaded, LoadError> {
    check(name, options)?;
    if let Some((format, path)) = formats::parse(name) {
        return Loaded::measured((format.load)(path, options)?);
    }
    let set = find(name)?;
    let data = cache()?.load(set, progress)?;
    let sha256 = (!set.is_fixed()).then(|| fingerprint(&data));
    Ok(Loaded { data, normalization: (set.normalization)(), sha256 })
}

/// Whether [`load()`] knows this name; whether the data is there is seen later.
pub fn check_name(name: &str) -> Result<(), LoadError> {
    if formats::parse(name).is_none() {
        find(name)?;
    }
    Ok(())
}

/// Whether this data knows these options, and their values are in range.
pub fn check(name: &str, options: &DataOptions) -> Result<(), LoadError> {
    check_name(name)?;
    let known = formats::parse(name).map_or(&[][..], |(format, _)| format.options);
    if let Some(key) = options.set_keys().into_iter().find(|key| !known.contains(&key.as_str())) {
        let with: Vec<&str> = formats::ALL
            .iter()
            .filter(|format| format.options.contains(&key.as_str()))
            .map(|f| f.usage)
            .collect();
        let reason = format!("'{name}' has no such option; it works with {}", with.join(" and "));
        return Err(LoadError::Option { key, reason });
    }
    let bad = |(key, reason): (&str, String)| LoadError::Option { key: key.to_owned(), reason };
    options.check().map_err(bad)
}

/// The number of classes of a data set, where its name tells.
pub fn classes(name: &str) -> Option<usize> {
    sets::named(name).map(|set| set.classes)
}

/// What [`load()`] can be asked for: the names of the [`sets`], then the [`formats`] as `prefix:DIR`.
pub fn known_names() -> Vec<&'static str> {
    let sets = sets::ALL.iter().map(|set| set.name);
    sets.chain(formats::ALL.iter().map(|format| format.usage)).collect()
}

fn find(name: &str) -> Result<&'static sets::Entry, LoadError> {
    Ok(sets::named(name)
        .ok_or_else(|| SourceError::UnknownName { name: name.to_owned(), known: known_names().join(", ") })?)
}

/// SHA-256 over the pixels (or other bytes) and the label of every example, first those of the training set; then over their
/// tasks, where the data names them.
pub(crate) fn fingerprint(data: &DataSet) -> String {
    let mut hash = Sha256::new();
    for part in [data.train(), data.test()] {
        for i in 0..part.len() {
            hash.update(&*part.image(i));
            hash.update(part.label(i).to_le_bytes());
        }
    }
    if let Some(tasks) = data.tasks() {
        tasks.train.iter().chain(&tasks.test).for_each(|task| hash.update(task.to_le_bytes()));
    }
    hex(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::files::sha256;
    use crate::source::Quiet;

    fn in_folder(root: &Path, name: &str) -> Result<Loaded, LoadError> {
        load_from(|| Ok(Cache::at(root)), name, &DataOptions::default(), &mut Quiet)
    }

    /// Two training images and one test image of 3 × 2 pixels per class.
    fn photographs(root: &Path, classes: u8) {
        for class in 0..classes {
            for (part, name, green) in [("train", "a", 0), ("train", "b", 9), ("val", "a", 90)] {
                let folder = root.join(part).join(format!("n{class:02}"));
                fs::create_dir_all(&folder).unwrap();
                let image = image::RgbImage::from_pixel(3, 2, image::Rgb([class, green, 2 * class]));
                image.save(folder.join(name).with_extension("png")).unwrap();
            }
        }
    }

    #[test]
    fn what_the_name_fixes_needs_no_checksum() {
        let folder = tempfile::tempdir().unwrap();
        let loaded = in_folder(folder.path(), "digits").unwrap();
        assert_eq!((loaded.sha256, loaded.normalization), (None, Normalization::mnist()));
        assert_eq!(
            (classes("digits"), classes("mini-imagenet"), classes("idx:x")),
            (Some(10), Some(50), None)
        );
    }

    #[test]
    fn files_of_the_user_are_measured_and_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        photographs(folder.path(), 2);
        let loaded = load(&format!("folder:{}", folder.path().display()), &mut Quiet).unwrap();
        assert_eq!((loaded.data.train().len(), loaded.data.test().len()), (4, 2));
        assert_eq!(loaded.normalization, Normalization::measure(loaded.data.train()).unwrap());
        let mut bytes = Vec::new();
        for part in [loaded.data.train(), loaded.data.test()] {
            for i in 0..part.len() {
                bytes.extend_from_slice(&part.image(i));
                bytes.extend(part.label(i).to_le_bytes());
            }
        }
        assert_eq!(loaded.sha256, Some(sha256(&bytes)));
    }

    #[test]
    fn provided_images_are_resized_cut_to_the_first_classes_and_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let set = sets::find("mini-imagenet").unwrap();
        photographs(&folder.path().join(set.name), 51);
        let Loaded { data, normalization, sha256 } = in_folder(folder.path(), set.name).unwrap();
        assert_eq!((data.train().len(), data.test().len(), data.classes()), (100, 50, 50));
        assert_eq!(data.shape(), crate::ImageShape::new(3, 84, 84));
        assert_eq!((data.name(), normalization), ("mini-imagenet", Normalization::imagenet()));
        assert_eq!(sha256, Some(fingerprint(&data)));
    }

    #[test]
    fn every_known_name_passes_and_others_are_told_what_there_is() {
        assert!(known_names().iter().all(|name| check_name(name).is_ok()));
        for name in ["minst", "csv:DIR", "", "idx"] {
            let error = check_name(name).unwrap_err();
            assert!(error.is_bad_input());
            assert!(known_names().iter().all(|known| error.to_string().contains(known)), "{error}");
        }
        assert!(load("minst", &mut Quiet).is_err());
    }
}
