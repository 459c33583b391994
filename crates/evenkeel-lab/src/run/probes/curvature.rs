//! The curvature of the task-1 loss around a task switch (Figure 3e).

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use evenkeel::curvature::{Coordinates, PowerIteration, dominant_eigenvalue, in_f64};
use evenkeel::nn::cross_entropy;
use evenkeel_data::evaluation_subset;
use evenkeel_models::{Architecture, InputShape};
use serde::{Deserialize, Serialize};

use super::{Probe, ProbeError, ProbeKind};
use crate::run::feedback::Seen;
use crate::run::learner::Learner;
use crate::run::prepare::Prepared;
use crate::spec::RunSpec;

/// Dominant |eigenvalue| of the task-1 loss Hessian with respect to the effective weights.
pub const CURVATURE_EFFECTIVE: &str = "curvature_effective";
/// The same with respect to the base weights.
pub const CURVATURE_BASE: &str = "curvature_base";
/// Relative residual of the eigenvalue in effective coordinates: how far the power iteration is from its end.
pub const CURVATURE_RESIDUAL: &str = "curvature_residual";

/// When and how the curvature of the task-1 loss is measured: at the switch, after each of the first `dense` iterations,
/// then after every `every` until `after`. One measurement takes some hundred times as long as an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CurvatureWindow {
    /// The switch: k stands for k→k+1.
    pub switch: usize,
    /// Iterations after the switch that are all measured.
    pub dense: u64,
    /// Spacing of the later measurements.
    pub every: u64,
    /// Last iteration after the switch.
    pub after: u64,
    /// Steps of the power iteration.
    pub steps: usize,
    /// Fixed batches of the task-1 test set over which the loss is averaged.
    pub batches: usize,
    /// Images in each of them.
    pub batch: usize,
}

impl Default for CurvatureWindow {
    fn default() -> Self {
        Self { switch: 1, dense: 10, every: 10, after: 100, steps: 25, batches: 5, batch: 128 }
    }
}

impl CurvatureWindow {
    /// Whether to measure after `iteration`, where the switch comes after so many iterations and the task after it takes
    /// `length`.
    pub fn includes(&self, iteration: u64, switch: u64, length: u64) -> bool {
        iteration.checked_sub(switch).is_some_and(|since| {
            since <= self.after.min(length) && (since <= self.dense || since.is_multiple_of(self.every))
        })
    }
}

/// `curvature = { … }` measures it.
pub struct Curvature;

impl ProbeKind for Curvature {
    type Config = Option<CurvatureWindow>;

    fn on() -> Self::Config {
        Some(CurvatureWindow::default())
    }

    fn check(window: &Self::Config) -> Result<(), (&'static str, String)> {
        let Some(window) = window else { return Ok(()) };
        let at_least_1 = [
            ("switch", window.switch as u64),
            ("every", window.every),
            ("steps", window.steps as u64),
            ("batches", window.batches as u64),
            ("batch", window.batch as u64),
        ];
        match at_least_1.into_iter().find(|(_, value)| !(1..=1_000_000).contains(value)) {
            Some((key, _)) => Err((key, "must be between 1 and 1000000".into())),
            None => Ok(()),
        }
    }

    fn start<N: Architecture>(
        window: &Self::Config,
        spec: &RunSpec,
        data: &Prepared,
        device: &Device,
    ) -> Option<Box<dyn Probe<N>>> {
        let probe = (*window).map(|window| CurvatureProbe::new(window, spec, data, device));
        probe.map(|probe| Box::new(probe) as Box<dyn Probe<N>>)
    }
}

/// Measures the dominant Hessian eigenvalue of the loss on fixed batches of the task-1 test set.
///
/// All batches count as one: their mean loss is what is differentiated. In f64, since the kinks of ReLU limit f32.
struct CurvatureProbe {
    window: CurvatureWindow,
    /// Iterations before the switch, and of the task after it.
    around: (u64, u64),
    x: Tensor<2>,
    y: Tensor<1, Int>,
    shape: InputShape,
}

impl CurvatureProbe {
    /// The images depend on the seed alone: paired across optimizers.
    fn new(window: CurvatureWindow, spec: &RunSpec, data: &Prepared, device: &Device) -> Self {
        let test = &data.stream.task(0).test;
        let images = (window.batches * window.batch).min(test.len());
        let chosen = evaluation_subset(test, images, spec.seed);
        let pixels = test.shape().len();
        let mut values = Vec::with_capacity(images * pixels);
        data.normalization.gather(test, chosen.iter().copied(), &mut values);
        let labels: Vec<i64> = chosen.iter().map(|&i| i64::from(test.label(i))).collect();
        let x = Tensor::<2>::from_data(TensorData::new(values, [images, pixels]), device);
        Self {
            window,
            around: (spec.settings.end_of(window.switch), spec.settings.iterations_of(window.switch + 1)),
            x: x.cast(DType::F64),
            y: Tensor::from_data(TensorData::new(labels, [images]), device),
            shape: data.input_shape(),
        }
    }

