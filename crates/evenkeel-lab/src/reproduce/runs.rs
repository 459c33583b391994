//! Finished runs, grouped for an analysis.

use std::collections::HashSet;

use evenkeel_metrics::{
    Curve, Estimate, Gap, Metrics, PaperReading, PerSeed, Plasticity, RECOVERED_FRACTION, gaps, read_curve,
};

use crate::extra::{Extra, read_extra};
use crate::spec::{RunSpec, Settings};
use crate::store::{Status, StoredRun};

/// All seeds of one optimizer under one protocol.
pub struct Group {
    /// The spec of its first seed.
    pub spec: RunSpec,
    /// The finished seeds.
    pub seeds: Vec<u64>,
    /// Their curves.
    pub curves: Vec<Curve>,
    /// What else they recorded.
    pub extras: Vec<Vec<Extra>>,
    /// Seeds whose loss became infinite.
    pub diverged: usize,
}

/// The optimizers under one protocol.
pub struct Stream<'a> {
    /// Benchmark.
    pub benchmark: &'a str,
    /// Heading: the benchmark, and the buffer if there is one.
    pub label: String,
    /// The protocol.
    pub settings: &'a Settings,
    /// The optimizers, in the order of the experiment file.
    pub groups: Vec<&'a Group>,
}

/// What an analysis works on.
#[derive(Default)]
pub struct Runs {
    /// All groups, in the order of the experiment file.
    pub groups: Vec<Group>,
    /// Runs that do not count, and why.
    pub left_out: Vec<String>,
}

impl Runs {
    /// Reads the curves. Unfinished and damaged runs are named, not counted.
    pub fn load(runs: &[StoredRun]) -> Self {
        let mut all = Self::default();
        let mut counted = HashSet::new();
        for run in runs {
            let spec = &run.record.spec;
            if !counted.insert(&run.record.id) {
                continue;
            }
            let key = spec.without_seed();
            let index = all.groups.iter().position(|group| group.spec.without_seed() == key);
            let index = index.unwrap_or_else(|| {
                all.groups.push(Group {
                    spec: spec.clone(),
                    seeds: vec![],
                    curves: vec![],
                    extras: vec![],
                    diverged: 0,
                });
                all.groups.len() - 1
            });
            let group = &mut all.groups[index];
            let reason = match &run.record.status {
                Status::Unfinished => "unfinished".to_string(),
                Status::Diverged { iteration, reason } => {
                    group.diverged += 1;
                    format!("diverged at iteration {iteration}: {reason}")
                }
                Status::Done => match (read_curve(&run.curve_path()), read_extra(&run.extra_path())) {
                    (Ok(curve), Ok(extra)) => {
                        group.seeds.push(spec.seed);
                        group.curves.push(curve);
                        group.extras.push(extra);
                        continue;
                    }
                    (Err(error), _) => error.to_string(),
                    (_, Err(error)) => format!("{}: {error}", run.extra_path().display()),
                },
            };
            let name = format!("{} {} seed {}", spec.benchmark, spec.optimizer.name, spec.seed);
            all.left_out.push(format!("{name}: {reason}"));
        }
        all
    }

    /// The protocols, in the order of the experiment file.
    pub fn streams(&self) -> Vec<Stream<'_>> {
        let mut streams: Vec<Stream<'_>> = Vec::new();
        for group in &self.groups {
            let settings = &group.spec.settings;
            match streams.iter_mut().find(|stream| stream.settings == settings) {
                Some(stream) => stream.groups.push(group),
                None => streams.push(Stream {
                    benchmark: &group.spec.benchmark,
                    label: label(&group.spec),
                    settings,
                    groups: vec![group],
                }),
            }
        }
        streams
    }
}

impl<'a> Stream<'a> {
    /// The finished runs of an optimizer, if there are any.
    pub fn find(&self, optimizer: &str) -> Option<&'a Group> {
        let found = self.groups.iter().copied().find(|group| group.spec.optimizer.name == optimizer);
        found.filter(|group| !group.curves.is_empty())
    }

    /// The optimizers that have a finished run.
    pub fn finished(&self) -> impl Iterator<Item = &'a Group> + use<'a, '_> {
        self.groups.iter().copied().filter(|group| !group.curves.is_empty())
    }
}

impl Group {
    /// The optimizer's name as the paper writes it.
    pub fn name(&self) -> String {
        display_name(&self.spec.optimizer.name)
    }

