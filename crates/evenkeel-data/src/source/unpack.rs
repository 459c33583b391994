//! Reading compressed files and archives that are not to be trusted.
//!
//! Nothing here writes a file: wanted members are found by their file name, read into memory under
//! a size limit and handed over. Paths inside an archive, links and devices have no effect.

use std::io::{BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use super::error::Failure;
use crate::error::one_line;

/// More than any known archive unpacks to; stops archives that never end.
const ARCHIVE_LIMIT: u64 = 1 << 30;
/// Longer than any path; a member's name is read into memory.
const NAME_LIMIT: u64 = 1 << 16;

/// The content of a reader, unpacked if it is gzip-compressed, of at most `limit` bytes.
pub(super) fn file(reader: impl Read, limit: u64) -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    let read =
        plain(reader, limit + 1).and_then(|mut r| r.read_to_end(&mut content)).map_err(|e| one_line(&e))?;
    if read as u64 > limit {
        return Err(format!("longer than the {limit} bytes expected"));
    }
    Ok(content)
}

/// Hands every regular file of a `.tar.gz` that is called `wanted[i].0` to `each(i, content)`.
pub(super) fn members(
    archive: impl Read,
    wanted: &[(&str, u64)],
    mut each: impl FnMut(usize, Vec<u8>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let stream = plain(archive, ARCHIVE_LIMIT).map_err(|e| one_line(&e))?;
    let mut archive = tar::Archive::new(stream);
    let mut long_name = None;
    // Raw: else a name of any length is in memory before it can be refused.
    for entry in archive.entries().map_err(|e| one_line(&e))?.raw(true) {
        let mut entry = entry.map_err(|e| one_line(&e))?;
        let kind = entry.header().entry_type();
        if kind.is_gnu_longname() || kind.is_pax_local_extensions() {
            long_name = name_of_next(&mut entry)?.or(long_name);
            continue;
        }
        let path = long_name.take().unwrap_or_else(|| entry.path_bytes().into_owned());
        if !kind.is_file() {
            continue;
        }
        let name = path.rsplit(|&b| b == b'/').next().map(<[u8]>::to_vec);
        let Some(at) = wanted.iter().position(|(file, _)| name.as_deref() == Some(file.as_bytes())) else {
            continue;
        };
        let (file, limit) = wanted[at];
        if entry.size() > limit {
            return Err(format!("{file} has {} bytes, more than the {limit} expected", entry.size()).into());
        }
        let mut content = Vec::new();
        entry.read_to_end(&mut content).map_err(|e| format!("{file}: {}", one_line(&e)))?;
        each(at, content)?;
    }
    Ok(())
}

/// The path that this member of an archive gives to the next one.
fn name_of_next(entry: &mut tar::Entry<'_, impl Read>) -> Result<Option<Vec<u8>>, String> {
    if entry.size() > NAME_LIMIT {
        return Err(format!("holds a name of {} bytes", entry.size()));
    }
    let pax = entry.header().entry_type().is_pax_local_extensions();
    let mut text = Vec::new();
    entry.read_to_end(&mut text).map_err(|e| one_line(&e))?;
    if pax {
        let path = tar::PaxExtensions::new(&text).flatten().find(|field| field.key_bytes() == b"path");
        return Ok(path.map(|field| field.value_bytes().to_vec()));
    }
    Ok(text.split(|&b| b == 0).next().map(<[u8]>::to_vec))
}

fn plain<'r>(reader: impl Read + 'r, limit: u64) -> std::io::Result<Box<dyn Read + 'r>> {
    let mut reader = BufReader::with_capacity(1 << 16, reader);
    Ok(if reader.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        Box::new(MultiGzDecoder::new(reader).take(limit))
    } else {
        Box::new(reader.take(limit))
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// An archive with raw member names, which the `tar` crate itself would refuse to write.
    fn archive(members: &[(&str, tar::EntryType, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for &(name, kind, content) in members {
            let mut header = tar::Header::new_ustar();
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_entry_type(kind);
            header.set_size(content.len() as u64);
            if kind.is_symlink() {
                header.set_link_name("/etc/hostname").unwrap();
            }
            header.set_cksum();
            builder.append(&header, content).unwrap();
        }
        gzip(&builder.into_inner().unwrap())
    }

    fn found(archive: &[u8]) -> Result<Vec<(usize, Vec<u8>)>, String> {
        let mut all = Vec::new();
        let result = members(archive, &[("a.bin", 4), ("b.bin", 4)], |at, content| {
            all.push((at, content));
            Ok(())
        });
        match result {
            Ok(()) => Ok(all),
            Err(Failure::Source(reason)) => Err(reason),
            Err(Failure::Cache(error)) => panic!("{error}"),
        }
    }

    #[test]
    fn plain_and_compressed_files_are_told_apart_by_content() {
        assert_eq!(file(&b"hello"[..], 5).unwrap(), b"hello");
        assert_eq!(file(&gzip(b"hello")[..], 5).unwrap(), b"hello");
        assert!(file(&gzip(b"hello!")[..], 5).unwrap_err().contains("longer"));
        let packed = gzip(b"hello");
        assert!(file(&packed[..packed.len() - 4], 5).is_err());
    }

    #[test]
    fn members_are_found_by_file_name_wherever_they_pretend_to_go() {
        use tar::EntryType::{Directory, Regular, Symlink};
        let archive = archive(&[
            ("folder/", Directory, b""),
            ("../../b.bin", Regular, b"up"),
            ("/evenkeel-absent/a.bin", Regular, b"root"),
            ("a.bin", Symlink, b""),
            ("a.bin.txt", Regular, b"other"),
        ]);
        assert_eq!(found(&archive).unwrap(), [(1, b"up".to_vec()), (0, b"root".to_vec())]);
        assert!(!std::path::Path::new("/evenkeel-absent/a.bin").exists());
    }

    #[test]
    fn long_names_are_read_and_endless_ones_refused() {
        use tar::EntryType::{GNULongName, Regular, XHeader};
        let folder = "x".repeat(200);
        let gnu = archive(&[
            ("././@LongLink", GNULongName, format!("{folder}/a.bin\0").as_bytes()),
            ("xxx", Regular, b"gnu"),
        ]);
        assert_eq!(found(&gnu).unwrap(), [(0, b"gnu".to_vec())]);
        let field = format!(" path={folder}/b.bin\n");
        let pax = archive(&[
            ("PaxHeader", XHeader, format!("{}{field}", field.len() + 3).as_bytes()),
            ("xxx", Regular, b"pax"),
        ]);
        assert_eq!(found(&pax).unwrap(), [(1, b"pax".to_vec())]);
        let endless = vec![b'x'; NAME_LIMIT as usize + 1];
        for kind in [GNULongName, XHeader] {
            let archive = archive(&[("name", kind, &endless), ("a.bin", Regular, b"1234")]);
            assert_eq!(found(&archive).unwrap_err(), "holds a name of 65537 bytes");
        }
    }

    #[test]
    fn large_and_broken_members_are_refused() {
        let large = archive(&[("a.bin", tar::EntryType::Regular, b"12345")]);
        assert_eq!(found(&large).unwrap_err(), "a.bin has 5 bytes, more than the 4 expected");
        let good = archive(&[("a.bin", tar::EntryType::Regular, b"1234")]);
        assert!(found(&good[..good.len() / 2]).is_err());
        assert!(found(b"not an archive at all, but long enough to be looked at").is_err());
    }
}
