//! EvenKeel: a bounded gain that follows the normalised entropy, evaluated by a short average of the weights.

use burn::config::Config;
use burn::module::Module;
use burn::optim::{LearningRate, ModuleOptimizer, Optimizer};
use burn::tensor::{Device, Tensor};

use super::error::{below_one, not_negative};
use super::labels::SeenClasses;
use super::state::{StateReader, StateWriter};
use super::update::{norm, scaled_sum};
use super::{
    Averaged, Feedback, Gradients, Method, MethodConfig, NamedOptimizer, NotFinite, OptimError, Rule,
    RuleOptimizer, SgdState,
};
use crate::ema::EmaConfig;
use crate::gain::{Gain, GainConfig};
use crate::nn::Modulated;

const KIND: &str = "even-keel";

/// Root mean square below which a layer counts as this large: one of zeros can move.
const SMALLEST_RMS: f64 = 1e-3;

/// Configuration of [`EvenKeel`].
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | 0.1 | `>= 0` | learning rate α: a step is α/g times the gradient, which carries a factor g itself |
/// | `gamma` | 0.9 | `[0, 1)` | memory γ of the gain |
/// | `ceiling` | 3 | `>= 1` | the gain G of a network that knows nothing |
/// | `half` | 0.1 | `> 0` | normalised entropy h₀ at which the gain is half way between 1 and G |
/// | `decay` | 0.9 | `[0, 1)` | decay d of the average of the weights that is evaluated |
/// | `calibration` | 1 | `>= 0` | power p of the factor `min(1, H/L)` by which a surprised network takes its gain back |
/// | `trust` | 0.025 | `> 0` | no step changes a layer by more than this share τ of its norm |
/// | `normalised` | true | – | divide the entropy by ln C; without it the entropy counts in nats (ablation) |
///
/// ```
/// use evenkeel::optim::EvenKeelConfig;
/// let keel = EvenKeelConfig::new();
/// // Certain, undecided, and half way.
/// assert_eq!([0.0, 1.0, 0.1].map(|h| (10.0 * keel.target(h)).round() / 10.0), [1.0, 2.8, 2.0]);
/// ```
#[derive(Config, Debug, PartialEq)]
pub struct EvenKeelConfig {
    /// Learning rate α.
    #[config(default = 0.1)]
    pub lr: f64,
    /// Memory γ of the gain.
    #[config(default = 0.9)]
    pub gamma: f64,
    /// Upper bound G of the gain.
    #[config(default = 3.0)]
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
    /// The largest relative change τ of a layer in one step.
    #[config(default = 0.025)]
    pub trust: f64,
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
        self.check()?;
        let gain = Gain::new(GainConfig::new().check()?);
        let rule = TrustedStep { trust: self.trust, gain: gain.clone() };
        Ok(EvenKeel {
            optimizer: RuleOptimizer::new(KIND, self.lr, ModuleOptimizer::from(rule)),
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
        not_negative("calibration", self.calibration)?;
        below_one("gamma", self.gamma)?;
        below_one("decay", self.decay)?;
        if !(self.ceiling >= 1.0 && self.ceiling.is_finite()) {
            return Err(OptimError::Range { name: "ceiling", range: ">= 1", value: self.ceiling });
        }
        for (name, value) in [("half", self.half), ("trust", self.trust)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(OptimError::Range { name, range: "> 0", value });
            }
        }
        Ok(())
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        Ok(Box::new(Averaged::new(Box::new(self.init()?), EmaConfig::new(self.decay))))
    }

    fn modulates(&self) -> bool {
        true
    }
}

/// SGD with a rate of α/g, whose steps are bounded by the size of what they change.
#[derive(Clone)]
struct TrustedStep {
    trust: f64,
    gain: Gain,
}

impl Optimizer for TrustedStep {
    type State<const D: usize> = SgdState<D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        w: Tensor<D>,
        d: Tensor<D>,
        _: Option<SgdState<D>>,
    ) -> (Tensor<D>, Option<SgdState<D>>) {
        let mut rate = lr / self.gain.value();
        // Biases and scales may be small for good reasons, and a layer of zeros has to move.
        if D > 1 {
            let size = norm(&w).max(SMALLEST_RMS * (w.shape().num_elements() as f64).sqrt());
            rate = rate.min(self.trust * size / norm(&d));
        }
        (scaled_sum(1.0, w, -rate, d), Some(SgdState { velocity: None }))
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
/// forward with W = g·w;  w ← w − min(α/g, τ‖w‖/‖∂L/∂w‖) ∂L/∂w
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

#[cfg(test)]
mod tests {
    use burn::tensor::TensorData;

    use super::*;

    /// Weights of shape `D` after a step of α = .5 with τ = .1 at gain 2.
    fn moved<const D: usize>(shape: [usize; D], w: [f32; 4], d: [f32; 4]) -> Vec<f32> {
        let gain = Gain::new(GainConfig::new().check().unwrap());
        gain.set(2.0);
        let tensor = |values: [f32; 4]| {
            Tensor::<D>::from_data(TensorData::new(values.to_vec(), shape), &Device::flex())
        };
        let (w, _) = TrustedStep { trust: 0.1, gain }.step(0.5, tensor(w), tensor(d), None);
        w.into_data().try_to_vec().unwrap()
    }

    #[test]
    fn a_step_changes_a_layer_by_a_share_of_its_norm_at_most() {
        assert_eq!(moved([2, 2], [3.0, 4.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]), [2.5, 4.0, 0.0, 0.0]);
        assert_eq!(moved([2, 2], [3.0, 4.0, 0.0, 0.0], [2.5, 0.0, 0.0, 0.0]), [2.5, 4.0, 0.0, 0.0]);
        // A bias is not bounded, and nothing is divided by the norm of no gradient at all.
        assert_eq!(moved([4], [3.0, 4.0, 0.0, 0.0], [8.0, 0.0, 0.0, 0.0]), [1.0, 4.0, 0.0, 0.0]);
        assert_eq!(moved([2, 2], [3.0, 4.0, 0.0, 0.0], [0.0; 4]), [3.0, 4.0, 0.0, 0.0]);
    }

    #[test]
    fn a_layer_of_zeros_can_move() {
        let after = moved([2, 2], [0.0; 4], [0.0, 1.0, 0.0, 0.0]);
        assert!((after[1] + 2e-4).abs() < 1e-9 && after[0] == 0.0, "{after:?}");
    }
}
