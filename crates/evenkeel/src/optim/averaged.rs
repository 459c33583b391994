//! Any method, evaluated by an average of the weights that it trains.

use burn::module::Module;
use burn::store::ModuleRecord;
use burn::tensor::Bytes;

use super::state::{StateReader, StateWriter};
use super::{Feedback, Method, NotFinite, OptimError};
use crate::ema::{Ema, EmaConfig};

const KIND: &str = "average of weights";

/// A method whose evaluated weights are an exponential moving average of the trained ones: see [`Ema`].
///
/// ```
/// # use burn::{module::Module, nn::LinearConfig, tensor::Device};
/// # use evenkeel::{gain::Gain, nn::Modulated};
/// use evenkeel::{ema::EmaConfig, optim::{Averaged, Method, optimizer}};
/// # #[derive(Module, Debug)]
/// # struct Model { layer: burn::nn::Linear }
/// # impl Modulated for Model { fn with_gain(self, _: &Gain) -> Self { self } }
/// # let model = Model { layer: LinearConfig::new(4, 3).init(&Device::flex().autodiff()) };
/// let adam = optimizer("adam").unwrap().rule().method::<Model>()?;
/// let mut averaged = Averaged::new(adam, EmaConfig::new(0.9));
/// let model = averaged.prepare(model); // and then `model = averaged.step(model, &mut batch)?`
/// let evaluated = averaged.evaluated(&model);
/// # assert_eq!(evaluated.layer.weight.val().into_data(), model.layer.weight.val().into_data());
/// # Ok::<(), evenkeel::optim::OptimError>(())
/// ```
pub struct Averaged<M: Module> {
    method: Box<dyn Method<M>>,
    config: EmaConfig,
    ema: Option<Ema<M>>,
}

impl<M: Module> Averaged<M> {
    /// `method` with an average that begins with the weights of the first step.
    pub fn new(method: Box<dyn Method<M>>, config: EmaConfig) -> Self {
        Self { method, config, ema: None }
    }

    fn start(&mut self, model: &M) {
        if self.ema.is_none() {
            // Without trained parameters there is nothing to average, and nothing to train either.
            self.ema = self.config.init(model).ok();
        }
    }
}

impl<M: Module> Method<M> for Averaged<M> {
    fn prepare(&mut self, model: M) -> M {
        let model = self.method.prepare(model);
        self.start(&model);
        model
    }

    fn step(&mut self, model: M, feedback: &mut dyn Feedback<M>) -> Result<M, NotFinite> {
        self.start(&model);
        let model = self.method.step(model, feedback)?;
        if let Some(ema) = &mut self.ema {
            ema.update(&model);
        }
        Ok(model)
    }

    fn evaluated(&self, model: &M) -> M {
        self.ema.as_ref().map_or_else(|| model.clone(), |ema| ema.module().clone())
    }

    fn gain(&self) -> Option<f64> {
        self.method.gain()
    }

    /// Forgets what the method remembers; the average stays, for it is no part of training.
    fn reset(&mut self) {
        self.method.reset();
    }

    fn save(&self) -> Result<Vec<u8>, OptimError> {
        let ema = self.ema.as_ref();
        let ema = ema.ok_or_else(|| bad("there is no average before the method is prepared"))?;
        let average = ema.module().clone().into_record().into_bytes().map_err(bad)?;
        StateWriter::new(KIND)
            .number("updates", ema.updates() as f64)
            .part("average", average.to_vec())
            .part("method", self.method.save()?)
            .finish()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), OptimError> {
        let state = StateReader::open(KIND, state)?;
        let average = Bytes::from_bytes_vec(state.part("average")?);
        let (average, updates) = (ModuleRecord::from_bytes(average).map_err(bad)?, state.number("updates")?);
        let ema = self.ema.as_mut().ok_or_else(|| bad("the method has to be prepared first"))?;
        self.method.load(&state.part("method")?)?;
        ema.restore(average, updates as u64).map_err(bad)
    }
}

fn bad(error: impl std::fmt::Display) -> OptimError {
    OptimError::Record(error.to_string())
}
