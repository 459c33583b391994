//! Single keys of an experiment: which there are, how a value replaces one, and what was meant by a wrong one.
//!
//! No list of keys is kept by hand: what a type accepts is asked of its own deserialisation.

use evenkeel_data::StreamSpec;
use evenkeel_models::ModelSpec;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{ExperimentError, OptimizerSpec, Settings};
use crate::run::probes::ProbeSpecs;

/// A key that no type has.
const NO_KEY: &str = "?";

/// The fields of a struct that is plain data.
pub(crate) fn object<T: Serialize>(value: &T) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

/// Keys that `like`'s type accepts, those that are absent included: the type itself names them when it refuses one.
fn accepted<T: Serialize + DeserializeOwned>(like: &T) -> Vec<String> {
    let mut fields = object(like);
    fields.insert(NO_KEY.to_string(), Value::Null);
    let refusal = match serde_json::from_value::<T>(Value::Object(fields)) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    };
    let (_, named) = refusal.split_once("expected").unwrap_or_default();
    named.split('`').skip(1).step_by(2).map(String::from).collect()
}

/// Where a key of an experiment file belongs.
enum Place {
    /// A field of the settings.
    Setting,
    /// The kind of stream.
    Scenario,
    /// The kind of model.
    Model,
    /// A key of the stream.
    Stream,
    /// A key of the model.
    Network,
    /// How files of the user's are read.
    Data,
    /// Something else that is recorded.
    Probe,
}

/// The keys of the settings with their places.
fn places(settings: &Settings) -> Vec<(String, Place)> {
    let grouped = ["stream", "model", "probes", "data_options"];
    let own = accepted(settings).into_iter().filter(|key| !grouped.contains(&key.as_str()));
    let mut places: Vec<(String, Place)> = own.map(|key| (key, Place::Setting)).collect();
    places.push(("scenario".into(), Place::Scenario));
    places.push(("model".into(), Place::Model));
    places.extend(accepted(&settings.data_options).into_iter().map(|key| (key, Place::Data)));
    places.extend(accepted(&settings.stream).into_iter().map(|key| (key, Place::Stream)));
    places.extend(accepted(&settings.model).into_iter().map(|key| (key, Place::Network)));
    places.extend(ProbeSpecs::NAMES.iter().map(|key| ((*key).to_string(), Place::Probe)));
    places
}

/// The settings as an experiment file has them: the keys of stream, model and probes beside the others.
pub(crate) fn flattened(settings: &Settings) -> Map<String, Value> {
    let mut keys = object(settings);
    for group in ["stream", "probes", "data_options"] {
        if let Some(Value::Object(inner)) = keys.remove(group) {
            keys.extend(inner);
        }
    }
    if let Some(Value::Object(mut inner)) = keys.remove("model") {
        keys.extend(inner.remove("kind").map(|kind| ("model".to_string(), kind)));
        keys.extend(inner);
    }
    keys
}

/// All keys of the settings.
pub(crate) fn keys_of(settings: &Settings) -> Vec<String> {
    places(settings).into_iter().map(|(key, _)| key).collect()
}

/// The settings with one key replaced; `also` are keys that belong elsewhere in a file, for the hint.
pub(super) fn with_key(
    settings: &Settings,
    key: &str,
    value: Value,
    also: &[&str],
) -> Result<Settings, ExperimentError> {
    let mut changed = settings.clone();
    match places(settings).into_iter().find(|(known, _)| known == key) {
        None => {
            let mut known = keys_of(settings);
            known.extend(also.iter().map(ToString::to_string));
            return Err(ExperimentError::Key { key: key.to_string(), hint: suggest(key, &known) });
        }
        Some((_, Place::Setting)) => return replaced(settings, key, key, value),
        Some((_, Place::Scenario)) => {
            changed.stream = named(key, &value, StreamSpec::NAMES, StreamSpec::named)?;
        }
        Some((_, Place::Model)) => changed.model = named(key, &value, ModelSpec::NAMES, ModelSpec::named)?,
        Some((_, Place::Stream)) => changed.stream = replaced(&settings.stream, key, key, value)?,
        Some((_, Place::Network)) => changed.model = replaced(&settings.model, key, key, value)?,
        Some((_, Place::Data)) => {
            changed.data_options = replaced(&settings.data_options, key, key, value)?;
        }
        Some((_, Place::Probe)) => changed.probes = replaced(&settings.probes, key, key, value)?,
    }
    Ok(changed)
}

