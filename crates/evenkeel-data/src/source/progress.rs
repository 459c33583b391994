//! How a download reports that it is alive.

use std::io::{self, Read};

/// Receives the progress of downloads, one after the other.
pub trait Progress {
    /// A download of `name` begins; `total` is its length in bytes where that is known.
    fn start(&mut self, name: &str, total: Option<u64>);
    /// `bytes` more have arrived.
    fn advance(&mut self, bytes: u64);
    /// The download ended, well or not.
    fn finish(&mut self);
}

/// Keeps quiet, for callers that show no progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quiet;

impl Progress for Quiet {
    fn start(&mut self, _: &str, _: Option<u64>) {}
    fn advance(&mut self, _: u64) {}
    fn finish(&mut self) {}
}

/// A reader that reports what passes through it, and its end when dropped.
pub(super) struct Watched<'p, R> {
    inner: R,
    progress: &'p mut dyn Progress,
}

impl<'p, R: Read> Watched<'p, R> {
    pub(super) fn new(inner: R, name: &str, total: Option<u64>, progress: &'p mut dyn Progress) -> Self {
        progress.start(name, total);
        Self { inner, progress }
    }
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.progress.advance(n as u64);
        Ok(n)
    }
}

impl<R> Drop for Watched<'_, R> {
    fn drop(&mut self) {
        self.progress.finish();
    }
}
