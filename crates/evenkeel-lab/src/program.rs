//! Which program this is, and how it is started again.

use std::ffi::OsString;
use std::io;
use std::sync::OnceLock;

/// The command that starts this program, where that is not its executable.
static COMMAND: OnceLock<Vec<OsString>> = OnceLock::new();

/// Says how this program is started, for one that lives in another: a Python package, say. Only the first call counts.
pub fn started_by(command: Vec<OsString>) {
    let _ = COMMAND.set(command);
}

/// The command that starts this program again: for its workers, and for jobs on a cluster.
pub fn command() -> io::Result<Vec<OsString>> {
    match COMMAND.get() {
        Some(command) => Ok(command.clone()),
        None => Ok(vec![std::env::current_exe()?.into_os_string()]),
    }
}

/// Its version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit that it was built from, with `+changes` if the tree had any; it says so if that is not known.
pub const COMMIT: &str = env!("EVENKEEL_COMMIT");

/// How the names of kernels end in a static build: musl's `exp` and `ln` round differently from glibc's.
const STATIC: &str = "+musl";
const ENDING: &str = if cfg!(target_env = "musl") { STATIC } else { "" };

/// Name of the kernels that it uses here, and of the C library if that is not the usual one: the last digits of every number depend on
/// both.
pub fn kernels() -> String {
    with_library(evenkeel_kernels::InstructionSet::active().name())
}

/// The name by which runs know kernels of this program.
pub fn with_library(kernels: &str) -> String {
    format!("{kernels}{ENDING}")
}

/// The kernels in a name that runs know; the reason if they were made with another C library.
pub fn without_library(name: &str) -> Result<&str, &'static str> {
    match (name.strip_suffix(STATIC), ENDING.is_empty()) {
        (Some(kernels), false) => Ok(kernels),
        (None, true) => Ok(name),
        (Some(_), true) => Err(
            "they are of the static build, whose exponentials and logarithms round differently; work with that",
        ),
        (None, false) => Err(
            "they are of the build with glibc, whose exponentials and logarithms round differently; work with that",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_of_another_c_library_are_not_taken() {
        let own = with_library("avx2");
        assert_eq!(without_library(&own), Ok("avx2"));
        let other = if ENDING.is_empty() { "avx2+musl" } else { "avx2" };
        assert!(without_library(other).unwrap_err().contains("round differently"));
    }
}
