//! Networks that know which of their layers belong under a gain.

use burn::module::Module;

use crate::gain::Gain;

/// A network whose layers can be put under a gain.
pub trait Modulated: Module {
    /// Puts the layers that the network modulates under `gain`.
    #[must_use]
    fn with_gain(self, gain: &Gain) -> Self;

    /// Path pattern of the parameters that are not modulated and train with momentum under NGM-SGD, if there are any.
    fn backbone() -> Option<&'static str> {
        None
    }
}
