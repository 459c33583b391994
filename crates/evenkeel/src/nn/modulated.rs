//! Networks that know which of their layers belong under a gain.

use burn::module::Module;

use crate::gain::Gain;

/// A network whose layers can be put under a gain.
///
/// ```
/// use burn::{module::Module, nn::{Linear, LinearConfig}, tensor::{Device, Tensor}};
/// use evenkeel::{gain::{Gain, GainConfig}, nn::{Modulated, modulate}};
///
/// #[derive(Module, Debug)]
/// struct Network {
///     backbone: Linear,
///     head: Linear,
/// }
///
/// impl Modulated for Network {
///     fn with_gain(self, gain: &Gain) -> Self {
///         modulate(self, gain, "^head\\.").expect("it has a head")
///     }
///
///     fn backbone() -> Option<&'static str> {
///         Some("^backbone\\.")
///     }
/// }
///
/// let layer = || LinearConfig::new(2, 2).with_bias(false).init(&Device::flex());
/// let gain = Gain::new(GainConfig::new().check()?);
/// let network = Network { backbone: layer(), head: layer() }.with_gain(&gain);
/// let head = network.head.weight.val();
/// gain.set(2.0);
/// assert_eq!(network.head.weight.val().into_data(), head.mul_scalar(2.0).into_data());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Modulated: Module + 'static {
    /// Puts the layers that the network modulates under `gain`.
    #[must_use]
    fn with_gain(self, gain: &Gain) -> Self;

    /// Path pattern of the parameters that are not modulated and train with momentum under NGM-SGD, if there are any.
    fn backbone() -> Option<&'static str> {
        None
    }
}
