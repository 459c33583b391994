//! The backend extension for residual networks: what `flex` computes with kernels, and how autodiff goes back through it.

use burn::backend::autodiff::NodeId;
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, NodeGuard, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, AutodiffBackend, Backend, ExtensionType, Flex, backend_extension};
use burn::tensor::TensorData;
use evenkeel::cpu::contiguous;
use evenkeel_kernels::{BatchShape, InstructionSet, layout, pool};

use super::activation_memory::{filled, recycle};
use super::layer::{InputGradient, Layer, LayerInput, Saved, slice};

/// What goes around the two convolutions of a residual block.
#[derive(ExtensionType)]
#[allow(clippy::large_enum_variant)] // one at a time, on its way to an operation
pub(super) enum Shortcut<B: Backend> {
    Identity,
    Conv(#[extension_type] Layer<B>),
}

/// Operations of residual networks on the kernels' layout, in training mode: normalised by the batch.
#[backend_extension(Flex, Autodiff)]
pub(super) trait ResidualOps: Backend {
    /// NCHW to blocked.
    fn to_blocked(x: FloatTensor<Self>, shape: BatchShape) -> FloatTensor<Self>;

    /// `relu?(bn(x * w))`.
    fn conv_norm(x: FloatTensor<Self>, #[extension_type] layer: Layer<Self>) -> FloatTensor<Self>;

    /// `relu(second(first(x)) + shortcut(x))`. One operation, so that the two gradients of `x` meet in a kernel.
    fn residual_block(
        x: FloatTensor<Self>,
        #[extension_type] first: Layer<Self>,
        #[extension_type] second: Layer<Self>,
        #[extension_type] shortcut: Shortcut<Self>,
    ) -> FloatTensor<Self>;

    /// Average over windows of 4×4, blocked to `[images, channels · windows]`.
    fn average_pool(x: FloatTensor<Self>, shape: BatchShape) -> FloatTensor<Self>;
}

impl ResidualOps for Flex {
    fn to_blocked(x: FlexTensor, shape: BatchShape) -> FlexTensor {
        let set = InstructionSet::active();
        let x = contiguous(x);
        filled(shape.blocked_len(set), |blocked| layout::to_blocked(set, &shape, slice(&x), blocked)).0
    }

    fn conv_norm(x: FlexTensor, layer: Layer<Self>) -> FlexTensor {
        layer.forward(x, None).0
    }

    fn residual_block(
        x: FlexTensor,
        first: Layer<Self>,
        second: Layer<Self>,
        shortcut: Shortcut<Self>,
    ) -> FlexTensor {
        SavedBlock::forward(x, first, second, shortcut).0
    }

    fn average_pool(x: FlexTensor, shape: BatchShape) -> FlexTensor {
        let set = InstructionSet::active();
        let x = contiguous(x);
        let pooled = pool::pooled(&shape);
        let mut blocked = vec![0.0; pooled.blocked_len(set)];
        pool::average_pool(set, &shape, slice(&x), &mut blocked);
        recycle(x);
        let mut features = vec![0.0; pooled.batch * pooled.image_len()];
        layout::from_blocked(set, &pooled, &blocked, &mut features);
        FlexTensor::from_data(TensorData::new(features, [pooled.batch, pooled.image_len()]))
    }
}

/// What the backward pass of a residual block looks at again.
#[derive(Debug, Clone)]
struct SavedBlock {
    first: Saved,
    second: Saved,
    shortcut: Option<Saved>,
}

impl SavedBlock {
    fn forward(
        x: FlexTensor,
        first: Layer<Flex>,
        second: Layer<Flex>,
        shortcut: Shortcut<Flex>,
    ) -> (FlexTensor, Self) {
        let (residual, shortcut) = match shortcut {
            Shortcut::Identity => (x.clone(), None),
            Shortcut::Conv(layer) => {
                let (residual, saved) = layer.forward(x.clone(), None);
                (residual, Some(saved))
            }
        };
        let residual = contiguous(residual);
        let first = first.convolve(LayerInput::Stored(contiguous(x)));
        let (y, second) = second.convolve(first.normalised()).normalise(Some(&residual));
        recycle(residual);
        (y, Self { first, second, shortcut })
    }
}

fn register(grads: &mut Gradients, node: Option<NodeId>, gradient: FlexTensor) {
    match node {
        Some(node) => grads.register::<Flex>(node, gradient),
        None => recycle(gradient),
    }
}

/// A convolution with its BatchNorm. Parents: x, weight, gamma, beta.
#[derive(Debug)]
struct ConvNorm;

impl Backward<Flex, 4> for ConvNorm {
    type State = Saved;

    fn backward(self, ops: Ops<Saved, 4>, grads: &mut Gradients, _: &mut Checkpointer) {
        let dy = grads.consume::<Flex>(&ops.node);
        let [x, parameters @ ..] = ops.parents.map(|parent| parent.map(|parent| parent.id));
        let wanted = if x.is_some() { InputGradient::New } else { InputGradient::Unwanted };
        let gradients = ops.state.backward(dy, None, wanted);
        recycle(gradients.residual);
        for (node, gradient) in parameters.into_iter().zip(gradients.parameters) {
            register(grads, node, gradient);
        }
        if let Some(gradient) = gradients.x {
            register(grads, x, gradient);
        }
    }
}

/// A residual block. Parents: x, then weight, gamma and beta of first, second and, if it is a convolution, shortcut.
#[derive(Debug)]
struct ResidualBlock;

impl<const N: usize> Backward<Flex, N> for ResidualBlock {
    type State = SavedBlock;

