//! An exponential moving average of the weights of any module: train one model, evaluate the average of it.

use std::any::Any;
use std::collections::{BTreeSet, HashMap};

use burn::config::Config;
use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::store::{ModuleRecord, RecordError};
use burn::tensor::{Bool, Int, Tensor};
use thiserror::Error;

use crate::optim::scaled_sum;
use crate::recorded::Recorded;

/// Why there is no average.
///
/// ```
/// use burn::{nn::LinearConfig, tensor::Device};
/// use evenkeel::ema::{EmaConfig, EmaError};
/// let model = LinearConfig::new(2, 2).init(&Device::flex()); // not an autodiff device
/// assert_eq!(EmaConfig::new(0.99).init(&model).unwrap_err(), EmaError::NothingTrains);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum EmaError {
    /// The average would be that of nothing, or would not follow the weights.
    #[error("decay must be in [0, 1), got {0}")]
    Decay(f64),
    /// No parameter is trained, so there is nothing to average.
    #[error(
        "no parameter of the module requires gradients; give the model that is trained, on an autodiff device"
    )]
    NothingTrains,
}

/// Configuration of [`Ema`].
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `decay` | – | `[0, 1)` | share d of the old average in the new one |
/// | `warm_up` | true | – | begin as the plain mean of the weights so far: `d_t = min(1 − 1/(t+1), d)` |
/// | `average_buffers` | true | – | average running statistics as well; false copies them |
///
/// ```
/// use burn::{nn::LinearConfig, tensor::Device};
/// use evenkeel::ema::EmaConfig;
/// let model = LinearConfig::new(2, 2).init(&Device::flex().autodiff());
/// let ema = EmaConfig::new(0.99).with_warm_up(false).init(&model)?;
/// assert_eq!(ema.updates(), 0);
/// # Ok::<(), evenkeel::ema::EmaError>(())
/// ```
#[derive(Config, Debug, PartialEq)]
pub struct EmaConfig {
    /// Share d of the old average.
    pub decay: f64,
    /// Whether the decay grows from 0 to d.
    #[config(default = true)]
    pub warm_up: bool,
    /// Whether buffers are averaged; copied if not.
    #[config(default = true)]
    pub average_buffers: bool,
}

impl EmaConfig {
    /// An average that begins with the weights of `model`.
    pub fn init<M: Module>(&self, model: &M) -> Result<Ema<M>, EmaError> {
        if !(0.0..1.0).contains(&self.decay) {
            return Err(EmaError::Decay(self.decay));
        }
        let averaged = Averaged::paths(model);
        if averaged.is_empty() {
            return Err(EmaError::NothingTrains);
        }
        Ok(Ema { average: model.valid(), updates: Recorded::new(0), averaged, config: self.clone() })
    }
}

/// The exponential moving average of a model's weights.
///
/// ```text
/// θ̄ ← d_t θ̄ + (1 − d_t) θ         d_t = min(1 − 1/(t+1), d) with warm-up; t counts the updates before this one
/// ```
///
/// Parameters that require gradients are averaged; running statistics such as BatchNorm's too unless they are to be copied; integers and
/// booleans are copied. The average is in evaluation mode and has no gradients. It is a [`Module`], so its record
/// keeps the average and the number of updates. A gain that the model is under is shared: `W̄ = g·w̄` at the gain of the moment.
///
/// ```
/// use burn::{module::Module, nn::LinearConfig, tensor::Device};
/// use evenkeel::ema::EmaConfig;
/// # use burn::{optim::GradientsParams, tensor::Tensor};
/// # use evenkeel::optim::SgdConfig;
///
/// let device = Device::flex().autodiff();
/// let mut model = LinearConfig::new(4, 3).init(&device);
/// let mut ema = EmaConfig::new(0.99).init(&model)?;
/// # let mut sgd = SgdConfig::new(0.1).init().unwrap();
/// for _ in 0..10 {
///     // … a step of training …
/// #   let loss = model.forward(Tensor::<2>::ones([8, 4], &device)).square().mean();
/// #   let gradients = GradientsParams::from_grads(loss.backward(), &model);
/// #   model = sgd.step(0.1, model, gradients);
///     ema.update(&model);
/// }
/// let evaluated = ema.module();
/// # assert_ne!(evaluated.weight.val().into_data(), model.weight.val().into_data());
/// // After a restart:
/// let resumed = EmaConfig::new(0.99).init(&model)?.load_record(ema.clone().into_record());
/// assert_eq!(resumed.updates(), 10);
/// # Ok::<(), evenkeel::ema::EmaError>(())
/// ```
///
/// Reference: Polyak and Juditsky, *Acceleration of stochastic approximation by averaging* (1992); in continual learning:
/// Soutif-Cormerais, Carta and van de Weijer, *Improving online continual learning performance and stability with temporal ensembles*
/// (2023).
#[derive(Module, Debug)]
pub struct Ema<M: Module> {
    average: M,
    updates: Recorded<u64>,
    // Paths of what requires gradients.
    #[module(skip)]
    averaged: BTreeSet<String>,
    #[module(skip)]
    config: EmaConfig,
}

