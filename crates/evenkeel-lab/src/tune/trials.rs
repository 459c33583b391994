//! Which trials there are: a grid or a random sample of the values of the axes, for each optimizer.

use evenkeel_data::files::sha256;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use serde::Serialize;
use serde_json::{Map, Value};

use super::axis::{Axis, shown};
use crate::run::probes::ProbeSpecs;
use crate::spec::{CheckedExperiment, Experiment, ExperimentError, OptimizerSpec, flattened, keys_of, plain};

/// How values are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Search {
    /// Every combination.
    Grid,
    /// Combinations at random.
    Random {
        /// How many for each optimizer.
        trials: usize,
        /// Decides them.
        seed: u64,
    },
}

/// Values of one optimizer to try.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The optimizer.
    pub optimizer: String,
    /// Its parameters (and settings) that the search decides.
    pub values: Map<String, Value>,
    /// What is run: the experiment, or its parts, with this optimizer alone.
    pub experiments: Vec<CheckedExperiment>,
}

impl Trial {
    /// The values, as `key=value`.
    pub fn shown(&self) -> String {
        shown(&self.values)
    }
}

/// The trials of each optimizer of the parts, one optimizer after the other.
pub fn trials(
    parts: &[CheckedExperiment],
    axes: &[Axis],
    search: Search,
) -> Result<Vec<Trial>, ExperimentError> {
    let mut names: Vec<&str> = Vec::new();
    for optimizer in parts.iter().flat_map(|part| &part.optimizers) {
        if !names.contains(&optimizer.name.as_str()) {
            names.push(&optimizer.name);
        }
    }
    for axis in axes {
        if !names.iter().any(|name| parts.iter().any(|part| applies(axis, part, name).is_some())) {
            // Says what was meant.
            let value = axis.grid(Some(1.0)).ok().and_then(|values| values.first().cloned());
            let mut part = (**parts.first().expect("an experiment has a part")).clone();
            part.set(&format!("{}={}", axis.key, plain(&value.unwrap_or_default())))?;
        }
    }
    let mut all = Vec::new();
    for name in names {
        let own: Vec<&CheckedExperiment> =
            parts.iter().filter(|part| part.optimizers.iter().any(|known| known.name == name)).collect();
        for values in combinations(own[0], name, axes, search)? {
            let experiments: Result<_, _> = own.iter().map(|part| with(part, name, &values)).collect();
            all.push(Trial { optimizer: name.to_string(), values, experiments: experiments? });
        }
    }
    Ok(all)
}

/// The parameter of an optimizer that an axis is for, without the optimizer's name.
fn applies<'a>(axis: &'a Axis, part: &Experiment, optimizer: &str) -> Option<&'a str> {
    let own = part.optimizers.iter().find(|known| known.name == optimizer)?;
    let setting = |key: &str| keys_of(&part.settings).iter().any(|known| known == key);
    match axis.key.rsplit_once('.') {
        Some((probe, _)) if ProbeSpecs::NAMES.contains(&probe) => Some(&axis.key),
        Some((name, key)) => (name == optimizer).then_some(key),
        None => (setting(&axis.key) || own.parameters().contains_key(&axis.key)).then_some(&axis.key),
    }
}

/// The axes of one optimizer under the names of its parameters; its own axis of a parameter replaces one for all.
fn axes_of(part: &Experiment, optimizer: &str, axes: &[Axis]) -> Vec<Axis> {
    let mut own: Vec<(bool, Axis)> = Vec::new();
    for axis in axes {
        let Some(key) = applies(axis, part, optimizer) else { continue };
        let specific = key != axis.key;
        match own.iter_mut().find(|(_, known)| known.key == key) {
            Some(known) if specific || !known.0 => *known = (specific, axis.named(key)),
            Some(_) => {}
            None => own.push((specific, axis.named(key))),
        }
    }
    own.into_iter().map(|(_, axis)| axis).collect()
}

fn combinations(
    part: &Experiment,
    name: &str,
    axes: &[Axis],
    search: Search,
) -> Result<Vec<Map<String, Value>>, ExperimentError> {
    let axes = axes_of(part, name, axes);
    if axes.is_empty() {
        let reason = "none of the parameters of --over is one of its own; name one, such as NAME.KEY=VALUES";
        return Err(ExperimentError::Value { key: name.to_string(), reason: reason.to_string() });
    }
    let optimizer = part.optimizers.iter().find(|known| known.name == name).expect("it is one of the part");
    let now = |axis: &Axis| now(part, optimizer, &axis.key);
    let mut all = vec![Map::new()];
    match search {
        Search::Grid => {
            for axis in &axes {
                let values = axis.grid(now(axis))?;
                let with_each = |known: &Map<String, Value>| {
                    let known = known.clone();
                    let key = axis.key.clone();
                    values.clone().into_iter().map(move |value| {
                        let mut more = known.clone();
                        more.insert(key.clone(), value);
                        more
                    })
                };
                all = all.iter().flat_map(with_each).collect();
            }
        }
        Search::Random { trials, seed } => {
            // Each optimizer's own sequence, whichever others there are.
            let digest = sha256(name.as_bytes());
            let of_name = u64::from_str_radix(&digest[..16], 16).unwrap_or_default();
            let mut rng = ChaCha8Rng::seed_from_u64(seed ^ of_name);
            all.clear();
            for _ in 0..trials {
                let drawn = axes.iter().map(|axis| Ok((axis.key.clone(), axis.draw(now(axis), &mut rng)?)));
                all.push(drawn.collect::<Result<_, ExperimentError>>()?);
            }
        }
    }
    Ok(all)
}

