//! The device that the tests run on: `EVENKEEL_TEST_DEVICE`, `flex` if it is not set.

use burn::tensor::Device;

/// For training.
#[allow(deprecated)] // Burn means to drop ndarray one day
pub(crate) fn device() -> Device {
    let name = std::env::var("EVENKEEL_TEST_DEVICE").unwrap_or_else(|_| "flex".into());
    let device = match name.as_str() {
        "flex" => Device::flex(),
        #[cfg(feature = "ndarray")]
        "ndarray" => Device::ndarray(),
        #[cfg(feature = "wgpu")]
        "wgpu" => Device::wgpu(burn::tensor::DeviceKind::DefaultDevice),
        other => panic!("EVENKEEL_TEST_DEVICE={other} is not a device of this build"),
    };
    device.autodiff()
}
