//! The product of data with weights, for data that is mostly one number.

use std::sync::Arc;

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::ops::FloatTensorOps;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::{Device, Tensor, TensorData};
use evenkeel_kernels::InstructionSet;
use evenkeel_kernels::mlp::SparseBatch;

/// Above this share of numbers that differ from the first one, a dense product is faster.
const DENSE: f64 = 0.4;

/// `x · w` for data `x` (`[batch, inputs]`), as `x.matmul(w)` and with the same gradients.
///
/// On the CPU the kernels skip what equals the first number of `x`: the black corner of an image of MNIST, and four fifths of the rest.
pub fn matmul_sparse_input(x: Tensor<2>, w: Tensor<2>) -> Tensor<2> {
    if x.device() != Device::flex() && x.device() != Device::flex().autodiff() {
        return x.matmul(w);
    }
    Tensor::from_dispatch(<Dispatch as SparseInputOps>::product(x.into_dispatch(), w.into_dispatch()))
}

#[backend_extension(Flex, Autodiff)]
trait SparseInputOps: Backend {
    fn product(x: FloatTensor<Self>, w: FloatTensor<Self>) -> FloatTensor<Self>;
}

#[derive(Debug, Clone)]
struct Saved {
    x: FlexTensor,
    w: FlexTensor,
    packed: Option<Arc<SparseBatch>>,
}

/// The packed batch, if skipping pays and the kernels can do it.
fn pack(x: &FlexTensor, w: &FlexTensor) -> Option<SparseBatch> {
    let (values, _) = (x.as_slice::<f32>()?, w.as_slice::<f32>()?);
    let background = *values.first()?;
    let [columns, outputs] = w.layout().shape().dims();
    if !SparseBatch::supports(InstructionSet::active(), outputs) {
        return None;
    }
    SparseBatch::pack_unless_dense(values, columns, background, DENSE)
}

fn forward(x: FlexTensor, w: FlexTensor) -> (FlexTensor, Saved) {
    let packed = pack(&x, &w).map(Arc::new);
    let y = match &packed {
        None => Flex::float_matmul(x.clone(), w.clone()),
        Some(batch) => {
            let ([rows, _], [_, outputs]) = (x.layout().shape().dims(), w.layout().shape().dims());
            let mut y = vec![0.0; rows * outputs];
            batch.product(InstructionSet::active(), w.as_slice().expect("packed above"), &mut y);
            FlexTensor::from_data(TensorData::new(y, [rows, outputs]))
        }
    };
    (y, Saved { x, w, packed })
}

impl SparseInputOps for Flex {
    fn product(x: FlexTensor, w: FlexTensor) -> FlexTensor {
        forward(x, w).0
    }
}

#[derive(Debug)]
struct Product;

impl Backward<Flex, 2> for Product {
    type State = Saved;

    fn backward(self, ops: Ops<Saved, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
        let dy = grads.consume::<Flex>(&ops.node);
        let [x_node, w_node] = ops.parents;
        let Saved { x, w, packed } = ops.state;
        if let Some(node) = x_node {
            grads.register::<Flex>(node.id, Flex::float_matmul(dy.clone(), Flex::float_transpose(w.clone())));
        }
        let Some(node) = w_node else { return };
        let dw = match packed {
            None => Flex::float_matmul(Flex::float_transpose(x), dy),
            Some(batch) => {
                let dy = dy.to_contiguous();
                let shape = w.layout().shape().clone();
                let mut dw = vec![0.0; shape.num_elements()];
                batch.gradient(InstructionSet::active(), dy.as_slice().expect("contiguous f32"), &mut dw);
                FlexTensor::from_data(TensorData::new(dw, shape))
            }
        };
        grads.register::<Flex>(node.id, dw);
    }
}

impl<C: CheckpointStrategy> SparseInputOps for Autodiff<Flex, C> {
    fn product(x: FloatTensor<Self>, w: FloatTensor<Self>) -> FloatTensor<Self> {
        let ((x, x_node), (w, w_node)) = (x.into_parts(), w.into_parts());
        let (y, saved) = forward(x, w);
        match Product.prepare::<C>([x_node, w_node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish(saved, y),
            OpsKind::UnTracked(prep) => prep.finish(y),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(values: Vec<f32>, shape: [usize; 2]) -> Tensor<2> {
        Tensor::from_data(TensorData::new(values, shape), &Device::flex().autodiff()).require_grad()
    }

    /// Product and gradients against Burn's own, on sparse and on dense data and for numbers of outputs with and without kernels.
    #[test]
    fn it_is_a_matrix_product() {
        for (every, outputs) in [(5, 32), (1, 32), (5, 7)] {
            let x = |i: usize| if i % every == 2 % every { (i % 11) as f32 / 3.0 } else { -0.5 };
            let w: Vec<f32> = (0..40 * outputs).map(|i| ((i * 7) % 23) as f32 / 20.0 - 0.5).collect();
            let results: Vec<Vec<TensorData>> = [true, false]
                .map(|ours| {
                    let x = tensor((0..9 * 40).map(x).collect(), [9, 40]);
                    let w = tensor(w.clone(), [40, outputs]);
                    let y = if ours {
                        matmul_sparse_input(x.clone(), w.clone())
                    } else {
                        x.clone().matmul(w.clone())
                    };
                    let gradients = y.clone().powi_scalar(2).sum().backward();
                    let gradient = |tensor: &Tensor<2>| tensor.grad(&gradients).unwrap().into_data();
                    vec![y.into_data(), gradient(&x), gradient(&w)]
                })
                .into();
            for (ours, burn) in results[0].iter().zip(&results[1]) {
                let (ours, burn) = (ours.as_slice::<f32>().unwrap(), burn.as_slice::<f32>().unwrap());
                // Sums of terms of both signs: rounding goes with the largest result, not with each.
                let largest = burn.iter().fold(0.0_f32, |m, v| m.max(v.abs()));
                for (a, b) in ours.iter().zip(burn) {
                    assert!((a - b).abs() <= 1e-6 * largest, "{a} against {b}");
                }
            }
        }
    }
}
