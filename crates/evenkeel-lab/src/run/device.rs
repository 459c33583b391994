//! Compute devices by name. `flex` runs on this project's kernels; the others, which are features of this crate, on Burn's own operations.

use burn::tensor::Device;

/// What makes a device.
type Open = fn() -> Device;

/// The devices of this build.
#[allow(deprecated)] // Burn means to drop ndarray one day
const DEVICES: &[(&str, Open)] = &[
    ("flex", Device::flex),
    #[cfg(feature = "ndarray")]
    ("ndarray", Device::ndarray),
    #[cfg(feature = "wgpu")]
    ("wgpu", || Device::wgpu(burn::tensor::DeviceKind::DefaultDevice)),
    #[cfg(feature = "cuda")]
    ("cuda", || Device::cuda(0_usize)),
];

/// Devices that other builds have: each is a feature of the same name.
const FEATURES: &[&str] = &["ndarray", "wgpu", "cuda"];

/// Whether a device computes in the memory of the machine and not in one of its own.
pub fn in_main_memory(name: &str) -> bool {
    !["wgpu", "cuda"].contains(&name)
}

/// Why a device cannot be used; `None` if it can.
pub fn refusal(name: &str) -> Option<String> {
    let names: Vec<&str> = DEVICES.iter().map(|(name, _)| *name).collect();
    if names.contains(&name) {
        return None;
    }
    let names = names.join(", ");
    Some(if FEATURES.contains(&name) {
        format!("'{name}' is not in this build, which has: {names}; build it with --features {name}")
    } else {
        format!("'{name}' is not a device; this build has: {names}")
    })
}

/// The device of that name, for training. The settings have been checked.
pub fn training_device(name: &str) -> Device {
    let known = DEVICES.iter().find(|(known, _)| *known == name);
    let (_, open) = known.expect("settings are checked before anything runs");
    open().autodiff()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_there_or_the_answer_says_how_to_get_it() {
        assert_eq!(refusal("flex"), None);
        assert!(training_device("flex").is_autodiff());
        assert!(refusal("abacus").unwrap().starts_with("'abacus' is not a device; this build has: flex"));
        for name in FEATURES {
            let built = DEVICES.iter().any(|(known, _)| known == name);
            let hint = refusal(name).is_some_and(|reason| reason.contains(&format!("--features {name}")));
            assert_ne!(built, hint, "{name}");
        }
    }
}
