//! The gain as shared state: one writer (the optimizer), many readers (the modulated layers).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use burn::module::Module;
use burn::tensor::Tensor;

use super::GainDynamics;
use crate::recorded::Recorded;

/// A handle to one gain `g`; clones share it.
///
/// A layer keeps a clone and reads [`value`](Self::value) in its forward pass; the optimizer calls
/// [`update`](Self::update) once an iteration. Copies of a model (`valid()`, `clone()`) see the same gain. Give two
/// groups of layers a gain of their own by making two of these.
///
/// It is a [`Module`] without parameters: a model that has one as a field, or layers under it, keeps its value in every record, to the
/// last bit. A record that is loaded sets the gain for all clones, the optimizer's among them.
///
/// ```
/// use burn::module::Module;
/// use evenkeel::gain::{Gain, GainConfig};
///
/// let (trained, fresh) = (Gain::new(GainConfig::new().check()?), Gain::new(GainConfig::new().check()?));
/// trained.update(1.7);
/// let reader = fresh.clone();
/// fresh.load_record(trained.clone().into_record());
/// assert_eq!(reader.value(), trained.value());
/// # Ok::<(), evenkeel::gain::GainError>(())
/// ```
///
/// The paper writes a vector `g_i`; every entry gets the same update, so one number is exact.
#[derive(Module, Debug)]
pub struct Gain {
    #[module(skip)]
    dynamics: GainDynamics,
    // Bits of an f64: layers may read it from another thread than the one that trains.
    value: Recorded<Arc<AtomicU64>>,
}

impl Gain {
    /// A gain at its baseline `g0`.
    pub fn new(dynamics: GainDynamics) -> Self {
        Self { dynamics, value: Recorded::new(Arc::new(AtomicU64::new(dynamics.g0().to_bits()))) }
    }

    /// The current gain `g`.
    pub fn value(&self) -> f64 {
        f64::from_bits(self.value.word.load(Ordering::Relaxed))
    }

    /// Sets the gain, for restoring a saved state.
    pub fn set(&self, g: f64) {
        self.value.word.store(g.to_bits(), Ordering::Relaxed);
    }

    /// `g ← γ g + (1−γ) g0 + η H`; returns the new gain.
    #[allow(clippy::must_use_candidate)]
    pub fn update(&self, entropy: f64) -> f64 {
        let g = self.dynamics.next(self.value(), entropy);
        self.set(g);
        g
    }

    /// The parameters of this gain.
    pub fn dynamics(&self) -> GainDynamics {
        self.dynamics
    }

    /// `g · tensor`; the tensor itself where the gain is exactly 1, so that an inactive gain costs nothing.
    pub fn scale<const D: usize>(&self, tensor: Tensor<D>) -> Tensor<D> {
        let g = self.value();
        #[allow(clippy::float_cmp)]
        if g == 1.0 { tensor } else { tensor.mul_scalar(g) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gain::GainConfig;

    #[test]
    fn clones_share_the_gain_and_start_at_the_baseline() {
        let gain = Gain::new(GainConfig::new().with_g0(1.5).check().unwrap());
        let reader = gain.clone();
        assert_eq!(reader.value(), 1.5);
        let g = gain.update(2.0);
        assert_eq!(g, 0.9 * 1.5 + (1.0 - 0.9) * 1.5 + 0.4 * 2.0);
        assert_eq!(reader.value(), g);
    }
}
