//! EvenKeel: a bounded gain that follows the normalised entropy, evaluated by a short average of the weights.

use burn::config::Config;
use burn::module::{Module, ParamGroup};
use burn::optim::{LearningRate, Optimizer};
use burn::tensor::{Device, Tensor};

use super::error::{below_one, not_negative};
use super::group::from_pattern;
use super::labels::SeenClasses;
use super::state::{StateReader, StateWriter};
use super::update::scaled_sum;
use super::{
    Averaged, Feedback, Gradients, Method, MethodConfig, NamedOptimizer, NotFinite, OptimError, Rule,
    RuleOptimizer, SgdConfig, SgdState,
};
use crate::ema::EmaConfig;
use crate::gain::{Gain, GainConfig};
use crate::nn::Modulated;

const KIND: &str = "even-keel";

/// Configuration of [`EvenKeel`].
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | 0.01 | `>= 0` | learning rate α of the weights under the gain; they move by α g² |
/// | `gamma` | 0.9 | `[0, 1)` | memory γ of the gain |
/// | `ceiling` | 6 | `>= 1` | the gain G of a network that knows nothing |
/// | `half` | 0.1 | `> 0` | normalised entropy h₀ at which the gain is half way between 1 and G |
/// | `decay` | 0.9 | `[0, 1)` | decay d of the average of the weights that is evaluated |
/// | `calibration` | 1 | `>= 0` | power p of the factor `min(1, H/L)` by which a surprised network takes its gain back |
/// | `backbone` | 10 | `>= 0` | learning rate of the weights under no gain, in units of `lr / g`: what the gain does to their gradients is undone |
/// | `normalised` | true | – | divide the entropy by ln C; without it the entropy counts in nats (ablation) |
///
/// ```
/// use evenkeel::optim::EvenKeelConfig;
/// let keel = EvenKeelConfig::new();
/// // Certain, undecided, and half way.
/// assert_eq!([0.0, 1.0, 0.1].map(|h| (10.0 * keel.target(h)).round() / 10.0), [1.0, 5.5, 3.5]);
/// ```
#[derive(Config, Debug, PartialEq)]
pub struct EvenKeelConfig {
    /// Learning rate α.
    #[config(default = 0.01)]
    pub lr: f64,
    /// Memory γ of the gain.
    #[config(default = 0.9)]
    pub gamma: f64,
    /// Upper bound G of the gain.
    #[config(default = 6.0)]
    pub ceiling: f64,
    /// Entropy h₀ at which the gain is half way.
    #[config(default = 0.1)]
    pub half: f64,
    /// Decay d of the average.
    #[config(default = 0.9)]
    pub decay: f64,
    /// Power p of the calibration H/L.
    #[config(default = 1.0)]
    pub calibration: f64,
    /// Learning rate of the unmodulated weights in units of α/g.
    #[config(default = 10.0)]
    pub backbone: f64,
    /// Whether the entropy is divided by that of a guess, ln C.
    #[config(default = true)]
    pub normalised: bool,
}

impl EvenKeelConfig {
    /// `g*(h) = 1 + (G − 1) h / (h + h₀)`: where the gain goes at the normalised entropy `h = H / ln C`.
    pub fn target(&self, h: f64) -> f64 {
        1.0 + (self.ceiling - 1.0) * h / (h + self.half)
    }

    /// The optimizer without its average, with the gain at 1.
    pub fn init(&self) -> Result<EvenKeel, OptimError> {
        self.for_group(None)
    }

    /// The optimizer for a model whose parameters in this group, if there are any, are under no gain.
    fn for_group(&self, group: Option<ParamGroup>) -> Result<EvenKeel, OptimError> {
        self.check()?;
        let gain = Gain::new(GainConfig::new().check()?);
        let mut optimizer = SgdConfig::new(self.lr).init()?;
        if let Some(group) = group {
            let rule = Unmodulated { factor: self.backbone, gain: gain.clone() };
            optimizer = optimizer.with_group(group, rule, None);
        }
        Ok(EvenKeel {
            optimizer: RuleOptimizer::new(KIND, self.lr, optimizer),
            gain,
            classes: SeenClasses::default(),
            config: self.clone(),
        })
    }
}

