//! The kinds of stream: how a data set becomes a sequence of tasks.
//!
//! A kind is one file in this folder with its keys and a [`StreamKind`], and one line in the registry below. Everything
//! that lists, reads, checks or cuts streams goes through [`StreamSpec`].
//!
//! ```
//! use evenkeel_data::{StreamSpec, digits};
//!
//! let spec: StreamSpec = serde_json::from_str(r#"{"scenario": "split", "classes_per_task": 5}"#)?;
//! assert_eq!(spec.tasks(10), 2);
//! assert_eq!(spec.cut(&digits(100, 50, 0), 0)?.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::error::StreamError;
use crate::dataset::DataSet;
use crate::task_stream::TaskStream;

/// A way to cut a data set into tasks; its fields are the keys that a user can set.
pub trait StreamKind {
    /// One line for listings.
    const SUMMARY: &'static str;
    /// What is new in each task. Which claims of the paper apply depends on it.
    const SCENARIO: ScenarioType;
    /// Every key with its meaning, the optional ones included.
    const KEYS: &'static [(&'static str, &'static str)];

    /// What is wrong with the keys, as key and reason, as far as it can be known without the data.
    fn check(&self) -> Result<(), (&'static str, String)>;

    /// The number of tasks for a data set with so many classes, before the data is there; 0 if only the data can tell.
    fn tasks(&self, classes: usize) -> usize;

    /// Cuts a data set into tasks. What is random about them is decided by the seed alone.
    fn cut(&self, data: &DataSet, seed: u64) -> Result<TaskStream, StreamError>;
}

/// What changes from one task to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScenarioType {
    /// Every task brings new classes.
    ClassIncremental,
    /// The classes stay, and every task shows them in another domain.
    DomainIncremental,
    /// Classes and domain stay, and every task brings more examples.
    DataIncremental,
    /// The data says which task an example belongs to, and anything may be new in it.
    Given,
}

impl fmt::Display for ScenarioType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::ClassIncremental => "class-incremental",
            Self::DomainIncremental => "domain-incremental",
            Self::DataIncremental => "data-incremental",
            Self::Given => "given by the data",
        })
    }
}

macro_rules! streams {
    ($($kind:ident = $name:literal in $module:ident;)+) => {
        $(pub mod $module;)+
        $(pub use self::$module::$kind;)+

        /// Any kind of stream with its keys; as a table, `scenario` names the kind, and unknown keys are refused.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "scenario")]
        pub enum StreamSpec {
            $(
                #[doc = concat!("Called `", $name, "`: see [`", stringify!($module), "`](mod@", stringify!($module), ").")]
                #[serde(rename = $name)]
                $kind($kind),
            )+
        }

        impl StreamSpec {
            /// The name of every kind, in the order of listings.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The kind of this name, with the default of every key.
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$kind($kind::default())),)+
                    _ => None,
                }
            }

            /// The name of its kind.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$kind(_) => $name),+ }
            }

            /// One line about its kind. See [`StreamKind::SUMMARY`].
            pub fn summary(&self) -> &'static str {
                match self { $(Self::$kind(_) => $kind::SUMMARY),+ }
            }

            /// What is new in each task. See [`StreamKind::SCENARIO`].
            pub fn scenario(&self) -> ScenarioType {
                match self { $(Self::$kind(_) => $kind::SCENARIO),+ }
            }

            /// Every key of its kind with its meaning. See [`StreamKind::KEYS`].
            pub fn keys(&self) -> &'static [(&'static str, &'static str)] {
                match self { $(Self::$kind(_) => $kind::KEYS),+ }
            }

            /// What is wrong with the keys, as key and reason. See [`StreamKind::check`].
            pub fn check(&self) -> Result<(), (&'static str, String)> {
                match self { $(Self::$kind(stream) => stream.check()),+ }
            }

            /// The number of tasks for a data set with so many classes. See [`StreamKind::tasks`].
            pub fn tasks(&self, classes: usize) -> usize {
                match self { $(Self::$kind(stream) => stream.tasks(classes)),+ }
            }

            /// Cuts a data set into tasks. See [`StreamKind::cut`].
            pub fn cut(&self, data: &DataSet, seed: u64) -> Result<TaskStream, StreamError> {
                match self { $(Self::$kind(stream) => stream.cut(data, seed)),+ }
            }
        }

        $(
            impl From<$kind> for StreamSpec {
                fn from(stream: $kind) -> Self {
                    Self::$kind(stream)
                }
            }
        )+
    };
}

streams! {
    Split = "split" in split;
    Rotated = "rotated" in rotated;
    Domain = "domain" in domain;
    Permuted = "permuted" in permuted;
    DataIncremental = "data-incremental" in data_incremental;
    TaskColumnStream = "task-column" in task_column;
}
