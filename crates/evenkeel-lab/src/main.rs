//! The `evenkeel` command.

use std::process::ExitCode;

// Large buffers otherwise go back to the system after each step and come back zeroed: a factor of two on the MLP.
#[cfg(not(tsan))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    evenkeel_lab::cli::main()
}