    fn backward(self, ops: Ops<SavedBlock, N>, grads: &mut Gradients, _: &mut Checkpointer) {
        let dy = grads.consume::<Flex>(&ops.node);
        let mut parents = ops.parents.into_iter().map(|parent| parent.map(|parent| parent.id));
        let x = parents.next().flatten();
        let SavedBlock { first, second, shortcut } = ops.state;
        let second = second.backward(dy, None, InputGradient::New);
        let middle = second.x.expect("it was wanted");
        // The gradients of x through the convolutions and around them meet in the kernel that comes last.
        let (first, around, dx) = match shortcut {
            None => {
                let first = first.backward(middle, second.before, InputGradient::AddedTo(second.residual));
                recycle(first.residual);
                (first.parameters, None, first.x)
            }
            // A shortcut with a stride touches one pixel of four: it comes last and leaves the others alone.
            Some(shortcut) => {
                let wanted = if x.is_some() { InputGradient::New } else { InputGradient::Unwanted };
                let first = first.backward(middle, second.before, wanted);
                recycle(first.residual);
                let wanted = first.x.map_or(InputGradient::Unwanted, InputGradient::AddedTo);
                let around = shortcut.backward(second.residual, None, wanted);
                recycle(around.residual);
                (first.parameters, Some(around.parameters), around.x)
            }
        };
        let gradients = first.into_iter().chain(second.parameters).chain(around.into_iter().flatten());
        for (node, gradient) in parents.zip(gradients) {
            register(grads, node, gradient);
        }
        if let Some(gradient) = dx {
            register(grads, x, gradient);
        }
    }
}

#[derive(Debug)]
struct AveragePool;

impl Backward<Flex, 1> for AveragePool {
    type State = BatchShape;

    fn backward(self, ops: Ops<BatchShape, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let dy = contiguous(grads.consume::<Flex>(&ops.node));
        let [Some(parent)] = ops.parents else { return };
        let set = InstructionSet::active();
        let (shape, pooled) = (ops.state, pool::pooled(&ops.state));
        let mut blocked = vec![0.0; pooled.blocked_len(set)];
        layout::to_blocked(set, &pooled, slice(&dy), &mut blocked);
        let (dx, ()) = filled(shape.blocked_len(set), |dx| {
            pool::average_pool_backward(set, &shape, &blocked, dx);
        });
        grads.register::<Flex>(parent.id, dx);
    }
}

/// The layer without autodiff, and its nodes in the graph.
fn into_parts<C: CheckpointStrategy>(layer: Layer<Autodiff<Flex, C>>) -> (Layer<Flex>, [NodeGuard; 3]) {
    let ((weight, a), (gamma, b), (beta, c)) =
        (layer.weight.into_parts(), layer.gamma.into_parts(), layer.beta.into_parts());
    (Layer { weight, gamma, beta, spec: layer.spec }, [a, b, c])
}

/// Puts a residual block into the graph.
fn record<C: CheckpointStrategy, const N: usize>(
    nodes: [NodeGuard; N],
    (y, saved): (FlexTensor, SavedBlock),
) -> FloatTensor<Autodiff<Flex, C>> {
    match ResidualBlock.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prep) => prep.finish(saved, y),
        OpsKind::UnTracked(prep) => prep.finish(y),
    }
}

impl<C: CheckpointStrategy> ResidualOps for Autodiff<Flex, C> {
    /// Images are data: no gradient goes back through here.
    fn to_blocked(x: FloatTensor<Self>, shape: BatchShape) -> FloatTensor<Self> {
        <Self as AutodiffBackend>::from_inner(<Flex as ResidualOps>::to_blocked(x.into_primitive(), shape))
    }

    fn conv_norm(x: FloatTensor<Self>, layer: Layer<Self>) -> FloatTensor<Self> {
        let ((x, node), (layer, [a, b, c])) = (x.into_parts(), into_parts(layer));
        let (y, saved) = layer.forward(x, None);
        match ConvNorm.prepare::<C>([node, a, b, c]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish(saved, y),
            OpsKind::UnTracked(prep) => prep.finish(y),
        }
    }

    fn residual_block(
        x: FloatTensor<Self>,
        first: Layer<Self>,
        second: Layer<Self>,
        shortcut: Shortcut<Self>,
    ) -> FloatTensor<Self> {
        let ((x, node), (first, [a, b, c]), (second, [d, e, f])) =
            (x.into_parts(), into_parts(first), into_parts(second));
        match shortcut {
            Shortcut::Identity => {
                let block = SavedBlock::forward(x, first, second, Shortcut::Identity);
                record::<C, 7>([node, a, b, c, d, e, f], block)
            }
            Shortcut::Conv(layer) => {
                let (layer, [g, h, i]) = into_parts(layer);
                let block = SavedBlock::forward(x, first, second, Shortcut::Conv(layer));
                record::<C, 10>([node, a, b, c, d, e, f, g, h, i], block)
            }
        }
    }

    fn average_pool(x: FloatTensor<Self>, shape: BatchShape) -> FloatTensor<Self> {
        let (x, node) = x.into_parts();
        let y = <Flex as ResidualOps>::average_pool(x, shape);
        match AveragePool.prepare::<C>([node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish(shape, y),
            OpsKind::UnTracked(prep) => prep.finish(y),
        }
    }
}
