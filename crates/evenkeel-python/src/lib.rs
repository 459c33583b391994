//! `evenkeel._evenkeel`: what the Python package `evenkeel` is made of. Arguments are checked and shaped in Python; the work is done here.

mod analysis;
mod command;
mod curves;
mod frame;
mod recorder;
mod run;
mod train;

// As in the command: workers are processes of this library too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The compiled part of evenkeel.
#[pyo3::pymodule]
mod _evenkeel {
    #[pymodule_export]
    use crate::analysis::{Analysis, metrics};
    #[pymodule_export]
    use crate::command::main;
    #[pymodule_export]
    use crate::frame::Frame;
    #[pymodule_export]
    use crate::recorder::Recorder;
    #[pymodule_export]
    use crate::run::run;
    #[pymodule_export]
    use crate::train::train_mlp;

    #[pymodule_export]
    const VERSION: &str = evenkeel_lab::program::VERSION;
}
