//! Curve files that gzip has compressed: some kilobytes instead of a hundred, small enough to keep with a publication.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

/// More than ten million rows. A file that unpacks to more is none of a training, and is not read to its end.
const MOST_BYTES: u64 = 2 << 30;

/// Whether the name of a file says that it is compressed.
pub fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

/// The text of a compressed curve file.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("curve.csv.gz");
/// use std::io::Write as _;
/// let mut file = flate2::write::GzEncoder::new(std::fs::File::create(&path)?, flate2::Compression::best());
/// file.write_all(b"iteration,task,task1_acc\n1,1,98.5\n2,2,71.25\n")?;
/// file.finish()?;
/// assert_eq!(evenkeel_metrics::unpack(&path)?.len(), 44);
/// assert_eq!(evenkeel_metrics::read_curve(&path)?.tasks(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn unpack(path: &Path) -> io::Result<Vec<u8>> {
    unpack_at_most(File::open(path)?, MOST_BYTES)
}

fn unpack_at_most(packed: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    MultiGzDecoder::new(packed).take(most + 1).read_to_end(&mut text)?;
    if text.len() as u64 > most {
        return Err(io::Error::other(format!("unpacks to more than {most} bytes, which is no curve")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::{read_curve, read_growing_curve};

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut file = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        file.write_all(text).unwrap();
        file.finish().unwrap()
    }

    #[test]
    fn a_packed_curve_is_read_like_the_plain_one_and_names_its_lines() {
        let folder = tempfile::tempdir().unwrap();
        let (plain, gz) = (folder.path().join("a.csv"), folder.path().join("a.csv.gz"));
        let text = b"iteration,task,task1_acc\n1,1,90\n2,2,80\n";
        std::fs::write(&plain, text).unwrap();
        std::fs::write(&gz, packed(text)).unwrap();
        assert_eq!(read_curve(&gz).unwrap(), read_curve(&plain).unwrap());
        assert_eq!(read_growing_curve(&gz).unwrap(), read_curve(&plain).unwrap());
        std::fs::write(&gz, packed(b"iteration,task,task1_acc\n1,1,90\n2,2,\n")).unwrap();
        let error = read_curve(&gz).unwrap_err().to_string();
        assert!(error.ends_with("a.csv.gz:3: task1_acc is empty"), "{error}");
    }

    #[test]
    fn a_cut_or_foreign_file_is_refused_and_so_is_one_that_unpacks_to_too_much() {
        let folder = tempfile::tempdir().unwrap();
        let gz = folder.path().join("a.csv.gz");
        let whole = packed(&b"iteration,task,task1_acc\n1,1,90\n".repeat(40));
        for bytes in [&whole[..whole.len() - 4], b"iteration,task,task1_acc\n1,1,90\n"] {
            std::fs::write(&gz, bytes).unwrap();
            assert!(read_curve(&gz).unwrap_err().to_string().contains("a.csv.gz"));
        }
        assert_eq!(unpack_at_most(&*whole, 32 * 40).unwrap().len(), 32 * 40);
        let error = unpack_at_most(&*whole, 32 * 40 - 1).unwrap_err().to_string();
        assert!(error.contains("more than 1279 bytes"), "{error}");
    }
}
