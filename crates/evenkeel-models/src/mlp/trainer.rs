//! Fast training of the MLP on the CPU.

use burn::backend::flex::FlexTensor;
use burn::optim::GradientsParams;
use burn::tensor::{Int, Tensor, TensorData};
use evenkeel::cpu::{contiguous, flex, tensor};
use evenkeel_kernels::InstructionSet;
use evenkeel_kernels::mlp::{Layer, SparseBatch, Training};

use super::Mlp;
use crate::GainLinear;
use crate::architecture::{InputShape, Pass, Trainer};

/// Cross-entropy and gradients of an [`Mlp`] in one go, without a record for autodiff, by kernels that skip the background of images and
/// hidden units that are silent.
///
/// The same numbers as `cross_entropy(model.forward(x), labels).backward()` up to rounding; `evenkeel bench mlp` times it.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use evenkeel_models::{InputShape, Mlp, MlpTrainer, Trainer};
/// use rand::SeedableRng;
///
/// let device = Device::flex().autodiff();
/// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(0);
/// let model = Mlp::new(&[4, 5, 3], 0.1, 0.1, &mut rng, &device);
/// let x = Tensor::<2>::from_data([[0.0, 0.0, 0.7, 0.0], [0.2, 0.0, 0.0, 0.0]], &device);
/// let labels = Tensor::<1, Int>::from_data([2, 0], &device);
/// let shape = InputShape { channels: 1, height: 2, width: 2 };
/// let pass = MlpTrainer::default().pass(&model, &x, &labels, shape).expect("it is on the CPU");
/// assert!((pass.loss - 3_f64.ln()).abs() < 0.1);
/// assert_eq!(pass.gradients.len(), 2);
/// ```
#[derive(Debug, Default)]
pub struct MlpTrainer {
    training: Training,
    /// The gradients of the step before, whose memory serves again once the optimizer has let go of them.
    gradients: Vec<FlexTensor>,
}

impl Trainer<Mlp> for MlpTrainer {
    fn pass(&mut self, model: &Mlp, x: &Tensor<2>, labels: &Tensor<1, Int>, _: InputShape) -> Option<Pass> {
        let set = InstructionSet::active();
        let weights: Vec<FlexTensor> = model.layers().map(base_weights).collect::<Option<_>>()?;
        let layers: Vec<Layer<'_>> = weights.iter().zip(model.layers()).map(layer).collect::<Option<_>>()?;
        let classes = layers.last()?.outputs;
        let labels: Vec<usize> = labels.to_data().iter::<i64>().map(|label| label as usize).collect();
        if labels.iter().any(|label| *label >= classes) {
            return None;
        }
        let x = contiguous(flex(x.clone())?);
        let values = x.as_slice::<f32>()?;
        // An image of MNIST has a black corner. On data without a background, the kernels skip silent units only.
        let batch = SparseBatch::pack(values, layers[0].inputs, *values.first()?);

        self.gradients.truncate(layers.len());
        for (i, layer) in layers.iter().enumerate() {
            let shape = [layer.inputs, layer.outputs];
            let known = self.gradients.get(i);
            if !known.is_some_and(|known| known.is_unique() && known.layout().shape().dims() == shape) {
                let fresh = TensorData::new(vec![0.0_f32; layer.weights.len()], shape);
                let fresh = FlexTensor::from_data(fresh);
                if i < self.gradients.len() { self.gradients[i] = fresh } else { self.gradients.push(fresh) }
            }
        }
        let mut slices: Vec<&mut [f32]> = self.gradients.iter_mut().map(FlexTensor::storage_mut).collect();
        let seen = self.training.gradients(set, &batch, &labels, &layers, &mut slices);

        let mut gradients = GradientsParams::new();
        for (layer, gradient) in model.layers().zip(&self.gradients) {
            if layer.weight.is_require_grad() {
                gradients.register(layer.weight.id, tensor::<2>(gradient.clone()));
            }
        }
        Some(Pass { loss: seen.loss, entropy: seen.entropy, hits: seen.hits, gradients })
    }
}

