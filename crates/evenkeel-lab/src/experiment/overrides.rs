//! Single keys of an experiment: which there are, how a value replaces one, and what was meant by a wrong one.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::ExperimentError;
use crate::spec::{OptimizerSpec, Settings};

pub(super) fn object<T: Serialize>(value: &T) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

/// Keys of the settings, those that are absent included.
pub(super) fn keys_of(settings: &Settings) -> Vec<String> {
    let optional = [
        "model",
        "crop_padding",
        "classes_per_task",
        "class_order",
        "degrees",
        "domains",
        "replay",
        "eval_samples",
        "train_acc",
        "curvature",
    ];
    let mut keys: Vec<String> = object(settings).keys().cloned().collect();
    keys.extend(optional.iter().map(ToString::to_string).filter(|key| !object(settings).contains_key(key)));
    keys
}

pub(super) fn parameters(optimizer: &OptimizerSpec) -> Vec<String> {
    let rule = object(&optimizer.rule);
    rule.keys()
        .filter(|key| *key != "kind")
        .cloned()
        .chain(["reset".to_string(), "freeze".to_string()])
        .collect()
}

pub(super) fn with_key(
    settings: &Settings,
    key: &str,
    value: Value,
    also: &[&str],
) -> Result<Settings, ExperimentError> {
    let mut known = keys_of(settings);
    if !known.contains(&key.to_string()) {
        known.extend(also.iter().map(ToString::to_string));
        return Err(ExperimentError::Key { key: key.to_string(), hint: suggest(key, &known) });
    }
    replace(settings, key, key, value)
}

pub(super) fn with_parameter(
    optimizer: &OptimizerSpec,
    key: &str,
    value: Value,
) -> Result<OptimizerSpec, ExperimentError> {
    let full = format!("{}.{key}", optimizer.name);
    let known = parameters(optimizer);
    if !known.contains(&key.to_string()) {
        return Err(ExperimentError::Key { key: full, hint: suggest(key, &known) });
    }
    let mut changed = optimizer.clone();
    if key == "reset" || key == "freeze" {
        changed = replace(optimizer, key, &full, value)?;
    } else {
        changed.rule = replace(&optimizer.rule, key, &full, value)?;
    }
    changed.rule.check().map_err(|error| ExperimentError::Value { key: full, reason: error.to_string() })?;
    Ok(changed)
}

/// `of` with one field replaced; the type's own deserialisation checks the value.
fn replace<T: Serialize + DeserializeOwned>(
    of: &T,
    field: &str,
    name: &str,
    value: Value,
) -> Result<T, ExperimentError> {
    let mut fields = object(of);
    fields.insert(field.to_string(), value);
    serde_json::from_value(Value::Object(fields))
        .map_err(|error| ExperimentError::Value { key: name.to_string(), reason: error.to_string() })
}

/// A value on the command line is JSON where it parses (`0.3`, `true`, `[0,45]`) and text otherwise.
pub(super) fn parse_value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_string()))
}

/// `; did you mean 'x'?` or the list of what there is.
pub(crate) fn suggest<S: AsRef<str>>(name: &str, known: &[S]) -> String {
    let similarity = |other: &&S| strsim::jaro_winkler(name, other.as_ref());
    // A shared beginning ('ngm'), or a slip of a finger or two ('sdg').
    let slips = |other: &&S| strsim::damerau_levenshtein(name, other.as_ref());
    let alike = |other: &&S| similarity(other) > 0.8 || slips(other) <= (name.len() / 3).max(1);
    if let Some(best) = known.iter().filter(alike).max_by(|a, b| similarity(a).total_cmp(&similarity(b))) {
        format!("; did you mean '{}'?", best.as_ref())
    } else {
        let mut names: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
        names.dedup();
        format!("; there are: {}", names.join(", "))
    }
}
