//! The curvature of the task-1 loss around a task switch (Figure 3e), measured while a run goes on.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use evenkeel::curvature::{Coordinates, CurvatureError, PowerIteration, dominant_eigenvalue, in_f64};
use evenkeel::nn::cross_entropy;
use evenkeel_data::{Normalization, Shape, Stream, evaluation_subset};
use thiserror::Error;

use crate::extra::{CURVATURE_BASE, CURVATURE_EFFECTIVE, CURVATURE_RESIDUAL};
use crate::learner::Learner;
use crate::network::Network;
use crate::spec::{CurvatureWindow, RunSpec};

/// Why a curvature could not be measured.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct ProbeError(#[from] CurvatureError);

/// Measures the dominant Hessian eigenvalue of the loss on fixed batches of the task-1 test set.
///
/// All batches count as one: their mean loss is what is differentiated. In f64, since the kinks of ReLU limit f32.
pub struct CurvatureProbe {
    window: CurvatureWindow,
    per_task: u64,
    x: Tensor<2>,
    y: Tensor<1, Int>,
    shape: Shape,
}

impl CurvatureProbe {
    /// `None` if the run asks for no curvature. The images depend on the seed alone: paired across optimizers.
    pub fn new(
        spec: &RunSpec,
        stream: &Stream,
        normalization: &Normalization,
        device: &Device,
    ) -> Option<Self> {
        let window = spec.settings.curvature?;
        let test = &stream.task(0).test;
        let images = (window.batches * window.batch).min(test.len());
        let chosen = evaluation_subset(test, images, spec.seed);
        let shape = test.shape();
        let mut values = Vec::with_capacity(images * shape.len());
        normalization.gather(test, chosen.iter().copied(), &mut values);
        let labels: Vec<i64> = chosen.iter().map(|&i| i64::from(test.label(i))).collect();
        let x = Tensor::<2>::from_data(TensorData::new(values, [images, shape.len()]), device);
        Some(Self {
            window,
            per_task: spec.settings.iterations,
            x: x.cast(DType::F64),
            y: Tensor::from_data(TensorData::new(labels, [images]), device),
            shape,
        })
    }

    /// Whether to measure after `iteration`.
    pub fn is_due(&self, iteration: u64) -> bool {
        self.window.includes(iteration, self.per_task)
    }

    /// The curvature with respect to effective and to base weights. Without a gain they are the same; where every weight
    /// is under the gain, the second is g² times the first (Corollary 1), and only one has to be measured.
    pub fn measure(&self, learner: &Learner) -> Result<[(&'static str, f64); 3], ProbeError> {
        self.curvatures(learner.model(), learner.gain().map(evenkeel::gain::Gain::value))
    }

    fn curvatures(
        &self,
        network: &Network,
        gain: Option<f64>,
    ) -> Result<[(&'static str, f64); 3], ProbeError> {
        let network = in_f64(network);
        let loss = |network: &Network| {
            cross_entropy(network.forward_still(self.x.clone(), self.shape), self.y.clone())
        };
        let power = PowerIteration::new().with_steps(self.window.steps);
        let base = dominant_eigenvalue(&network, loss, &power)?;
        let effective = match (&network, gain) {
            (Network::SlimResNet(_), Some(gain)) => {
                let coordinates = Coordinates::effective(gain, network.modulated())?;
                let found = dominant_eigenvalue(&network, loss, &power.with_coordinates(coordinates))?;
                (found.magnitude(), found.residual)
            }
            _ => (base.magnitude() / gain.unwrap_or(1.0).powi(2), base.residual),
        };
        Ok([
            (CURVATURE_EFFECTIVE, effective.0),
            (CURVATURE_BASE, base.magnitude()),
            (CURVATURE_RESIDUAL, effective.1),
        ])
    }
}

#[cfg(test)]
mod tests {
    use burn::module::Param;
    use evenkeel::gain::{Gain, GainConfig};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::experiment::Experiment;

    const GAIN: f64 = 1.6;

    /// A probe, the network of a small experiment under a gain, and one without a gain whose weights have it in them.
    fn models(settings: &[&str]) -> (CurvatureProbe, Network, Network) {
        let mut experiment = Experiment::named("split-digits").unwrap();
        experiment.set(r#"curvature={"batches":1,"batch":6,"steps":4}"#).unwrap();
        for setting in settings {
            experiment.set(setting).unwrap();
        }
        let prepared =
            crate::stream::prepare(&experiment.settings, &mut evenkeel_data::source::Quiet).unwrap();
        let spec = experiment.expand(None).remove(0);
        let device = Device::flex().autodiff();
        let probe = CurvatureProbe::new(&spec, &prepared.stream, &prepared.normalization, &device).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let plain = Network::new(&spec.settings, &prepared.stream, &mut rng, &device);
        let gain = Gain::new(GainConfig::new().check().unwrap());
        gain.set(GAIN);
        let scaled =
            |weight: &Param<Tensor<2>>| Param::from_data(weight.val().mul_scalar(GAIN).into_data(), &device);
        let worked_in = match plain.clone() {
            Network::Mlp(mut model) => {
                for layer in model.hidden.iter_mut().chain([&mut model.output]) {
                    layer.weight = scaled(&layer.weight);
                }
                Network::Mlp(model)
            }
            Network::SlimResNet(mut model) => {
                model.head.weight = scaled(&model.head.weight);
                Network::SlimResNet(model)
            }
        };
        (probe, plain.with_gain(&gain), worked_in)
    }

    /// Effective coordinates of a model under a gain are the coordinates of a model with the gain in its weights.
    fn effective_is_that_of_the_worked_in(settings: &[&str]) -> [(&'static str, f64); 3] {
        let (probe, under_gain, worked_in) = models(settings);
        let found = probe.curvatures(&under_gain, Some(GAIN)).unwrap();
        let expected = probe.curvatures(&worked_in, None).unwrap();
        assert_eq!(expected[0].1, expected[1].1);
        assert!(
            found[0].1 > 0.0 && (found[0].1 / expected[0].1 - 1.0).abs() < 1e-3,
            "{found:?} {expected:?}"
        );
        found
    }

    #[test]
    fn corollary_1_holds_for_the_mlp_of_an_experiment() {
        let found = effective_is_that_of_the_worked_in(&["hidden=[24,16]"]);
        assert!((found[1].1 / found[0].1 / (GAIN * GAIN) - 1.0).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn lemma_2_holds_for_the_convolutional_network_of_an_experiment() {
        effective_is_that_of_the_worked_in(&["model=slim-resnet18"]);
    }

    #[test]
    fn the_window_is_dense_then_spaced_and_ends_with_its_task() {
        let window = CurvatureWindow { dense: 2, every: 5, after: 12, ..CurvatureWindow::default() };
        let due: Vec<u64> = (1..200).filter(|i| window.includes(*i, 20)).collect();
        assert_eq!(due, [20, 21, 22, 25, 30]);
        let long = CurvatureWindow { dense: 0, every: 10, after: 100, ..window };
        let due: Vec<u64> = (1..200).filter(|i| long.includes(*i, 20)).collect();
        assert_eq!(due, [20, 30, 40]);
    }
}
