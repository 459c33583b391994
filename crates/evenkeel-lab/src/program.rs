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

/// Name of the kernels that it uses here: the last digits of every number depend on them.
pub fn kernels() -> &'static str {
    evenkeel_kernels::InstructionSet::active().name()
}
