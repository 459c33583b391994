//! Files that appear whole or not at all.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

/// How temporary files are called, so that those of a killed process can be swept up.
pub(crate) const PREFIX: &str = ".part-";

/// A temporary file beside `path`, with the permissions of an ordinary new file (a bare temporary one is private).
pub(crate) fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    in_folder(parent.unwrap_or(Path::new(".")))
}

/// A temporary file in `folder`.
pub(crate) fn in_folder(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX);
    #[cfg(unix)]
    builder.permissions(<std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o666));
    builder.tempfile_in(folder)
}

/// Syncs the file and renames it to `path`, over whatever is there.
pub(crate) fn publish(file: NamedTempFile, path: &Path) -> io::Result<File> {
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)
}

/// Writes a whole file, over whatever is there.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = beside(path)?;
    file.write_all(bytes)?;
    publish(file, path).map(drop)
}
