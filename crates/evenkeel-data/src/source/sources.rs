//! Which sources may be used, and how long they may take.

use std::path::PathBuf;
use std::time::Duration;

/// Where a [`Cache`](super::Cache) may fetch from.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `mirrors` | the official ones | base addresses, each ending in `/`; an empty list uses none |
/// | `system_folders` | yes | data folders of operating-system packages |
/// | `npm` | `npm` | the npm client, found on the search path; `None` does not use it |
/// | `connect_timeout` | 5 s | for looking up and reaching a mirror |
/// | `stall_timeout` | 30 s | for a mirror that stops sending |
/// | `npm_timeout` | 15 min | for the whole npm download |
#[derive(Debug, Clone)]
pub struct Sources {
    /// Mirrors instead of the official ones, if given.
    pub mirrors: Option<Vec<String>>,
    /// Whether to look into folders of operating-system packages.
    pub system_folders: bool,
    /// The npm client, if it may be used.
    pub npm: Option<PathBuf>,
    /// Limit for looking up and reaching a mirror.
    pub connect_timeout: Duration,
    /// Limit for a mirror that sends nothing.
    pub stall_timeout: Duration,
    /// Limit for the npm client.
    pub npm_timeout: Duration,
}

impl Default for Sources {
    fn default() -> Self {
        Self {
            mirrors: None,
            system_folders: true,
            npm: Some(if cfg!(windows) { "npm.cmd" } else { "npm" }.into()),
            connect_timeout: Duration::from_secs(5),
            stall_timeout: Duration::from_secs(30),
            npm_timeout: Duration::from_mins(15),
        }
    }
}

impl Sources {
    /// Only what already lies on this machine: no network.
    pub fn offline() -> Self {
        Self { mirrors: Some(Vec::new()), npm: None, ..Self::default() }
    }
}
