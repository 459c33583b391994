//! Numbers of other formats, written once as a matrix that can be read row by row.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use crate::files::{self, hex};
use crate::numbers::{NumberType, Place};
use crate::source::cache_dir;
use crate::table::TableError;

/// Where converted matrices lie: in the cache folder, under the checksum of their content.
fn folder() -> Result<PathBuf, String> {
    // Tests leave the user's folder alone.
    let root = if cfg!(test) { Ok(std::env::temp_dir().join("evenkeel-test")) } else { cache_dir() };
    let folder = root.map_err(|error| error.to_string())?.join("converted");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// A matrix that is being written.
pub(super) struct Conversion<'a> {
    source: &'a Path,
    folder: PathBuf,
    out: BufWriter<NamedTempFile>,
    hash: Sha256,
    length: u64,
}

impl<'a> Conversion<'a> {
    /// Of a file, which errors name.
    pub(super) fn of(source: &'a Path) -> Result<Self, TableError> {
        let begin = || {
            let folder = folder()?;
            let file = files::in_folder(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
            Ok((folder, BufWriter::with_capacity(1 << 20, file)))
        };
        let (folder, out) = begin().map_err(|reason: String| failed(source, &reason))?;
        Ok(Self { source, folder, out, hash: Sha256::new(), length: 0 })
    }

    /// Appends numbers in single precision.
    pub(super) fn push(&mut self, numbers: &[f32]) -> Result<(), TableError> {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.write_all(&bytes).map_err(|error| failed(self.source, &error.to_string()))
    }

    /// The finished matrix.
    pub(super) fn finish(self, number: NumberType, columns: usize) -> Result<Place, TableError> {
        let Self { source, folder, out, hash, length } = self;
        let path = folder.join(format!("{}.matrix", hex(&hash.finalize())));
        let publish = || {
            let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
            files::publish(file, &path).map(drop)
        };
        publish().map_err(|error: io::Error| failed(source, &error.to_string()))?;
        let rows = length / (columns * number.size()).max(1) as u64;
        Ok(Place { path, offset: 0, number, columns, rows: rows as usize })
    }
}

impl Write for Conversion<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn failed(source: &Path, reason: &str) -> TableError {
    let problem = format!("cannot be converted: {reason}");
    TableError::new(source, None, problem, "set EVENKEEL_DATA to a folder with room that can be written")
}
