//! From a benchmark name or a TOML file, and the command line's overrides, to an experiment.

use serde_json::{Map, Value};

use super::check::check_name;
use super::keys::{keys_of, parse_value, suggest, with_key, with_parameter, with_probe_field};
use super::{BENCHMARKS, Benchmark, ExperimentError, OptimizerSpec, Settings, optimizers};
use crate::run::probes::ProbeSpecs;

/// Seeds when none are named: the paper's five runs.
pub const DEFAULT_SEEDS: u64 = 5;

/// The product of some optimizers and seeds on one benchmark. [`check`](Self::check) makes it one that can run.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// The benchmark that it starts from.
    pub benchmark: String,
    /// The protocol.
    pub settings: Settings,
    /// What is compared.
    pub optimizers: Vec<OptimizerSpec>,
    /// The seeds.
    pub seeds: Vec<u64>,
}

impl Experiment {
    /// The paper's experiment on a named benchmark: four optimizers, five seeds.
    pub fn named(name: &str) -> Result<Self, ExperimentError> {
        let benchmark = find_benchmark(name)?;
        let optimizers = optimizers::defaults().filter_map(|name| optimizers::on(benchmark, name));
        Ok(Self {
            benchmark: name.to_string(),
            settings: benchmark.settings(),
            optimizers: optimizers.collect(),
            seeds: (0..DEFAULT_SEEDS).collect(),
        })
    }

    pub(super) fn from_table(mut table: Map<String, Value>) -> Result<Self, ExperimentError> {
        let value_error =
            |key: &str, reason: &str| ExperimentError::Value { key: key.into(), reason: reason.into() };
        let Some(Value::String(name)) = table.remove("benchmark") else {
            return Err(value_error("benchmark", "the name of a benchmark is required"));
        };
        let mut experiment = Self::named(&name)?;
        let benchmark = find_benchmark(&name)?;

        let variants = match table.remove("optimizer") {
            None => Map::new(),
            Some(Value::Object(tables)) => tables,
            Some(_) => return Err(value_error("optimizer", "expected tables such as [optimizer.ngm-sgd]")),
        };
        if let Some(names) = table.remove("optimizers") {
            let names: Vec<String> = serde_json::from_value(names)
                .map_err(|_| value_error("optimizers", "expected a list of names"))?;
            experiment.optimizers.clear();
            for name in names {
                experiment.optimizers.push(variant(benchmark, &name, variants.get(&name))?);
            }
        } else {
            for (name, overrides) in &variants {
                let optimizer = variant(benchmark, name, Some(overrides))?;
                match experiment.optimizers.iter_mut().find(|known| known.name == *name) {
                    Some(known) => *known = optimizer,
                    None => experiment.optimizers.push(optimizer),
                }
            }
        }
        if let Some(unused) =
            variants.keys().find(|name| !experiment.optimizers.iter().any(|o| o.name == **name))
        {
            return Err(value_error(
                &format!("optimizer.{unused}"),
                "is described but not among the optimizers",
            ));
        }
        match table.remove("seeds") {
            None => {}
            Some(Value::Number(count)) => experiment.set_seeds(&count.to_string())?,
            Some(Value::String(range)) => experiment.set_seeds(&range)?,
            Some(_) => {
                return Err(value_error(
                    "seeds",
                    "expected a number, a range such as \"0..5\" or a list such as \"0,3,6\"",
                ));
            }
        }
        let known = ["benchmark", "benchmarks", "optimizers", "optimizer", "seeds", "part"];
        // What chooses which keys there are comes first.
        let choices = ["scenario", "model"];
        let chosen: Vec<_> = choices.iter().filter_map(|key| table.remove_entry(*key)).collect();
        for (key, value) in chosen.into_iter().chain(table) {
            experiment.settings = with_key(&experiment.settings, &key, value, &known)?;
        }
        experiment.check()?;
        Ok(experiment)
    }

    /// Replaces the optimizers by named ones with the paper's parameters, keeping those already described.
    pub fn set_optimizers(&mut self, names: &[String]) -> Result<(), ExperimentError> {
        let benchmark = find_benchmark(&self.benchmark)?;
        let mut chosen: Vec<OptimizerSpec> = Vec::new();
        for name in names {
            if chosen.iter().any(|optimizer| optimizer.name == *name) {
                continue;
            }
            let described = self.optimizers.iter().find(|optimizer| optimizer.name == *name);
            chosen.push(match described {
                Some(optimizer) => optimizer.clone(),
                None => variant(benchmark, name, None)?,
            });
        }
        self.optimizers = chosen;
        Ok(())
    }

