//! The model and its optimizer: everything that training changes.

use burn::module::Module;
use burn::optim::GradientsParams;
use burn::store::ModuleRecord;
use burn::tensor::{Bytes, Device};
use evenkeel::gain::Gain;
use evenkeel::optim::{Baseline, EntropyLr, NgmSgd, OptimError};
use evenkeel_data::Stream;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use thiserror::Error;

use crate::network::{BACKBONE, Network};
use crate::spec::RunSpec;

/// Separates the stream of random numbers for the initial weights from those for the batches.
const INIT_STREAM: u64 = u64::MAX;

/// Momentum of the unmodulated backbone under NGM-SGD.
const BACKBONE_MOMENTUM: f64 = 0.9;

/// A saved state that does not fit.
#[derive(Debug, Error)]
pub enum StateError {
    /// The weights.
    #[error("weights: {0}")]
    Weights(String),
    /// The optimizer's state or gain.
    #[error(transparent)]
    Optimizer(#[from] OptimError),
}

/// A model with its optimizer.
pub struct Learner {
    model: Network,
    optimizer: Optimizer,
}

enum Optimizer {
    NgmSgd(NgmSgd),
    EntropyLr(EntropyLr),
    Baseline(Baseline),
}

impl Learner {
    /// Initial weights from the spec's seed alone: the same for every optimizer.
    pub fn new(spec: &RunSpec, stream: &Stream, device: &Device) -> Result<Self, OptimError> {
        let mut rng = ChaCha8Rng::seed_from_u64(spec.seed);
        rng.set_stream(INIT_STREAM);
        let model = Network::new(&spec.settings, stream, &mut rng, device);
        if let Some(config) = spec.optimizer.rule.entropy_lr() {
            return Ok(Self { model, optimizer: Optimizer::EntropyLr(config.init()?) });
        }
        Ok(match spec.optimizer.rule.ngm_sgd() {
            Some(config) => {
                let optimizer = config.with_momentum_group(BACKBONE, BACKBONE_MOMENTUM).init()?;
                Self { model: model.with_gain(optimizer.gain()), optimizer: Optimizer::NgmSgd(optimizer) }
            }
            None => Self { model, optimizer: Optimizer::Baseline(spec.optimizer.rule.baseline()?) },
        })
    }

    /// The model.
    pub fn model(&self) -> &Network {
        &self.model
    }

    /// The gain, for optimizers that have one.
    pub fn gain(&self) -> Option<&Gain> {
        match &self.optimizer {
            Optimizer::NgmSgd(optimizer) => Some(optimizer.gain()),
            Optimizer::EntropyLr(_) | Optimizer::Baseline(_) => None,
        }
    }

    /// One update of the weights, and of the gain where there is one.
    #[must_use]
    pub fn step(mut self, gradients: GradientsParams, entropy: f64) -> Self {
        self.model = match &mut self.optimizer {
            Optimizer::NgmSgd(optimizer) => optimizer.step(self.model, gradients, entropy),
            Optimizer::EntropyLr(optimizer) => optimizer.step(self.model, gradients, entropy),
            Optimizer::Baseline(optimizer) => optimizer.step(self.model, gradients),
        };
        self
    }

    /// Clears the optimizer's state.
    pub fn reset_optimizer(&mut self) {
        match &mut self.optimizer {
            Optimizer::NgmSgd(optimizer) => optimizer.reset(),
            Optimizer::EntropyLr(optimizer) => optimizer.reset(),
            Optimizer::Baseline(optimizer) => optimizer.reset(),
        }
    }

    /// Weights and optimizer state (with the gain) as bytes.
    pub fn save(&self) -> Result<(Vec<u8>, Vec<u8>), StateError> {
        let weights = self.model.clone().into_record().into_bytes();
        let weights = weights.map_err(|error| StateError::Weights(error.to_string()))?;
        let optimizer = match &self.optimizer {
            Optimizer::NgmSgd(optimizer) => optimizer.to_bytes()?,
            Optimizer::EntropyLr(optimizer) => optimizer.to_bytes()?,
            Optimizer::Baseline(optimizer) => optimizer.to_bytes()?,
        };
        Ok((weights.to_vec(), optimizer))
    }

    /// Restores what [`save`](Self::save) gave.
    pub fn load(mut self, weights: Vec<u8>, optimizer: Vec<u8>) -> Result<Self, StateError> {
        let bad = |error: burn::store::RecordError| StateError::Weights(error.to_string());
        let record = ModuleRecord::from_bytes(Bytes::from_bytes_vec(weights)).map_err(bad)?;
        self.model = self.model.try_load_record(record).map_err(bad)?;
        match &mut self.optimizer {
            Optimizer::NgmSgd(state) => state.load_bytes(&optimizer)?,
            Optimizer::EntropyLr(state) => state.load_bytes(&optimizer)?,
            Optimizer::Baseline(state) => state.load_bytes(optimizer)?,
        }
        Ok(self)
    }
}
