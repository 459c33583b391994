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
        let chosen = examples.drifting(iteration, settings.arrived(iteration), settings.batch);
        gather(settings, data, &sampler, &chosen, iteration)
    })
}

/// These examples as the batch at one position, which decides how they are augmented.
fn gather(
    settings: &Settings,
    data: &Prepared,
    sampler: &Sampler,
    chosen: &[ExampleId],
    position: u64,
) -> Batch {
    let (mut images, mut labels) = (Vec::new(), Vec::new());
    match settings.crop_padding {
        None => data.stream.gather(chosen, &data.normalization, &mut images, &mut labels),
        Some(padding) => {
            let mut rng = sampler.augmentation(position);
            let augment = (CropFlip { padding, flip: true }, &mut rng);
            data.stream.gather_augmented(chosen, augment, &data.normalization, &mut images, &mut labels);
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
        let sampler = sampler(self.spec);
        let position = self.next_position();
        let chosen = self.in_task(&sampler, task).drifting(position, arrived, settings.batch);
        gather(settings, self.data, &sampler, &chosen, position).into_tensors(device)
    }

    /// So many examples of what is left of the tasks before the present one: all their data under joint training, the buffer under
    /// replay; `None` in the first task, and where nothing is left.
    pub(super) fn of_old_tasks(
        &mut self,
        examples: usize,
        device: &Device,
    ) -> Option<(Tensor<2>, Tensor<1, Int>)> {
        let settings = &self.spec.settings;
        let task = settings.task_of(self.iteration);
        if task == 1 {
            return None;
        }
        let (sampler, position) = (sampler(self.spec), self.next_position());
        let chosen = match settings.replay {
            Some(_) => self.in_task(&sampler, task).of_buffer(position, examples),
            None => self.in_task(&sampler, task - 1).batch(position, examples),
        };
        let found = !chosen.is_empty();
        found.then(|| gather(settings, self.data, &sampler, &chosen, position).into_tensors(device))
    }

    /// Examples per batch.
    pub(super) fn batch(&self) -> usize {
        self.spec.settings.batch
    }

    /// How many examples at the end of the iteration's own batch come from the replay buffer.
    pub(super) fn replayed(&self) -> usize {
        let settings = &self.spec.settings;
        let rehearses = settings.replay.is_some_and(|capacity| capacity > 0);
        if rehearses && settings.task_of(self.iteration) > 1 { settings.batch / 2 } else { 0 }
    }

    /// Iterations done since the last switch.
    pub(super) fn since_switch(&self) -> u64 {
        self.spec.settings.since_switch(self.iteration)
    }

    fn next_position(&mut self) -> u64 {
        self.drawn += 1;
        self.drawn * FURTHER_DRAWS + self.iteration
    }

    fn in_task(&self, sampler: &Sampler, task: usize) -> TaskSampler {
        sampler.in_task(&self.data.stream, task).expect("the task has begun")
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
        assert!(labels(further.of_old_tasks(40, &device).unwrap()).iter().all(|label| *label < 4));
        assert_eq!(further.since_switch(), 1);
        assert!(Draw::new(&spec, &data, 2).of_old_tasks(40, &device).is_none());
    }
}
