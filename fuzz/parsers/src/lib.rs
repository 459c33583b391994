//! What the targets share: files in memory for parsers that want a path, and checksums that fit.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use evenkeel_data::{LoadError, Loaded};

/// A folder in memory, one per process.
fn folder() -> PathBuf {
    let folder = Path::new("/dev/shm").join(format!("evenkeel-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A file that has another content for every input.
pub struct Scratch {
    /// Where it lies.
    pub path: PathBuf,
    file: File,
}

impl Scratch {
    /// A file of that name in memory.
    pub fn new(name: &str) -> Self {
        let path = folder().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = OpenOptions::new().create(true).truncate(true).write(true).open(&path).unwrap();
        Self { path, file }
    }

    /// The file with this content.
    pub fn holding(&self, content: &[u8]) -> &Path {
        self.file.write_all_at(content, 0).unwrap();
        self.file.set_len(content.len() as u64).unwrap();
        &self.path
    }
}

/// Has the files that are converted in memory, too, and throws them away now and then.
fn with_cache() {
    static INPUTS: AtomicU64 = AtomicU64::new(0);
    static CACHE: OnceLock<PathBuf> = OnceLock::new();
    let cache = CACHE.get_or_init(|| {
        let cache = folder().join("cache");
        // SAFETY: no other thread runs yet.
        unsafe { std::env::set_var("EVENKEEL_DATA", &cache) };
        cache
    });
    if INPUTS.fetch_add(1, Ordering::Relaxed).is_multiple_of(1024) {
        let _ = std::fs::remove_dir_all(cache.join("converted"));
    }
}

/// Reads data of a user's own; why it cannot be read is one line.
pub fn tried(read: impl Fn(&Path) -> Result<Loaded, LoadError>, path: &Path) {
    with_cache();
    match read(path) {
        Ok(loaded) => assert!(!loaded.data.train().is_empty() && !loaded.data.test().is_empty()),
        Err(error) => assert_one_line(&error),
    }
}

/// What is said of a file is one line, whatever the file holds.
pub fn assert_one_line(error: &impl ToString) {
    let text = error.to_string();
    assert!(!text.contains(char::is_control), "{text:?}");
}

/// Appends a record of an event file with its checksums.
pub fn frame(file: &mut Vec<u8>, record: &[u8]) {
    let masked = |data: &[u8]| crc32c::crc32c(data).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes();
    let length = (record.len() as u64).to_le_bytes();
    file.extend([&length[..], &masked(&length), record, &masked(record)].concat());
}

/// Whether an input is one of the few, one in `n`, that are worth more work; always the same ones.
pub fn one_of(n: u32, data: &[u8]) -> bool {
    crc32c::crc32c(data).is_multiple_of(n)
}
