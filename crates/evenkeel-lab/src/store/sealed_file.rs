//! A file that only grows and knows the checksum of what it holds, so that a change behind its back is found.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use evenkeel_data::files::{self, hex};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{StoreError, io_error};

/// Length and checksum of the beginning of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seal {
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
}

impl Default for Seal {
    /// The seal of nothing.
    fn default() -> Self {
        Self { bytes: 0, sha256: hex(&Sha256::digest(b"")) }
    }
}

/// A file that is appended to.
pub struct SealedFile {
    path: PathBuf,
    file: File,
    hash: Sha256,
    bytes: u64,
}

impl SealedFile {
    /// Opens the file, or creates it, and cuts it back to what `seal` covers. What stands there must be what was sealed.
    pub fn open(path: &Path, seal: &Seal) -> Result<Self, StoreError> {
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(false).read(true).write(true).open(path);
        let mut file = file.map_err(io_error(path))?;
        let hash = hash_of((&mut file).take(seal.bytes)).map_err(io_error(path))?;
        if hex(&hash.clone().finalize()) != seal.sha256 {
            return Err(StoreError::Damaged {
                path: path.display().to_string(),
                reason: "differs from what its checkpoint has seen".to_string(),
                hint: "delete checkpoint.bin beside it to begin this run again",
            });
        }
        let cut = file.set_len(seal.bytes).and_then(|()| file.seek(SeekFrom::Start(seal.bytes)));
        cut.map_err(io_error(path))?;
        Ok(Self { path: path.to_path_buf(), file, hash, bytes: seal.bytes })
    }

    /// Appends and hands it to the system in one write, so that a crash of this process tears at most these bytes.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.file.write_all(bytes).map_err(io_error(&self.path))?;
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Waits until everything is on disk, and seals it.
    pub fn seal(&mut self) -> Result<Seal, StoreError> {
        self.file.sync_data().map_err(io_error(&self.path))?;
        Ok(Seal { bytes: self.bytes, sha256: hex(&self.hash.clone().finalize()) })
    }
}

/// The SHA-256 of a whole file in lower-case hexadecimal.
pub fn sha256_of(path: &Path) -> io::Result<String> {
    Ok(hex(&hash_of(files::open(path)?)?.finalize()))
}

fn hash_of(reader: impl Read) -> io::Result<Sha256> {
    let mut hash = Sha256::new();
    io::copy(&mut BufReader::new(reader), &mut HashWriter(&mut hash))?;
    Ok(hash)
}

/// Lets `io::copy` feed a hash.
struct HashWriter<'a>(&'a mut Sha256);

impl Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_cut_back_to_its_seal_and_no_change_before_it_goes_unseen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("curve.csv");
        let mut file = SealedFile::open(&path, &Seal::default()).unwrap();
        file.append(b"a,b\n1,2\n").unwrap();
        let seal = file.seal().unwrap();
        file.append(b"3,4\n5").unwrap();
        drop(file);
        assert_eq!(sha256_of(&path).unwrap(), evenkeel_data::files::sha256(b"a,b\n1,2\n3,4\n5"));

        let mut file = SealedFile::open(&path, &seal).unwrap();
        file.append(b"3,4\n").unwrap();
        let whole = b"a,b\n1,2\n3,4\n";
        assert_eq!(std::fs::read(&path).unwrap(), whole);
        assert_eq!(file.seal().unwrap().sha256, evenkeel_data::files::sha256(whole));
        drop(file);
        for i in 0..seal.bytes as usize {
            let mut damaged = whole.to_vec();
            damaged[i] ^= 1;
            std::fs::write(&path, &damaged).unwrap();
            let error = SealedFile::open(&path, &seal).err().expect("a changed byte is seen").to_string();
            assert!(
                error.contains("curve.csv: differs from what its checkpoint has seen; delete"),
                "{error}"
            );
        }
        std::fs::write(&path, &whole[..3]).unwrap();
        assert!(SealedFile::open(&path, &seal).is_err());
    }
}
