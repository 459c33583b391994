//! The benchmarks that have a name, with the paper's protocol and its parameters for each optimizer.

use evenkeel_data::{DataOptions, StreamSpec};
use evenkeel_models::ModelSpec;
use serde_json::Value;

use super::{Settings, keys};
use crate::run::probes::ProbeSpecs;

/// A named benchmark.
#[derive(Debug, Clone, Copy)]
pub struct Benchmark {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in tables.
    pub shown: &'static str,
    /// One line for `evenkeel list`.
    pub summary: &'static str,
    data: &'static str,
    /// The scenario, and its keys where they are not the defaults.
    stream: (&'static str, &'static [(&'static str, u64)]),
    model: &'static str,
    /// Units of its hidden layers, where they are not the model's own.
    hidden: Option<&'static [u64]>,
    batch: usize,
    crop_padding: Option<usize>,
    iterations: u64,
    /// Parameters of optimizers that are not their defaults: optimizer, key, value.
    pub(super) parameters: &'static [(&'static str, &'static str, f64)],
}

const SPLIT_MNIST: Benchmark = Benchmark {
    name: "split-mnist",
    shown: "Split MNIST",
    summary: "MNIST, 5 tasks of 2 classes (class-incremental)",
    data: "mnist",
    stream: ("split", &[]),
    model: "mlp",
    hidden: None,
    batch: 128,
    crop_padding: None,
    iterations: 200,
    parameters: &[],
};

const SPLIT_CIFAR10: Benchmark = Benchmark {
    name: "split-cifar10",
    shown: "Split CIFAR-10",
    summary: "CIFAR-10, 5 tasks of 2 classes (class-incremental)",
    data: "cifar10",
    model: "slim-resnet18",
    batch: 256,
    crop_padding: Some(4),
    iterations: 400,
    parameters: &[("ngm-sgd", "eta", 0.2), ("entropy-lr", "eta", 0.2)],
    ..SPLIT_MNIST
};

/// All named benchmarks.
pub const BENCHMARKS: &[Benchmark] = &[
    SPLIT_MNIST,
    Benchmark {
        name: "rotated-mnist",
        shown: "Rotated MNIST",
        summary: "MNIST at 0, 80 and 160 degrees (domain-incremental)",
        stream: ("rotated", &[]),
        iterations: 400,
        parameters: &[("ngm-sgd", "eta", 0.5), ("entropy-lr", "eta", 0.5), ("msgd", "lr", 0.1)],
        ..SPLIT_MNIST
    },
    SPLIT_CIFAR10,
    Benchmark {
        name: "domain-cifar100",
        shown: "Domain CIFAR-100",
        summary: "CIFAR-100, 3 tasks of one class of each of the 20 superclasses (domain-incremental)",
        data: "cifar100",
        stream: ("domain", &[]),
        iterations: 800,
        parameters: &[("ngm-sgd", "eta", 0.1), ("entropy-lr", "eta", 0.1)],
        ..SPLIT_CIFAR10
    },
    Benchmark {
        name: "split-mini-imagenet",
        shown: "Split mini-ImageNet",
        summary: "mini-ImageNet, 5 tasks of 10 classes (class-incremental); bring your own images",
        data: "mini-imagenet",
        stream: ("split", &[("classes_per_task", 10)]),
        crop_padding: Some(8),
        iterations: 200,
        parameters: &[("ngm-sgd", "eta", 0.1), ("entropy-lr", "eta", 0.1)],
        ..SPLIT_CIFAR10
    },
    Benchmark {
        name: "split-fashion",
        shown: "Split Fashion-MNIST",
        summary: "Fashion-MNIST, 5 tasks of 2 classes; not in the paper, parameters of split-mnist",
        data: "fashion-mnist",
        ..SPLIT_MNIST
    },
    Benchmark {
        name: "permuted-mnist",
        shown: "Permuted MNIST",
        summary: "MNIST, 10 tasks with the pixels in another order each (domain-incremental); not in the paper, parameters of split-mnist",
        stream: ("permuted", &[]),
        ..SPLIT_MNIST
    },
    Benchmark {
        name: "clinc150",
        shown: "CLINC150",
        summary: "CLINC150, 10 tasks of the 15 intents of a domain (class-incremental); not in the paper",
        data: "clinc150",
        stream: ("split", &[("classes_per_task", 15)]),
        // Smaller than the paper's: an iteration over 4,096 columns is cheap enough for 1,000 of them.
        hidden: Some(&[128]),
        iterations: 100,
        // The entropy of 150 outputs is twice that of ten; the paper takes 0.1 for 50 outputs.
        parameters: &[("ngm-sgd", "eta", 0.1), ("entropy-lr", "eta", 0.1)],
        ..SPLIT_MNIST
    },
    Benchmark {
        name: "split-digits",
        shown: "Split digits",
        summary: "synthetic digits, 5 tasks of 2 classes; needs no download, parameters of split-mnist",
        data: "digits",
        ..SPLIT_MNIST
    },
];

impl Benchmark {
    /// The benchmark of that name.
    pub fn named(name: &str) -> Option<&'static Benchmark> {
        BENCHMARKS.iter().find(|benchmark| benchmark.name == name)
    }

    /// A benchmark's name as tables show it; one that is not registered is shown as it is.
    pub fn shown(name: &str) -> String {
        Self::named(name).map_or(name, |benchmark| benchmark.shown).to_string()
    }

    /// The paper's protocol.
    pub fn settings(&self) -> Settings {
        let (scenario, keys) = self.stream;
        let mut stream = StreamSpec::named(scenario).expect("the scenarios of benchmarks are tested");
        for (key, value) in keys {
            stream = keys::replaced(&stream, key, key, Value::from(*value)).expect("and so are their keys");
        }
        let mut model = ModelSpec::named(self.model).expect("the models of benchmarks are tested");
        if let Some(hidden) = self.hidden {
            model =
                keys::replaced(&model, "hidden", "hidden", hidden.into()).expect("and so are their layers");
        }
        Settings {
            data: self.data.to_string(),
            data_options: DataOptions::default(),
            stream,
            task_order: None,
            iterations: self.iterations,
            task_iterations: None,
            drift: None,
            batch: self.batch,
            model,
            crop_padding: self.crop_padding,
            replay: None,
            hold: None,
            eval_every: 1,
            eval_schedule: None,
            eval_samples: None,
            eval_all_tasks: false,
            probes: ProbeSpecs::default(),
            device: "flex".to_string(),
        }
    }

    /// The number of tasks, which must be known before the data is there.
    pub fn tasks(&self) -> usize {
        let settings = self.settings();
        settings.stream.tasks(evenkeel_data::classes(&settings.data).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_benchmark_has_the_papers_tasks() {
        let tasks: Vec<(&str, usize)> = BENCHMARKS.iter().map(|b| (b.name, b.tasks())).collect();
        let expected = [
            ("split-mnist", 5),
            ("rotated-mnist", 3),
            ("split-cifar10", 5),
            ("domain-cifar100", 3),
            ("split-mini-imagenet", 5),
            ("split-fashion", 5),
            ("permuted-mnist", 10),
            ("clinc150", 10),
            ("split-digits", 5),
        ];
        assert_eq!(tasks, expected);
    }
}
