//! What can be wrong with an experiment.

use thiserror::Error;

/// Why an experiment cannot run. Found before the first iteration.
#[derive(Debug, Error)]
pub enum ExperimentError {
    /// No such benchmark.
    #[error("there is no benchmark '{name}'{hint}")]
    Benchmark {
        /// What was asked for.
        name: String,
        /// A suggestion, or the list.
        hint: String,
    },
    /// No such optimizer.
    #[error("there is no optimizer '{name}'{hint}")]
    Optimizer {
        /// What was asked for.
        name: String,
        /// A suggestion, or the list.
        hint: String,
    },
    /// No such key.
    #[error("unknown key '{key}'{hint}")]
    Key {
        /// What was given.
        key: String,
        /// A suggestion, or the list.
        hint: String,
    },
    /// A value of the wrong type or out of range.
    #[error("{key}: {reason}")]
    Value {
        /// The key.
        key: String,
        /// What is wrong with its value.
        reason: String,
    },
    /// The experiment file.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// `--seeds`.
    #[error("seeds '{0}': give a number of seeds (5), a range (0..5) or a list (0,3,6)")]
    Seeds(String),
}
