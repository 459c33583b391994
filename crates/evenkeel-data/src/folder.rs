//! Folders of photographs, one per class (mini-ImageNet and the like).
//!
//! Two layouts are understood. With `train/` and `val/` (or `test/`) in the root, each of them holds
//! one folder per class with all its images. Otherwise the root itself holds one folder per class: with
//! file names sorted, the first [`train`](FolderOptions::train) images train and the last
//! [`test`](FolderOptions::test) test. Classes are numbered in the sorted order of their names.
//! With a [`test_fraction`](FolderOptions::test_fraction) the last images of each class test, whatever their number. A file is an
//! image if it begins as JPEG, PNG or WebP do, or if its name says so; it is decoded by its content. Other files, and names that
//! begin with a dot, are passed over.
//!
//! What was decoded once is kept in the cache folder, under the checksum of the files.
//!
//! JPEG decoders may differ by one grey level; results are not meant to be byte-equal with Pillow's.

mod cache;
mod error;
#[cfg(fuzzing)]
pub mod fuzzing;
mod scan;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use image::imageops::FilterType;
use image::{DynamicImage, ImageFormat, ImageReader, ImageResult, Limits};

pub use error::FolderError;

use crate::dataset::DataSet;
use crate::error::one_line;
use crate::images::{ImageShape, Images};
use crate::labelled::Labelled;

/// The memory that the smallest file may ask for, and what each of its bytes adds. Photographs stay far below; a damaged header of a few bytes
/// that announces millions of pixels is refused before they are filled in.
const MEMORY_PER_FILE: u64 = 4 << 20;
const MEMORY_PER_BYTE: u64 = 64 << 10;

/// How to read a folder of images. The default is that of Split mini-ImageNet.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `size` | none | target height and width; images that differ are resized (bilinear, antialiased: `Triangle`), aspect not kept. Without it all images must have one size |
/// | `channels` | 3 | 1 for grey images, 3 for colours |
/// | `test_fraction` | none | share of each class that tests, where the layout does not tell; instead of the two numbers below |
/// | `train` | 500 | training images per class, where the layout does not tell |
/// | `test` | 100 | test images per class, where the layout does not tell |
/// | `classes` | all | read only the first so many classes |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FolderOptions {
    /// Target height and width.
    pub size: Option<(u32, u32)>,
    /// 1 for grey images, 3 for colours.
    pub channels: usize,
    /// The share of each class that tests, where the layout does not tell.
    pub test_fraction: Option<f64>,
    /// Training images per class, where the layout does not tell.
    pub train: usize,
    /// Test images per class, where the layout does not tell.
    pub test: usize,
    /// How many classes to read.
    pub classes: Option<usize>,
}

impl Default for FolderOptions {
    fn default() -> Self {
        Self { size: None, channels: 3, test_fraction: None, train: 500, test: 100, classes: None }
    }
}

/// Reads a folder of images.
///
/// ```no_run
/// use evenkeel_data::folder::{FolderOptions, load};
///
/// let options = FolderOptions { classes: Some(50), ..FolderOptions::default() };
/// let data = load("mini-imagenet".as_ref(), options)?;
/// assert_eq!(data.classes(), 50);
/// # Ok::<(), evenkeel_data::folder::FolderError>(())
/// ```
pub fn load(root: &Path, options: FolderOptions) -> Result<DataSet, FolderError> {
    let listing = scan::list(root, &options)?;
    let name = root.file_name().map_or_else(|| "folder".into(), |name| name.to_string_lossy().into_owned());
    let Some(folder) = cache::folder() else { return decoded(&listing, name, &options) };
    let place = cache::place(&folder, root, &listing, &options)?;
    if let Some(data) = cache::read(&place, &name) {
        return Ok(data);
    }
    let data = decoded(&listing, name, &options)?;
    cache::write(&place, &data);
    Ok(data)
}

fn decoded(listing: &scan::Listing, name: String, options: &FolderOptions) -> Result<DataSet, FolderError> {
    let mut size = options.size;
    let train = decode(&listing.train, &mut size, options, listing.classes)?;
    let test = decode(&listing.test, &mut size, options, listing.classes)?;
    Ok(DataSet::new(name, train, test)?)
}

/// Decodes files to `channels × h × w`; the first image sets `size` if nothing else has.
fn decode(
    files: &[(PathBuf, u16)],
    size: &mut Option<(u32, u32)>,
    options: &FolderOptions,
    classes: usize,
) -> Result<Labelled, FolderError> {
    let mut pixels = Vec::new();
    for (path, _) in files {
        append(path, File::open(path).map(BufReader::new), size, options, &mut pixels)?;
    }
    let (height, width) = size.unwrap_or((1, 1));
    let images = Images::new(ImageShape::new(options.channels, height as usize, width as usize), pixels)?;
    Ok(Labelled::new(images, files.iter().map(|(_, label)| *label).collect(), classes)?)
}

/// Decodes the picture of a file, which errors name, and appends its planes.
fn append(
    path: &Path,
    file: io::Result<impl BufRead + Seek>,
    size: &mut Option<(u32, u32)>,
    options: &FolderOptions,
    pixels: &mut Vec<u8>,
) -> Result<(), FolderError> {
    let picture = picture(path, file)
        .map_err(|error| FolderError::Undecodable { path: path.to_owned(), reason: one_line(&error) })?;
    let found = (picture.height(), picture.width());
    let expected = *size.get_or_insert(found);
    let picture = match options.size {
        _ if found == expected => picture,
        Some((height, width)) => picture.resize_exact(width, height, FilterType::Triangle),
        None => return Err(FolderError::Size { path: path.to_owned(), expected, found }),
    };
    if options.channels == 1 {
        pixels.extend(picture.into_luma8().into_raw());
        return Ok(());
    }
    let rgb = picture.into_rgb8().into_raw();
    for channel in 0..3 {
        pixels.extend(rgb.iter().skip(channel).step_by(3));
    }
    Ok(())
}

/// Decodes a file by its content, or by its name where the content does not tell.
fn picture(path: &Path, file: io::Result<impl BufRead + Seek>) -> ImageResult<DynamicImage> {
    let mut file = file?;
    let bytes = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    let mut reader = ImageReader::new(file);
    if let Ok(format) = ImageFormat::from_path(path) {
        reader.set_format(format);
    }
    let mut limits = Limits::default();
    let memory = bytes.saturating_mul(MEMORY_PER_BYTE).saturating_add(MEMORY_PER_FILE);
    limits.max_alloc = limits.max_alloc.map(|most| most.min(memory));
    reader.limits(limits);
    reader.with_guessed_format()?.decode()
}
