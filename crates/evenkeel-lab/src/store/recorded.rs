//! What else a run records: values that only some experiments ask for, beside the curve that every run has.
//!
//! `extra.csv` has one value per row (`iteration,task,quantity,value`), appended as it is measured; on a restart, rows after
//! the checkpoint are done again.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use evenkeel_data::files;
use serde::Deserialize;

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
    let text = match std::fs::read_to_string(path) {
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
    file: Option<File>,
}

impl ExtraWriter {
    /// Keeps the rows up to iteration `done`.
    pub fn open(path: &Path, done: u64) -> io::Result<Self> {
        let path = path.to_path_buf();
        if !path.exists() {
            return Ok(Self { path, file: None });
        }
        let mut kept = files::beside(&path)?;
        writeln!(kept, "{HEADER}")?;
        // Of a damaged file nothing is kept but what can be read; it is this program's own.
        for row in read_extra(&path).unwrap_or_default().iter().filter(|row| row.iteration <= done) {
            write_row(&mut kept, row.iteration, row.task, &row.quantity, row.value)?;
        }
        files::publish(kept, &path)?;
        let file = OpenOptions::new().append(true).open(&path)?;
        Ok(Self { path, file: Some(file) })
    }

    /// Appends one row and hands it to the system.
    pub fn append(&mut self, iteration: u64, task: usize, quantity: &str, value: f64) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
                writeln!(file, "{HEADER}")?;
                none.insert(file)
            }
        };
        write_row(file, iteration, task, quantity, value)
    }

    /// Waits until everything is on disk.
    pub fn sync(&self) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), File::sync_data)
    }
}

fn write_row(w: &mut impl Write, iteration: u64, task: usize, quantity: &str, value: f64) -> io::Result<()> {
    // One write per row, so that a kill tears at most the last one.
    w.write_all(format!("{iteration},{task},{quantity},{value}\n").as_bytes())
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
        let mut writer = ExtraWriter::open(&path, 0).unwrap();
        assert!(!path.exists());
        for iteration in 1..=4 {
            writer.append(iteration, 1, TRAIN_ACC, 0.1 * iteration as f64).unwrap();
        }
        let whole = std::fs::read(&path).unwrap();
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"5,1,trai").unwrap();
        assert_eq!(read_extra(&path).unwrap().len(), 4);

        let mut writer = ExtraWriter::open(&path, 2).unwrap();
        assert_eq!(read_extra(&path).unwrap().len(), 2);
        for iteration in 3..=4 {
            writer.append(iteration, 1, TRAIN_ACC, 0.1 * iteration as f64).unwrap();
        }
        assert_eq!(std::fs::read(&path).unwrap(), whole);
    }
}
