//! Which file is which example.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use image::ImageFormat;

use super::{FolderError, FolderOptions};

/// Files with their labels, classes in order.
pub(super) struct Listing {
    pub(super) classes: usize,
    pub(super) train: Vec<(PathBuf, u16)>,
    pub(super) test: Vec<(PathBuf, u16)>,
}

/// Lists the images of either layout.
pub(super) fn list(root: &Path, options: &FolderOptions) -> Result<Listing, FolderError> {
    let folders = entries(root, Path::is_dir)?;
    let named = |name: &str| folders.iter().find(|folder| folder.file_name() == Some(name.as_ref()));
    match (named("train"), named("val").or_else(|| named("test"))) {
        (Some(train), Some(test)) => by_folder(root, train, test, options),
        (Some(_), None) => Err(FolderError::NoTest { path: root.to_owned() }),
        _ => by_name(root, folders, options),
    }
}

/// `train/` and `val/` (or `test/`), each with all classes.
fn by_folder(
    root: &Path,
    train: &Path,
    test: &Path,
    options: &FolderOptions,
) -> Result<Listing, FolderError> {
    // As the operating system has them: names need not be Unicode.
    let name = |folder: &PathBuf| folder.file_name().map(OsStr::to_owned);
    let folders = [class_folders(train, options)?, class_folders(test, options)?];
    let [train_names, test_names] = folders.each_ref().map(|f| f.iter().filter_map(name).collect::<Vec<_>>());
    let alone = train_names.iter().find(|n| !test_names.contains(n));
    if let Some(class) = alone.or_else(|| test_names.iter().find(|n| !train_names.contains(n))) {
        return Err(FolderError::ClassMismatch {
            path: root.to_owned(),
            class: class.to_string_lossy().into_owned(),
        });
    }
    let mut listing = Listing { classes: train_names.len(), train: Vec::new(), test: Vec::new() };
    let [train, test] = folders;
    for (list, folders) in [(&mut listing.train, train), (&mut listing.test, test)] {
        for (label, folder) in folders.iter().enumerate() {
            let files = images(folder, 1)?;
            list.extend(files.into_iter().map(|file| (file, label as u16)));
        }
    }
    Ok(listing)
}

/// One folder per class: the first images by name are for training, the last for testing.
fn by_name(root: &Path, folders: Vec<PathBuf>, options: &FolderOptions) -> Result<Listing, FolderError> {
    let folders = limited(root, folders, options)?;
    let mut listing = Listing { classes: folders.len(), train: Vec::new(), test: Vec::new() };
    for (label, folder) in folders.iter().enumerate() {
        let wanted = match options.test_fraction {
            Some(_) => 2,
            None => options.train.saturating_add(options.test),
        };
        let files = images(folder, wanted)?;
        let (train, test) = match options.test_fraction {
            Some(share) => {
                let test = ((files.len() as f64 * share).round() as usize).clamp(1, files.len() - 1);
                (files.len() - test, test)
            }
            None => (options.train, options.test),
        };
        let label = |file: &PathBuf| (file.clone(), label as u16);
        listing.train.extend(files[..train].iter().map(label));
        listing.test.extend(files[files.len() - test..].iter().map(label));
    }
    Ok(listing)
}

fn class_folders(path: &Path, options: &FolderOptions) -> Result<Vec<PathBuf>, FolderError> {
    limited(path, entries(path, Path::is_dir)?, options)
}

fn limited(
    path: &Path,
    mut folders: Vec<PathBuf>,
    options: &FolderOptions,
) -> Result<Vec<PathBuf>, FolderError> {
    let path = || path.to_owned();
    let found = folders.len();
    if found == 0 {
        return Err(FolderError::NoClasses { path: path() });
    }
    match options.classes {
        Some(wanted) if wanted > found => Err(FolderError::TooFewClasses { path: path(), wanted, found }),
        limit => {
            folders.truncate(limit.unwrap_or(found).min(usize::from(u16::MAX)));
            Ok(folders)
        }
    }
}

/// The images of a class, at least `wanted`, sorted by name.
fn images(folder: &Path, wanted: usize) -> Result<Vec<PathBuf>, FolderError> {
    let is_image = |path: &Path| {
        let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        let named = matches!(extension.as_deref(), Some("jpg" | "jpeg" | "png" | "webp"));
        path.is_file() && (named || begins_as_image(path))
    };
    let files = entries(folder, is_image)?;
    if files.len() < wanted {
        return Err(FolderError::TooFewImages { path: folder.to_owned(), wanted, found: files.len() });
    }
    Ok(files)
}

/// Whether the first bytes are those of JPEG, PNG or WebP.
fn begins_as_image(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(16).read_to_end(&mut start));
    let format = read.ok().and_then(|_| image::guess_format(&start).ok());
    matches!(format, Some(ImageFormat::Jpeg | ImageFormat::Png | ImageFormat::WebP))
}

/// What a folder holds and `keep` accepts, sorted by name, hidden entries left out.
fn entries(folder: &Path, keep: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>, FolderError> {
    let error = |reason| FolderError::Io { path: folder.to_owned(), reason };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(error)? {
        let entry = entry.map_err(error)?;
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if !hidden && keep(&entry.path()) {
            paths.push(entry.path());
        }
    }
    paths.sort_unstable();
    Ok(paths)
}
