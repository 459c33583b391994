//! What a convolution reads: activations in memory, or ones that are made on the fly.

use crate::batch_norm::{Gate, GradientSums, Normaliser, normalise_blocks};
use crate::instruction_set::InstructionSet;
use crate::layout::BatchShape;
use crate::scratch;
use std::ops::Range;

/// The input of a convolution.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// Activations as they are.
    Stored(&'a [f32]),
    /// `relu?(normaliser(z))`: what the layer before would have stored. It is computed for a few images at a time and read while it is
    /// in the cache, so it never goes through memory.
    Normalised {
        /// The output of the convolution before.
        z: &'a [f32],
        /// The BatchNorm behind it.
        normaliser: &'a Normaliser,
        /// Whether a ReLU follows.
        relu: bool,
    },
}

impl Input<'_> {
    pub(crate) fn check(&self, set: InstructionSet, shape: &BatchShape) {
        match self {
            Input::Stored(x) => shape.check(set, "input", x.len()),
            Input::Normalised { z, normaliser, .. } => {
                shape.check(set, "input", z.len());
                assert_eq!(normaliser.channels(), shape.channels, "one normaliser per channel");
            }
        }
    }

    /// Hands some whole blocks to `work`.
    pub(crate) fn with_blocks<R>(
        &self,
        set: InstructionSet,
        shape: &BatchShape,
        blocks: Range<usize>,
        work: impl FnOnce(&[f32]) -> R,
    ) -> R {
        let len = shape.block_len(set);
        let part = blocks.start * len..blocks.end * len;
        match *self {
            Input::Stored(x) => work(&x[part]),
            Input::Normalised { z, normaliser, relu } => scratch::with(part.len(), |y| {
                normalise_blocks(set, shape, normaliser, (z, None), relu, blocks.start, y);
                work(y)
            }),
        }
    }

    /// The sums that the BatchNorm before needs of one block of this input's gradient, if there is such a BatchNorm.
    pub(crate) fn gradient_sums(
        &self,
        set: InstructionSet,
        shape: &BatchShape,
        block: usize,
        dx: &mut [f32],
    ) -> Option<Vec<f64>> {
        let Input::Normalised { z, normaliser, relu } = *self else { return None };
        let gate = if relu { Gate::Input } else { Gate::Open };
        Some(GradientSums::of_block(set, shape, normaliser, z, block, dx, gate))
    }
}
