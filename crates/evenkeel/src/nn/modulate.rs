//! A gain on the weights of any Burn module, without changing the module.

use burn::module::{Module, Param, ParamGroup, Reparameterization, Reparameterizer};
use burn::tensor::Tensor;
use thiserror::Error;

use crate::gain::Gain;

/// Why [`modulate`] refused.
///
/// ```
/// use burn::{nn::LinearConfig, tensor::Device};
/// use evenkeel::{gain::{Gain, GainConfig}, nn::{ModulateError, modulate}};
/// let gain = Gain::new(GainConfig::new().check().unwrap());
/// let layer = LinearConfig::new(2, 2).init(&Device::flex());
/// // Biases are never modulated.
/// assert_eq!(modulate(layer, &gain, "bias").unwrap_err(), ModulateError::NothingMatches("bias".into()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ModulateError {
    /// The pattern is not a regular expression.
    #[error("'{0}' is not a regular expression")]
    Pattern(String),
    /// Nothing would be modulated.
    #[error("no weight of rank 2 or more has a path that matches '{0}'")]
    NothingMatches(String),
}

/// Puts every weight whose path in the module matches `pattern` under `gain`: `W = g·w`.
///
/// Biases and normalisation scales (rank 1) are left alone. The optimizer and the records keep seeing the base weights
/// `w`, and the layers' own `forward` sees `W`. Records hold the gain beside each weight (`….weight.gain.state`), so that whatever
/// saves and loads the module keeps it. Weights of a model that had no gain are loaded before it is modulated. To save a module with the
/// gain worked into its weights, use Burn's `materialize`.
///
/// ```
/// use burn::{nn::LinearConfig, tensor::{Device, Tensor}};
/// use evenkeel::{gain::{Gain, GainConfig}, nn::modulate};
///
/// let gain = Gain::new(GainConfig::new().check()?);
/// let plain = LinearConfig::new(3, 2).with_bias(false).init(&Device::flex());
/// let modulated = modulate(plain.clone(), &gain, "weight$")?;
/// gain.set(2.0);
/// let x = Tensor::<2>::ones([1, 3], &Device::flex());
/// assert_eq!(modulated.forward(x.clone()).into_data(), plain.forward(x).mul_scalar(2.0).into_data());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn modulate<M: Module>(module: M, gain: &Gain, pattern: &str) -> Result<M, ModulateError> {
    let group = ParamGroup::from_regex(pattern).map_err(|_| ModulateError::Pattern(pattern.to_string()))?;
    let mut matched = 0;
    let module = module.apply_reparameterization(Attach { gain, group, matched: &mut matched });
    if matched == 0 {
        return Err(ModulateError::NothingMatches(pattern.to_string()));
    }
    Ok(module)
}

/// The gain attached to one parameter of a module by [`modulate`].
///
/// The example of [`modulate`] attaches one.
#[derive(Module, Debug)]
pub struct GainModulation {
    state: Gain,
}

impl Reparameterization for GainModulation {
    const NAME: &'static str = "gain";

    fn apply<const D: usize>(&self, base: Tensor<D>) -> Tensor<D> {
        self.state.scale(base)
    }
}

struct Attach<'a> {
    gain: &'a Gain,
    group: ParamGroup,
    matched: &'a mut usize,
}

impl Reparameterizer for Attach<'_> {
    type Reparam = GainModulation;

    fn reparameterize<const D: usize>(
        &mut self,
        path: &str,
        param: Param<Tensor<D>>,
    ) -> (Param<Tensor<D>>, Option<GainModulation>) {
        if D < 2 || !self.group.matches(&param.id, Some(path)) {
            return (param, None);
        }
        *self.matched += 1;
        (param, Some(GainModulation { state: self.gain.clone() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gain::GainConfig;
    use burn::nn::LinearConfig;
    use burn::store::ModuleRecord;
    use burn::tensor::Device;

    #[test]
    fn a_pattern_that_matches_nothing_is_an_error() {
        let gain = Gain::new(GainConfig::new().check().unwrap());
        let layer = LinearConfig::new(2, 2).init(&Device::flex());
        // The bias matches, but only weights are modulated.
        assert_eq!(
            modulate(layer.clone(), &gain, "bias").unwrap_err(),
            ModulateError::NothingMatches("bias".into())
        );
        assert_eq!(modulate(layer, &gain, "(").unwrap_err(), ModulateError::Pattern("(".into()));
    }

    #[test]
    fn a_record_brings_the_gain_to_the_layers_and_to_the_optimizer() {
        let gain = || Gain::new(GainConfig::new().check().unwrap());
        let (trained, fresh) = (gain(), gain());
        let layer = || LinearConfig::new(2, 2).init(&Device::flex());
        let saved = modulate(layer(), &trained, "weight").unwrap();
        trained.set(1.68);
        let record = ModuleRecord::from_bytes(saved.clone().into_record().into_bytes().unwrap()).unwrap();
        let loaded = modulate(layer(), &fresh, "weight").unwrap().load_record(record.clone());
        assert_eq!(fresh.value(), 1.68);
        assert_eq!(loaded.weight.val().into_data(), saved.weight.val().into_data());
        // Neither forgotten in silence …
        let error = layer().try_load_record(record).unwrap_err().to_string();
        assert!(error.contains("weight.gain.state"), "{error}");
        // … nor made up.
        let error = loaded.try_load_record(layer().into_record()).unwrap_err().to_string();
        assert!(error.contains("weight.gain.state"), "{error}");
    }

    #[test]
    fn the_gain_survives_valid_train_and_records() {
        let gain = Gain::new(GainConfig::new().check().unwrap());
        let device = Device::flex().autodiff();
        let layer = modulate(LinearConfig::new(2, 2).init(&device), &gain, "weight").unwrap();
        gain.set(3.0);
        let other = modulate(LinearConfig::new(2, 2).init(&device), &gain, "weight").unwrap();
        let loaded = other.load_record(layer.clone().into_record());
        let expected = layer.weight.base().mul_scalar(3.0).into_data();
        assert_eq!(loaded.weight.val().into_data(), expected);
        assert_eq!(layer.valid().weight.val().into_data(), expected);
        assert_eq!(layer.valid().train().weight.val().into_data(), expected);
    }
}
