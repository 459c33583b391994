//! SGD with Nesterov momentum under a name of its own, as PyTorch defines it.

use burn::config::Config;
use burn::optim::ModuleOptimizer;

use super::{Method, MethodConfig, NamedOptimizer, OptimError, Rule, Sgd, SgdConfig};
use crate::nn::Modulated;

/// SGD with Nesterov momentum, `torch.optim.SGD(nesterov=True)`.
///
/// ```text
/// d ← ∂L/∂w + λ w                       weight decay λ
/// v ← μ v + d                           v starts as d itself
/// w ← w − α (d + μ v)
/// ```
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α |
/// | `momentum` | 0.9 | `(0, 1)` | μ |
/// | `weight_decay` | 0 | `>= 0` | λ, added to the gradient (not decoupled) |
///
/// ```
/// use evenkeel::optim::NesterovConfig;
///
/// let config = NesterovConfig::new(0.01).with_momentum(0.95);
/// let nesterov = config.init()?; // and then `model = nesterov.step(config.lr, model, gradients)`
/// # assert_eq!(nesterov.to_record().len(), 0);
/// # Ok::<(), evenkeel::optim::OptimError>(())
/// ```
///
/// Reference: Sutskever, Martens, Dahl and Hinton, *On the importance of initialization and momentum in deep learning* (2013).
#[derive(Config, Debug, PartialEq)]
pub struct NesterovConfig {
    /// Learning rate α.
    pub lr: f64,
    /// Momentum μ.
    #[config(default = 0.9)]
    pub momentum: f64,
    /// L2 penalty λ.
    #[config(default = 0.0)]
    pub weight_decay: f64,
}

impl NesterovConfig {
    /// The bare rule, for a group of parameters.
    pub fn build(&self) -> Result<Sgd, OptimError> {
        self.sgd().build()
    }

    /// The optimizer of a whole module, as a loop of your own or burn-train's `Learner` takes it.
    pub fn init(&self) -> Result<ModuleOptimizer, OptimError> {
        self.sgd().init()
    }

    fn sgd(&self) -> SgdConfig {
        SgdConfig::new(self.lr)
            .with_momentum(self.momentum)
            .with_nesterov(true)
            .with_weight_decay(self.weight_decay)
    }
}

impl MethodConfig for NesterovConfig {
    const NAMED: &'static [NamedOptimizer] =
        &[NamedOptimizer::new("nesterov", "Nesterov", "SGD with Nesterov momentum 0.9", |_| {
            Rule::Nesterov(NesterovConfig::new(0.01))
        })
        .keeps(1)];

    fn check(&self) -> Result<(), OptimError> {
        self.sgd().check()
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        self.sgd().method()
    }
}