    /// The curvature with respect to effective and to base weights. Without a gain they are the same; where every weight
    /// is under the gain, the second is g² times the first (Corollary 1), and only one has to be measured.
    fn curvatures<N: Architecture>(
        &self,
        network: &N,
        gain: Option<f64>,
    ) -> Result<Vec<(&'static str, f64)>, ProbeError> {
        let network = in_f64(network);
        let loss =
            |network: &N| cross_entropy(network.forward_still(self.x.clone(), self.shape), self.y.clone());
        let power = PowerIteration::new().with_steps(self.window.steps);
        let base = dominant_eigenvalue(&network, loss, &power)?;
        let effective = match gain.filter(|_| !network.fully_modulated()) {
            Some(gain) => {
                let coordinates = Coordinates::effective(gain, &network.modulated())?;
                let found = dominant_eigenvalue(&network, loss, &power.with_coordinates(coordinates))?;
                (found.magnitude(), found.residual)
            }
            None => (base.magnitude() / gain.unwrap_or(1.0).powi(2), base.residual),
        };
        Ok(vec![
            (CURVATURE_EFFECTIVE, effective.0),
            (CURVATURE_BASE, base.magnitude()),
            (CURVATURE_RESIDUAL, effective.1),
        ])
    }
}

impl<N: Architecture> Probe<N> for CurvatureProbe {
    fn is_due(&self, iteration: u64) -> bool {
        self.window.includes(iteration, self.around.0, self.around.1)
    }

    fn measure(&self, learner: &Learner<N>, _: &Seen) -> Result<Vec<(&'static str, f64)>, ProbeError> {
        self.curvatures(learner.model(), learner.gain())
    }
}

#[cfg(test)]
mod tests {
    use burn::module::Param;
    use evenkeel::gain::{Gain, GainConfig};
    use evenkeel_models::{Mlp, SlimResNet};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::spec::Experiment;

    const GAIN: f64 = 1.6;

    /// A probe, the network of a small experiment under a gain, and one without a gain whose weights have it in them.
    fn models<N: Architecture>(
        config: &N::Config,
        work_in: impl Fn(N, &dyn Fn(&Param<Tensor<2>>) -> Param<Tensor<2>>) -> N,
    ) -> (CurvatureProbe, N, N) {
        let mut experiment = Experiment::named("split-digits").unwrap();
        experiment.set(r#"curvature={"batches":1,"batch":6,"steps":4}"#).unwrap();
        let data =
            crate::run::prepare::prepare(&experiment.settings, 0, &mut evenkeel_data::source::Quiet).unwrap();
        let spec = experiment.check().unwrap().expand(None).remove(0);
        let device = Device::flex().autodiff();
        let window = spec.settings.probes.curvature.unwrap();
        let probe = CurvatureProbe::new(window, &spec, &data, &device);
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let plain = N::init(config, data.input_shape(), data.stream.outputs(), &mut rng, &device);
        let gain = Gain::new(GainConfig::new().check().unwrap());
        gain.set(GAIN);
        let scaled =
            |weight: &Param<Tensor<2>>| Param::from_data(weight.val().mul_scalar(GAIN).into_data(), &device);
        let worked_in = work_in(plain.clone(), &scaled);
        (probe, plain.with_gain(&gain), worked_in)
    }

    /// Effective coordinates of a model under a gain are the coordinates of a model with the gain in its weights.
    fn check<N: Architecture>(
        (probe, under_gain, worked_in): &(CurvatureProbe, N, N),
    ) -> Vec<(&'static str, f64)> {
        let found = probe.curvatures(under_gain, Some(GAIN)).unwrap();
        let expected = probe.curvatures(worked_in, None).unwrap();
        assert_eq!(expected[0].1, expected[1].1);
        assert!(
            found[0].1 > 0.0 && (found[0].1 / expected[0].1 - 1.0).abs() < 1e-3,
            "{found:?} {expected:?}"
        );
        found
    }

    #[test]
    fn corollary_1_holds_for_the_mlp_of_an_experiment() {
        let config = serde_json::from_str(r#"{"hidden":[24,16]}"#).unwrap();
        let models = models::<Mlp>(&config, |mut model, scaled| {
            for layer in model.hidden.iter_mut().chain([&mut model.output]) {
                layer.weight = scaled(&layer.weight);
            }
            model
        });
        let found = check(&models);
        assert!((found[1].1 / found[0].1 / (GAIN * GAIN) - 1.0).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn lemma_2_holds_for_the_convolutional_network_of_an_experiment() {
        let models =
            models::<SlimResNet>(&<SlimResNet as Architecture>::Config::default(), |mut model, scaled| {
                model.head.weight = scaled(&model.head.weight);
                model
            });
        check(&models);
    }

    #[test]
    fn the_window_is_dense_then_spaced_and_ends_with_its_task() {
        let window = CurvatureWindow { dense: 2, every: 5, after: 12, ..CurvatureWindow::default() };
        let due: Vec<u64> = (1..200).filter(|i| window.includes(*i, 20, 20)).collect();
        assert_eq!(due, [20, 21, 22, 25, 30]);
        let long = CurvatureWindow { dense: 0, every: 10, after: 100, ..window };
        let due: Vec<u64> = (1..200).filter(|i| long.includes(*i, 20, 20)).collect();
        assert_eq!(due, [20, 30, 40]);
    }
}
