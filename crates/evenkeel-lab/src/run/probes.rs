//! What else a run can record, beside the curve that every run has: one file per probe, registered in one line below.
//!
//! Its values go to `extra.csv`, one row each.

use burn::tensor::Device;
use evenkeel::curvature::CurvatureError;
use evenkeel_models::Architecture;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::feedback::Seen;
use super::learner::Learner;
use super::prepare::Prepared;
use crate::spec::RunSpec;

/// Why something could not be measured.
#[derive(Debug, Error)]
pub enum ProbeError {
    /// A curvature.
    #[error("curvature: {0}")]
    Curvature(#[from] CurvatureError),
}

/// A probe as it is registered: its key in experiment files, and what it makes of a run.
pub trait ProbeKind {
    /// The value of its key; the default is off.
    type Config: Serialize + DeserializeOwned + Default + Clone + PartialEq + std::fmt::Debug;

    /// What the key is when it is switched on without further words.
    fn on() -> Self::Config;

    /// What is wrong with the value: the key below the probe's own, and the reason.
    fn check(_config: &Self::Config) -> Result<(), (&'static str, String)> {
        Ok(())
    }

    /// The probe of a run; `None` if it is off.
    fn start<N: Architecture>(
        config: &Self::Config,
        spec: &RunSpec,
        data: &Prepared,
        device: &Device,
    ) -> Option<Box<dyn Probe<N>>>;
}

/// Something that is measured while a run goes on.
pub trait Probe<N: Architecture>: Send {
    /// Whether to measure after `iteration`.
    fn is_due(&self, iteration: u64) -> bool;

    /// Whether the accuracy on the training batch must be computed for it.
    fn needs_batch_accuracy(&self) -> bool {
        false
    }

    /// The values, by the name of the quantity.
    fn measure(&self, learner: &Learner<N>, seen: &Seen) -> Result<Vec<(&'static str, f64)>, ProbeError>;
}

fn is_off<T: Default + PartialEq>(config: &T) -> bool {
    *config == T::default()
}

macro_rules! probes {
    ($($name:ident: $kind:ident;)*) => {
        $(pub mod $name;)*

        /// Which probes a run has, as its description holds them.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct ProbeSpecs {
            $(
                #[doc = concat!("See [`", stringify!($name), "`].")]
                #[serde(skip_serializing_if = "is_off")]
                pub $name: <$name::$kind as ProbeKind>::Config,
            )*
        }

        impl ProbeSpecs {
            /// The keys of the probes.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// Whether nothing is recorded.
            pub fn is_empty(&self) -> bool {
                *self == Self::default()
            }

            /// The value of a probe's key when it is switched on.
            pub fn switched_on(name: &str) -> Option<Value> {
                $(if name == stringify!($name) {
                    return serde_json::to_value(<$name::$kind as ProbeKind>::on()).ok();
                })*
                None
            }

            /// What is wrong with the values: key and reason.
            pub fn check(&self) -> Result<(), (String, String)> {
                $(<$name::$kind as ProbeKind>::check(&self.$name)
                    .map_err(|(key, reason)| (format!("{}.{key}", stringify!($name)), reason))?;)*
                Ok(())
            }

            /// The probes of a run.
            pub fn start<N: Architecture>(spec: &RunSpec, data: &Prepared, device: &Device) -> Vec<Box<dyn Probe<N>>> {
                let specs = &spec.settings.probes;
                let all = [$(<$name::$kind as ProbeKind>::start(&specs.$name, spec, data, device)),*];
                all.into_iter().flatten().collect()
            }
        }
    };
}

probes! {
    train_acc: TrainAcc;
    curvature: Curvature;
}
