//! A scaled-down version of an experiment: the same code paths, tables and figures in minutes, and numbers that mean nothing.

use crate::spec::Experiment;

/// Two seeds: too few for an interval, and so for a verdict.
const SEEDS: u64 = 2;

/// Images per training step that mark a large network: those of the paper's convolutional benchmarks.
const LARGE_BATCH: usize = 256;

/// Fewer seeds, iterations, images per batch and test images. The buffers and all parameters of the optimizers stay.
pub fn quick(experiment: &mut Experiment) {
    experiment.seeds = (0..SEEDS).collect();
    let settings = &mut experiment.settings;
    if settings.batch < LARGE_BATCH {
        settings.iterations = 30;
        settings.eval_samples = Some(500);
    } else {
        settings.iterations = 5;
        settings.batch = 32;
        settings.eval_samples = Some(100);
    }
    if let Some(window) = &mut settings.probes.curvature {
        window.dense = 2;
        window.after = 10;
        window.every = 5;
        window.batches = 1;
    }
}
