//! Batches, drawn and augmented on a thread of their own while the model trains on the one before.

use std::ops::RangeInclusive;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Scope;

use burn::tensor::{Device, Int, Tensor, TensorData};
use evenkeel_data::{CropFlip, ExampleId, Sampler, TaskSampler};

use super::prepare::Prepared;
use crate::spec::{RunSpec, Settings};

/// Iterations of further draws are far beyond those of any run: each draw is a function of seed and position alone.
const FURTHER_DRAWS: u64 = 1 << 40;

/// The batches of consecutive iterations, in order. What is in one depends on the spec and its iteration alone.
pub struct Batches {
    ready: Receiver<Batch>,
}

struct Batch {
    images: Vec<f32>,
    labels: Vec<u16>,
}

impl Batch {
    /// Images `[batch, pixels]` and labels.
    fn into_tensors(self, device: &Device) -> (Tensor<2>, Tensor<1, Int>) {
        let Self { images, labels } = self;
        let (size, pixels) = (labels.len(), images.len() / labels.len());
        let labels: Vec<i64> = labels.into_iter().map(i64::from).collect();
        (
            Tensor::from_data(TensorData::new(images, [size, pixels]), device),
            Tensor::from_data(TensorData::new(labels, [size]), device),
        )
    }
}

impl Batches {
    /// Starts to draw the batches of `iterations`. The thread ends when it has drawn them all, or when this is dropped.
    pub fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        spec: &'scope RunSpec,
        data: &'scope Prepared,
        iterations: RangeInclusive<u64>,
    ) -> Self {
        // One batch waits while the next is drawn.
        let (send, ready) = sync_channel(1);
        scope.spawn(move || {
            for batch in draw(spec, data, iterations) {
                if send.send(batch).is_err() {
                    break;
                }
            }
        });
        Self { ready }
    }

    /// Images `[batch, pixels]` and labels of the next iteration.
    ///
    /// # Panics
    /// If all have been taken.
    pub fn take(&self, device: &Device) -> (Tensor<2>, Tensor<1, Int>) {
        self.ready.recv().expect("a batch for every iteration").into_tensors(device)
    }
}

fn sampler(spec: &RunSpec) -> Sampler {
    match spec.settings.replay {
        Some(capacity) => Sampler::replay(spec.seed, capacity),
        None => Sampler::joint(spec.seed),
    }
}

fn draw<'a>(
    spec: &'a RunSpec,
    data: &'a Prepared,
    iterations: RangeInclusive<u64>,
) -> impl Iterator<Item = Batch> + 'a {
    let settings = &spec.settings;
    let sampler = sampler(spec);
    let mut current = None;
    iterations.map(move |iteration| {
        let task = settings.task_of(iteration);
        if current.as_ref().is_none_or(|(drawn, _)| *drawn != task) {
            let examples = sampler.in_task(&data.stream, task).expect("tasks are counted from the stream");
            current = Some((task, examples));
        }
        let (_, examples) = current.as_ref().expect("set above");
        gather(settings, data, &sampler, examples, (iteration, settings.arrived(iteration)))
    })
}

/// The batch at one position, while so much of the task has arrived.
fn gather(
    settings: &Settings,
    data: &Prepared,
    sampler: &Sampler,
    examples: &TaskSampler,
    (position, arrived): (u64, f64),
) -> Batch {
    let chosen: Vec<ExampleId> = examples.drifting(position, arrived, settings.batch);
    let (mut images, mut labels) = (Vec::new(), Vec::new());
    match settings.crop_padding {
        None => data.stream.gather(&chosen, &data.normalization, &mut images, &mut labels),
        Some(padding) => {
            let mut rng = sampler.augmentation(position);
            let augment = (CropFlip { padding, flip: true }, &mut rng);
            data.stream.gather_augmented(&chosen, augment, &data.normalization, &mut images, &mut labels);
        }
    }
    Batch { images, labels }
}

/// Draws that only some methods ask for, in the iteration at hand.
pub(crate) struct Draw<'a> {
    spec: &'a RunSpec,
    data: &'a Prepared,
    iteration: u64,
    /// Further draws in this iteration.
    drawn: u64,
}

impl<'a> Draw<'a> {
    /// Of this iteration; nothing is drawn yet.
    pub(crate) fn new(spec: &'a RunSpec, data: &'a Prepared, iteration: u64) -> Self {
        Self { spec, data, iteration, drawn: 0 }
    }

    /// Another batch of the same data as the iteration's own.
    pub(super) fn another(&mut self, device: &Device) -> (Tensor<2>, Tensor<1, Int>) {
        let settings = &self.spec.settings;
        let (task, arrived) = (settings.task_of(self.iteration), settings.arrived(self.iteration));
        self.of_task(task, arrived, &sampler(self.spec), device)
    }

    /// A batch of all tasks before the present one; `None` in the first.
    pub(super) fn of_old_tasks(&mut self, device: &Device) -> Option<(Tensor<2>, Tensor<1, Int>)> {
        let task = self.spec.settings.task_of(self.iteration);
        (task > 1).then(|| self.of_task(task - 1, 1.0, &Sampler::joint(self.spec.seed), device))
    }

    /// Iterations done since the last switch.
    pub(super) fn since_switch(&self) -> u64 {
        self.spec.settings.since_switch(self.iteration)
    }

    fn of_task(
        &mut self,
        task: usize,
        arrived: f64,
        sampler: &Sampler,
        device: &Device,
    ) -> (Tensor<2>, Tensor<1, Int>) {
        self.drawn += 1;
        let position = self.drawn * FURTHER_DRAWS + self.iteration;
        let examples = sampler.in_task(&self.data.stream, task).expect("the task has begun");
        gather(&self.spec.settings, self.data, sampler, &examples, (position, arrived)).into_tensors(device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::prepare::prepare;
    use crate::spec::Experiment;

    #[test]
    fn further_draws_differ_from_the_batch_and_old_ones_are_old() {
        let mut experiment = Experiment::named("split-digits").unwrap();
        experiment.set("iterations=3").unwrap();
        experiment.set("batch=40").unwrap();
        let spec = experiment.check().unwrap().expand(None).remove(0);
        let data = prepare(&spec.settings, spec.seed, &mut evenkeel_data::source::Quiet).unwrap();
        let device = Device::flex();
        let labels = |(_, y): (Tensor<2>, Tensor<1, Int>)| y.into_data().iter::<i64>().collect::<Vec<_>>();
        let own = draw(&spec, &data, 8..=8).next().unwrap().into_tensors(&device);
        let mut further = Draw::new(&spec, &data, 8);
        let (first, second) = (further.another(&device), further.another(&device));
        assert_ne!(own.0.into_data(), first.0.clone().into_data());
        assert_ne!(first.0.clone().into_data(), second.0.into_data());
        assert_eq!(first.0.into_data(), Draw::new(&spec, &data, 8).another(&device).0.into_data());
        assert!(labels(further.of_old_tasks(&device).unwrap()).iter().all(|label| *label < 4));
        assert_eq!(further.since_switch(), 1);
        assert!(Draw::new(&spec, &data, 2).of_old_tasks(&device).is_none());
    }
}
