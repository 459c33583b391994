//! What one run is: a checked, serialisable description whose hash is the run's name.

use std::fmt;

use evenkeel::gain::GainConfig;
use evenkeel::optim::{AdamConfig, EntropyLrConfig, NgmSgdConfig, OptimError, SgdConfig};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Everything that decides the numbers of a run. Same spec, same bytes: threads, the folder of the
/// results and restarts are not in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// Benchmark, for the reader and for the paper's numbers.
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

/// The protocol of a benchmark; every field is a key of an experiment file and of `--set`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// `mnist`, `fashion-mnist`, `digits`, `cifar10`, `cifar100`, `mini-imagenet`; `idx:DIR` or `folder:DIR` for files of your own.
    pub data: String,
    /// `split`, `rotated` or `domain`.
    pub scenario: Scenario,
    /// Split: classes a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes_per_task: Option<usize>,
    /// Split: order in which the classes come; all of them in label order if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_order: Option<Vec<u16>>,
    /// Rotated: counter-clockwise degrees of each task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degrees: Option<Vec<f64>>,
    /// Domain: number of tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domains: Option<usize>,
    /// Iterations a task.
    pub iterations: u64,
    /// Examples a batch.
    pub batch: usize,
    /// The network: `mlp` or `slim-resnet18`.
    #[serde(default, skip_serializing_if = "Model::is_mlp")]
    pub model: Model,
    /// Zero padding for a random crop of training images, with a horizontal flip; no augmentation if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crop_padding: Option<usize>,
    /// Hidden units of the MLP.
    pub hidden: Vec<usize>,
    /// Capacity of the replay buffer; joint training if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<usize>,
    /// ρ: evaluate after every so many iterations (and at each task's end).
    pub eval_every: u64,
    /// Evaluate on so many random test images a task; all if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eval_samples: Option<usize>,
    /// Evaluate every seen task at every evaluation, not only at task ends.
    pub eval_all_tasks: bool,
    /// Record the accuracy on each training batch in `extra.csv`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub train_acc: bool,
    /// Measure the curvature of the task-1 loss around a task switch, into `extra.csv`; not at all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curvature: Option<CurvatureWindow>,
    /// Compute device: `flex`.
    pub device: String,
}

impl Settings {
    /// The task, from 1, that an iteration, from 1, belongs to.
    pub fn task_of(&self, iteration: u64) -> usize {
        ((iteration - 1) / self.iterations) as usize + 1
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the signature that serde asks for
fn is_false(value: &bool) -> bool {
    !value
}

/// When and how the curvature of the task-1 loss is measured: at the switch, after each of the first `dense` iterations,
/// then after every `every` until `after`. One measurement takes some hundred times as long as an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CurvatureWindow {
    /// The switch: k stands for k→k+1.
    pub switch: usize,
    /// Iterations after the switch that are all measured.
    pub dense: u64,
    /// Spacing of the later measurements.
    pub every: u64,
    /// Last iteration after the switch.
    pub after: u64,
    /// Steps of the power iteration.
    pub steps: usize,
    /// Fixed batches of the task-1 test set over which the loss is averaged.
    pub batches: usize,
    /// Images in each of them.
    pub batch: usize,
}

impl Default for CurvatureWindow {
    fn default() -> Self {
        Self { switch: 1, dense: 10, every: 10, after: 100, steps: 25, batches: 5, batch: 128 }
    }
}

impl CurvatureWindow {
    /// Whether to measure after `iteration`, where a task takes `per_task`.
    pub fn includes(&self, iteration: u64, per_task: u64) -> bool {
        iteration.checked_sub(self.switch as u64 * per_task).is_some_and(|since| {
            since <= self.after.min(per_task) && (since <= self.dense || since.is_multiple_of(self.every))
        })
    }
}

/// The network that is trained.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Perceptron with ReLU and without biases, every layer modulated.
    #[default]
    Mlp,
    /// Slim ResNet-18, its head modulated.
    SlimResnet18,
}

impl Model {
    #[allow(clippy::trivially_copy_pass_by_ref)] // the signature that serde asks for
    fn is_mlp(&self) -> bool {
        *self == Self::Mlp
    }
}

/// How a data set becomes a sequence of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scenario {
    /// Class-incremental: new classes with each task.
    Split,
    /// Domain-incremental: the same classes, rotated.
    Rotated,
    /// Domain-incremental: the same coarse classes, other fine classes.
    Domain,
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
}

