//! How much memory a run needs at least, compared with what there is before anything is allocated.

use evenkeel_models::InputShape;
use thiserror::Error;

use super::device::in_main_memory;
use crate::spec::Settings;

/// Copies of the weights: they themselves, their gradients, what the optimizer keeps of each, and those that are evaluated.
const COPIES: f64 = 4.0;

const BYTES: f64 = size_of::<f32>() as f64;

/// A run that cannot fit.
#[derive(Debug, Clone, PartialEq, Error)]
#[error(
    "{model} with these settings needs at least {} of memory for one run, and there is {}: {} for its {weights:.2e} weights with gradients \
     and the optimizer's state, {} for a batch of {batch}; choose a smaller {}",
    gigabytes(weights * COPIES * BYTES + for_batch),
    gigabytes(*available),
    gigabytes(weights * COPIES * BYTES),
    gigabytes(*for_batch),
    if weights * COPIES * BYTES > *for_batch { "network" } else { "batch" }
)]
pub struct TooLarge {
    model: &'static str,
    weights: f64,
    batch: usize,
    for_batch: f64,
    available: f64,
}

fn gigabytes(bytes: f64) -> String {
    format!("{:.1} GB", bytes / 1e9)
}

/// Refuses a run that cannot fit into the memory of this machine.
pub(super) fn check(settings: &Settings, shape: InputShape, outputs: usize) -> Result<(), TooLarge> {
    match available() {
        Some(available) if in_main_memory(&settings.device) => fits(settings, shape, outputs, available),
        _ => Ok(()),
    }
}

fn fits(settings: &Settings, shape: InputShape, outputs: usize, available: f64) -> Result<(), TooLarge> {
    let size = settings.model.size(shape, outputs);
    let for_batch = settings.batch as f64 * (size.kept_per_image + shape.len() as f64) * BYTES;
    if size.weights * COPIES * BYTES + for_batch <= available {
        return Ok(());
    }
    let (model, batch) = (settings.model.shown(), settings.batch);
    Err(TooLarge { model, weights: size.weights, batch, for_batch, available })
}

/// The memory of this machine, or the part of it that a container or a job of a cluster may use, in bytes; `None` where the system does
/// not tell.
fn available() -> Option<f64> {
    let of_group = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let of_group = of_group.and_then(|text| text.trim().parse::<f64>().ok());
    let of_machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| total(&text));
    [of_group, of_machine].into_iter().flatten().reduce(f64::min)
}

/// `MemTotal:       24012345 kB`
fn total(meminfo: &str) -> Option<f64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok()? * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Experiment;

    const GREY: InputShape = InputShape { channels: 1, height: 28, width: 28 };

    fn settings(change: &str) -> Settings {
        let mut experiment = Experiment::named("split-mnist").unwrap();
        experiment.set(change).unwrap();
        experiment.settings
    }

    #[test]
    fn what_cannot_fit_is_refused_with_its_size() {
        let network = fits(&settings("hidden=[50000,50000]"), GREY, 10, 16e9).unwrap_err().to_string();
        assert!(network.starts_with("MLP with these settings needs at least 40."), "{network}");
        assert!(network.ends_with("choose a smaller network"), "{network}");
        let batch = fits(&settings("batch=1000000"), GREY, 10, 4e9).unwrap_err().to_string();
        assert!(batch.contains("for a batch of 1000000; choose a smaller batch"), "{batch}");
        assert_eq!(fits(&settings("batch=1000"), GREY, 10, 1e9), Ok(()));
    }

    #[test]
    fn the_memory_of_this_machine_is_known_where_linux_tells() {
        assert_eq!(total("MemFree: 3 kB\nMemTotal:   24012345 kB\n"), Some(24_012_345.0 * 1024.0));
        assert_eq!((total(""), total("MemTotal: many")), (None, None));
        assert_eq!(available().is_some(), std::path::Path::new("/proc/meminfo").exists());
    }
}
