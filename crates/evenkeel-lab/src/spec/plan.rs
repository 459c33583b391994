//! An experiment file: one experiment, or several that share most of their keys.

use std::path::Path;

use serde_json::{Map, Value};

use super::{Experiment, ExperimentError};

/// The contents of an experiment file; its keys are described in `docs/experiment-file.md`.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The experiments, in the order of the file.
    pub parts: Vec<Experiment>,
}

impl Plan {
    /// Reads a file.
    pub fn load(path: &Path) -> Result<Self, ExperimentError> {
        let file = |reason: String| ExperimentError::File { path: path.display().to_string(), reason };
        let text = std::fs::read_to_string(path).map_err(|error| file(error.to_string()))?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Parses the text of a file; `name` is for messages.
    pub fn parse(text: &str, name: &str) -> Result<Self, ExperimentError> {
        let file = |reason: String| ExperimentError::File { path: name.to_string(), reason };
        let mut table: Map<String, Value> =
            toml::from_str(text).map_err(|error: toml::de::Error| file(one_line(&error, text)))?;
        let tables = match table.remove("part") {
            None => vec![table],
            Some(Value::Array(parts)) => {
                let part = |part: Value| match part {
                    Value::Object(own) if !own.contains_key("part") => Ok(over(&table, own)),
                    _ => Err(file("part: expected tables such as [[part]]".into())),
                };
                parts.into_iter().map(part).collect::<Result<_, _>>()?
            }
            Some(_) => return Err(file("part: expected tables such as [[part]]".into())),
        };
        let tables = tables.into_iter().map(each_benchmark).collect::<Result<Vec<_>, _>>().map_err(file)?;
        let parts = tables.into_iter().flatten().map(Experiment::from_table).collect::<Result<_, _>>();
        Ok(Self { parts: parts.map_err(|error| file(error.to_string()))? })
    }
}

/// `benchmarks = […]` stands for one experiment on each of them.
fn each_benchmark(mut table: Map<String, Value>) -> Result<Vec<Map<String, Value>>, String> {
    let Some(names) = table.remove("benchmarks") else { return Ok(vec![table]) };
    let names: Vec<String> =
        serde_json::from_value(names).map_err(|_| "benchmarks: expected a list of names".to_string())?;
    let with = |name: String| {
        let mut one = table.clone();
        one.insert("benchmark".to_string(), Value::String(name));
        one
    };
    Ok(names.into_iter().map(with).collect())
}

/// The shared keys with those of a part over them; descriptions of optimizers are added to each other.
fn over(shared: &Map<String, Value>, own: Map<String, Value>) -> Map<String, Value> {
    let mut table = shared.clone();
    for (key, value) in own {
        match (table.get_mut(&key), value) {
            (Some(Value::Object(tables)), Value::Object(more)) if key == "optimizer" => tables.extend(more),
            (_, value) => drop(table.insert(key, value)),
        }
    }
    // A description that only another part uses is no mistake here.
    if let (Some(Value::Array(names)), Some(Value::Object(described))) =
        (table.get("optimizers").cloned(), table.get_mut("optimizer"))
    {
        described.retain(|name, _| names.iter().any(|chosen| chosen == name));
    }
    table
}

/// The parser's message spans several lines; its first and last say where and what.
fn one_line(error: &toml::de::Error, text: &str) -> String {
    let line =
        error.span().map(|span| 1 + text.get(..span.start).map_or(0, |before| before.matches('\n').count()));
    match line {
        Some(line) => format!("line {line}: {}", error.message()),
        None => error.message().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_share_the_keys_above_them() {
        let plan = Plan::parse(
            "seeds = 2\noptimizers = ['sgd', 'slow']\n[optimizer.slow]\nbase = 'sgd'\nlr = 0.001\n\
             [[part]]\nbenchmark = 'split-mnist'\n[[part]]\nbenchmark = 'rotated-mnist'\nreplay = 9\n\
             optimizers = ['adam']\n",
            "x.toml",
        )
        .unwrap();
        assert_eq!(plan.parts.len(), 2);
        let names = |i: usize| plan.parts[i].optimizers.iter().map(|o| o.name.as_str()).collect::<Vec<_>>();
        assert_eq!((names(0), names(1)), (vec!["sgd", "slow"], vec!["adam"]));
        assert_eq!((plan.parts[0].settings.replay, plan.parts[1].settings.replay), (None, Some(9)));
        assert!(plan.parts.iter().all(|part| part.seeds == [0, 1]));
    }

    #[test]
    fn a_list_of_benchmarks_is_one_part_each() {
        let plan = Plan::parse("benchmarks = ['split-mnist', 'rotated-mnist']\nseeds = 3", "x.toml").unwrap();
        let names: Vec<&str> = plan.parts.iter().map(|part| part.benchmark.as_str()).collect();
        assert_eq!(names, ["split-mnist", "rotated-mnist"]);
        let error = Plan::parse("benchmarks = 'split-mnist'", "x.toml").unwrap_err().to_string();
        assert_eq!(error, "x.toml: benchmarks: expected a list of names");
    }

    #[test]
    fn mistakes_name_the_file() {
        let error = |text: &str| Plan::parse(text, "x.toml").unwrap_err().to_string();
        assert_eq!(error("part = 3"), "x.toml: part: expected tables such as [[part]]");
        assert_eq!(
            error("[[part]]\nbenchmark = 'split-mnist'\nbtach = 3"),
            "x.toml: unknown key 'btach'; did you mean 'batch'?"
        );
        assert_eq!(
            error("[[part]]\nbenchmark = 'split-mnist'\n[part.curvature]\nevry = 3"),
            "x.toml: curvature: unknown field `evry`, expected one of `switch`, `dense`, `every`, `after`, `steps`, \
             `batches`, `batch`"
        );
        assert!(error("benchmark = ").starts_with("x.toml: line 1: "));
    }
}
