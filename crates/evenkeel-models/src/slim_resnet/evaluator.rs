//! Fast evaluation of slim ResNet-18 on the CPU.

use burn::backend::flex::FlexTensor;
use evenkeel::cpu::on_cpu;

use super::{FoldedBackbone, PackedImages, SlimResNet};
use crate::architecture::{Evaluator, InputShape};

/// A [`SlimResNet`] as it was, in evaluation mode.
pub struct ResNetSnapshot {
    backbone: FoldedBackbone,
    head: FlexTensor,
    classes: usize,
    gain: f32,
}

/// Logits of a [`SlimResNet`] in evaluation mode, by kernels: see [`FoldedBackbone`].
///
/// The same numbers as `model.valid().forward(images)` up to rounding.
#[derive(Debug, Default)]
pub struct ResNetEvaluator;

impl Evaluator<SlimResNet> for ResNetEvaluator {
    type Images = PackedImages;
    type Snapshot = ResNetSnapshot;

    fn pack(values: &[f32], shape: InputShape, _background: f32) -> PackedImages {
        PackedImages::pack(values, shape)
    }

    fn snapshot(model: &SlimResNet, shape: InputShape) -> ResNetSnapshot {
        let [_, classes] = model.head.weight.dims();
        ResNetSnapshot {
            backbone: FoldedBackbone::new(&model.backbone, shape),
            head: on_cpu(model.head.weight.val()),
            classes,
            gain: model.head.gain() as f32,
        }
    }

    fn logits_of_sets(&mut self, model: ResNetSnapshot, sets: &[&PackedImages]) -> Vec<Vec<f32>> {
        let head = model.head.as_slice().expect("parameters are f32");
        let finish = |features: Vec<f32>| product(&features, head, model.classes, model.gain);
        sets.iter().map(|images| model.backbone.with_features(images, finish)).collect()
    }
}

/// `gain · features · head`, row by row: a hundredth of the work.
fn product(features: &[f32], head: &[f32], classes: usize, gain: f32) -> Vec<f32> {
    let inputs = head.len() / classes;
    let mut out = Vec::with_capacity(features.len() / inputs * classes);
    for row in features.chunks_exact(inputs) {
        let mut sums = vec![0.0_f32; classes];
        for (x, w) in row.iter().zip(head.chunks_exact(classes)) {
            for (sum, w) in sums.iter_mut().zip(w) {
                *sum += x * w;
            }
        }
        out.extend(sums.iter().map(|sum| gain * sum));
    }
    out
}