    /// `5` (seeds 0 to 4), `2..7`, or a list `0,3,6`.
    pub fn set_seeds(&mut self, text: &str) -> Result<(), ExperimentError> {
        let bad = || ExperimentError::Seeds(text.to_string());
        if text.contains(',') {
            let seeds: Result<Vec<u64>, _> = text.split(',').map(|seed| seed.trim().parse()).collect();
            self.seeds = seeds.map_err(|_| bad())?;
            self.seeds.sort_unstable();
            self.seeds.dedup();
            return Ok(());
        }
        let range = match text.split_once("..") {
            Some((from, to)) => from.parse().map_err(|_| bad())?..to.parse().map_err(|_| bad())?,
            None => 0..text.parse::<u64>().map_err(|_| bad())?,
        };
        if range.is_empty() || range.end - range.start > 100_000 {
            return Err(bad());
        }
        self.seeds = range.collect();
        Ok(())
    }

    /// One `--set key=value`: a key of the settings, or a parameter of every optimizer that has it (`lr`), or of one
    /// (`ngm-sgd.eta`).
    pub fn set(&mut self, assignment: &str) -> Result<(), ExperimentError> {
        let (key, text) = assignment.split_once('=').ok_or_else(|| ExperimentError::Value {
            key: format!("--set {assignment}"),
            reason: "expected key=value".to_string(),
        })?;
        let value = parse_value(text);
        let of_probe = key.split_once('.').filter(|(probe, _)| ProbeSpecs::NAMES.contains(probe));
        if let Some((probe, field)) = of_probe {
            self.settings = with_probe_field(&self.settings, probe, field, value)?;
        } else if let Some((name, parameter)) = key.rsplit_once('.') {
            let names: Vec<&str> = self.optimizers.iter().map(|optimizer| optimizer.name.as_str()).collect();
            let hint = suggest(name, &names);
            let optimizer = self.optimizers.iter_mut().find(|optimizer| optimizer.name == name);
            let optimizer = optimizer.ok_or(ExperimentError::Optimizer { name: name.to_string(), hint })?;
            *optimizer = with_parameter(optimizer, parameter, value)?;
        } else if keys_of(&self.settings).iter().any(|known| known == key) {
            self.settings = with_key(&self.settings, key, value, &[])?;
        } else {
            let mut changed = false;
            for optimizer in &mut self.optimizers {
                if optimizer.parameters().contains_key(key) {
                    *optimizer = with_parameter(optimizer, key, value.clone())?;
                    changed = true;
                }
            }
            if !changed {
                let mut known = keys_of(&self.settings);
                known.extend(
                    self.optimizers.iter().flat_map(|o| o.parameters().keys().cloned().collect::<Vec<_>>()),
                );
                return Err(ExperimentError::Key { key: key.to_string(), hint: suggest(key, &known) });
            }
        }
        Ok(())
    }
}

fn find_benchmark(name: &str) -> Result<&'static Benchmark, ExperimentError> {
    Benchmark::named(name).ok_or_else(|| {
        let known: Vec<&str> = BENCHMARKS.iter().map(|benchmark| benchmark.name).collect();
        ExperimentError::Benchmark { name: name.to_string(), hint: suggest(name, &known) }
    })
}

