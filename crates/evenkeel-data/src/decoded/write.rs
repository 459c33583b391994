//! Writing a data set.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use super::header::Header;
use super::{DecodedError, MAGIC};
use crate::examples::Examples;
use crate::files::{self, sha256};
use crate::labelled::Labelled;
use crate::load::Loaded;

impl Loaded {
    /// Writes everything to one file, which appears whole or not at all.
    pub fn save(&self, path: &Path) -> Result<(), DecodedError> {
        let write = || -> io::Result<()> {
            let mut file = files::beside(path)?;
            let mut out = BufWriter::with_capacity(1 << 20, file.as_file_mut());
            self.write(&mut out)?;
            out.flush()?;
            drop(out);
            files::publish(file, path).map(drop)
        };
        write().map_err(|reason| DecodedError::Io { path: path.to_owned(), action: "written", reason })
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let header = serde_json::to_string(&Header::of(self))?;
        writeln!(out, "{MAGIC}\n{header}\n{}", sha256(header.as_bytes()))?;
        let parts = [self.data.train(), self.data.test()];
        let [train, test] = parts.map(|part| part.parts().0);
        if !parts[0].is_images() && !Arc::ptr_eq(train, test) {
            return Err(io::Error::other("training and test rows do not lie in one matrix"));
        }
        match &**train {
            Examples::Images(_) => {
                for part in parts {
                    for i in 0..part.len() {
                        out.write_all(&part.image(i))?;
                    }
                }
            }
            Examples::Sparse(sparse) => {
                write_all(out, sparse.starts().iter().map(|start| start.to_le_bytes()))?;
                let entry = |(column, value): &(u32, f32)| [column.to_le_bytes(), value.to_le_bytes()];
                write_all(out, sparse.entries().iter().flat_map(entry))?;
                self.write_rows(out)?;
            }
            Examples::Numbers(_) => {
                self.write_rows(out)?;
                let scale = [self.normalization.mean(), self.normalization.std()];
                write_all(out, scale.concat().iter().map(|number| number.to_le_bytes()))?;
            }
        }
        let coarse = self.data.coarse().map(|coarse| [&coarse.train, &coarse.test]);
        let labels = parts.into_iter().chain(coarse.into_iter().flatten()).flat_map(Labelled::labels);
        let tasks = self.data.tasks().into_iter().flat_map(|tasks| tasks.train.iter().chain(&tasks.test));
        write_all(out, labels.chain(tasks).map(|number| number.to_le_bytes()))
    }

    /// The rows of both parts.
    fn write_rows(&self, out: &mut impl Write) -> io::Result<()> {
        let rows = [self.data.train(), self.data.test()].map(|part| part.parts().1);
        write_all(out, rows.concat().iter().map(|row| row.to_le_bytes()))
    }
}

fn write_all<const N: usize>(out: &mut impl Write, numbers: impl Iterator<Item = [u8; N]>) -> io::Result<()> {
    numbers.into_iter().try_for_each(|number| out.write_all(&number))
}