/// What a parameter has without the search.
fn now(part: &Experiment, optimizer: &OptimizerSpec, key: &str) -> Option<f64> {
    let setting = flattened(&part.settings).get(key).and_then(Value::as_f64);
    optimizer.number(key).or(setting)
}

/// A part with one optimizer, which has these values.
fn with(
    part: &Experiment,
    name: &str,
    values: &Map<String, Value>,
) -> Result<CheckedExperiment, ExperimentError> {
    let mut experiment = part.clone();
    experiment.optimizers.retain(|optimizer| optimizer.name == name);
    for (key, value) in values {
        let own = experiment.optimizers[0].parameters().contains_key(key);
        let prefix = if own { format!("{name}.") } else { String::new() };
        experiment.set(&format!("{prefix}{key}={}", plain(value)))?;
    }
    experiment.check()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part() -> CheckedExperiment {
        let mut experiment = Experiment::named("split-digits").unwrap();
        experiment.set_optimizers(&["ngm-sgd".into(), "sgd".into()]).unwrap();
        experiment.check().unwrap()
    }

    fn of(axes: &[&str], search: Search) -> Result<Vec<Trial>, ExperimentError> {
        let axes: Vec<Axis> = axes.iter().map(|axis| Axis::parse(axis).unwrap()).collect();
        trials(&[part()], &axes, search)
    }

    #[test]
    fn each_optimizer_has_its_own_grid_around_its_own_rate() {
        let trials = trials(&[part()], &[Axis::usual()], Search::Grid).unwrap();
        assert_eq!(trials.len(), 14);
        let middle = |optimizer: &str| {
            let own: Vec<&Trial> = trials.iter().filter(|trial| trial.optimizer == optimizer).collect();
            assert_eq!(own.len(), 7);
            own[3].values["lr"].as_f64().unwrap()
        };
        for optimizer in &part().optimizers {
            assert_eq!(Some(middle(&optimizer.name)), optimizer.number("lr"));
        }
        for trial in &trials {
            let [experiment] = &trial.experiments[..] else { panic!("one part") };
            assert_eq!(experiment.optimizers[0].number("lr"), trial.values["lr"].as_f64());
        }
    }

    #[test]
    fn axes_multiply_and_those_of_one_optimizer_are_for_it_alone() {
        let trials = of(&["lr=0.1,0.2", "ngm-sgd.eta=0.1,0.2,0.4", "sgd.lr=0.5"], Search::Grid).unwrap();
        let shown: Vec<String> = trials.iter().map(Trial::shown).collect();
        assert_eq!(shown.len(), 7);
        assert_eq!(
            (shown[0].as_str(), shown[5].as_str(), shown[6].as_str()),
            ("eta=0.1 lr=0.1", "eta=0.4 lr=0.2", "lr=0.5")
        );
        let settings = of(&["batch=8,16"], Search::Grid).unwrap();
        assert_eq!(settings[1].experiments[0].settings.batch, 16);
    }

    #[test]
    fn a_random_search_has_as_many_trials_for_each() {
        let search = Search::Random { trials: 5, seed: 1 };
        let (trials, again) = (of(&["lr=~7"], search).unwrap(), of(&["lr=~7"], search).unwrap());
        assert_eq!(trials.len(), 10);
        assert!(trials.iter().zip(&again).all(|(one, other)| one.values == other.values));
        assert_ne!(trials[0].values, trials[1].values);
    }

    #[test]
    fn unknown_parameters_are_refused_with_a_hint() {
        let error = |axes: &[&str]| of(axes, Search::Grid).unwrap_err().to_string();
        assert!(error(&["etta=1"]).contains("did you mean 'eta'?"));
        assert!(error(&["ngm-sdg.eta=1"]).contains("did you mean 'ngm-sgd'?"));
        assert!(error(&["eta=0.1,0.2"]).starts_with("sgd: none of the parameters"));
        assert!(error(&["lr=-1,0.1"]).contains("lr"));
    }
}