/// An update rule with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rule {
    /// SGD under a gain.
    NgmSgd {
        /// Learning rate α.
        lr: f64,
        /// Decay γ of the gain.
        gamma: f64,
        /// Gain scale η.
        eta: f64,
        /// Tonic gain g₀.
        g0: f64,
    },
    /// Plain SGD whose learning rate, and not its weights, follows the gain equation: `lr·q²`.
    EntropyLr {
        /// Learning rate α₀.
        lr: f64,
        /// Decay γ of q.
        gamma: f64,
        /// Scale η of the entropy.
        eta: f64,
        /// Baseline g₀ of q.
        g0: f64,
    },
    /// SGD, with momentum or without.
    Sgd {
        /// Learning rate α.
        lr: f64,
        /// Momentum μ.
        momentum: f64,
        /// Dampening.
        dampening: f64,
        /// Nesterov's momentum.
        nesterov: bool,
        /// L2 penalty.
        weight_decay: f64,
    },
    /// Adam.
    Adam {
        /// Learning rate α.
        lr: f64,
        /// β₁.
        beta1: f64,
        /// β₂.
        beta2: f64,
        /// ε.
        eps: f64,
        /// L2 penalty.
        weight_decay: f64,
    },
}

impl Rule {
    /// Checks the parameters' ranges.
    pub fn check(&self) -> Result<(), OptimError> {
        match *self {
            Rule::NgmSgd { .. } => self.ngm_sgd().map_or(Ok(()), |config| config.init().map(drop)),
            Rule::EntropyLr { .. } => self.entropy_lr().map_or(Ok(()), |config| config.init().map(drop)),
            Rule::Sgd { .. } | Rule::Adam { .. } => self.baseline().map(drop),
        }
    }

    /// The configuration of NGM-SGD, if that is the rule.
    pub fn ngm_sgd(&self) -> Option<NgmSgdConfig> {
        match *self {
            Rule::NgmSgd { lr, gamma, eta, g0 } => {
                Some(NgmSgdConfig::new(lr).with_gain(GainConfig { gamma, eta, g0 }))
            }
            _ => None,
        }
    }

    /// The configuration of Entropy-LR, if that is the rule.
    pub fn entropy_lr(&self) -> Option<EntropyLrConfig> {
        match *self {
            Rule::EntropyLr { lr, gamma, eta, g0 } => {
                Some(EntropyLrConfig::new(lr).with_gain(GainConfig { gamma, eta, g0 }))
            }
            _ => None,
        }
    }

    /// The learning rate.
    pub fn lr(&self) -> f64 {
        match *self {
            Rule::NgmSgd { lr, .. }
            | Rule::EntropyLr { lr, .. }
            | Rule::Sgd { lr, .. }
            | Rule::Adam { lr, .. } => lr,
        }
    }

    /// The optimizer without its gain: for NGM-SGD and Entropy-LR plain SGD.
    pub fn baseline(&self) -> Result<evenkeel::optim::Baseline, OptimError> {
        match *self {
            Rule::NgmSgd { lr, .. } | Rule::EntropyLr { lr, .. } => SgdConfig::new(lr).init(),
            Rule::Sgd { lr, momentum, dampening, nesterov, weight_decay } => {
                SgdConfig { lr, momentum, dampening, nesterov, weight_decay }.init()
            }
            Rule::Adam { lr, beta1, beta2, eps, weight_decay } => {
                AdamConfig { lr, beta1, beta2, eps, weight_decay }.init()
            }
        }
    }
}

impl fmt::Display for Rule {
    /// The parameters that are not zero, as `key=value`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = match *self {
            Rule::NgmSgd { lr, gamma, eta, g0 } | Rule::EntropyLr { lr, gamma, eta, g0 } => {
                vec![("lr", lr), ("gamma", gamma), ("eta", eta), ("g0", g0)]
            }
            Rule::Sgd { lr, momentum, dampening, weight_decay, .. } => {
                vec![
                    ("lr", lr),
                    ("momentum", momentum),
                    ("dampening", dampening),
                    ("weight_decay", weight_decay),
                ]
            }
            Rule::Adam { lr, beta1, beta2, eps, weight_decay } => {
                vec![
                    ("lr", lr),
                    ("beta1", beta1),
                    ("beta2", beta2),
                    ("eps", eps),
                    ("weight_decay", weight_decay),
                ]
            }
        };
        let shown = numbers.iter().filter(|(_, value)| *value != 0.0);
        let mut text: Vec<String> = shown.map(|(key, value)| format!("{key}={value:?}")).collect();
        if matches!(self, Rule::Sgd { nesterov: true, .. }) {
            text.push("nesterov=true".to_string());
        }
        f.write_str(&text.join(" "))
    }
}

impl RunSpec {
    /// Hash of the spec: the same for the same numbers, whatever the machine.
    pub fn id(&self) -> String {
        let json = serde_json::to_vec(self).expect("a spec is plain data");
        let digest = Sha256::digest(json);
        crate::hash::hex(&digest[..6])
    }

    /// Folder name: readable, and unique by the id.
    pub fn folder(&self) -> String {
        format!("{}-seed{}-{}", self.optimizer.name, self.seed, self.id())
    }

    /// The spec without its seed: what a row of a table averages over.
    #[must_use]
    pub fn without_seed(&self) -> Self {
        Self { seed: 0, ..self.clone() }
    }
}