/// A named optimizer, or a variant of one (`base = "…"`), with overridden parameters.
fn variant(
    benchmark: &Benchmark,
    name: &str,
    overrides: Option<&Value>,
) -> Result<OptimizerSpec, ExperimentError> {
    let mut overrides = match overrides {
        None => Map::new(),
        Some(Value::Object(table)) => table.clone(),
        Some(_) => {
            let key = format!("optimizer.{name}");
            return Err(ExperimentError::Value { key, reason: "expected a table of parameters".into() });
        }
    };
    let base = match overrides.remove("base") {
        Some(Value::String(base)) => base,
        Some(_) => {
            return Err(ExperimentError::Value {
                key: format!("optimizer.{name}.base"),
                reason: "expected a name".into(),
            });
        }
        None => name.to_string(),
    };
    let mut optimizer = optimizers::on(benchmark, &base).ok_or_else(|| {
        let known: Vec<&str> = optimizers::all().map(|(name, _)| name).collect();
        ExperimentError::Optimizer { name: base.clone(), hint: suggest(&base, &known) }
    })?;
    check_name(name)?;
    optimizer.name = name.to_string();
    for (key, value) in overrides {
        optimizer = with_parameter(&optimizer, &key, value)?;
    }
    Ok(optimizer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::RunSpec;

    fn parse(text: &str) -> Result<Experiment, String> {
        let table = toml::from_str(text).map_err(|e: toml::de::Error| e.to_string())?;
        Experiment::from_table(table).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_with_only_a_benchmark_is_the_papers_experiment() {
        assert_eq!(parse("benchmark = 'split-mnist'").unwrap(), Experiment::named("split-mnist").unwrap());
    }

    #[test]
    fn a_file_overrides_and_adds_variants() {
        let experiment = parse(
            "benchmark = 'split-mnist'\nseeds = '3..5'\niterations = 50\noptimizers = ['msgd', 'tonic']\n\
             [optimizer.tonic]\nbase = 'ngm-sgd'\neta = 0\n",
        )
        .unwrap();
        assert_eq!(experiment.seeds, [3, 4]);
        assert_eq!(experiment.settings.iterations, 50);
        let names: Vec<&str> = experiment.optimizers.iter().map(|o| o.name.as_str()).collect();
        assert_eq!(names, ["msgd", "tonic"]);
        assert_eq!(experiment.optimizers[1].number("eta"), Some(0.0));
        assert_eq!(experiment.check().unwrap().expand(None).len(), 4);
    }

    #[test]
    fn mistakes_are_named_with_a_suggestion() {
        let cases = [
            ("benchmark = 'split-mnits'", "there is no benchmark 'split-mnits'; did you mean 'split-mnist'?"),
            (
                "benchmark = 'split-mnist'\niteration = 3",
                "unknown key 'iteration'; did you mean 'iterations'?",
            ),
            ("benchmark = 'split-mnist'\niterations = 0", "iterations: must be at least 1"),
            ("benchmark = 'split-mnist'\nbatch = 1000000000000", "batch: must be at most 1000000"),
            ("benchmark = 'split-mnist'\noptimizers = ['sgd', 'sgd']", "optimizers: 'sgd' is named twice"),
            (
                "benchmark = 'split-mnist'\noptimizers = ['adm']",
                "there is no optimizer 'adm'; did you mean 'adam'?",
            ),
            (
                "benchmark = 'split-mnist'\n[optimizer.adam]\nepsilon = 1",
                "unknown key 'adam.epsilon'; did you mean 'eps'?",
            ),
            (
                "benchmark = 'split-mnist'\n[optimizer.ngm-sgd]\ngamma = 1",
                "ngm-sgd.gamma: gamma must be in [0, 1), got 1",
            ),
            (
                "benchmark = 'split-mnist'\nseeds = 'x'",
                "seeds 'x': give a number of seeds (5), a range (0..5) or a list (0,3,6)",
            ),
            ("seeds = 3", "benchmark: the name of a benchmark is required"),
        ];
        for (text, message) in cases {
            assert_eq!(parse(text).unwrap_err(), message);
        }
    }

    #[test]
    fn set_reaches_settings_all_optimizers_or_one() {
        let mut experiment = Experiment::named("split-mnist").unwrap();
        experiment.set("batch=32").unwrap();
        experiment.set("lr=0.5").unwrap();
        experiment.set("ngm-sgd.eta=0.3").unwrap();
        experiment.set("replay=1000").unwrap();
        assert_eq!((experiment.settings.batch, experiment.settings.replay), (32, Some(1000)));
        for optimizer in &experiment.optimizers {
            assert_eq!(optimizer.number("lr"), Some(0.5));
        }
        assert_eq!(experiment.optimizers[0].number("eta"), Some(0.3));
        let error = |text: &str| experiment.clone().set(text).unwrap_err().to_string();
        assert_eq!(error("btach=3"), "unknown key 'btach'; did you mean 'batch'?");
        assert_eq!(error("batch"), "--set batch: expected key=value");
        assert_eq!(error("ngm.eta=1"), "there is no optimizer 'ngm'; did you mean 'ngm-sgd'?");
        assert!(error("batch=many").starts_with("batch: invalid type"));
    }

    #[test]
    fn the_keys_are_those_of_the_chosen_stream_and_model() {
        let mut experiment = Experiment::named("split-mnist").unwrap();
        let error = experiment.set("degrees=[0,45]").unwrap_err().to_string();
        assert!(error.starts_with("unknown key 'degrees'"), "{error}");
        experiment.set("scenario=rotated").unwrap();
        experiment.set("degrees=[0,45]").unwrap();
        let keys = keys_of(&experiment.settings);
        for key in ["batch", "replay", "scenario", "degrees", "model", "hidden", "curvature", "train_acc"] {
            assert!(keys.contains(&key.to_string()), "{key} is not in {keys:?}");
        }
        assert!(!keys.contains(&"class_order".to_string()));
        let error = experiment.set("scenario=rotatd").unwrap_err().to_string();
        assert_eq!(error, "scenario: there is no 'rotatd'; did you mean 'rotated'?");
        let file = parse("benchmark = 'split-mnist'\nscenario = 'rotated'\ndegrees = [0, 45]").unwrap();
        assert_eq!(file.settings, experiment.settings);
        experiment.set("curvature.batch=6").unwrap();
        let error = experiment.set("curvature.bach=6").unwrap_err().to_string();
        assert_eq!(error, "unknown key 'curvature.bach'; did you mean 'batch'?");
    }

    #[test]
    fn the_id_depends_on_what_decides_the_numbers() {
        let experiment = Experiment::named("split-mnist").unwrap();
        let specs = experiment.check().unwrap().expand(None);
        assert_eq!(specs.len(), 20);
        let mut ids: Vec<String> = specs.iter().map(RunSpec::id).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 20);
        let mut other = experiment.clone();
        other.set("eval_every=2").unwrap();
        assert_ne!(other.check().unwrap().expand(None)[0].id(), specs[0].id());
        assert_eq!(experiment.check().unwrap().expand(None)[0].id(), specs[0].id());
    }
}
