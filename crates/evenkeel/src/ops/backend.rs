//! The backend extension: what `flex` computes with kernels, and how autodiff goes back through it.

use std::sync::{Arc, Mutex, PoisonError};

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Flex, backend_extension};
use burn::tensor::TensorData;
use evenkeel_kernels::batch_norm::{self, Gate, Moments, NormGradient, Normaliser};
use evenkeel_kernels::{ConvShape, Epilogue, PackedWeights, Path, Shape, conv, layout, pool};

use super::flex::contiguous;
use super::spare::{filled, recycle};

/// What a convolution with BatchNorm needs beside its tensors.
#[derive(Debug, Clone)]
pub(super) struct ConvNormSpec {
    pub(super) conv: ConvShape,
    pub(super) relu: bool,
    pub(super) epsilon: f32,
    /// Takes the moments of the batch, for the running statistics.
    pub(super) moments: Arc<Mutex<Option<Moments>>>,
}

/// Operations of residual networks on the kernels' layout.
#[backend_extension(Flex, Autodiff)]
pub(super) trait ResidualOps: Backend {
    /// NCHW to blocked.
    fn to_blocked(x: FloatTensor<Self>, shape: Shape) -> FloatTensor<Self>;

    /// `relu?(bn(x * w))`, normalised by the batch.
    fn conv_norm(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        beta: FloatTensor<Self>,
        spec: ConvNormSpec,
    ) -> FloatTensor<Self>;

    /// `relu?(bn(x * w) + residual)`, normalised by the batch.
    fn conv_norm_residual(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        beta: FloatTensor<Self>,
        residual: FloatTensor<Self>,
        spec: ConvNormSpec,
    ) -> FloatTensor<Self>;

    /// Average over windows of 4×4, blocked to `[images, channels · windows]`.
    fn average_pool(x: FloatTensor<Self>, shape: Shape) -> FloatTensor<Self>;
}

fn tensor<const D: usize>(values: Vec<f32>, shape: [usize; D]) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(values, shape))
}

fn slice(tensor: &FlexTensor) -> &[f32] {
    tensor.as_slice().expect("contiguous f32")
}

/// What the backward pass of a convolution with BatchNorm looks at again.
#[derive(Debug, Clone)]
struct Saved {
    x: FlexTensor,
    weight: FlexTensor,
    /// The convolution's output, before BatchNorm.
    z: FlexTensor,
    /// The result, where a ReLU after a residual needs it.
    y: Option<FlexTensor>,
    normaliser: Arc<Normaliser>,
    spec: ConvNormSpec,
}

fn forward(
    tensors: [FlexTensor; 4],
    residual: Option<FlexTensor>,
    spec: ConvNormSpec,
) -> (FlexTensor, Saved) {
    let path = Path::active();
    let [x, weight, gamma, beta] = tensors.map(contiguous);
    let residual = residual.map(contiguous);
    let output = spec.conv.output();
    let mut packed = PackedWeights::new();
    packed.pack_forward(path, &spec.conv, slice(&weight));
    let len = output.blocked_len(path);
    let (z, moments) = filled(len, |z| conv::forward_with_moments(path, &spec.conv, slice(&x), &packed, z));
    let normaliser = Normaliser::of_batch(&moments, slice(&gamma), slice(&beta), spec.epsilon);
    *spec.moments.lock().unwrap_or_else(PoisonError::into_inner) = Some(moments);
    let (y, ()) = filled(len, |y| {
        let residual = residual.as_ref().map(slice);
        batch_norm::normalise(path, &output, &normaliser, slice(&z), residual, spec.relu, y);
    });
    let gate = (residual.is_some() && spec.relu).then(|| y.clone());
    (y, Saved { x, weight, z, y: gate, normaliser: Arc::new(normaliser), spec })
}

/// Gradients of x (if wanted: that of the network's input is not), weight, gamma, beta and the residual.
fn backward(saved: Saved, dy: FlexTensor, wants_x: bool) -> [Option<FlexTensor>; 5] {
    let path = Path::active();
    let conv = &saved.spec.conv;
    let output = conv.output();
    let gate = match &saved.y {
        Some(y) => Gate::Output(slice(y)),
        None if saved.spec.relu => Gate::Input,
        None => Gate::Open,
    };
    let mut dy = contiguous(dy);
    let z = slice(&saved.z);
    let sums = batch_norm::backward_sums(path, &output, &saved.normaliser, z, dy.storage_mut(), gate);
    let gradient = NormGradient { normaliser: &saved.normaliser, sums: &sums, z, dy: slice(&dy), gate };
    let x = slice(&saved.x);
    let mut dw = vec![0.0; conv.weight_len()];
    let dx = if wants_x {
        let mut packed = PackedWeights::new();
        packed.pack_backward(path, conv, slice(&saved.weight));
        let (dx, ()) = filled(conv.input().blocked_len(path), |dx| {
            conv::backward(path, conv, x, &gradient, &mut dw, Some((&packed, dx, Epilogue::default())));
        });
        Some(dx)
    } else {
        conv::backward(path, conv, x, &gradient, &mut dw, None);
        None
    };
    let dw = FlexTensor::from_data(TensorData::new(dw, saved.weight.layout().shape().clone()));
    let channels = [output.channels];
    recycle(saved.z);
    recycle(saved.x);
    if let Some(y) = saved.y {
        recycle(y);
    }
    [dx, Some(dw), Some(tensor(sums.gamma, channels)), Some(tensor(sums.beta, channels)), Some(dy)]
}

