//! Fast evaluation of the MLP on the CPU.

use burn::backend::flex::FlexTensor;
use evenkeel::cpu::on_cpu;
use evenkeel_kernels::InstructionSet;
use evenkeel_kernels::mlp::{Layer, PackedLayers, SparseRows, logits};

use super::Mlp;
use crate::architecture::{Evaluator, InputShape};

/// Weights and gains of an [`Mlp`] as they were: training may go on while they are evaluated. The weights are copied only if
/// they change before that is over.
#[derive(Debug, Clone)]
pub struct MlpSnapshot {
    layers: Vec<(FlexTensor, [usize; 2], f32)>,
}

/// Logits of an [`Mlp`] on images that are mostly background, by kernels that skip the background.
///
/// The same numbers as `model.valid().forward(images)` up to rounding; `evenkeel bench mlp` times it. The images are packed
/// once; the evaluator keeps its memory between calls.
///
/// ```
/// use burn::tensor::Device;
/// use evenkeel_models::{Evaluator, InputShape, Mlp, MlpEvaluator};
/// use rand::SeedableRng;
///
/// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(0);
/// let model = Mlp::new(&[4, 5, 3], 0.1, 0.1, &mut rng, &Device::flex());
/// let shape = InputShape { channels: 1, height: 2, width: 2 };
/// let images = MlpEvaluator::pack(&[0.0, 0.0, 0.7, 0.0, 0.2, 0.0, 0.0, 0.0], shape, 0.0);
/// let logits = MlpEvaluator::default().logits(MlpEvaluator::snapshot(&model, shape), &images);
/// assert_eq!(logits.len(), 2 * 3);
/// ```
#[derive(Debug, Default)]
pub struct MlpEvaluator {
    packed: PackedLayers,
}

impl Evaluator<Mlp> for MlpEvaluator {
    type Images = SparseRows;
    type Snapshot = MlpSnapshot;

    fn pack(values: &[f32], shape: InputShape, background: f32) -> SparseRows {
        SparseRows::pack(values, shape.len(), background)
    }

    fn snapshot(model: &Mlp, _: InputShape) -> MlpSnapshot {
        let layers = model.layers();
        let layers =
            layers.map(|layer| (on_cpu(layer.weight.val()), layer.weight.dims(), layer.gain() as f32));
        MlpSnapshot { layers: layers.collect() }
    }

    fn logits_of_sets(&mut self, model: MlpSnapshot, sets: &[&SparseRows]) -> Vec<Vec<f32>> {
        let set = InstructionSet::active();
        let layers: Vec<Layer<'_>> = model
            .layers
            .iter()
            .map(|(weights, [inputs, outputs], scale)| Layer {
                weights: weights.as_slice().expect("weights are f32"),
                inputs: *inputs,
                outputs: *outputs,
                scale: *scale,
            })
            .collect();
        let classes = layers.last().map_or(0, |layer| layer.outputs);
        self.packed.pack(set, &layers);
        // From here on, training may change the weights in place.
        drop(model);
        let of_images = |images: &SparseRows| {
            let mut out = vec![0.0; images.rows() * classes];
            logits(set, images, &self.packed, &mut out);
            out
        };
        sets.iter().map(|images| of_images(images)).collect()
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, Tensor, TensorData};
    use evenkeel::gain::{Gain, GainConfig};
    use evenkeel::nn::Modulated;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn it_gives_what_the_forward_pass_gives() {
        let device = Device::flex();
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let gain = Gain::new(GainConfig::new().check().unwrap());
        gain.set(1.7);
        let model = Mlp::new(&[784, 400, 400, 10], 0.05, 0.05, &mut rng, &device).with_gain(&gain);
        let x: Vec<f32> = (0..100 * 784)
            .map(|_| if rng.random_bool(0.2) { rng.random_range(-0.4..2.8) } else { -0.4242 })
            .collect();
        let shape = InputShape { channels: 1, height: 28, width: 28 };
        let images = MlpEvaluator::pack(&x, shape, -0.4242);
        let ours = MlpEvaluator::default().logits(MlpEvaluator::snapshot(&model, shape), &images);
        let burn: Vec<f32> = model
            .forward(Tensor::from_data(TensorData::new(x, [100, 784]), &device))
            .into_data()
            .try_to_vec()
            .unwrap();
        let scale = burn.iter().fold(0.0_f32, |m, v| m.max(v.abs()));
        for (a, b) in ours.iter().zip(&burn) {
            assert!((a - b).abs() <= 1e-5 * scale, "{a} against {b}");
        }
    }
}
