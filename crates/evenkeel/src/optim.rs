//! NGM-SGD, its learning-rate ablation, and other optimizers, with PyTorch's semantics.
//!
//! The rules implement Burn's [`Optimizer`](burn::optim::Optimizer) with PyTorch's definitions (Burn's own differ: its momentum
//! dampening defaults to 0.1 and its Adam ε to 1e-5) and checked parameters. On the CPU they update weights and moments in place.
//!
//! | you want | it is |
//! |---|---|
//! | the optimizer of a whole module, for burn-train's `Learner` or a loop of your own | `XConfig::new(lr).with_…(…).init()?`, Burn's [`ModuleOptimizer`](burn::optim::ModuleOptimizer) |
//! | a rule for some parameters | `XConfig::build()?` in `with_group`, for a [`group`] that is not empty |
//! | a schedule | Burn's, by `Learner` or `optimizer.step(scheduler.step(), …)` |
//! | clipping | `.init()?.with_grad_clipping(GradientClippingConfig::Norm(1.0).init())` |
//! | to go on from a saved state | Burn's records; [`load_state`] refuses one that does not fit |
//! | the gain | [`NgmSgd`]; a module's record keeps its value |
//!
//! ```
//! use burn::{grad_clipping::GradientClippingConfig, nn::LinearConfig, optim::GradientsParams, tensor::{Device, Tensor}};
//! use burn::lr_scheduler::cosine::CosineAnnealingLrSchedulerConfig;
//! use evenkeel::optim::SgdConfig;
//!
//! let device = Device::flex().autodiff();
//! let mut model = LinearConfig::new(4, 3).init(&device);
//! let clipping = GradientClippingConfig::Norm(1.0).init();
//! let mut optimizer = SgdConfig::new(0.1).with_momentum(0.9).init()?.with_grad_clipping(clipping);
//! let mut schedule = CosineAnnealingLrSchedulerConfig::new(0.1, 100).init()?;
//! for _ in 0..100 {
//!     let loss = model.forward(Tensor::<2>::ones([8, 4], &device)).square().mean();
//!     let gradients = GradientsParams::from_grads(loss.backward(), &model);
//!     model = optimizer.step(schedule.step(), model, gradients);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each is also a [`Method`], which asks for the gradients that it needs and says which weights are evaluated;
//! [`optimizer`] finds one by its name. A new one is a file in this folder and a line in the list below.

mod averaged;
mod error;
mod group;
mod labels;
mod method;
mod record;
mod registry;
mod rule_optimizer;
mod state;
mod update;
mod vector;

use serde::{Deserialize, Serialize};

pub use self::averaged::Averaged;
pub use self::error::OptimError;
pub use self::group::group;
pub use self::method::{
    Feedback, Gradients, LayerInputs, Method, NotFinite, Objective, Outputs, WeightLayout,
};
pub use self::record::load_state;
pub use self::registry::{NamedOptimizer, optimizer, optimizers};
pub use self::rule_optimizer::RuleOptimizer;
pub(crate) use self::update::scaled_sum;
use crate::nn::Modulated;

/// What a file of this folder says of its optimizer.
///
/// ```
/// use evenkeel::optim::{MethodConfig, SgdConfig};
/// assert_eq!(SgdConfig::NAMED[0].name, "msgd");
/// assert!(SgdConfig::new(0.1).with_momentum(2.0).check().is_err());
/// ```
pub trait MethodConfig {
    /// The optimizers that the file names.
    const NAMED: &'static [NamedOptimizer];

    /// Checks the ranges of the parameters.
    fn check(&self) -> Result<(), OptimError>;

    /// The method, ready for its first step on a model of this kind.
    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError>;

    /// Whether it asks for [layer inputs](Feedback::layer_inputs_on_old_tasks), which not every model tells.
    fn asks_for_layer_inputs(&self) -> bool {
        false
    }

    /// Whether it puts layers of the model under a gain.
    fn modulates(&self) -> bool {
        false
    }
}

registry::rules! {
    NgmSgd = "ngm-sgd" in ngm_sgd: NgmSgdConfig;
    EvenKeel = "even-keel" in even_keel: EvenKeelConfig;
    Sgd = "sgd" in sgd: SgdConfig;
    Adam = "adam" in adam: AdamConfig;
    EntropyLr = "entropy-lr" in entropy_lr: EntropyLrConfig;
    Nesterov = "nesterov" in nesterov: NesterovConfig;
    AdamW = "adamw" in adamw: AdamWConfig;
    Lion = "lion" in lion: LionConfig;
    RmsProp = "rmsprop" in rmsprop: RmsPropConfig;
    Warmup = "warmup" in warmup: WarmupConfig;
    Restart = "restart" in restart: RestartConfig;
    Cautious = "cautious" in cautious: CautiousConfig;
    CautiousAdam = "cautious-adam" in cautious_adam: CautiousAdamConfig;
    Spam = "spam" in spam: SpamConfig;
    ScheduleFree = "schedule-free" in schedule_free: ScheduleFreeConfig;
    Lookahead = "lookahead" in lookahead: LookaheadConfig;
    Trac = "trac" in trac: TracConfig;
    Sam = "sam" in sam: SamConfig;
    Cflat = "cflat" in cflat: CflatConfig;
    Temperature = "temperature" in temperature: TemperatureConfig;
    Agem = "agem" in agem: AgemConfig;
    Lpr = "lpr" in lpr: LprConfig;
    ErAce = "er-ace" in er_ace: ErAceConfig;
    Mkd = "mkd" in mkd: MkdConfig;
    ClsEr = "cls-er" in cls_er: ClsErConfig;
}
