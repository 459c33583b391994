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
    pub fn measure(&self, learner: &Learner) -> Result<Vec<(&'static str, f64)>, ProbeError> {
        let network = in_f64(learner.model());
        let loss = |network: &Network| {
            cross_entropy(network.forward_still(self.x.clone(), self.shape), self.y.clone())
        };
        let power = PowerIteration::new().with_steps(self.window.steps);
        let gain = learner.gain().map_or(1.0, evenkeel::gain::Gain::value);
        let base = dominant_eigenvalue(&network, loss, &power)?;
        let effective = match (&network, learner.gain()) {
            (Network::SlimResNet(_), Some(_)) => {
                let coordinates = Coordinates::effective(gain, network.modulated())?;
                let found = dominant_eigenvalue(&network, loss, &power.with_coordinates(coordinates))?;
                (found.magnitude(), found.residual)
            }
            _ => (base.magnitude() / (gain * gain), base.residual),
        };
        Ok(vec![
            (CURVATURE_EFFECTIVE, effective.0),
            (CURVATURE_BASE, base.magnitude()),
            (CURVATURE_RESIDUAL, effective.1),
        ])
    }
}
