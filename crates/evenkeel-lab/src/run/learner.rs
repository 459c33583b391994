//! A learner is a model and a method: everything that training changes.

use burn::store::ModuleRecord;
use burn::tensor::{Bytes, Device, Int, Tensor};
use evenkeel::ema::EmaConfig;
use evenkeel::optim::{Averaged, Method, NotFinite, OptimError};
use evenkeel_models::{Architecture, Frozen, InputShape};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use thiserror::Error;

use super::batches::Draw;
use super::feedback::{BatchFeedback, Seen};
use super::prepare::Prepared;
use crate::spec::RunSpec;

/// Separates the stream of random numbers for the initial weights from those for the batches.
const INIT_STREAM: u64 = u64::MAX;

/// A saved state that does not fit.
#[derive(Debug, Error)]
pub enum StateError {
    /// The weights.
    #[error("weights: {0}")]
    Weights(String),
    /// The state of the method.
    #[error(transparent)]
    Optimizer(#[from] OptimError),
}

/// A model with the method that trains it.
pub struct Learner<N: Architecture> {
    model: N,
    method: Box<dyn Method<N>>,
    /// All but the head, as it was when it was frozen.
    frozen: Option<Box<dyn Frozen<N>>>,
    /// Its memory for gradients; no part of what was learnt.
    trainer: N::Trainer,
    shape: InputShape,
}

impl<N: Architecture> Learner<N> {
    /// Initial weights from the spec's seed alone: the same for every optimizer.
    pub fn new(
        config: &N::Config,
        spec: &RunSpec,
        data: &Prepared,
        device: &Device,
    ) -> Result<Self, OptimError> {
        let mut rng = ChaCha8Rng::seed_from_u64(spec.seed);
        rng.set_stream(INIT_STREAM);
        let shape = data.input_shape();
        let mut method = spec.optimizer.rule.method()?;
        if let Some(decay) = spec.optimizer.average {
            method = Box::new(Averaged::new(method, EmaConfig::new(decay)));
        }
        let mut model = N::init(config, shape, data.stream.outputs(), &mut rng, device);
        if let Some(layers) = spec.optimizer.under_gain {
            model = model.with_layers_under_gain(layers);
        }
        Ok(Self { model: method.prepare(model), method, frozen: None, trainer: N::Trainer::default(), shape })
    }

    /// The model that is trained.
    pub fn model(&self) -> &N {
        &self.model
    }

    /// The model that is evaluated, which the method chooses.
    pub fn evaluated(&self) -> N {
        self.method.evaluated(&self.model)
    }

    /// The networks whose mean logits predict: the one that is evaluated, and what the method asks beside it.
    pub(crate) fn opinions(&self) -> Vec<N> {
        std::iter::once(self.evaluated()).chain(self.method.second_opinion(&self.model)).collect()
    }

    /// The gain, for methods that have one.
    pub fn gain(&self) -> Option<f64> {
        self.method.gain()
    }

    /// One iteration on a batch; `draw` is for methods that ask for more. The learner comes back with what was seen of the batch.
    pub(crate) fn step(
        self,
        batch: (Tensor<2>, Tensor<1, Int>),
        draw: Draw<'_>,
        with_accuracy: bool,
        device: &Device,
    ) -> Result<(Self, Seen), NotFinite> {
        let Self { model, mut method, frozen, mut trainer, shape } = self;
        let mut feedback = BatchFeedback {
            batch,
            shape,
            frozen: frozen.as_deref(),
            trainer: &mut trainer,
            with_accuracy,
            seen: None,
            draw,
            device,
        };
        let model = method.step(model, &mut feedback)?;
        let seen = feedback.seen.expect("every method asks for the gradients of its batch");
        Ok((Self { model, method, frozen, trainer, shape }, seen))
    }

    /// Clears the state of the method.
    pub fn reset(&mut self) {
        self.method.reset();
    }

    /// Leaves only the head to be trained from here on.
    pub fn freeze(&mut self) {
        if self.frozen.is_none() {
            self.frozen = self.model.freeze_backbone(self.shape);
        }
    }

    /// Weights and the method's state as bytes.
    pub fn save(&self) -> Result<(Vec<u8>, Vec<u8>), StateError> {
        let weights = self.model.clone().into_record().into_bytes();
        let weights = weights.map_err(|error| StateError::Weights(error.to_string()))?;
        Ok((weights.to_vec(), self.method.save()?))
    }

    /// Restores what [`save`](Self::save) gave.
    pub fn load(mut self, weights: Vec<u8>, method: &[u8]) -> Result<Self, StateError> {
        let bad = |error: burn::store::RecordError| StateError::Weights(error.to_string());
        let record = ModuleRecord::from_bytes(Bytes::from_bytes_vec(weights)).map_err(bad)?;
        self.model = self.model.try_load_record(record).map_err(bad)?;
        self.method.load(method)?;
        Ok(self)
    }
}
