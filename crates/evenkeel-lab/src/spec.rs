//! What a run is: settings, the lists of what can be named in them, and the checks before anything is computed.

pub mod benchmarks;
mod check;
mod error;
pub mod experiment;
mod keys;
pub mod optimizers;
pub mod plan;
mod schedule;

use std::borrow::Cow;
use std::fmt;

use evenkeel::optim::Rule;
use evenkeel_data::{DataOptions, StreamSpec};
use evenkeel_models::ModelSpec;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

pub use self::benchmarks::{BENCHMARKS, Benchmark};
pub use self::check::{CheckedExperiment, CheckedRun};
pub use self::error::ExperimentError;
pub use self::experiment::Experiment;
pub(crate) use self::keys::{flattened, keys_of, object, parse_value, plain, suggest};
pub use self::plan::Plan;
use crate::run::probes::ProbeSpecs;

/// Everything that decides the numbers of a run. Same spec, same bytes: threads, the folder of the
/// results and restarts are not in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// The benchmark, for the reader and for the paper's numbers.
    pub benchmark: String,
    /// The stream, the model and the protocol.
    pub settings: Settings,
    /// The optimizer.
    pub optimizer: OptimizerSpec,
    /// Decides the initial weights, the batches, the replay buffer and the evaluation subset: paired across optimizers.
    pub seed: u64,
    /// Checksum of the images and labels, for data that is not in the catalogue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_sha256: Option<String>,
}

/// The protocol of a benchmark.
///
/// Each field is a key of an experiment file and of `--set`. The keys of the stream, of the model and of the probes stand beside the
/// others there: `scenario`, `model` and the names of the probes choose which of them there are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// A name of `evenkeel data list`, or a prefix and a path, such as `folder:DIR`, for files of your own.
    pub data: String,
    /// How files of your own are read.
    #[serde(default, skip_serializing_if = "DataOptions::is_empty")]
    pub data_options: DataOptions,
    /// How the data becomes a sequence of tasks.
    pub stream: StreamSpec,
    /// The tasks in another order, from 1, in which a task may come again; each once, in order, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_order: Option<Vec<usize>>,
    /// Iterations per task.
    pub iterations: u64,
    /// Iterations of each task, where they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_iterations: Option<Vec<u64>>,
    /// Iterations over which the data drifts from one task into the next; a sudden switch if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<u64>,
    /// A control without a switch: after this task no other comes, and training goes on with the data seen so far for as long as the next
    /// task would have lasted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<usize>,
    /// Examples per batch.
    pub batch: usize,
    /// The network.
    pub model: ModelSpec,
    /// Zero padding for a random crop of training images, with a horizontal flip; no augmentation if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crop_padding: Option<usize>,
    /// Capacity of the replay buffer; joint training if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<usize>,
    /// ρ: the model is evaluated after every so many iterations (and at each task's end).
    pub eval_every: u64,
    /// Evaluations after each of the first so many iterations of a task, then (and at its end) after every so many: instead of
    /// `eval_every`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eval_schedule: Option<[u64; 2]>,
    /// Random test images per task that are evaluated; all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eval_samples: Option<usize>,
    /// Whether every seen task is evaluated at every evaluation, not only at task ends.
    pub eval_all_tasks: bool,
    /// What else is recorded.
    #[serde(default, skip_serializing_if = "ProbeSpecs::is_empty")]
    pub probes: ProbeSpecs,
    /// Compute device: `flex`, or another that this build has.
    pub device: String,
}

impl Settings {
    /// What decides which examples there are: the name of the data and how it is read.
    pub fn data_key(&self) -> String {
        format!("{} {}", self.data, serde_json::to_string(&self.data_options).unwrap_or_default())
    }
}

/// A named optimizer with its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptimizerSpec {
    /// The name in tables and folders.
    pub name: String,
    /// The rule and its parameters.
    pub rule: Rule,
    /// Clear the optimizer's state at each task switch (an oracle: it must be told of the switch).
    pub reset: bool,
    /// Train only the head from task 2 on: the convolutional part, its BatchNorm statistics included, stays as task 1
    /// left it (an oracle too).
    #[serde(default, skip_serializing_if = "is_false")]
    pub freeze: bool,
    /// Evaluate an exponential moving average of the weights with this decay, instead of the weights that are trained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub average: Option<f64>,
    /// Put only so many layers, counted from the output, under the gain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under_gain: Option<usize>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the signature that serde asks for
