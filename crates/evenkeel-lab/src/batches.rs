//! Batches, drawn and augmented on a thread of their own while the model trains on the one before.

use std::ops::RangeInclusive;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Scope;

use burn::tensor::{Device, Int, Tensor, TensorData};
use evenkeel_data::{CropFlip, ExampleId, Normalization, Sampler, Stream};

use crate::spec::RunSpec;

/// The batches of consecutive iterations, in order. What is in one depends on the spec and its iteration alone.
pub struct Batches {
    ready: Receiver<Batch>,
}

struct Batch {
    images: Vec<f32>,
    labels: Vec<u16>,
}

impl Batches {
    /// Starts to draw the batches of `iterations`. The thread ends when it has drawn them all, or when this is dropped.
    pub fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        spec: &'scope RunSpec,
        stream: &'scope Stream,
        normalization: &'scope Normalization,
        iterations: RangeInclusive<u64>,
    ) -> Self {
        // One batch waits while the next is drawn.
        let (send, ready) = sync_channel(1);
        scope.spawn(move || {
            for batch in draw(spec, stream, normalization, iterations) {
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
        let Batch { images, labels } = self.ready.recv().expect("a batch for every iteration");
        let (size, pixels) = (labels.len(), images.len() / labels.len());
        let labels: Vec<i64> = labels.into_iter().map(i64::from).collect();
        (
            Tensor::from_data(TensorData::new(images, [size, pixels]), device),
            Tensor::from_data(TensorData::new(labels, [size]), device),
        )
    }
}

fn draw<'a>(
    spec: &'a RunSpec,
    stream: &'a Stream,
    normalization: &'a Normalization,
    iterations: RangeInclusive<u64>,
) -> impl Iterator<Item = Batch> + 'a {
    let settings = &spec.settings;
    let sampler = match settings.replay {
        Some(capacity) => Sampler::replay(spec.seed, capacity),
        None => Sampler::joint(spec.seed),
    };
    let augmentation = settings.crop_padding.map(|padding| CropFlip { padding, flip: true });
    let mut current = None;
    iterations.map(move |iteration| {
        let task = settings.task_of(iteration);
        if current.as_ref().is_none_or(|(drawn, _)| *drawn != task) {
            let examples = sampler.in_task(stream, task).expect("tasks are counted from the stream");
            current = Some((task, examples));
        }
        let (_, examples) = current.as_ref().expect("set above");
        let examples: Vec<ExampleId> = examples.batch(iteration, settings.batch);
        let (mut images, mut labels) = (Vec::new(), Vec::new());
        match augmentation {
            None => stream.gather(&examples, normalization, &mut images, &mut labels),
            Some(augmentation) => {
                let mut rng = sampler.augmentation(iteration);
                let augment = (augmentation, &mut rng);
                stream.gather_augmented(&examples, augment, normalization, &mut images, &mut labels);
            }
        }
        Batch { images, labels }
    })
}
