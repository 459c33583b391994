//! The perceptron of the benchmarks on batches from outside: what other implementations of an optimizer are compared with.

use burn::module::Module as _;
use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor, TensorData};
use evenkeel::ema::EmaConfig;
use evenkeel::entropy::mean_entropy;
use evenkeel::optim::{Averaged, Feedback, Gradients, LayerInputs, Method, NotFinite, Objective, Outputs};
use evenkeel_lab::spec::{Experiment, ExperimentError};
use evenkeel_models::{GainLinear, Mlp};
use numpy::{PyArrayMethods as _, PyReadonlyArray2, PyReadonlyArray3, ToPyArray as _};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Trains on one batch after the other and tells the loss of each before its step, the gain after it, and the weights at the end.
///
/// `weights` are the layers, inputs × outputs; `x` is steps × batch × features, `y` steps × batch; `parameters` are those of the
/// optimizer as `key=value`.
#[pyfunction]
pub(crate) fn train_mlp<'py>(
    py: Python<'py>,
    weights: Vec<PyReadonlyArray2<'py, f32>>,
    x: PyReadonlyArray3<'py, f32>,
    y: PyReadonlyArray2<'py, i64>,
    optimizer: String,
    parameters: Vec<String>,
) -> PyResult<Bound<'py, PyDict>> {
    let [steps, batch, features] = [0, 1, 2].map(|axis| x.as_array().shape()[axis]);
    if y.as_array().shape() != [steps, batch] {
        return Err(PyValueError::new_err("y needs a label for every example of x"));
    }
    let mut width = features;
    for layer in &weights {
        if layer.as_array().nrows() != width {
            return Err(PyValueError::new_err("the layers do not fit each other"));
        }
        width = layer.as_array().ncols();
    }
    if weights.is_empty() || y.as_array().iter().any(|&label| label < 0 || label as usize >= width) {
        return Err(PyValueError::new_err("no layers, or a label that has no output"));
    }
    let mut method = method(&optimizer, &parameters)?;
    let mut layers: Vec<GainLinear> = weights.iter().map(layer).collect();
    let output = layers.pop().expect("there is a layer");
    let mut model = method.prepare(Mlp::from_layers(layers, output));
    let (mut losses, mut gains) = (Vec::new(), Vec::new());
    for step in 0..steps {
        let rows = x.as_array().index_axis(numpy::ndarray::Axis(0), step).iter().copied().collect();
        let labels = y.as_array().row(step).iter().copied().collect::<Vec<i64>>();
        let mut batch = Batch {
            x: Tensor::from_data(TensorData::new::<f32, _>(rows, [batch, features]), &device()),
            y: Tensor::from_data(TensorData::new(labels, [batch]), &device()),
            loss: None,
        };
        model = method.step(model, &mut batch).map_err(|error| PyValueError::new_err(error.to_string()))?;
        losses.push(batch.loss);
        gains.push(method.gain());
    }
    let result = PyDict::new(py);
    result.set_item("loss", losses)?;
    result.set_item("gain", gains)?;
    result.set_item("weights", arrays(py, &model)?)?;
    result.set_item("evaluated", arrays(py, &method.evaluated(&model))?)?;
    Ok(result)
}

fn device() -> Device {
    Device::flex().autodiff()
}

/// An optimizer by its name in `evenkeel list`.
fn method(name: &str, parameters: &[String]) -> PyResult<Box<dyn Method<Mlp>>> {
    let described = || -> Result<_, ExperimentError> {
        let mut experiment = Experiment::named("split-mnist")?;
        experiment.set_optimizers(&[name.to_string()])?;
        parameters.iter().try_for_each(|assignment| experiment.set(assignment))?;
        Ok(experiment.check()?.optimizers[0].clone())
    };
    let spec = described().map_err(|error| PyValueError::new_err(error.to_string()))?;
    let bad = |error: evenkeel::optim::OptimError| PyValueError::new_err(error.to_string());
    let method = spec.rule.method().map_err(bad)?;
    Ok(match spec.average {
        Some(decay) => Box::new(Averaged::new(method, EmaConfig::new(decay))),
        None => method,
    })
}

fn layer(weights: &PyReadonlyArray2<'_, f32>) -> GainLinear {
    let array = weights.as_array();
    let shape = [array.nrows(), array.ncols()];
    GainLinear::from_weights(TensorData::new(array.iter().copied().collect(), shape), &device())
}

fn arrays<'py>(py: Python<'py>, model: &Mlp) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let array = |layer: &GainLinear| {
        let shape = layer.weight.val().dims();
        let values: Vec<f32> = layer.weight.val().into_data().try_to_vec().expect("weights are numbers");
        Ok(values.to_pyarray(py).reshape(shape)?.into_any())
    };
    model.layers().map(array).collect()
}

/// One batch; there are no old tasks.
struct Batch {
    x: Tensor<2>,
    y: Tensor<1, Int>,
    loss: Option<f64>,
}

impl Feedback<Mlp> for Batch {
    fn gradients_of(
        &mut self,
        model: &Mlp,
        objective: &mut dyn FnMut(Outputs) -> Objective,
    ) -> Result<Gradients, NotFinite> {
        let outputs = Outputs { logits: model.forward(self.x.clone()), labels: self.y.clone(), replayed: 0 };
        let Objective { loss, logits } = objective(outputs);
        let (value, entropy) = (f64::from(loss.clone().into_scalar::<f32>()), mean_entropy(&logits));
        self.loss.get_or_insert(value);
        Ok(Gradients { loss: value, entropy, of: GradientsParams::from_grads(loss.backward(), model) })
    }

    fn labels(&self) -> Tensor<1, Int> {
        self.y.clone()
    }

    fn logits(&mut self, model: &Mlp) -> Tensor<2> {
        model.valid().forward(self.x.clone().inner())
    }

    fn draw_again(&mut self) {}

    fn gradients_on_old_tasks(&mut self, _: &Mlp) -> Result<Option<Gradients>, NotFinite> {
        Ok(None)
    }

    fn layer_inputs_on_old_tasks(&mut self, _: &Mlp, _: usize) -> Option<Vec<LayerInputs>> {
        None
    }

    fn since_switch(&self) -> u64 {
        0
    }
}
