//! How to run something again: a command where one suffices, an experiment file otherwise.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::benchmark::Benchmark;
use crate::spec::{OptimizerSpec, RunSpec};

/// The command, or the contents of an experiment file and the command that runs it.
pub(super) fn commands(specs: &[&RunSpec]) -> Vec<String> {
    let Some(first) = specs.first() else { return Vec::new() };
    let Some(benchmark) = Benchmark::named(&first.benchmark) else { return Vec::new() };
    let settings = changed(&object(&benchmark.settings()), &object(&first.settings));
    let mut optimizers: Vec<&OptimizerSpec> = Vec::new();
    for spec in specs {
        if !optimizers.iter().any(|known| **known == spec.optimizer) {
            optimizers.push(&spec.optimizer);
        }
    }
    let names: Vec<&str> = optimizers.iter().map(|optimizer| optimizer.name.as_str()).collect();
    let seeds = seeds(specs);
    let unique = names.iter().enumerate().all(|(i, name)| !names[..i].contains(name));
    // Two optimizers of one name come from two experiments: one command for each.
    if !unique {
        let split = optimizers.iter().flat_map(|optimizer| {
            let of: Vec<&RunSpec> =
                specs.iter().copied().filter(|spec| spec.optimizer == **optimizer).collect();
            commands(&of)
        });
        return split.collect();
    }
    let mut overrides = settings;
    let mut tables = String::new();
    for optimizer in &optimizers {
        match benchmark.optimizer(&optimizer.name) {
            Some(known) => {
                let keys = changed(&parameters(&known), &parameters(optimizer));
                overrides.extend(
                    keys.into_iter().map(|(key, value)| (format!("{}.{key}", optimizer.name), value)),
                );
            }
            None => tables += &variant(benchmark, optimizer),
        }
    }
    if tables.is_empty() {
        let mut command = format!("evenkeel run {}", first.benchmark);
        if names != ["ngm-sgd", "msgd", "adam", "sgd"] {
            let _ = write!(command, " --optimizers {}", names.join(","));
        }
        let _ = write!(command, " --seeds {seeds}");
        for (key, value) in &overrides {
            let _ = write!(command, " --set {}", quoted(&format!("{key}={}", plain(value))));
        }
        return vec![command];
    }
    let mut file = format!("benchmark = {:?}\noptimizers = {names:?}\nseeds = {seeds:?}\n", first.benchmark);
    for (key, value) in overrides.iter().filter(|(key, _)| !key.contains('.')) {
        let _ = writeln!(file, "{key} = {value}");
    }
    for (key, value) in overrides.iter().filter(|(key, _)| key.contains('.')) {
        let (name, key) = key.rsplit_once('.').expect("filtered for it");
        let _ = write!(file, "\n[optimizer.{name:?}]\n{key} = {value}\n");
    }
    vec![file + &tables, "evenkeel run experiment.toml".to_string()]
}

/// Settings that are not the benchmark's, as `key=value`.
pub(super) fn changes(spec: &RunSpec) -> Vec<String> {
    let usual = Benchmark::named(&spec.benchmark).map(|benchmark| object(&benchmark.settings()));
    let changed = usual.map(|usual| changed(&usual, &object(&spec.settings))).unwrap_or_default();
    changed.into_iter().map(|(key, value)| format!("{key}={}", plain(&value))).collect()
}

/// A variant: the named optimizer of the same rule, and what differs from it.
fn variant(benchmark: &Benchmark, optimizer: &OptimizerSpec) -> String {
    let kind = |of: &OptimizerSpec| object(&of.rule).get("kind").cloned();
    let bases = ["ngm-sgd", "msgd", "adam", "sgd", "entropy-lr"]
        .into_iter()
        .filter_map(|name| benchmark.optimizer(name));
    let base = bases
        .filter(|base| kind(base) == kind(optimizer))
        .min_by_key(|base| changed(&parameters(base), &parameters(optimizer)).len());
    let Some(base) = base else { return String::new() };
    let mut table = format!("\n[optimizer.{:?}]\nbase = {:?}\n", optimizer.name, base.name);
    for (key, value) in changed(&parameters(&base), &parameters(optimizer)) {
        let _ = writeln!(table, "{key} = {value}");
    }
    table
}

fn object<T: serde::Serialize>(value: &T) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

fn parameters(optimizer: &OptimizerSpec) -> Map<String, Value> {
    let mut keys = object(&optimizer.rule);
    keys.remove("kind");
    keys.insert("reset".into(), Value::Bool(optimizer.reset));
    keys.insert("freeze".into(), Value::Bool(optimizer.freeze));
    keys
}

/// Keys of `now` that are not as in `before`.
fn changed(before: &Map<String, Value>, now: &Map<String, Value>) -> BTreeMap<String, Value> {
    let differs = |(key, value): &(&String, &Value)| before.get(*key) != Some(value);
    now.iter().filter(differs).map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn seeds(specs: &[&RunSpec]) -> String {
    let (low, high) = specs.iter().fold((u64::MAX, 0), |(l, h), s| (l.min(s.seed), h.max(s.seed)));
    if low == 0 { format!("{}", high + 1) } else { format!("{low}..{}", high + 1) }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// For a shell, where it is needed.
fn quoted(text: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "=._-:/,+".contains(c);
    if text.chars().all(safe) { text.to_string() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Plan};

    fn again(change: impl Fn(&mut Experiment)) -> Vec<String> {
        let mut experiment = Experiment::named("split-mnist").unwrap();
        change(&mut experiment);
        let specs = experiment.expand(None);
        commands(&specs.iter().collect::<Vec<_>>())
    }

    #[test]
    fn the_command_names_what_differs_from_the_benchmark() {
        assert_eq!(again(|_| {}), ["evenkeel run split-mnist --seeds 5"]);
        let changed = again(|experiment| {
            experiment.set_optimizers(&["ngm-sgd".into(), "sgd".into()]).unwrap();
            experiment.set_seeds("5..7").unwrap();
            experiment.set("hidden=[24,16]").unwrap();
            experiment.set("ngm-sgd.eta=0.3").unwrap();
        });
        let expected = "evenkeel run split-mnist --optimizers ngm-sgd,sgd --seeds 5..7 --set 'hidden=[24,16]' --set ngm-sgd.eta=0.3";
        assert_eq!(changed, [expected]);
    }

    #[test]
    fn a_variant_comes_as_a_file_that_gives_the_same_runs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("experiment.toml");
        let text = "benchmark = \"split-mnist\"\noptimizers = [\"my-own\", \"ngm-sgd\"]\nseeds = 2\nbatch = 64\n\
            [optimizer.my-own]\nbase = \"ngm-sgd\"\neta = 0\n[optimizer.ngm-sgd]\neta = 0.3\n";
        std::fs::write(&path, text).unwrap();
        let specs = Plan::load(&path).unwrap().parts[0].expand(None);
        let file = &commands(&specs.iter().collect::<Vec<_>>())[0];
        std::fs::write(&path, file).unwrap();
        assert_eq!(Plan::load(&path).unwrap().parts[0].expand(None), specs, "{file}");
    }
}