impl MethodConfig for EvenKeelConfig {
    const NAMED: &'static [NamedOptimizer] = &[NamedOptimizer::new(
        "even-keel",
        "EvenKeel",
        "a bounded gain on the normalised entropy, evaluated by a short average: no tuning",
        |_| Rule::EvenKeel(EvenKeelConfig::new()),
    )
    .keeps(1)];

    fn check(&self) -> Result<(), OptimError> {
        not_negative("lr", self.lr)?;
        not_negative("backbone", self.backbone)?;
        not_negative("calibration", self.calibration)?;
        below_one("gamma", self.gamma)?;
        below_one("decay", self.decay)?;
        if !(self.ceiling >= 1.0 && self.ceiling.is_finite()) {
            return Err(OptimError::Range { name: "ceiling", range: ">= 1", value: self.ceiling });
        }
        if !(self.half > 0.0 && self.half.is_finite()) {
            return Err(OptimError::Range { name: "half", range: "> 0", value: self.half });
        }
        Ok(())
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        let backbone = M::backbone().map(from_pattern).transpose()?;
        let keel = Box::new(self.for_group(backbone)?);
        Ok(Box::new(Averaged::new(keel, EmaConfig::new(self.decay))))
    }
}

/// SGD for weights in front of the gain: their gradients carry a factor g, which is divided out.
#[derive(Clone)]
struct Unmodulated {
    factor: f64,
    gain: Gain,
}

impl Optimizer for Unmodulated {
    type State<const D: usize> = SgdState<D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        w: Tensor<D>,
        d: Tensor<D>,
        _: Option<SgdState<D>>,
    ) -> (Tensor<D>, Option<SgdState<D>>) {
        (scaled_sum(1.0, w, -lr * self.factor / self.gain.value(), d), Some(SgdState { velocity: None }))
    }

    fn to_device<const D: usize>(state: SgdState<D>, _: &Device) -> SgdState<D> {
        state
    }
}

/// SGD under a bounded gain that needs no tuning.
///
/// One iteration, with `C` the number of classes seen so far:
///
/// ```text
/// forward with W = g·w;  w ← w − α ∂L/∂w
///                        v ← v − (10 α/g) ∂L/∂v for weights v in front of the gain
/// h = min(1, H/L) H / ln C;  g ← g^γ g*(h)^(1−γ),  g*(h) = 1 + (G−1) h/(h+h₀)
/// ```
///
/// By [`Rule::method`], and so in the lab, it is evaluated by the [`Averaged`] weights `w̄ ← d w̄ + (1−d) w`; in a loop of your own, use
/// [`Ema`](crate::ema::Ema) beside [`step`](Self::step).
///
/// The gain stays in `[1, G]` whatever the entropy does, so it cannot wind up on data that the network cannot learn, and it means the
/// same for 2 classes and for 150. It costs one gradient per step, keeps one copy of the weights (the average), and is never told of a
/// task switch.
#[derive(Clone)]
pub struct EvenKeel {
    optimizer: RuleOptimizer,
    gain: Gain,
    classes: SeenClasses,
    config: EvenKeelConfig,
}

impl EvenKeel {
    /// The gain that the modulated layers share.
    pub fn gain(&self) -> &Gain {
        &self.gain
    }

    /// One iteration: updates the weights, then the gain with the loss and the entropy of the batch and the number of `classes` seen so
    /// far.
    pub fn step<M: Module>(&mut self, module: M, gradients: Gradients, classes: usize) -> M {
        let Gradients { loss, entropy, of } = gradients;
        let module = self.optimizer.step(module, of);
        let calibration = if loss > entropy { (entropy / loss).powf(self.config.calibration) } else { 1.0 };
        let of_a_guess = if self.config.normalised { (classes.max(2) as f64).ln() } else { 1.0 };
        let h = calibration * entropy / of_a_guess;
        let gamma = self.config.gamma;
        self.gain.set(self.gain.value().powf(gamma) * self.config.target(h).powf(1.0 - gamma));
        module
    }
}

impl<M: Modulated> Method<M> for EvenKeel {
    fn prepare(&mut self, model: M) -> M {
        model.with_gain(&self.gain)
    }

    fn step(&mut self, model: M, feedback: &mut dyn Feedback<M>) -> Result<M, NotFinite> {
        self.classes.see(&feedback.labels());
        let gradients = feedback.gradients(&model)?;
        Ok(self.step(model, gradients, self.classes.count()))
    }

    fn gain(&self) -> Option<f64> {
        Some(self.gain.value())
    }

    /// Puts the gain back to 1. The classes that were seen stay.
    fn reset(&mut self) {
        self.optimizer.reset();
        self.gain.set(1.0);
    }

    fn save(&self) -> Result<Vec<u8>, OptimError> {
        StateWriter::new(KIND)
            .number("gain", self.gain.value())
            .part("classes", self.classes.to_bytes())
            .part("optimizer", self.optimizer.to_bytes()?)
            .finish()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), OptimError> {
        let state = StateReader::open(KIND, state)?;
        self.classes = SeenClasses::from_bytes(&state.part("classes")?)?;
        self.optimizer.load_bytes(&state.part("optimizer")?)?;
        self.gain.set(state.number("gain")?);
        Ok(())
    }
}