impl ResidualOps for Flex {
    fn to_blocked(x: FlexTensor, shape: Shape) -> FlexTensor {
        let path = Path::active();
        let x = contiguous(x);
        filled(shape.blocked_len(path), |blocked| layout::to_blocked(path, &shape, slice(&x), blocked)).0
    }

    fn conv_norm(
        x: FlexTensor,
        weight: FlexTensor,
        gamma: FlexTensor,
        beta: FlexTensor,
        spec: ConvNormSpec,
    ) -> FlexTensor {
        forward([x, weight, gamma, beta], None, spec).0
    }

    fn conv_norm_residual(
        x: FlexTensor,
        weight: FlexTensor,
        gamma: FlexTensor,
        beta: FlexTensor,
        residual: FlexTensor,
        spec: ConvNormSpec,
    ) -> FlexTensor {
        forward([x, weight, gamma, beta], Some(residual), spec).0
    }

    fn average_pool(x: FlexTensor, shape: Shape) -> FlexTensor {
        let path = Path::active();
        let x = contiguous(x);
        let pooled = pool::pooled(&shape);
        let mut blocked = vec![0.0; pooled.blocked_len(path)];
        pool::average_pool(path, &shape, slice(&x), &mut blocked);
        recycle(x);
        let mut features = vec![0.0; pooled.batch * pooled.image_len()];
        layout::from_blocked(path, &pooled, &blocked, &mut features);
        tensor(features, [pooled.batch, pooled.image_len()])
    }
}

/// The convolution with its BatchNorm, `N` of whose five possible parents exist: the last, the residual, may be missing.
#[derive(Debug)]
struct ConvNorm;

impl<const N: usize> Backward<Flex, N> for ConvNorm {
    type State = Saved;

    fn backward(self, ops: Ops<Saved, N>, grads: &mut Gradients, _: &mut Checkpointer) {
        let dy = grads.consume::<Flex>(&ops.node);
        let wants_x = ops.parents[0].is_some();
        for (parent, gradient) in ops.parents.into_iter().zip(backward(ops.state, dy, wants_x)) {
            match (parent, gradient) {
                (Some(parent), Some(gradient)) => grads.register::<Flex>(parent.id, gradient),
                (None, Some(unwanted)) => recycle(unwanted),
                (_, None) => {}
            }
        }
    }
}

#[derive(Debug)]
struct AveragePool;

impl Backward<Flex, 1> for AveragePool {
    type State = Shape;

    fn backward(self, ops: Ops<Shape, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let dy = contiguous(grads.consume::<Flex>(&ops.node));
        let [Some(parent)] = ops.parents else { return };
        let path = Path::active();
        let (shape, pooled) = (ops.state, pool::pooled(&ops.state));
        let mut blocked = vec![0.0; pooled.blocked_len(path)];
        layout::to_blocked(path, &pooled, slice(&dy), &mut blocked);
        let (dx, ()) = filled(shape.blocked_len(path), |dx| {
            pool::average_pool_backward(path, &shape, &blocked, dx);
        });
        grads.register::<Flex>(parent.id, dx);
    }
}

impl<C: CheckpointStrategy> ResidualOps for Autodiff<Flex, C> {
    /// Images are data: no gradient goes back through here.
    fn to_blocked(x: FloatTensor<Self>, shape: Shape) -> FloatTensor<Self> {
        <Self as burn::backend::AutodiffBackend>::from_inner(<Flex as ResidualOps>::to_blocked(
            x.into_primitive(),
            shape,
        ))
    }

    fn conv_norm(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        beta: FloatTensor<Self>,
        spec: ConvNormSpec,
    ) -> FloatTensor<Self> {
        let ((x, a), (weight, b), (gamma, c), (beta, d)) =
            (x.into_parts(), weight.into_parts(), gamma.into_parts(), beta.into_parts());
        let (y, saved) = forward([x, weight, gamma, beta], None, spec);
        match ConvNorm.prepare::<C>([a, b, c, d]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish(saved, y),
            OpsKind::UnTracked(prep) => prep.finish(y),
        }
    }

    fn conv_norm_residual(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        beta: FloatTensor<Self>,
        residual: FloatTensor<Self>,
        spec: ConvNormSpec,
    ) -> FloatTensor<Self> {
        let ((x, a), (weight, b), (gamma, c), (beta, d), (residual, e)) = (
            x.into_parts(),
            weight.into_parts(),
            gamma.into_parts(),
            beta.into_parts(),
            residual.into_parts(),
        );
        let (y, saved) = forward([x, weight, gamma, beta], Some(residual), spec);
        match ConvNorm.prepare::<C>([a, b, c, d, e]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish(saved, y),
            OpsKind::UnTracked(prep) => prep.finish(y),
        }
    }

    fn average_pool(x: FloatTensor<Self>, shape: Shape) -> FloatTensor<Self> {
        let (x, node) = x.into_parts();
        let y = <Flex as ResidualOps>::average_pool(x, shape);
        match AveragePool.prepare::<C>([node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish(shape, y),
            OpsKind::UnTracked(prep) => prep.finish(y),
        }
    }
}
