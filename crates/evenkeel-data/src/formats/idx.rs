//! `idx:DIR`: the four files of an MNIST-like data set.

use std::path::Path;

use super::Format;
use crate::dataset::DataSet;
use crate::files;
use crate::idx;
use crate::load::LoadError;

pub(super) static ENTRY: Format = Format {
    prefix: "idx",
    usage: "idx:DIR",
    summary: "grey images in the four files of MNIST's format, plain or with .gz",
    options: &[],
    load: |folder, _| load(folder),
};

/// Labels are bytes.
const MOST_CLASSES: usize = 256;

/// There are as many classes as the training labels name.
fn load(folder: &Path) -> Result<DataSet, LoadError> {
    let read = |name: &str| {
        let plain = folder.join(name);
        let path = if plain.exists() { plain } else { folder.join(format!("{name}.gz")) };
        match files::read(&path) {
            Ok(bytes) => Ok((path.display().to_string(), bytes)),
            Err(error) => {
                let holds = idx::FILES.join(", ");
                Err(LoadError::Read { path, error, hint: format!("an idx: folder holds {holds}") })
            }
        }
    };
    let files = idx::FILES.iter().map(|name| read(name)).collect::<Result<Vec<_>, _>>()?;
    let file = |i: usize| (files[i].0.as_str(), files[i].1.as_slice());
    let (labels_name, labels) = file(1);
    let labels = idx::labels(labels_name, labels, MOST_CLASSES)?;
    let classes = labels.iter().max().map_or(1, |&label| usize::from(label) + 1);
    Ok(idx::data_set(format!("idx:{}", folder.display()), [0, 1, 2, 3].map(file), classes)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes `n` images of 1 × 2 pixels whose labels count up to `classes`.
    fn write(folder: &Path, [images, labels]: [&str; 2], n: u8, classes: u8) {
        let mut file: Vec<u8> = [2051, u32::from(n), 1, 2].iter().flat_map(|x| x.to_be_bytes()).collect();
        file.extend(0..2 * n);
        std::fs::write(folder.join(images), file).unwrap();
        let mut file: Vec<u8> = [2049, u32::from(n)].iter().flat_map(|x| x.to_be_bytes()).collect();
        file.extend((0..n).map(|i| i % classes));
        std::fs::write(folder.join(labels), file).unwrap();
    }

    #[test]
    fn four_files_are_a_data_set_with_the_classes_that_occur() {
        let folder = tempfile::tempdir().unwrap();
        let [train_images, train_labels, test_images, test_labels] = idx::FILES;
        write(folder.path(), [train_images, train_labels], 6, 3);
        let error = load(folder.path()).unwrap_err().to_string();
        assert!(
            error.contains("t10k-images-idx3-ubyte.gz: ") && error.contains("; an idx: folder holds train-")
        );
        write(folder.path(), [test_images, test_labels], 3, 3);
        let data = load(folder.path()).unwrap();
        assert_eq!((data.train().len(), data.test().len(), data.classes()), (6, 3, 3));
        assert_eq!(data.name(), format!("idx:{}", folder.path().display()));
        write(folder.path(), [test_images, test_labels], 4, 4);
        assert!(
            load(folder.path()).unwrap_err().to_string().contains("label 3 of example 3 is out of range")
        );
    }
}
