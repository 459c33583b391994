//! What `fuzz/run` reaches of the readers of archives.

use super::unpack;

/// The content of a file that may be compressed, of at most `limit` bytes.
pub fn file(bytes: &[u8], limit: u64) -> Result<Vec<u8>, String> {
    unpack::file(bytes, limit)
}

/// The wanted files of an archive, as far as it can be read: which of them, and their content.
pub fn members(archive: &[u8], wanted: &[(&str, u64)]) -> Vec<(usize, Vec<u8>)> {
    let mut found = Vec::new();
    let _ = unpack::members(archive, wanted, |at, content| {
        found.push((at, content));
        Ok(())
    });
    found
}
