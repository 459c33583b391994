//! The list of optimizers. One line of [`rules!`] registers a file; everything that lists, names or matches optimizers is made from it.

use super::Rule;

/// An optimizer with a name: a rule with its parameters.
///
/// ```
/// use evenkeel::optim::{Rule, optimizer};
/// let msgd = optimizer("msgd").unwrap();
/// assert_eq!(msgd.shown, "MSGD");
/// assert!(matches!(msgd.rule(), Rule::Sgd(config) if config.momentum == 0.9));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct NamedOptimizer {
    /// Its name on the command line and in experiment files.
    pub name: &'static str,
    /// Its name in tables and figures.
    pub shown: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// Its place among the optimizers that run when none is named; `None` if it is not one of them.
    pub rank: Option<u8>,
    /// Gradients per step.
    pub cost: u8,
    /// Copies of the weights that it keeps beside those that are trained.
    pub copies: u8,
    /// Whether it has to be told of task switches, or needs the old data.
    pub oracle: bool,
    /// The optimizer whose parameters for a benchmark it shares, if it is a variant of one.
    pub base: Option<&'static str>,
    /// Its rule with the default parameters, given those of the base.
    pub(super) rule: fn(Option<Rule>) -> Rule,
}

impl NamedOptimizer {
    /// An optimizer with parameters of its own.
    pub(super) const fn new(
        name: &'static str,
        shown: &'static str,
        summary: &'static str,
        rule: fn(Option<Rule>) -> Rule,
    ) -> Self {
        Self { name, shown, summary, rank: None, cost: 1, copies: 0, oracle: false, base: None, rule }
    }

    /// Runs by default, at this place in tables.
    pub(super) const fn by_default(mut self, rank: u8) -> Self {
        self.rank = Some(rank);
        self
    }

    /// Asks for so many gradients per step.
    pub(super) const fn costs(mut self, gradients: u8) -> Self {
        self.cost = gradients;
        self
    }

    /// Keeps so many copies of the weights.
    pub(super) const fn keeps(mut self, copies: u8) -> Self {
        self.copies = copies;
        self
    }

    /// Has to be told of task switches, or needs the old data.
    pub(super) const fn oracle(mut self) -> Self {
        self.oracle = true;
        self
    }

    /// A variant of another optimizer.
    pub(super) const fn variant_of(mut self, base: &'static str) -> Self {
        self.base = Some(base);
        self
    }

    /// The rule with its default parameters.
    pub fn rule(&self) -> Rule {
        let base = self.base.and_then(optimizer).map(NamedOptimizer::rule);
        (self.rule)(base)
    }

    /// The rule as a variant of `base`, whose parameters may have been changed.
    pub fn rule_from(&self, base: Rule) -> Rule {
        (self.rule)(Some(base))
    }
}

/// The optimizer of that name.
///
/// ```
/// assert!(evenkeel::optim::optimizer("ngm-sgd").is_some() && evenkeel::optim::optimizer("abacus").is_none());
/// ```
pub fn optimizer(name: &str) -> Option<&'static NamedOptimizer> {
    optimizers().find(|optimizer| optimizer.name == name)
}

/// All optimizers that have a name: first those that run by default, then the others in the order of the list.
///
/// ```
/// let names: Vec<&str> = evenkeel::optim::optimizers().map(|optimizer| optimizer.name).collect();
/// assert_eq!(names[..4], ["ngm-sgd", "msgd", "adam", "sgd"]);
/// ```
pub fn optimizers() -> impl Iterator<Item = &'static NamedOptimizer> {
    let mut all: Vec<_> = Rule::NAMED.iter().flat_map(|file| file.iter()).collect();
    all.sort_by_key(|optimizer| optimizer.rank.unwrap_or(u8::MAX));
    all.into_iter()
}

/// Declares the modules, the enum [`Rule`] over their configurations, and the list of named optimizers.
macro_rules! rules {
    ($($variant:ident = $kind:literal in $module:ident: $config:ident;)*) => {
        $(mod $module; pub use $module::*;)*

        /// An update rule with its parameters, as experiment files and run descriptions hold it.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        pub enum Rule {
            $(
                #[doc = concat!("See [`", stringify!($config), "`].")]
                #[serde(rename = $kind)]
                $variant($config),
            )*
        }

        impl Rule {
            /// Names of the rules.
            pub const KINDS: &'static [&'static str] = &[$($kind),*];

            pub(in crate::optim) const NAMED: &'static [&'static [NamedOptimizer]] =
                &[$(<$config as MethodConfig>::NAMED),*];

            /// Checks the ranges of the parameters.
            pub fn check(&self) -> Result<(), OptimError> {
                match self { $(Self::$variant(config) => config.check(),)* }
            }

            /// See [`MethodConfig::asks_for_layer_inputs`].
            pub fn asks_for_layer_inputs(&self) -> bool {
                match self { $(Self::$variant(config) => config.asks_for_layer_inputs(),)* }
            }

            /// See [`MethodConfig::modulates`].
            pub fn modulates(&self) -> bool {
                match self { $(Self::$variant(config) => config.modulates(),)* }
            }

            /// The method, ready for its first step on a model of this kind.
            pub fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
                match self { $(Self::$variant(config) => config.method(),)* }
            }
        }
    };
}
pub(super) use rules;
