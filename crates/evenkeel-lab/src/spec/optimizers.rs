//! The optimizers that have a name: those of the library, and variants that a run option makes of them.

use std::fmt;

use evenkeel::optim::{NamedOptimizer, optimizer, optimizers};

use super::{Benchmark, OptimizerSpec};

/// An optimizer of the library with a run option.
struct Variant {
    name: &'static str,
    shown: &'static str,
    summary: &'static str,
    base: &'static str,
    reset: bool,
    freeze: bool,
    average: Option<f64>,
}

/// The decay of Soutif-Cormerais et al. (2023).
const AVERAGE: Option<f64> = Some(0.99);

const VARIANTS: [Variant; 7] = [
    Variant {
        name: "msgd-reset",
        shown: "MSGD-reset",
        summary: "msgd, state cleared at each task switch (oracle)",
        base: "msgd",
        reset: true,
        freeze: false,
        average: None,
    },
    Variant {
        name: "adam-reset",
        shown: "Adam-reset",
        summary: "adam, state cleared at each task switch (oracle)",
        base: "adam",
        reset: true,
        freeze: false,
        average: None,
    },
    Variant {
        name: "msgd-frozen",
        shown: "MSGD-frozen",
        summary: "msgd, only the head trains after task 1 (convolutional networks; oracle)",
        base: "msgd",
        reset: false,
        freeze: true,
        average: None,
    },
    Variant {
        name: "ema-sgd",
        shown: "EMA of SGD",
        summary: "sgd, evaluated by an average of its weights (decay 0.99)",
        base: "sgd",
        reset: false,
        freeze: false,
        average: AVERAGE,
    },
    Variant {
        name: "ema-msgd",
        shown: "EMA of MSGD",
        summary: "msgd, evaluated by an average of its weights (decay 0.99)",
        base: "msgd",
        reset: false,
        freeze: false,
        average: AVERAGE,
    },
    Variant {
        name: "ema-adam",
        shown: "EMA of Adam",
        summary: "adam, evaluated by an average of its weights (decay 0.99)",
        base: "adam",
        reset: false,
        freeze: false,
        average: AVERAGE,
    },
    Variant {
        name: "ema-ngm-sgd",
        shown: "EMA of NGM-SGD",
        summary: "ngm-sgd, evaluated by an average of its weights (decay 0.99)",
        base: "ngm-sgd",
        reset: false,
        freeze: false,
        average: AVERAGE,
    },
];

/// Names and summaries, in the order of lists and tables.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let library = optimizers().map(|optimizer| (optimizer.name, optimizer.summary));
    library.chain(VARIANTS.iter().map(|variant| (variant.name, variant.summary)))
}

/// Names of those that run when none is named.
pub fn defaults() -> impl Iterator<Item = &'static str> {
    optimizers().filter(|optimizer| optimizer.rank.is_some()).map(|optimizer| optimizer.name)
}

/// The place of an optimizer in tables; one without a registered name comes last.
pub fn rank(name: &str) -> usize {
    all().position(|(known, _)| known == name).unwrap_or(usize::MAX)
}

/// A name as tables show it; a name that is not registered is shown as it is.
pub fn shown(name: &str) -> String {
    let variant = VARIANTS.iter().find(|variant| variant.name == name).map(|variant| variant.shown);
    variant.or_else(|| optimizer(name).map(|known| known.shown)).unwrap_or(name).to_string()
}

/// What an optimizer costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Gradients per step.
    pub gradients: u8,
    /// Copies of the weights beside those that are trained.
    pub copies: u8,
    /// Whether it is told of task switches, or needs the old data.
    pub oracle: bool,
}

/// The price of an optimizer with a registered name.
pub fn price(name: &str) -> Option<Price> {
    let variant = VARIANTS.iter().find(|variant| variant.name == name);
    let known = optimizer(variant.map_or(name, |variant| variant.base))?;
    Some(Price {
        gradients: known.cost,
        copies: known.copies + u8::from(variant.is_some_and(|variant| variant.average.is_some())),
        oracle: known.oracle || variant.is_some_and(|variant| variant.reset || variant.freeze),
    })
}

