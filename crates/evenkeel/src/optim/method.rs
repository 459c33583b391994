//! What a method of training is: it asks for gradients, moves the weights, and says which weights are evaluated.

use burn::module::{Module, ParamId};
use burn::optim::GradientsParams;
use burn::tensor::{Int, Tensor};
use thiserror::Error;

use super::OptimError;
use crate::nn::cross_entropy;

/// The loss is infinite or not a number: training has diverged.
///
/// ```
/// use evenkeel::optim::NotFinite;
/// assert_eq!(NotFinite(f64::INFINITY).to_string(), "the training loss is inf");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error("the training loss is {0}")]
pub struct NotFinite(pub f64);

/// What one pass forward and backward over a batch gives.
///
/// The example of [`Method`] makes one.
pub struct Gradients {
    /// Mean cross-entropy of the batch.
    pub loss: f64,
    /// Mean output entropy of the batch in nats (`H`).
    pub entropy: f64,
    /// Gradients of the loss with respect to the base weights.
    pub of: GradientsParams,
}

/// What a model says of the present batch.
///
/// The example of [`Method`] makes one.
pub struct Outputs {
    /// Logits, `[batch, classes]`.
    pub logits: Tensor<2>,
    /// The right classes.
    pub labels: Tensor<1, Int>,
    /// So many rows at the end come from a replay buffer.
    pub replayed: usize,
}

/// What is minimised, and the logits whose entropy counts.
///
/// The example of [`Method`] makes one.
pub struct Objective {
    /// The loss.
    pub loss: Tensor<1>,
    /// The logits as the method reads them.
    pub logits: Tensor<2>,
}

impl Objective {
    /// The cross-entropy of the batch.
    pub fn cross_entropy(Outputs { logits, labels, .. }: Outputs) -> Self {
        Self { loss: cross_entropy(logits.clone(), labels), logits }
    }
}

/// What came into a layer: the matrix Z with one row for each use of the layer's weights, as far as methods look at it.
pub struct LayerInputs {
    /// The layer's weights.
    pub parameter: ParamId,
    /// `ZᵀZ`, `[inputs, inputs]`.
    pub products: Tensor<2>,
    /// Rows of Z: one per example, or per example and place for a convolution.
    pub rows: usize,
    /// How the weights lie.
    pub weights: WeightLayout,
}

/// Which dimension of a layer's weights its inputs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeightLayout {
    /// A linear layer, `[inputs, outputs]`.
    InputsFirst,
    /// A convolution, `[outputs, inputs…]`: channels, height and width of its window count as one dimension.
    InputsLast,
}

impl LayerInputs {
    /// Of a linear layer with weights `[inputs, outputs]`: `z` has a row per example.
    ///
    /// ```
    /// use burn::{module::ParamId, tensor::{Device, Tensor}};
    /// use evenkeel::optim::LayerInputs;
    ///
    /// let z = Tensor::<2>::from_data([[1.0, 2.0], [0.0, 1.0], [3.0, 0.0]], &Device::flex());
    /// let told = LayerInputs::of_linear(ParamId::new(), z);
    /// assert_eq!((told.rows, told.products.into_data().try_to_vec::<f32>()?), (3, vec![10.0, 2.0, 2.0, 5.0]));
    /// # Ok::<(), burn::tensor::DataError>(())
    /// ```
    pub fn of_linear(parameter: ParamId, z: Tensor<2>) -> Self {
        let [rows, _] = z.dims();
        let products = z.clone().transpose().matmul(z);
        Self { parameter, products, rows, weights: WeightLayout::InputsFirst }
    }
}

/// Where a method gets its gradients from during one iteration.
///
/// The first gradients that are asked for are of the iteration's own batch: what they see is what is recorded. Everything else
/// is there for methods that need more than one gradient, a second batch, or an oracle that knows of tasks.
///
/// The example of [`Method`] implements it.
pub trait Feedback<M> {
    /// Gradients of an objective of the method's own on the present batch. May be asked at any weights, any number of times.
    fn gradients_of(
        &mut self,
        model: &M,
        objective: &mut dyn FnMut(Outputs) -> Objective,
    ) -> Result<Gradients, NotFinite>;

    /// Loss, entropy and gradients of `model` on the present batch: [`gradients_of`](Self::gradients_of) the cross-entropy.
    fn gradients(&mut self, model: &M) -> Result<Gradients, NotFinite> {
        self.gradients_of(model, &mut Objective::cross_entropy)
    }

    /// The right classes of the present batch.
    fn labels(&self) -> Tensor<1, Int>;

