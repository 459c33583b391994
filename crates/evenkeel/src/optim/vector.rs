//! A vector over the trained parameters of a model: a gradient, a momentum, other weights.

use std::collections::BTreeMap;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::Tensor;

use super::update::{inner_product, scaled_sum};

/// One number for each trained number of a model: flat tensors by the ids of their parameters.
#[derive(Debug, Clone, Default)]
pub(super) struct Vector(pub(super) BTreeMap<u64, Tensor<1>>);

impl Vector {
    /// The trained weights of `model`.
    pub(super) fn of_weights<M: Module>(model: &M) -> Self {
        struct Read(Vector);
        impl ModuleVisitor for Read {
            fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
                if param.is_require_grad() {
                    self.0.0.insert(param.id.val(), flat(param.base().inner()));
                }
            }
        }
        let mut read = Read(Self::default());
        model.visit(&mut read);
        read.0
    }

    /// The gradients of `model`; zeros for a parameter that has none.
    pub(super) fn of_gradients<M: Module>(model: &M, gradients: &GradientsParams) -> Self {
        struct Read<'a>(Vector, &'a GradientsParams);
        impl ModuleVisitor for Read<'_> {
            fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
                if param.is_require_grad() {
                    let gradient = self.1.get::<D>(param.id);
                    let gradient = gradient.unwrap_or_else(|| param.base().inner().zeros_like());
                    self.0.0.insert(param.id.val(), flat(gradient));
                }
            }
        }
        let mut read = Read(Self::default(), gradients);
        model.visit(&mut read);
        read.0
    }

    /// As gradients of `model`, for an optimizer.
    pub(super) fn into_gradients<M: Module>(self, model: &M) -> GradientsParams {
        struct Write(Vector, GradientsParams);
        impl ModuleVisitor for Write {
            fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
                if let Some(values) = self.0.0.remove(&param.id.val()) {
                    self.1.register::<D>(param.id, values.reshape(param.shape()));
                }
            }
        }
        let mut write = Write(self, GradientsParams::new());
        model.visit(&mut write);
        write.1
    }

    /// `model` with these weights. Whether it tracks gradients stays as it is; its running statistics are its own.
    pub(super) fn into_weights_of<M: Module>(self, model: M) -> M {
        struct Write(Vector);
        impl ModuleMapper for Write {
            fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
                let Some(values) = self.0.0.remove(&param.id.val()) else { return param };
                let trains = param.is_require_grad();
                param.map(|old| {
                    let values = values.to_device(&old.device().inner()).reshape(old.shape());
                    if old.is_autodiff() {
                        Tensor::from_inner(values).set_require_grad(trains)
                    } else {
                        values
                    }
                })
            }
        }
        model.map(&mut Write(self))
    }

    /// All zeros.
    pub(super) fn zeros_like(&self) -> Self {
        self.map(Tensor::zeros_like)
    }

    /// `f` of each parameter's numbers.
    pub(super) fn map(&self, f: impl Fn(&Tensor<1>) -> Tensor<1>) -> Self {
        Self(self.0.iter().map(|(id, values)| (*id, f(values))).collect())
    }

    /// `f` of each parameter's numbers and those of `other`, which is a vector over the same parameters.
    pub(super) fn zip(self, other: &Self, f: impl Fn(Tensor<1>, Tensor<1>) -> Tensor<1>) -> Self {
        let pairs = self.0.into_iter().map(|(id, own)| {
            let others = other.0.get(&id).expect("vectors over one model").clone();
            let own = own.to_device(&others.device());
            (id, f(own, others))
        });
        Self(pairs.collect())
    }

    /// `a·self + b·x`, in place where nobody else holds the numbers.
    pub(super) fn scaled_sum(self, a: f64, b: f64, x: &Self) -> Self {
        self.zip(x, |y, x| scaled_sum(a, y, b, x))
    }

    /// The inner product, summed in f64 and in one order.
    pub(super) fn dot(&self, other: &Self) -> f64 {
        self.0.iter().map(|(id, own)| inner_product(own, &other.0[id])).sum()
    }

    /// The Euclidean norm.
    pub(super) fn norm(&self) -> f64 {
        self.dot(self).sqrt()
    }
}

fn flat<const D: usize>(tensor: Tensor<D>) -> Tensor<1> {
    let len = tensor.shape().num_elements();
    tensor.reshape([len])
}

/// A copy of `model` that tracks gradients and shares nothing that a forward pass changes: its running statistics are its own.
pub(super) fn detached<M: Module>(model: &M) -> M {
    model.valid().train()
}

/// A detached copy of `model` at the weights `w + by·direction`.
pub(super) fn moved<M: Module>(model: &M, by: f64, direction: &Vector) -> M {
    Vector::of_weights(model).scaled_sum(1.0, by, direction).into_weights_of(detached(model))
}

#[cfg(test)]
mod tests {
    use burn::nn::{Linear, LinearConfig};
    use burn::tensor::Device;

    use super::*;

    fn model() -> Linear {
        LinearConfig::new(2, 3).init(&Device::flex().autodiff())
    }

    #[test]
    fn weights_go_out_and_in_and_still_train() {
        let model = model();
        let twice = Vector::of_weights(&model).scaled_sum(2.0, 0.0, &Vector::of_weights(&model));
        let doubled = twice.into_weights_of(model.clone());
        assert_eq!(doubled.weight.val().into_data(), model.weight.val().mul_scalar(2.0).into_data());
        let loss = doubled.forward(Tensor::<2>::ones([1, 2], &Device::flex().autodiff())).sum();
        let gradients = GradientsParams::from_grads(loss.backward(), &doubled);
        let gradient = Vector::of_gradients(&doubled, &gradients);
        // Six weights and three biases, each with gradient one.
        assert_eq!(gradient.dot(&gradient), 9.0);
        assert_eq!(gradient.norm(), 3.0);
        let back = gradient.into_gradients(&doubled);
        assert_eq!(back.get::<2>(doubled.weight.id).unwrap().sum().into_scalar::<f32>(), 6.0);
    }

    #[test]
    fn a_parameter_without_a_gradient_has_zeros() {
        let model = model();
        let none = Vector::of_gradients(&model, &GradientsParams::new());
        assert_eq!((none.0.len(), none.norm()), (2, 0.0));
        let there = moved(&model, 0.5, &Vector::of_weights(&model));
        assert_eq!(there.weight.val().into_data(), model.weight.val().mul_scalar(1.5).into_data());
        assert_eq!(there.weight.id, model.weight.id);
    }
}
