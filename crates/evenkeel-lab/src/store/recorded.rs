//! What else a run records: values that only some experiments ask for, beside the curve that every run has.
//!
//! `extra.csv` has one value per row (`iteration,task,quantity,value`), appended as it is measured; on a restart, rows after
//! the checkpoint are done again.

use std::io;
use std::path::{Path, PathBuf};

use evenkeel_metrics::{is_packed, unpack};
use serde::Deserialize;

use super::sealed_file::{Seal, SealedFile};
use super::{StoreError, io_error};

/// Name of the file in a run directory.
pub const EXTRA_FILE: &str = "extra.csv";

const HEADER: &str = "iteration,task,quantity,value";

/// One row of `extra.csv`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Extra {
    /// Iterations done.
    pub iteration: u64,
    /// Task being trained, from 1.
    pub task: usize,
    /// What was measured.
    pub quantity: String,
    /// Its value.
    pub value: f64,
}

/// Reads the rows; none if there is no file. A torn last row, as a killed process leaves it, is not counted.
pub fn read_extra(path: &Path) -> io::Result<Vec<Extra>> {
    let read = if is_packed(path) {
        unpack(path).and_then(|text| String::from_utf8(text).map_err(io::Error::other))
    } else {
        std::fs::read_to_string(path)
    };
    let text = match read {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    let rows = csv::Reader::from_reader(whole.as_bytes()).into_deserialize().collect::<Result<_, _>>();
    rows.map_err(|error: csv::Error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))
}

/// Appends to `extra.csv`; there is no file before the first value.
pub struct ExtraWriter {
    path: PathBuf,
    file: Option<SealedFile>,
}

impl ExtraWriter {
    /// Keeps the rows that `seal` covers.
    pub fn open(path: &Path, seal: &Seal) -> Result<Self, StoreError> {
        let path = path.to_path_buf();
        if *seal == Seal::default() {
            return match std::fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error(&path)(error)),
                _ => Ok(Self { path, file: None }),
            };
        }
        let file = Some(SealedFile::open(&path, seal)?);
        Ok(Self { path, file })
    }

    /// Appends one row and hands it to the system.
    pub fn append(
        &mut self,
        iteration: u64,
        task: usize,
        quantity: &str,
        value: f64,
    ) -> Result<(), StoreError> {
        let row = format!("{iteration},{task},{quantity},{value}\n");
        if let Some(file) = &mut self.file {
            return file.append(row.as_bytes());
        }
        let file = self.file.insert(SealedFile::open(&self.path, &Seal::default())?);
        file.append(format!("{HEADER}\n{row}").as_bytes())
    }

    /// Waits until everything is on disk, and seals it; the seal of nothing if there is no file.
    pub fn seal(&mut self) -> Result<Seal, StoreError> {
        Ok(self.seal_if_any()?.unwrap_or_default())
    }

    /// The same; `None` if there is no file.
    pub fn seal_if_any(&mut self) -> Result<Option<Seal>, StoreError> {
        self.file.as_mut().map(SealedFile::seal).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRAIN_ACC: &str = "train_acc";

    #[test]
    fn rows_after_the_checkpoint_and_a_torn_one_are_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(EXTRA_FILE);
        assert_eq!(read_extra(&path).unwrap(), []);
        let mut writer = ExtraWriter::open(&path, &Seal::default()).unwrap();
        assert_eq!((path.exists(), writer.seal().unwrap()), (false, Seal::default()));
        let mut seal = Seal::default();
        for iteration in 1..=4 {
            writer.append(iteration, 1, TRAIN_ACC, 0.1 * iteration as f64).unwrap();
            if iteration == 2 {
                seal = writer.seal().unwrap();
            }
        }
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, [&whole[..], b"5,1,trai"].concat()).unwrap();
        assert_eq!(read_extra(&path).unwrap().len(), 4);

        let mut writer = ExtraWriter::open(&path, &seal).unwrap();
        assert_eq!(read_extra(&path).unwrap().len(), 2);
        for iteration in 3..=4 {
            writer.append(iteration, 1, TRAIN_ACC, 0.1 * iteration as f64).unwrap();
        }
        assert_eq!(std::fs::read(&path).unwrap(), whole);

        // Rows that are lost, or a file that is, do not go unseen.
        std::fs::write(&path, &whole[..whole.len() / 3]).unwrap();
        assert!(ExtraWriter::open(&path, &seal).is_err());
        std::fs::remove_file(&path).unwrap();
        assert!(ExtraWriter::open(&path, &seal).is_err());
    }
}
