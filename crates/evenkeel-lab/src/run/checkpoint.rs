//! The state of an unfinished run in one file: written whole or not at all, and checked when read.
//!
//! Layout: a magic line, a line of JSON ([`Header`]), then weights and optimizer state.

use std::io::Write;
use std::path::Path;

use evenkeel_data::files::{self, hex};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::program;
use crate::store::sealed_file::Seal;

const MAGIC: &[u8] = b"evenkeel checkpoint 2\n";

/// Where training was, and what the curve file held then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Id of the spec that it belongs to.
    pub spec: String,
    /// Iterations done.
    pub iteration: u64,
    /// The curve file at that moment: what comes after it is done again.
    pub curve: Seal,
    /// The file of what else is recorded at that moment.
    pub extra: Seal,
    /// Seconds of training so far.
    pub seconds: f64,
    /// Version and kernels that made it: others round differently, and a curve must not mix them.
    pub made_by: String,
    /// Commit of the program that made it.
    #[serde(default)]
    pub commit: String,
    weights_bytes: usize,
    /// Of all the above and the payload.
    sha256: String,
}

impl Header {
    /// What this program writes into [`made_by`](Self::made_by).
    pub fn this_program() -> String {
        format!("{} {}", program::VERSION, program::kernels())
    }

    fn checksum(&self, weights: &[u8], optimizer: &[u8]) -> String {
        let unsigned = Self { sha256: String::new(), ..self.clone() };
        let header = serde_json::to_vec(&unsigned).expect("a header is plain data");
        hex(&Sha256::new().chain_update(header).chain_update(weights).chain_update(optimizer).finalize())
    }
}

/// A checkpoint in memory. Batches are a function of seed and iteration, so there is no generator state to keep.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// Position.
    pub header: Header,
    /// The model's weights.
    pub weights: Vec<u8>,
    /// The optimizer's state, gain included.
    pub optimizer: Vec<u8>,
}

/// Why a checkpoint cannot be used.
#[derive(Debug, Error)]
pub enum CheckpointError {
    /// It cannot be read or written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// It is not one, or it is damaged.
    #[error("not a whole checkpoint ({0}); delete it to start this run again")]
    Damaged(&'static str),
    /// It is another run's.
    #[error("belongs to run {found}, not to {expected}; delete it to start this run again")]
    OtherSpec {
        /// Id in the file.
        found: String,
        /// Id of the run.
        expected: String,
    },
}

impl Checkpoint {
    /// A checkpoint of the run with that id.
    pub fn new(
        spec: &str,
        iteration: u64,
        (curve, extra): (Seal, Seal),
        seconds: f64,
        state: (Vec<u8>, Vec<u8>),
    ) -> Self {
        let (weights, optimizer) = state;
        let mut header = Header {
            spec: spec.to_string(),
            iteration,
            curve,
            extra,
            seconds,
            made_by: Header::this_program(),
            commit: program::COMMIT.to_string(),
            weights_bytes: weights.len(),
            sha256: String::new(),
        };
        header.sha256 = header.checksum(&weights, &optimizer);
        Self { header, weights, optimizer }
    }

    /// Writes it beside `path`, syncs it and renames it into place.
    pub fn save(&self, path: &Path) -> std::io::Result<()> {
        let mut file = files::beside(path)?;
        file.write_all(MAGIC)?;
        serde_json::to_writer(&mut file, &self.header)?;
        file.write_all(b"\n")?;
        file.write_all(&self.weights)?;
        file.write_all(&self.optimizer)?;
        files::publish(file, path).map(drop)
    }

    /// Reads the checkpoint of the run with id `spec`; `None` if there is no file.
    pub fn load(path: &Path, spec: &str) -> Result<Option<Self>, CheckpointError> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        Self::parse(&bytes, spec).map(Some)
    }

    /// The checkpoint of the run with id `spec` that a file holds.
    pub fn parse(bytes: &[u8], spec: &str) -> Result<Self, CheckpointError> {
        use CheckpointError::Damaged;
        let rest = bytes.strip_prefix(MAGIC).ok_or(Damaged("wrong first line"))?;
        let end = rest.iter().position(|byte| *byte == b'\n').ok_or(Damaged("no header"))?;
        let header: Header = serde_json::from_slice(&rest[..end]).map_err(|_| Damaged("bad header"))?;
        let payload = &rest[end + 1..];
        let (weights, optimizer) =
            payload.split_at_checked(header.weights_bytes).ok_or(Damaged("truncated"))?;
        if header.checksum(weights, optimizer) != header.sha256 {
            return Err(Damaged("checksum differs"));
        }
        if header.spec != spec {
            return Err(CheckpointError::OtherSpec { found: header.spec, expected: spec.to_string() });
        }
        Ok(Self { weights: weights.to_vec(), optimizer: optimizer.to_vec(), header })
    }
}

/// What `fuzz/run` needs to come past the checksum: the file of a header and what follows it, with the one that fits.
#[cfg(fuzzing)]
pub fn sealed(bytes: &[u8]) -> Option<Vec<u8>> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let mut header: Header = serde_json::from_slice(&bytes[..end]).ok()?;
    let (weights, optimizer) = bytes[end + 1..].split_at_checked(header.weights_bytes)?;
    header.sha256 = header.checksum(weights, optimizer);
    Some([MAGIC, &serde_json::to_vec(&header).ok()?, b"\n", weights, optimizer].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes() -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.bin");
        let checkpoint = Checkpoint::new("abc", 7, Default::default(), 1.5, (vec![1, 2, 3], vec![4, 5]));
        checkpoint.save(&path).unwrap();
        assert_eq!(Checkpoint::load(&path, "abc").unwrap(), Some(checkpoint));
        std::fs::read(path).unwrap()
    }

    #[test]
    fn no_cut_or_flipped_file_is_accepted() {
        let whole = bytes();
        for length in 0..whole.len() {
            assert!(Checkpoint::parse(&whole[..length], "abc").is_err(), "cut at {length}");
        }
        for i in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[i] ^= 1;
            assert!(Checkpoint::parse(&flipped, "abc").is_err(), "flipped {i}");
        }
    }

    #[test]
    fn another_runs_checkpoint_is_refused_by_name() {
        let error = Checkpoint::parse(&bytes(), "def").unwrap_err().to_string();
        assert_eq!(error, "belongs to run abc, not to def; delete it to start this run again");
    }
}
