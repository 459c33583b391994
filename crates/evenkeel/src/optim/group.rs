//! Groups of parameters by their paths.

use burn::module::{Module, ModuleVisitor, Param, ParamGroup};
use burn::tensor::Tensor;

use super::OptimError;

/// The parameters of `module` whose path matches `pattern`, as Burn's optimizers and schedulers take them. A pattern that matches
/// nothing is an error.
///
/// ```
/// use burn::{module::Module, nn::{Linear, LinearConfig}, tensor::Device};
/// use evenkeel::optim::{AdamConfig, SgdConfig, group};
///
/// #[derive(Module, Debug)]
/// struct Network { backbone: Linear, head: Linear }
///
/// let layer = || LinearConfig::new(4, 4).init(&Device::flex().autodiff());
/// let network = Network { backbone: layer(), head: layer() };
/// // SGD, and Adam for the head.
/// let head = group(&network, "^head\\.")?;
/// let optimizer = SgdConfig::new(0.01).init()?.with_group(head, AdamConfig::new(0.001).build()?, None);
/// assert!(group(&network, "^heads\\.").is_err());
/// # Ok::<(), evenkeel::optim::OptimError>(())
/// ```
pub fn group<M: Module>(module: &M, pattern: &str) -> Result<ParamGroup, OptimError> {
    let group = from_pattern(pattern)?;
    let mut search = Search { group: &group, path: Vec::new(), found: false };
    module.visit(&mut search);
    if search.found { Ok(group) } else { Err(OptimError::NothingMatches(pattern.to_string())) }
}

/// The group before there is a module.
pub(super) fn from_pattern(pattern: &str) -> Result<ParamGroup, OptimError> {
    ParamGroup::from_regex(pattern).map_err(|_| OptimError::Group(pattern.to_string()))
}

struct Search<'a> {
    group: &'a ParamGroup,
    path: Vec<String>,
    found: bool,
}

impl ModuleVisitor for Search<'_> {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.to_string());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.found |= self.group.matches(&param.id, Some(&self.path.join(".")));
    }
}
