//! How to run something again: a command where one suffices, an experiment file otherwise.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::spec::{Benchmark, OptimizerSpec, RunSpec, flattened, optimizers, plain};

/// The commands, or the contents of an experiment file and the command that runs it.
pub(crate) fn commands(specs: &[&RunSpec]) -> Vec<String> {
    let controls = controls(specs);
    let real: Vec<&RunSpec> = specs.iter().copied().filter(|spec| spec.settings.hold.is_none()).collect();
    // Controls alone, such as a damaged one, come with the runs that they belong to.
    let alone: Vec<RunSpec> = specs.iter().map(|spec| spec.without_hold()).collect();
    let real = if real.is_empty() { alone.iter().collect() } else { real };
    let mut commands = of_runs(&real);
    if let Some(last) = commands.last_mut() {
        *last += &controls;
    }
    commands
}

/// The option that makes the controls among the runs.
fn controls(specs: &[&RunSpec]) -> String {
    let mut held: Vec<usize> = specs.iter().filter_map(|spec| spec.settings.hold).collect();
    held.sort_unstable();
    held.dedup();
    if held.is_empty() {
        return String::new();
    }
    format!(" --control={}", held.iter().map(usize::to_string).collect::<Vec<_>>().join(","))
}

fn of_runs(specs: &[&RunSpec]) -> Vec<String> {
    let Some(first) = specs.first().filter(|spec| !spec.is_recorded()) else { return Vec::new() };
    let Some(benchmark) = Benchmark::named(&first.benchmark) else { return Vec::new() };
    // One command for all that ran on the same seeds; two optimizers of one name come from two experiments.
    let mut batches: Vec<(Vec<u64>, Vec<&OptimizerSpec>)> = Vec::new();
    for spec in specs {
        let optimizer = &spec.optimizer;
        if batches.iter().any(|(_, known)| known.contains(&optimizer)) {
            continue;
        }
        let mut seeds: Vec<u64> =
            specs.iter().filter(|other| other.optimizer == *optimizer).map(|other| other.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        let fits = |(known, others): &&mut (Vec<u64>, Vec<&OptimizerSpec>)| {
            *known == seeds && others.iter().all(|other| other.name != optimizer.name)
        };
        match batches.iter_mut().find(fits) {
            Some((_, optimizers)) => optimizers.push(optimizer),
            None => batches.push((seeds, vec![optimizer])),
        }
    }
    let settings = changed(&flattened(&benchmark.settings()), &flattened(&first.settings));
    batches.iter().flat_map(|(seeds, optimizers)| command(benchmark, &settings, seeds, optimizers)).collect()
}

/// What runs some optimizers on some seeds.
fn command(
    benchmark: &Benchmark,
    settings: &[(String, Value)],
    seeds: &[u64],
    chosen: &[&OptimizerSpec],
) -> Vec<String> {
    let names: Vec<&str> = chosen.iter().map(|optimizer| optimizer.name.as_str()).collect();
    let seeds = seeds_shown(seeds);
    let (mut parameters, mut tables) = (Vec::new(), String::new());
    for optimizer in chosen {
        match optimizers::on(benchmark, &optimizer.name) {
            Some(known) => {
                let keys = changed(&known.parameters(), &optimizer.parameters());
                parameters.extend(keys.into_iter().map(|(key, value)| (optimizer.name.clone(), key, value)));
            }
            None => tables += &variant(benchmark, optimizer),
        }
    }
    if tables.is_empty() {
        let mut command = format!("evenkeel run {}", benchmark.name);
        if names != optimizers::defaults().collect::<Vec<_>>() {
            let _ = write!(command, " --optimizers {}", names.join(","));
        }
        let _ = write!(command, " --seeds {seeds}");
        let parameters = parameters.iter().map(|(name, key, value)| format!("{name}.{key}={}", plain(value)));
        let settings = settings.iter().map(|(key, value)| format!("{key}={}", plain(value)));
        for assignment in settings.chain(parameters) {
            let _ = write!(command, " --set {}", quoted(&assignment));
        }
        return vec![command];
    }
    let mut file = format!("benchmark = {:?}\noptimizers = {names:?}\nseeds = {seeds:?}\n", benchmark.name);
    for (key, value) in settings {
        let _ = writeln!(file, "{key} = {value}");
    }
    for (name, key, value) in &parameters {
        let _ = write!(file, "\n[optimizer.{name:?}]\n{key} = {value}\n");
    }
    vec![file + &tables, "evenkeel run experiment.toml".to_string()]
}

/// Settings that are not the benchmark's, as `key=value`.
pub(crate) fn changes(spec: &RunSpec) -> Vec<String> {
    let usual = Benchmark::named(&spec.benchmark)
        .filter(|_| !spec.is_recorded())
        .map(|benchmark| flattened(&benchmark.settings()));
    let changed = usual.map(|usual| changed(&usual, &flattened(&spec.settings))).unwrap_or_default();
    changed.into_iter().map(|(key, value)| format!("{key}={}", plain(&value))).collect()
}

/// A variant as a table of an experiment file.
fn variant(benchmark: &Benchmark, optimizer: &OptimizerSpec) -> String {
    let Some((base, changes)) = base_and_changes(benchmark, optimizer) else { return String::new() };
    let mut table = format!("\n[optimizer.{:?}]\nbase = {base:?}\n", optimizer.name);
    for (key, value) in changes {
        let _ = writeln!(table, "{key} = {value}");
    }
    table
}

/// The named optimizer that one is (or, for a variant, the nearest of the same rule), and what differs from it on this benchmark.
pub(crate) fn base_and_changes(
    benchmark: &Benchmark,
    optimizer: &OptimizerSpec,
) -> Option<(String, Vec<(String, Value)>)> {
    let changes = |base: &OptimizerSpec| changed(&base.parameters(), &optimizer.parameters());
    let same_rule = |base: &OptimizerSpec| base.kind() == optimizer.kind();
    let own = optimizers::on(benchmark, &optimizer.name).filter(same_rule);
    let base = own.or_else(|| {
        let bases = optimizers::all().filter_map(|(name, _)| optimizers::on(benchmark, name));
        bases.filter(same_rule).min_by_key(|base| changes(base).len())
    })?;
    Some((base.name.clone(), changes(&base)))
}

/// Keys of `now` that are not as in `before`; those that choose which others there are come first.
pub(crate) fn changed(before: &Map<String, Value>, now: &Map<String, Value>) -> Vec<(String, Value)> {
    let differs = |(key, value): &(&String, &Value)| before.get(*key) != Some(value);
    let mut keys: Vec<(String, Value)> =
        now.iter().filter(differs).map(|(key, value)| (key.clone(), value.clone())).collect();
    keys.sort_by_key(|(key, _)| !["scenario", "model"].contains(&key.as_str()));
    keys
}

/// Seeds as `--seeds` takes them.
pub(crate) fn seeds_shown(seeds: &[u64]) -> String {
    let (first, last) = (seeds[0], seeds[seeds.len() - 1]);
    let contiguous = last - first + 1 == seeds.len() as u64;
    match (contiguous, first) {
        (true, 0) => format!("{}", last + 1),
        (true, _) => format!("{first}..{}", last + 1),
        (false, _) => seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(","),
    }
}

/// For a shell, where it is needed.
fn quoted(text: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "=._-:/,+".contains(c);
    if text.chars().all(safe) { text.to_string() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Experiment, Plan};

    fn again(change: impl Fn(&mut Experiment)) -> Vec<String> {
        let mut experiment = Experiment::named("split-mnist").unwrap();
        change(&mut experiment);
        let specs = experiment.check().unwrap().expand(None);
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
        let specs = Plan::load(&path).unwrap().parts[0].check().unwrap().expand(None);
        let file = &commands(&specs.iter().collect::<Vec<_>>())[0];
        std::fs::write(&path, file).unwrap();
        assert_eq!(Plan::load(&path).unwrap().parts[0].check().unwrap().expand(None), specs, "{file}");
    }

    #[test]
    fn the_seeds_are_those_that_ran() {
        let list = again(|experiment| experiment.set_seeds("0,3,6").unwrap());
        assert_eq!(list, ["evenkeel run split-mnist --seeds 0,3,6"]);
        let single = again(|experiment| experiment.set_seeds("6..7").unwrap());
        assert_eq!(single, ["evenkeel run split-mnist --seeds 6..7"]);
        let mut experiment = Experiment::named("split-mnist").unwrap();
        experiment.set_seeds("3").unwrap();
        let mut specs = experiment.check().unwrap().expand(None);
        specs.retain(|spec| spec.optimizer.name != "sgd" || spec.seed == 1);
        let commands = commands(&specs.iter().collect::<Vec<_>>());
        let expected = [
            "evenkeel run split-mnist --optimizers ngm-sgd,msgd,adam --seeds 3",
            "evenkeel run split-mnist --optimizers sgd --seeds 1..2",
        ];
        assert_eq!(commands, expected);
    }

    #[test]
    fn another_stream_is_chosen_before_its_keys() {
        let commands = again(|experiment| {
            experiment.set("scenario=rotated").unwrap();
            experiment.set("degrees=[0,45]").unwrap();
            experiment.set("train_acc=true").unwrap();
        });
        let expected = "evenkeel run split-mnist --seeds 5 --set scenario=rotated --set 'degrees=[0.0,45.0]' --set train_acc=true";
        assert_eq!(commands, [expected]);
    }
}
