//! The trainable parameters of a module as one vector of f64, in visiting order.

use burn::module::{Flag, Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::tensor::{DType, Gradients, Tensor, TensorData};

/// Where one parameter tensor is in the vector.
#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) id: ParamId,
    pub(super) path: String,
    pub(super) rank: usize,
    pub(super) dtype: DType,
    pub(super) len: usize,
}

/// A detached copy of `model` that tracks gradients, for evaluating a loss and nothing else: dropout is off, and
/// normalisation layers use their running statistics without updating them.
pub(super) fn probe<M: Module>(model: &M) -> M {
    struct Still;
    impl ModuleMapper for Still {
        fn map_flag(&mut self, flag: Param<Flag>) -> Param<Flag> {
            flag.with_value(false)
        }
    }
    // Clones share running statistics with their original; what comes out of `valid` does not.
    model.valid().train().map(&mut Still)
}

/// A detached copy of `model` in f64, for a curvature without the rounding of f32; see
/// [`dominant_eigenvalue`](super::dominant_eigenvalue).
///
/// Its loss has to be computed from f64 inputs: cast them once with `x.cast(DType::F64)`.
///
/// ```
/// use burn::{nn::LinearConfig, tensor::{DType, Device}};
///
/// let model = LinearConfig::new(3, 2).init(&Device::flex());
/// assert_eq!(evenkeel::curvature::in_f64(&model).weight.val().dtype(), DType::F64);
/// ```
pub fn in_f64<M: Module>(model: &M) -> M {
    struct Widen;
    impl ModuleMapper for Widen {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            let trainable = param.is_require_grad();
            param.map(|tensor| tensor.cast(DType::F64).detach().set_require_grad(trainable))
        }
    }
    probe(model).map(&mut Widen)
}

/// The parameters that require gradients, and their values.
pub(super) fn parameters<M: Module>(model: &M) -> (Vec<Parameter>, Vec<f64>) {
    #[derive(Default)]
    struct Read {
        path: Vec<String>,
        parameters: Vec<Parameter>,
        values: Vec<f64>,
    }
    impl ModuleVisitor for Read {
        fn enter_module(&mut self, name: &str, _container: &str) {
            self.path.push(name.to_string());
        }

        fn exit_module(&mut self, _name: &str, _container: &str) {
            self.path.pop();
        }

        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if param.is_require_grad() {
                let data = param.base().into_data();
                self.values.extend(data.iter::<f64>());
                let (id, path) = (param.id, self.path.join("."));
                let (dtype, len) = (data.dtype(), data.num_elements());
                self.parameters.push(Parameter { id, path, rank: D, dtype, len });
            }
        }
    }
    let mut read = Read::default();
    model.visit(&mut read);
    (read.parameters, read.values)
}

/// The model with its trainable parameters replaced by `values`, rounded to their own precision.
pub(super) fn with_values<M: Module>(model: M, values: &[f64]) -> M {
    struct Write<'a>(&'a [f64]);
    impl ModuleMapper for Write<'_> {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            if !param.is_require_grad() {
                return param;
            }
            param.map(|old| {
                let (own, rest) = self.0.split_at(old.shape().num_elements());
                self.0 = rest;
                let data = TensorData::new(own.to_vec(), old.shape()).convert_dtype(old.dtype());
                Tensor::from_data(data, (&old.device(), old.dtype())).require_grad()
            })
        }
    }
    model.map(&mut Write(values))
}

/// The gradients of the trainable parameters; zeros where the loss does not depend on one.
pub(super) fn gradients<M: Module>(model: &M, gradients: &Gradients) -> Vec<f64> {
    struct Collect<'a>(&'a Gradients, Vec<f64>);
    impl ModuleVisitor for Collect<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if !param.is_require_grad() {
                return;
            }
            match param.base().grad(self.0) {
                Some(gradient) => self.1.extend(gradient.into_data().iter::<f64>()),
                None => self.1.resize(self.1.len() + param.base().shape().num_elements(), 0.0),
            }
        }
    }
    let mut collect = Collect(gradients, Vec::new());
    model.visit(&mut collect);
    collect.1
}
