//! A scaled-down version of an experiment: the same code paths, tables and figures in minutes, and numbers that mean nothing.

use crate::experiment::Experiment;
use crate::spec::Model;

/// Two seeds, the fewest that have an interval.
const SEEDS: u64 = 2;

/// Fewer seeds, iterations, images a batch and test images. The buffers and all parameters of the optimizers stay.
pub fn quick(experiment: &mut Experiment) {
    experiment.seeds = (0..SEEDS).collect();
    let settings = &mut experiment.settings;
    match settings.model {
        Model::Mlp => {
            settings.iterations = 30;
            settings.eval_samples = Some(500);
        }
        Model::SlimResnet18 => {
            settings.iterations = 5;
            settings.batch = 32;
            settings.eval_samples = Some(100);
        }
    }
    if let Some(window) = &mut settings.curvature {
        window.dense = 2;
        window.after = 10;
        window.every = 5;
        window.batches = 1;
    }
}