fn is_false(value: &bool) -> bool {
    !value
}

impl OptimizerSpec {
    /// The parameters of the rule and the run options, by name.
    pub fn parameters(&self) -> Map<String, Value> {
        let mut parameters = self.rule_parameters();
        parameters.insert("reset".into(), self.reset.into());
        parameters.insert("freeze".into(), self.freeze.into());
        parameters.insert("average".into(), self.average.into());
        parameters.insert("under_gain".into(), self.under_gain.into());
        parameters
    }

    fn rule_parameters(&self) -> Map<String, Value> {
        let mut parameters = object(&self.rule);
        parameters.remove("kind");
        parameters
    }

    /// A number among the parameters of the rule.
    pub fn number(&self, parameter: &str) -> Option<f64> {
        self.rule_parameters().get(parameter)?.as_f64()
    }

    /// Name of the rule.
    pub fn kind(&self) -> String {
        object(&self.rule).get("kind").and_then(Value::as_str).unwrap_or_default().to_string()
    }

    /// The name as tables show it.
    pub fn shown(&self) -> String {
        optimizers::shown(&self.name)
    }
}

impl fmt::Display for OptimizerSpec {
    /// The parameters that are not zero, and the options with a number, as `key=value`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parameters = self.rule_parameters();
        parameters.insert("average".into(), self.average.into());
        parameters.insert("under_gain".into(), self.under_gain.into());
        let shown = parameters.iter().filter_map(|(key, value)| match value {
            Value::Number(number) if number.as_f64() == Some(0.0) => None,
            Value::Bool(false) | Value::Null => None,
            value => Some(format!("{key}={value}")),
        });
        f.write_str(&shown.collect::<Vec<_>>().join(" "))
    }
}

/// The data of runs that another program recorded.
const RECORDED: &str = "recorded";

impl RunSpec {
    /// What stands for a run of another program, whose settings are not known: how many `tasks` it has and, if it is not 0, how many
    /// `iterations` each. Nobody can run it.
    pub fn recorded(benchmark: &str, optimizer: &str, seed: u64, tasks: usize, iterations: u64) -> Self {
        let spec = Experiment::named("split-mnist").expect("it is built in");
        let mut spec = spec.check().expect("it is valid").expand(None).remove(0);
        spec.benchmark = benchmark.to_string();
        spec.optimizer.name = optimizer.to_string();
        spec.seed = seed;
        let settings = &mut spec.settings;
        settings.data = RECORDED.to_string();
        settings.task_order = Some((1..=tasks).collect());
        settings.iterations = iterations;
        spec
    }

    /// Whether another program recorded it: its settings say nothing then.
    pub fn is_recorded(&self) -> bool {
        self.settings.data == RECORDED
    }

    /// Hash of the spec: the same for the same numbers, whatever the machine.
    pub fn id(&self) -> String {
        let json = serde_json::to_vec(self).expect("a spec is plain data");
        let digest = Sha256::digest(json);
        evenkeel_data::files::hex(&digest[..6])
    }

    /// Folder name: readable, and unique by the id.
    pub fn folder(&self) -> String {
        format!("{}-seed{}-{}", self.optimizer.name, self.seed, self.id())
    }

    /// What the runs of a row of a table have in common: all but the seed.
    #[must_use]
    pub fn without_seed(&self) -> Self {
        Self { seed: 0, ..self.clone() }
    }

    /// The run that this one is a control of; itself if it is none.
    #[must_use]
    pub fn without_hold(&self) -> Self {
        Self { settings: Settings { hold: None, ..self.settings.clone() }, ..self.clone() }
    }

    /// What the runs of a table have in common: all but the seed and the optimizer, whatever its parameters, reset and freezing. A control
    /// has the protocol of its run.
    pub fn protocol(&self) -> Protocol<'_> {
        let settings = match self.settings.hold {
            None => Cow::Borrowed(&self.settings),
            Some(_) => Cow::Owned(Settings { hold: None, ..self.settings.clone() }),
        };
        Protocol { benchmark: &self.benchmark, settings, data_sha256: self.data_sha256.as_deref() }
    }
}

/// What runs must share to be compared with each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Protocol<'a> {
    /// The benchmark.
    pub benchmark: &'a str,
    /// The settings.
    pub settings: Cow<'a, Settings>,
    /// Checksum of data that is not in the catalogue.
    pub data_sha256: Option<&'a str>,
}