/// What a registry has under the name in `value`.
fn named<T>(
    key: &str,
    value: &Value,
    names: &[&str],
    find: fn(&str) -> Option<T>,
) -> Result<T, ExperimentError> {
    let name = value.as_str().unwrap_or_default();
    find(name).ok_or_else(|| ExperimentError::Value {
        key: key.to_string(),
        reason: format!("there is no '{}'{}", plain(value), suggest(name, names)),
    })
}

/// One field of a probe's table, which is then measured even if it was not before.
pub(super) fn with_probe_field(
    settings: &Settings,
    probe: &str,
    field: &str,
    value: Value,
) -> Result<Settings, ExperimentError> {
    let full = format!("{probe}.{field}");
    let now = object(&settings.probes).remove(probe).or_else(|| ProbeSpecs::switched_on(probe));
    let Some(Value::Object(mut table)) = now else {
        return Err(ExperimentError::Key { key: full, hint: format!("; '{probe}' has no keys of its own") });
    };
    if !table.contains_key(field) {
        let known: Vec<String> = table.keys().cloned().collect();
        return Err(ExperimentError::Key { key: full, hint: suggest(field, &known) });
    }
    table.insert(field.to_string(), value);
    let probes = replaced(&settings.probes, probe, &full, Value::Object(table))?;
    Ok(Settings { probes, ..settings.clone() })
}

/// The optimizer with one parameter replaced.
pub(super) fn with_parameter(
    optimizer: &OptimizerSpec,
    key: &str,
    value: Value,
) -> Result<OptimizerSpec, ExperimentError> {
    let full = format!("{}.{key}", optimizer.name);
    let known: Vec<String> = optimizer.parameters().keys().cloned().collect();
    if !known.contains(&key.to_string()) {
        return Err(ExperimentError::Key { key: full, hint: suggest(key, &known) });
    }
    let mut changed = optimizer.clone();
    if object(&optimizer.rule).contains_key(key) {
        changed.rule = replaced(&optimizer.rule, key, &full, value)?;
    } else {
        changed = replaced(optimizer, key, &full, value)?;
    }
    changed.rule.check().map_err(|error| ExperimentError::Value { key: full, reason: error.to_string() })?;
    Ok(changed)
}

/// `of` with one field replaced; the type's own deserialisation checks the value.
pub(super) fn replaced<T: Serialize + DeserializeOwned>(
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

/// A value as a command line has it.
pub(crate) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// A value on the command line is JSON where it parses (`0.3`, `true`, `[0,45]`) and text otherwise.
pub(crate) fn parse_value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_string()))
}

/// More names than this are no help.
const MOST_NAMES: usize = 16;

/// `; did you mean 'x'?`, or the list of what there is if it is short, or what is nearest in it.
pub(crate) fn suggest<S: AsRef<str>>(name: &str, known: &[S]) -> String {
    let similarity = |other: &&S| strsim::jaro_winkler(name, other.as_ref());
    // A shared beginning ('ngm'), or a slip of a finger or two ('sdg').
    let slips = |other: &&S| strsim::damerau_levenshtein(name, other.as_ref());
    let alike = |other: &&S| similarity(other) > 0.8 || slips(other) <= (name.len() / 3).max(1);
    if let Some(best) = known.iter().filter(alike).max_by(|a, b| similarity(a).total_cmp(&similarity(b))) {
        format!("; did you mean '{}'?", best.as_ref())
    } else {
        let mut names: Vec<&str> = Vec::new();
        for name in known.iter().map(AsRef::as_ref) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if names.len() <= MOST_NAMES {
            return format!("; there are: {}", names.join(", "));
        }
        names.sort_by(|a, b| strsim::jaro_winkler(name, b).total_cmp(&strsim::jaro_winkler(name, a)));
        format!(
            "; the nearest of {} are {}; `evenkeel list` has all",
            names.len(),
            names[..3].iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
        )
    }
}
