//! Which program this is.

/// Its version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit that it was built from, with `+changes` if the tree had any; it says so if that is not known.
pub const COMMIT: &str = env!("EVENKEEL_COMMIT");

/// Name of the kernels that it uses here: the last digits of every number depend on them.
pub fn kernels() -> &'static str {
    evenkeel_kernels::InstructionSet::active().name()
}