/// The weights that the optimizer sees, if nothing but the layer's own gain lies between them and the forward pass.
fn base_weights(layer: &GainLinear) -> Option<FlexTensor> {
    let (base, seen) = (flex(layer.weight.base())?, flex(layer.weight.val())?);
    (base.bytes().as_ptr() == seen.bytes().as_ptr()).then(|| contiguous(base))
}

fn layer<'a>((weights, layer): (&'a FlexTensor, &GainLinear)) -> Option<Layer<'a>> {
    let [inputs, outputs] = weights.layout().shape().dims();
    Some(Layer { weights: weights.as_slice()?, inputs, outputs, scale: layer.gain() as f32 })
}

#[cfg(test)]
mod tests {
    use burn::module::Module;
    use burn::tensor::Device;
    use evenkeel::entropy::mean_entropy;
    use evenkeel::gain::{Gain, GainConfig};
    use evenkeel::nn::{Modulated, cross_entropy, modulate};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    const SHAPE: InputShape = InputShape { channels: 1, height: 28, width: 28 };

    fn batch(device: &Device) -> (Tensor<2>, Tensor<1, Int>) {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let x: Vec<f32> = (0..100 * 784)
            .map(|i| if i > 0 && rng.random_bool(0.2) { rng.random_range(-0.4..2.8) } else { -0.4242 })
            .collect();
        let labels: Vec<i64> = (0..100).map(|i| i % 10).collect();
        (
            Tensor::from_data(TensorData::new(x, [100, 784]), device),
            Tensor::from_data(TensorData::new(labels, [100]), device),
        )
    }

    fn model(device: &Device) -> (Mlp, Gain) {
        let gain = Gain::new(GainConfig::new().check().unwrap());
        gain.set(1.7);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        (Mlp::new(&[784, 400, 400, 10], 0.05, 0.05, &mut rng, device), gain)
    }

    #[test]
    fn it_gives_what_autodiff_gives_step_after_step() {
        let device = Device::flex().autodiff();
        let (model, gain) = model(&device);
        let model = model.with_gain(&gain);
        let (x, labels) = batch(&device);
        let mut trainer = MlpTrainer::default();
        let held = trainer.pass(&model, &x, &labels, SHAPE).unwrap();
        // The first gradients are still held, so that the second ones need memory of their own.
        for pass in [trainer.pass(&model, &x, &labels, SHAPE).unwrap(), held] {
            let logits = model.forward(x.clone());
            let loss = cross_entropy(logits.clone(), labels.clone());
            assert!((pass.loss - f64::from(loss.clone().into_scalar::<f32>())).abs() < 1e-5);
            assert!((pass.entropy - mean_entropy(&logits)).abs() < 1e-5);
            let right = logits.argmax(1).reshape([100]).equal(labels.clone()).int().sum();
            assert_eq!(pass.hits as i64, right.into_scalar::<i64>());
            let expected = GradientsParams::from_grads(loss.backward(), &model);
            for layer in model.layers() {
                let values = |gradients: &GradientsParams| -> Vec<f32> {
                    gradients.get::<2>(layer.weight.id).unwrap().into_data().try_to_vec().unwrap()
                };
                let (ours, burn) = (values(&pass.gradients), values(&expected));
                let largest = burn.iter().fold(0.0_f32, |m, v| m.max(v.abs()));
                for (a, b) in ours.iter().zip(&burn) {
                    assert!((a - b).abs() <= 1e-5 * largest, "{a} against {b}");
                }
            }
        }
    }

    #[test]
    fn what_it_cannot_do_is_left_to_autodiff() {
        let device = Device::flex().autodiff();
        let (model, gain) = model(&device);
        let (x, labels) = batch(&device);
        let mut trainer = MlpTrainer::default();
        // Weights that something else than the layer stands in front of.
        let from_outside = modulate(model.clone(), &gain, ".*").unwrap();
        assert!(trainer.pass(&from_outside, &x, &labels, SHAPE).is_none());
        // A label that is no class.
        assert!(trainer.pass(&model, &x, &labels.clone().add_scalar(1), SHAPE).is_none());
        // Weights that are not trained have no gradients.
        assert!(trainer.pass(&model.no_grad(), &x, &labels, SHAPE).unwrap().gradients.is_empty());
    }
}
