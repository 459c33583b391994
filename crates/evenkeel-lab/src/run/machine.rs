//! Where a run was made, as far as its speed may depend on it.

use serde::{Deserialize, Serialize};

/// The machine, without anything that names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Operating system and architecture.
    pub platform: String,
    /// Processor model, where the system tells.
    pub cpu: Option<String>,
    /// Cores that this process may use.
    pub cores: usize,
    /// Instruction set of the kernels: the last digits depend on it.
    #[serde(default)]
    pub kernels: String,
}

impl Machine {
    /// This machine.
    pub fn here() -> Self {
        let cpu = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split_once(':')?.1.trim().to_string())
        });
        Self {
            platform: format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH),
            cpu,
            cores: cores(),
            kernels: crate::program::kernels(),
        }
    }
}

/// Cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
