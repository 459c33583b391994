//! The networks that there are. Everything that lists or matches networks is made from the list below.

use serde::{Deserialize, Serialize};

use crate::architecture::{Architecture, InputShape, NetworkSize};

/// What is to be done with a network whose type is known only at run time; see [`ModelSpec::visit`].
pub trait Visit {
    /// What comes out.
    type Output;

    /// Does it, with the network `N` and its settings.
    fn visit<N: Architecture>(self, config: &N::Config) -> Self::Output;
}

macro_rules! architectures {
    ($($network:ident = $name:literal in $module:ident;)+) => {
        $(mod $module;)+
        $(pub use $module::*;)+

        /// A network with its settings, as it stands in an experiment file: `kind` is its name, the other keys are its own.
        ///
        /// ```
        /// use evenkeel_models::ModelSpec;
        ///
        /// let spec: ModelSpec = serde_json::from_str(r#"{"kind": "mlp", "hidden": [100]}"#)?;
        /// assert_eq!(spec.shown(), "MLP");
        /// assert!(serde_json::from_str::<ModelSpec>(r#"{"kind": "mlp", "depth": 3}"#).is_err());
        /// # Ok::<(), serde_json::Error>(())
        /// ```
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        pub enum ModelSpec {
            $(
                #[doc = concat!("`", $name, "`: [`", stringify!($network), "`].")]
                #[serde(rename = $name)]
                $network(<$network as Architecture>::Config),
            )+
        }

        impl ModelSpec {
            /// The names of all networks.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The network of that name with its defaults.
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$network(Default::default())),)+
                    _ => None,
                }
            }

            /// Its name in experiment files and on the command line.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$network(_) => $name,)+
                }
            }

            /// How tables and figures call it.
            pub fn shown(&self) -> &'static str {
                match self {
                    $(Self::$network(_) => $network::SHOWN,)+
                }
            }

            /// One line about it for lists.
            pub fn summary(&self) -> &'static str {
                match self {
                    $(Self::$network(_) => $network::SUMMARY,)+
                }
            }

            /// What is wrong with its settings, as (key, reason).
            pub fn check(&self) -> Result<(), (&'static str, String)> {
                match self {
                    $(Self::$network(config) => $network::check(config),)+
                }
            }

            /// Whether it has a part in front of its head, which can be frozen.
            pub fn has_backbone(&self) -> bool {
                match self {
                    $(Self::$network(_) => <$network as evenkeel::nn::Modulated>::backbone().is_some(),)+
                }
            }

            /// Whether it tells what comes into its layers, for methods that ask for it.
            pub fn tells_layer_inputs(&self) -> bool {
                match self {
                    $(Self::$network(_) => $network::tells_layer_inputs(),)+
                }
            }

            /// How many layers are under the gain, where fewer could be; `None` if there is no choice.
            pub fn layers_under_gain(&self) -> Option<usize> {
                match self {
                    $(Self::$network(config) => $network::layers_under_gain(config),)+
                }
            }

            /// Whether it can see such images; the reason if not. Its settings have passed [`check`](Self::check).
            pub fn accepts(&self, shape: InputShape) -> Result<(), String> {
                match self {
                    $(Self::$network(config) => $network::accepts(config, shape),)+
                }
            }

            /// How large it would be, for images that it accepts.
            pub fn size(&self, shape: InputShape, outputs: usize) -> NetworkSize {
                match self {
                    $(Self::$network(config) => $network::size(config, shape, outputs),)+
                }
            }

            /// Calls `visitor` with the type of the network and its settings.
            pub fn visit<V: Visit>(&self, visitor: V) -> V::Output {
                match self {
                    $(Self::$network(config) => visitor.visit::<$network>(config),)+
                }
            }
        }
    };
}

architectures! {
    Mlp = "mlp" in mlp;
    SlimResNet = "slim-resnet18" in slim_resnet;
    SmallVit = "small-vit" in small_vit;
}