impl fmt::Display for Price {
    /// What is not the price of plain SGD.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let copies = match self.copies {
            0 => String::new(),
            1 => "one copy of the weights".to_string(),
            n => format!("{n} copies of the weights"),
        };
        let gradients =
            if self.gradients > 1 { format!("{} gradients per step", self.gradients) } else { String::new() };
        let oracle = if self.oracle { "oracle" } else { "" };
        let parts = [gradients.as_str(), copies.as_str(), oracle].into_iter().filter(|part| !part.is_empty());
        f.write_str(&parts.collect::<Vec<_>>().join(", "))
    }
}

/// The optimizer of that name with the parameters that a benchmark gives it.
pub fn on(benchmark: &Benchmark, name: &str) -> Option<OptimizerSpec> {
    let variant = VARIANTS.iter().find(|variant| variant.name == name);
    let known = optimizer(variant.map_or(name, |variant| variant.base))?;
    let rule = benchmark.tuned(known);
    let (reset, freeze, average) =
        variant.map_or((false, false, None), |variant| (variant.reset, variant.freeze, variant.average));
    Some(OptimizerSpec { name: name.to_string(), rule, reset, freeze, average, under_gain: None })
}

impl Benchmark {
    /// The rule of an optimizer of the library with this benchmark's parameters; a variant starts from its base's.
    fn tuned(&self, known: &NamedOptimizer) -> evenkeel::optim::Rule {
        let rule = match known.base.and_then(optimizer) {
            Some(base) => known.rule_from(self.tuned(base)),
            None => known.rule(),
        };
        let mut parameters = super::object(&rule);
        for (_, key, value) in self.parameters.iter().filter(|(name, ..)| *name == known.name) {
            parameters.insert((*key).to_string(), (*value).into());
        }
        serde_json::from_value(parameters.into()).expect("the parameters of benchmarks are tested")
    }
}

#[cfg(test)]
mod tests {
    use super::super::BENCHMARKS;
    use super::*;

    #[test]
    fn every_optimizer_exists_and_is_valid_on_every_benchmark() {
        for benchmark in BENCHMARKS {
            for (name, _) in all() {
                let optimizer = on(benchmark, name).unwrap();
                assert_eq!(optimizer.name, name);
                optimizer.rule.check().unwrap();
            }
            assert!(on(benchmark, "ngm-sgd-reset").is_none());
            for (name, key, value) in benchmark.parameters {
                assert_eq!(on(benchmark, name).unwrap().number(key), Some(*value), "{name} {key}");
            }
        }
    }

    #[test]
    fn prices_are_those_of_the_base_and_of_the_option() {
        let shown = |name: &str| price(name).unwrap().to_string();
        assert_eq!(shown("sgd"), "");
        assert_eq!(shown("ema-adam"), "3 copies of the weights");
        assert_eq!(shown("agem"), "2 gradients per step, one copy of the weights, oracle");
        assert_eq!(shown("adam-reset"), "2 copies of the weights, oracle");
        assert_eq!(price("abacus"), None);
    }

    #[test]
    fn variants_share_what_a_benchmark_gives_their_base() {
        let rotated = Benchmark::named("rotated-mnist").unwrap();
        let number = |name: &str, key: &str| on(rotated, name).unwrap().number(key).unwrap();
        assert_eq!((number("instantaneous", "eta"), number("instantaneous", "gamma")), (0.5, 0.0));
        assert_eq!(
            (number("tonic", "eta"), number("msgd-reset", "lr"), number("msgd", "lr")),
            (0.0, 0.1, 0.1)
        );
        assert_eq!(defaults().collect::<Vec<_>>(), ["ngm-sgd", "msgd", "adam", "sgd"]);
        assert_eq!(
            (shown("ngm-sgd"), shown("adam-reset"), shown("mine")),
            ("NGM-SGD".into(), "Adam-reset".into(), "mine".into())
        );
    }
}