    /// The paper's reading: the minimum on the mean curve.
    pub fn paper(&self) -> Option<PaperReading> {
        PaperReading::of(&self.curves).ok()
    }

    /// The usual reading: metrics of each seed.
    pub fn per_seed(&self) -> Option<PerSeed> {
        PerSeed::of(&self.curves).ok()
    }

    /// A number of each seed; `None` if one has none.
    pub fn each(&self, value: impl Fn(&Curve) -> Option<f64>) -> Option<Vec<f64>> {
        self.curves.iter().map(value).collect()
    }

    /// Mean and population standard deviation over seeds, as the paper's ±.
    pub fn estimate(&self, value: impl Fn(&Curve) -> Option<f64>) -> Option<Estimate> {
        self.each(value).and_then(|values| estimate(&values))
    }

    /// Values of one quantity of each seed, as (iteration, task, value).
    pub fn extra(&self, quantity: &str) -> Vec<Vec<(u64, usize, f64)>> {
        let of = |rows: &Vec<Extra>| {
            let rows = rows.iter().filter(|row| row.quantity == quantity);
            rows.map(|row| (row.iteration, row.task, row.value)).collect()
        };
        self.extras.iter().map(of).collect()
    }
}

/// Mean and population standard deviation.
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    (!values.is_empty()).then(|| Estimate {
        mean: evenkeel_metrics::stats::mean(values),
        pm: evenkeel_metrics::stats::population_sd(values),
    })
}

/// avg-SG of one seed.
pub fn avg_sg(curve: &Curve) -> Option<f64> {
    Metrics::of(curve).ok()?.avg_sg
}

/// avg-ACC of one seed.
pub fn avg_acc(curve: &Curve) -> Option<f64> {
    Some(Metrics::of(curve).ok()?.avg_acc)
}

/// avg-min-ACC of one seed.
pub fn avg_min_acc(curve: &Curve) -> Option<f64> {
    Some(Metrics::of(curve).ok()?.avg_min_acc)
}

/// SG at the switch k→k+1 of one seed.
pub fn sg(k: usize) -> impl Fn(&Curve) -> Option<f64> {
    move |curve| Metrics::of(curve).ok()?.sg.get(k - 1).copied().flatten()
}

/// Loss spike at the switch k→k+1 of one seed.
pub fn loss_spike(k: usize) -> impl Fn(&Curve) -> Option<f64> {
    move |curve| gaps(curve, RECOVERED_FRACTION).get(k - 1).and_then(|gap: &Gap| gap.loss_spike)
}

/// Accuracy on all tasks at the end of one seed.
pub fn final_seen_acc(curve: &Curve) -> Option<f64> {
    Plasticity::of(curve).seen_acc
}

/// Accuracy on the newest task at its end, mean over the tasks after the first.
pub fn new_task_acc(curve: &Curve) -> Option<f64> {
    let new: Option<Vec<f64>> = Plasticity::of(curve).new_task.into_iter().skip(1).collect();
    new.filter(|new| !new.is_empty()).map(|new| evenkeel_metrics::stats::mean(&new))
}

fn label(spec: &RunSpec) -> String {
    match spec.settings.replay {
        None => benchmark_name(&spec.benchmark),
        Some(buffer) => format!("{}, buffer {buffer}", benchmark_name(&spec.benchmark)),
    }
}

/// A benchmark as the paper writes it.
pub fn benchmark_name(name: &str) -> String {
    let known = [
        ("split-mnist", "Split MNIST"),
        ("rotated-mnist", "Rotated MNIST"),
        ("split-cifar10", "Split CIFAR-10"),
        ("domain-cifar100", "Domain CIFAR-100"),
        ("split-mini-imagenet", "Split mini-ImageNet"),
    ];
    known.iter().find(|(known, _)| *known == name).map_or(name, |(_, shown)| shown).to_string()
}

/// An optimizer as the paper writes it.
pub fn display_name(name: &str) -> String {
    let known = [
        ("ngm-sgd", "NGM-SGD"),
        ("msgd", "MSGD"),
        ("adam", "Adam"),
        ("sgd", "SGD"),
        ("msgd-reset", "MSGD-reset"),
        ("adam-reset", "Adam-reset"),
        ("msgd-frozen", "MSGD-frozen"),
        ("entropy-lr", "Entropy-LR"),
        ("ema", "EMA"),
    ];
    known.iter().find(|(known, _)| *known == name).map_or(name, |(_, shown)| shown).to_string()
}