    /// Logits of the present batch in evaluation mode and without gradients, for the opinion of other weights.
    fn logits(&mut self, model: &M) -> Tensor<2>;

    /// Moves on to another batch, drawn independently from the same data.
    fn draw_again(&mut self);

    /// The same on a batch of the tasks before this one; `None` in the first task. An oracle: it needs the old data.
    fn gradients_on_old_tasks(&mut self, model: &M) -> Result<Option<Gradients>, NotFinite>;

    /// What comes into the layers of `model`, in evaluation mode, for so many examples of the tasks before this one; `None` in the first
    /// task. An oracle: it needs the old data.
    fn layer_inputs_on_old_tasks(&mut self, model: &M, examples: usize) -> Option<Vec<LayerInputs>>;

    /// Iterations done since the last task switch. An oracle: it needs to be told of the switch.
    fn since_switch(&self) -> u64;
}

/// A way to train a model, with the state that it keeps between iterations.
///
/// ```
/// use burn::{module::Module, nn::LinearConfig, optim::GradientsParams, tensor::{Device, Int, Tensor}};
/// use evenkeel::{entropy::mean_entropy, nn::Modulated};
/// use evenkeel::optim::{Feedback, Gradients, LayerInputs, Method, NotFinite, Objective, Outputs, optimizer};
/// # use evenkeel::gain::Gain;
///
/// // A model of your own: `with_gain` may do nothing if you never train it under a gain.
/// #[derive(Module, Debug)]
/// struct Model { layer: burn::nn::Linear }
/// impl Modulated for Model { fn with_gain(self, _: &Gain) -> Self { self } }
///
/// // Where its gradients come from.
/// struct Batch { x: Tensor<2>, y: Tensor<1, Int> }
/// impl Feedback<Model> for Batch {
///     fn gradients_of(
///         &mut self,
///         model: &Model,
///         objective: &mut dyn FnMut(Outputs) -> Objective,
///     ) -> Result<Gradients, NotFinite> {
///         let logits = model.layer.forward(self.x.clone());
///         let Objective { loss, logits } = objective(Outputs { logits, labels: self.y.clone(), replayed: 0 });
///         let (value, entropy) = (f64::from(loss.clone().into_scalar::<f32>()), mean_entropy(&logits));
///         Ok(Gradients { loss: value, entropy, of: GradientsParams::from_grads(loss.backward(), model) })
///     }
///     fn labels(&self) -> Tensor<1, Int> { self.y.clone() }
///     fn logits(&mut self, model: &Model) -> Tensor<2> { model.valid().layer.forward(self.x.clone().inner()) }
///     fn draw_again(&mut self) {}
///     fn gradients_on_old_tasks(&mut self, _: &Model) -> Result<Option<Gradients>, NotFinite> { Ok(None) }
///     fn layer_inputs_on_old_tasks(&mut self, _: &Model, _: usize) -> Option<Vec<LayerInputs>> { None }
///     fn since_switch(&self) -> u64 { 0 }
/// }
///
/// let device = Device::flex().autodiff();
/// let mut model = Model { layer: LinearConfig::new(4, 3).init(&device) };
/// let mut batch = Batch { x: Tensor::ones([8, 4], &device), y: Tensor::zeros([8], &device) };
/// // Any optimizer of the list, by name.
/// let mut method: Box<dyn Method<Model>> = optimizer("lion").unwrap().rule().method()?;
/// model = method.prepare(model);
/// for _ in 0..10 {
///     model = method.step(model, &mut batch)?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Method<M: Module>: Send {
    /// What must be done to a fresh model before its first step: put it under a gain, say.
    fn prepare(&mut self, model: M) -> M {
        model
    }

    /// One iteration.
    fn step(&mut self, model: M, feedback: &mut dyn Feedback<M>) -> Result<M, NotFinite>;

    /// The weights that are evaluated: those that are trained, unless the method keeps others (an average, say).
    fn evaluated(&self, model: &M) -> M {
        model.clone()
    }

    /// A second network that is asked as well, where there is one: predictions are those of the mean of both networks' logits.
    fn second_opinion(&self, _model: &M) -> Option<M> {
        None
    }

    /// The gain, where there is one.
    fn gain(&self) -> Option<f64> {
        None
    }

    /// Forgets momentum and moments, as an oracle does at a task switch.
    fn reset(&mut self);

    /// The state as bytes, for [`load`](Self::load). The model's own record has to be saved with it.
    fn save(&self) -> Result<Vec<u8>, OptimError>;

    /// Restores what [`save`](Self::save) wrote; the next step is then the one that would have followed.
    fn load(&mut self, state: &[u8]) -> Result<(), OptimError>;
}
