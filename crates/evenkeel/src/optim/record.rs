//! Records of optimizers, loaded whole or not at all.

use std::collections::BTreeMap;

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::{GradientsParams, ModuleOptimizer, OptimizerRecord};
use burn::tensor::{Bytes, Shape, Tensor};
use burn_pack::Reader;

use super::OptimError;

/// Burn's optimizers keep a state for parameters of these ranks.
const RANKS: std::ops::RangeInclusive<usize> = 0..=8;

/// Loads a saved state (`optimizer.into_bytes()`) of the optimizer of `module`, or says why it does not fit.
///
/// Burn's own `from_bytes` takes any state, and what it cannot use is forgotten in silence: the optimizer of another rule or of other
/// layers then starts from nothing. The parameters have to have the ids that they had when the state was saved; a module's record
/// restores them.
///
/// ```
/// use burn::{nn::LinearConfig, tensor::Device};
/// use evenkeel::optim::{AdamConfig, SgdConfig, load_state};
/// # use burn::{optim::GradientsParams, tensor::Tensor};
///
/// let device = Device::flex().autodiff();
/// let (mut adam, mut model) = (AdamConfig::new(0.01).init()?, LinearConfig::new(2, 2).init(&device));
/// # let loss = model.forward(Tensor::<2>::ones([1, 2], &device)).sum();
/// # let gradients = GradientsParams::from_grads(loss.backward(), &model);
/// model = adam.step(0.01, model, gradients);
/// let state = adam.into_bytes()?;
/// let resumed = load_state(AdamConfig::new(0.01).init()?, state.clone(), &model)?;
/// # assert_eq!(resumed.to_record().len(), 4);
/// assert!(load_state(SgdConfig::new(0.01).with_momentum(0.9).init()?, state, &model).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load_state<M: Module>(
    optimizer: ModuleOptimizer,
    state: Bytes,
    module: &M,
) -> Result<ModuleOptimizer, OptimError> {
    let (saved, own) = (Layout::read(state.clone())?, Layout::of(&optimizer, module)?);
    for (name, shape) in &saved.tensors {
        match own.tensors.get(name) {
            Some(own) if own == shape => {}
            Some(own) => return Err(bad(format!("{name} has shape {shape}, and {own} is needed"))),
            None => return Err(bad(format!("{name} is of no use to this optimizer of this module"))),
        }
    }
    // What there is of a parameter has to be all that the rule remembers of one.
    let missing = own
        .tensors
        .keys()
        .find(|name| saved.ranks.contains_key(&parameter_of(name)) && !saved.tensors.contains_key(*name));
    match missing {
        Some(name) => Err(bad(format!("{name} is missing"))),
        None => load_all(optimizer, state),
    }
}

/// Loads a state whose parameters are not known; all of it has to be of use.
pub(super) fn load_all(optimizer: ModuleOptimizer, state: Bytes) -> Result<ModuleOptimizer, OptimError> {
    let saved = Layout::read(state.clone())?.tensors.len();
    let loaded = optimizer.load_record(OptimizerRecord::from_bytes(state).map_err(bad)?);
    let taken = loaded.to_record().len();
    if taken != saved {
        return Err(bad(format!("it has {saved} tensors, and this optimizer can use {taken} of them")));
    }
    Ok(loaded)
}

fn bad(error: impl std::fmt::Display) -> OptimError {
    OptimError::Record(error.to_string())
}

/// The id in `id.field`.
fn parameter_of(name: &str) -> u64 {
    name.split('.').next().and_then(|id| id.parse().ok()).unwrap_or_default()
}

/// What a state consists of.
struct Layout {
    /// Shapes by name, which is `id.field`.
    tensors: BTreeMap<String, Shape>,
    /// Of each parameter that has a state.
    ranks: BTreeMap<u64, usize>,
}

impl Layout {
    /// Of a saved state, if it is one of an optimizer: every tensor has the rank that is said of its parameter.
    fn read(state: Bytes) -> Result<Self, OptimError> {
        let reader = Reader::from_bytes(state).map_err(bad)?;
        let mut ranks = BTreeMap::new();
        for (name, rank) in reader.scalars() {
            if let Some(id) = name.strip_suffix(".__rank").and_then(|id| id.parse::<u64>().ok()) {
                let rank = usize::try_from(*rank).ok().filter(|rank| RANKS.contains(rank));
                ranks.insert(id, rank.ok_or_else(|| bad(format!("{name} is not a rank")))?);
            }
        }
        let mut tensors = BTreeMap::new();
        for tensor in reader.into_tensors().map_err(bad)? {
            let rank = tensor.param_id.and_then(|id| ranks.get(&id));
            if rank != Some(&tensor.shape.rank()) || tensor.param_id != Some(parameter_of(&tensor.name)) {
                return Err(bad(format!("{} is not of its parameter", tensor.name)));
            }
            tensors.insert(tensor.name, tensor.shape);
        }
        Ok(Self { tensors, ranks })
    }

    /// Of the state that the optimizer of `module` has after a step, which is tried out on a copy.
    fn of<M: Module>(optimizer: &ModuleOptimizer, module: &M) -> Result<Self, OptimError> {
        struct Zeros(GradientsParams);
        impl ModuleVisitor for Zeros {
            fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
                if param.is_require_grad() {
                    self.0.register(param.id, param.base().inner().zeros_like());
                }
            }
        }
        let (mut optimizer, copy) = (optimizer.clone(), module.valid().train());
        let mut zeros = Zeros(GradientsParams::new());
        copy.visit(&mut zeros);
        optimizer.step(0.0, copy, zeros.0);
        Self::read(optimizer.into_bytes().map_err(bad)?)
    }
}
