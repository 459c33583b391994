//! Files that appear whole or not at all, and checksums as text.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use sha2::{Digest, Sha256};
use tempfile::{Builder, NamedTempFile};

/// A file in memory: its name, which errors repeat, and its bytes.
pub type NamedBytes<'a> = (&'a str, &'a [u8]);

/// How temporary files are called, so that those of a killed process can be swept up.
pub const PREFIX: &str = ".part-";

/// Opens a temporary file beside `path`, to be [published](publish) under that name.
pub fn beside(path: &Path) -> io::Result<NamedTempFile> {
    in_folder(folder_of(path))
}

/// Opens a temporary file in `folder` with the permissions of an ordinary new file.
///
/// A bare temporary file is private to its user, but what is published here may be shared; the umask still applies.
pub fn in_folder(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX);
    #[cfg(unix)]
    builder.permissions(<std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o666));
    builder.tempfile_in(folder)
}

/// Syncs the file to the disk and renames it to `path`, over whatever is there.
pub fn publish(file: NamedTempFile, path: &Path) -> io::Result<File> {
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)
}

/// Writes a whole file, over whatever is there.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("answer");
/// evenkeel_data::files::write(&path, b"42")?;
/// assert_eq!(std::fs::read(&path)?, b"42");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = beside(path)?;
    file.write_all(bytes)?;
    publish(file, path).map(drop)
}

/// Makes the name of a published file durable too, where the platform can; its content already is.
pub fn sync_folder_of(path: &Path) {
    if let Ok(folder) = File::open(folder_of(path)) {
        let _ = folder.sync_all();
    }
}

/// Opens a regular file. A named pipe would be waited for, perhaps for ever, and is refused as devices and folders are.
pub fn open(path: &Path) -> io::Result<File> {
    if std::fs::metadata(path)?.is_file() {
        return File::open(path);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
}

/// The content of a regular file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    open(path)?.read_to_end(&mut content)?;
    Ok(content)
}

/// Bytes as text in lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The SHA-256 of `bytes` in lower-case hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write(&path, b"first").unwrap();
        write(&path, b"second").unwrap();
        sync_folder_of(&path);
        assert_eq!(std::fs::read(&path).unwrap(), b"second");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_is_never_published_vanishes_and_is_recognised_until_then() {
        let folder = tempfile::tempdir().unwrap();
        let file = beside(&folder.path().join("file")).unwrap();
        assert!(file.path().file_name().unwrap().to_string_lossy().starts_with(PREFIX));
        drop(file);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(write(&folder.path().join("no/such/folder"), b"").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_published_file_has_the_permissions_of_an_ordinary_one() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let (ours, ordinary) = (folder.path().join("ours"), folder.path().join("ordinary"));
        write(&ours, b"").unwrap();
        std::fs::write(&ordinary, b"").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&ordinary));
    }

    #[test]
    fn checksums_are_those_of_the_standard() {
        assert_eq!(hex(&[0, 10, 255]), "000aff");
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(read(&pipe).unwrap_err().to_string(), "not a regular file");
        assert_eq!(read(folder.path()).unwrap_err().to_string(), "not a regular file");
        assert_eq!(read(&folder.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