impl<M: Module> Ema<M> {
    /// The averaged model, in evaluation mode.
    pub fn module(&self) -> &M {
        &self.average
    }

    /// Goes on from an average that was saved, after so many updates.
    pub(crate) fn restore(&mut self, average: ModuleRecord, updates: u64) -> Result<(), RecordError> {
        self.average = self.average.clone().try_load_record(average)?;
        self.updates.word = updates;
        Ok(())
    }

    /// How often the average was updated.
    pub fn updates(&self) -> u64 {
        self.updates.word
    }

    /// The share of the old average in the next update.
    pub fn decay(&self) -> f64 {
        let mean = 1.0 - 1.0 / (self.updates() as f64 + 1.0);
        if self.config.warm_up { mean.min(self.config.decay) } else { self.config.decay }
    }

    /// Takes the weights of `model` in, as they are now.
    pub fn update(&mut self, model: &M) {
        let mut read = Read::default();
        // Brings running statistics up to date, which a visit alone does not.
        model.valid().visit(&mut read);
        let mut mix = Mix { new: read.values, path: Path::default(), decay: self.decay(), of: self };
        // Running statistics are shared by clones, and a clone of this average stays what it is.
        self.average = mix.of.average.valid().map(&mut mix);
        self.updates.word += 1;
    }
}

/// Where a traversal is.
#[derive(Default)]
struct Path(Vec<String>);

impl Path {
    fn enter(&mut self, name: &str) {
        self.0.push(name.to_string());
    }

    fn exit(&mut self) {
        self.0.pop();
    }

    fn join(&self) -> String {
        self.0.join(".")
    }
}

/// Finds what requires gradients.
#[derive(Default)]
struct Averaged {
    path: Path,
    found: BTreeSet<String>,
}

impl Averaged {
    fn paths<M: Module>(model: &M) -> BTreeSet<String> {
        let mut averaged = Self::default();
        model.visit(&mut averaged);
        averaged.found
    }
}

impl ModuleVisitor for Averaged {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.enter(name);
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.exit();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if param.is_require_grad() {
            self.found.insert(self.path.join());
        }
    }
}

/// The values of a model, by path.
#[derive(Default)]
struct Read {
    path: Path,
    values: HashMap<String, Box<dyn Any>>,
}

impl ModuleVisitor for Read {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.enter(name);
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.exit();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.values.insert(self.path.join(), Box::new(param.base()));
    }

    fn visit_int<const D: usize>(&mut self, param: &Param<Tensor<D, Int>>) {
        // A number that records keep of its own accord is not a value of the model: it waits to be asked for.
        if param.is_initialized() {
            self.values.insert(self.path.join(), Box::new(param.base()));
        }
    }

    fn visit_bool<const D: usize>(&mut self, param: &Param<Tensor<D, Bool>>) {
        self.values.insert(self.path.join(), Box::new(param.base()));
    }
}

/// Moves an average towards new values.
struct Mix<'a, M: Module> {
    new: HashMap<String, Box<dyn Any>>,
    path: Path,
    decay: f64,
    of: &'a Ema<M>,
}

impl<M: Module> Mix<'_, M> {
    fn take<T: 'static>(&mut self) -> Option<T> {
        let new = self.new.remove(&self.path.join())?;
        Some(*new.downcast::<T>().expect("the same module has the same parameters"))
    }
}

impl<M: Module> ModuleMapper for Mix<'_, M> {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.enter(name);
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.exit();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let averaged = self.of.averaged.contains(&self.path.join());
        let buffer = !averaged && self.of.config.average_buffers;
        match self.take::<Tensor<D>>() {
            Some(new) if averaged || buffer => {
                param.map(|old| scaled_sum(self.decay, old, 1.0 - self.decay, new))
            }
            Some(new) => param.map(|_| new),
            None => param,
        }
    }

    fn map_int<const D: usize>(&mut self, param: Param<Tensor<D, Int>>) -> Param<Tensor<D, Int>> {
        match self.take::<Tensor<D, Int>>() {
            Some(new) => param.map(|_| new),
            None => param,
        }
    }

    fn map_bool<const D: usize>(&mut self, param: Param<Tensor<D, Bool>>) -> Param<Tensor<D, Bool>> {
        match self.take::<Tensor<D, Bool>>() {
            Some(new) => param.map(|_| new),
            None => param,
        }
    }
}
