//! The benchmarks that have a name, and the optimizers with the parameters that the paper gives them there.

use crate::spec::{Model, OptimizerSpec, Rule, Scenario, Settings};

/// A named benchmark.
#[derive(Debug, Clone, Copy)]
pub struct Benchmark {
    /// Name on the command line.
    pub name: &'static str,
    /// One line for `evenkeel list`.
    pub summary: &'static str,
    data: &'static str,
    tasks: Tasks,
    model: Model,
    crop_padding: Option<usize>,
    iterations: u64,
    /// Gain scale η for NGM-SGD.
    eta: f64,
    /// Learning rate of MSGD, the only one that differs between benchmarks.
    msgd_lr: f64,
}

#[derive(Debug, Clone, Copy)]
enum Tasks {
    /// Classes a task.
    Split(usize),
    /// 0, 80 and 160 degrees.
    Rotated,
    /// Number of tasks.
    Domain(usize),
}

const SPLIT_MNIST: Benchmark = Benchmark {
    name: "split-mnist",
    summary: "MNIST, 5 tasks of 2 classes (class-incremental)",
    data: "mnist",
    tasks: Tasks::Split(2),
    model: Model::Mlp,
    crop_padding: None,
    iterations: 200,
    eta: 0.4,
    msgd_lr: 0.01,
};

const SPLIT_CIFAR10: Benchmark = Benchmark {
    name: "split-cifar10",
    summary: "CIFAR-10, 5 tasks of 2 classes (class-incremental)",
    data: "cifar10",
    model: Model::SlimResnet18,
    crop_padding: Some(4),
    iterations: 400,
    eta: 0.2,
    ..SPLIT_MNIST
};

/// All named benchmarks.
pub const BENCHMARKS: [Benchmark; 7] = [
    SPLIT_MNIST,
    Benchmark {
        name: "rotated-mnist",
        summary: "MNIST at 0, 80 and 160 degrees (domain-incremental)",
        tasks: Tasks::Rotated,
        iterations: 400,
        eta: 0.5,
        msgd_lr: 0.1,
        ..SPLIT_MNIST
    },
    SPLIT_CIFAR10,
    Benchmark {
        name: "domain-cifar100",
        summary: "CIFAR-100, 3 tasks of one class of each of the 20 superclasses (domain-incremental)",
        data: "cifar100",
        tasks: Tasks::Domain(3),
        iterations: 800,
        eta: 0.1,
        ..SPLIT_CIFAR10
    },
    Benchmark {
        name: "split-mini-imagenet",
        summary: "mini-ImageNet, 5 tasks of 10 classes (class-incremental); bring your own images",
        data: "mini-imagenet",
        tasks: Tasks::Split(10),
        crop_padding: Some(8),
        iterations: 200,
        eta: 0.1,
        ..SPLIT_CIFAR10
    },
    Benchmark {
        name: "split-fashion",
        summary: "Fashion-MNIST, 5 tasks of 2 classes; not in the paper, parameters of split-mnist",
        data: "fashion-mnist",
        ..SPLIT_MNIST
    },
    Benchmark {
        name: "split-digits",
        summary: "synthetic digits, 5 tasks of 2 classes; needs no download, parameters of split-mnist",
        data: "digits",
        ..SPLIT_MNIST
    },
];

/// Named optimizers with one line each; the first four are the default.
pub const OPTIMIZERS: [(&str, &str); 10] = [
    ("ngm-sgd", "SGD under an entropy-driven gain"),
    ("msgd", "SGD with momentum 0.9"),
    ("adam", "Adam; beta2 = 0.999 as in the paper's numbers (its text says 0.99)"),
    ("sgd", "plain SGD"),
    ("msgd-reset", "msgd, state cleared at each task switch (oracle)"),
    ("adam-reset", "adam, state cleared at each task switch (oracle)"),
    ("tonic", "ngm-sgd without the entropy: eta = 0 (ablation)"),
    ("instantaneous", "ngm-sgd without memory: gamma = 0 (ablation)"),
    ("entropy-lr", "sgd whose learning rate follows the gain equation: lr·q² (ablation)"),
    ("msgd-frozen", "msgd, only the head trains after task 1 (convolutional networks)"),
];

/// How many of [`OPTIMIZERS`] run when none is named.
pub const DEFAULT_OPTIMIZERS: usize = 4;

impl Benchmark {
    /// The benchmark of that name.
    pub fn named(name: &str) -> Option<&'static Benchmark> {
        BENCHMARKS.iter().find(|benchmark| benchmark.name == name)
    }

    /// The paper's protocol.
    pub fn settings(&self) -> Settings {
        let convolutional = self.model == Model::SlimResnet18;
        let mut settings = Settings {
            data: self.data.to_string(),
            scenario: Scenario::Split,
            classes_per_task: None,
            class_order: None,
            degrees: None,
            domains: None,
            iterations: self.iterations,
            batch: if convolutional { 256 } else { 128 },
            model: self.model,
            crop_padding: self.crop_padding,
            hidden: if convolutional { vec![] } else { vec![400, 400] },
            replay: None,
            eval_every: 1,
            eval_samples: None,
            eval_all_tasks: false,
            train_acc: false,
            curvature: None,
            device: "flex".to_string(),
        };
        match self.tasks {
            Tasks::Split(classes) => settings.classes_per_task = Some(classes),
            Tasks::Rotated => {
                settings.scenario = Scenario::Rotated;
                settings.degrees = Some(vec![0.0, 80.0, 160.0]);
            }
            Tasks::Domain(tasks) => {
                settings.scenario = Scenario::Domain;
                settings.domains = Some(tasks);
            }
        }
        settings
    }

    /// The optimizer of that name with the paper's parameters for this benchmark.
    pub fn optimizer(&self, name: &str) -> Option<OptimizerSpec> {
        let (base, reset) = match name.strip_suffix("-reset") {
            Some(base @ ("msgd" | "adam")) => (base, true),
            _ => (name, false),
        };
        let (base, freeze) = if base == "msgd-frozen" { ("msgd", true) } else { (base, false) };
        let (lr, gamma, eta, g0) = (0.01, 0.9, self.eta, 1.0);
        let sgd =
            |lr, momentum| Rule::Sgd { lr, momentum, dampening: 0.0, nesterov: false, weight_decay: 0.0 };
        let rule = match base {
            "ngm-sgd" => Rule::NgmSgd { lr, gamma, eta, g0 },
            "tonic" => Rule::NgmSgd { lr, gamma, eta: 0.0, g0 },
            "instantaneous" => Rule::NgmSgd { lr, gamma: 0.0, eta, g0 },
            "entropy-lr" => Rule::EntropyLr { lr, gamma, eta, g0 },
            "msgd" => sgd(self.msgd_lr, 0.9),
            "sgd" => sgd(0.1, 0.0),
            "adam" => Rule::Adam { lr: 0.001, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0.0 },
            _ => return None,
        };
        Some(OptimizerSpec { name: name.to_string(), rule, reset, freeze })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_optimizer_exists_and_is_valid_on_every_benchmark() {
        for benchmark in BENCHMARKS {
            for (name, _) in OPTIMIZERS {
                let optimizer = benchmark.optimizer(name).unwrap();
                assert_eq!(optimizer.name, name);
                assert_eq!(optimizer.reset, name.ends_with("-reset"));
                optimizer.rule.check().unwrap();
            }
            assert!(benchmark.optimizer("ngm-sgd-reset").is_none());
        }
    }
}
