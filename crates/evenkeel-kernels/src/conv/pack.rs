//! Weights in the order in which the kernels read them.

use super::shape::{Algorithm, ConvShape};
use crate::buffer::Buffer;
use crate::instruction_set::InstructionSet;
use crate::tile::GROUP;
use crate::winograd;

/// Which pass packed weights are meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    Forward,
    BackwardData,
}

/// Weights of one convolution, packed for one pass. Pack once per change of the weights.
///
/// Direct: `[outputs / 5][tap][inputs][5]`. Winograd: `[36 positions][outputs / 5][inputs][5]`, already
/// transformed. For the backward pass inputs and outputs trade places and the filter is turned around.
#[derive(Clone, Debug)]
pub struct PackedWeights {
    data: Buffer,
    packed_for: Option<(ConvShape, Pass)>,
}

impl Default for PackedWeights {
    fn default() -> Self {
        Self::new()
    }
}

impl PackedWeights {
    /// An empty pack, to be filled by [`PackedWeights::pack_forward`] or [`PackedWeights::pack_backward`].
    pub fn new() -> Self {
        Self { data: Buffer::default(), packed_for: None }
    }

    /// Numbers in memory.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether nothing was packed yet.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Packs `weights` (`[outputs][inputs][k][k]`) for [`forward`](super::forward).
    pub fn pack_forward(&mut self, set: InstructionSet, conv: &ConvShape, weights: &[f32]) {
        self.pack(set, conv, weights, Pass::Forward);
    }

    /// Packs `weights` (`[outputs][inputs][k][k]`) for [`backward_data`](super::backward_data).
    pub fn pack_backward(&mut self, set: InstructionSet, conv: &ConvShape, weights: &[f32]) {
        self.pack(set, conv, weights, Pass::BackwardData);
    }

    fn pack(&mut self, set: InstructionSet, conv: &ConvShape, weights: &[f32], pass: Pass) {
        assert_eq!(weights.len(), conv.weight_len(), "weights: {conv:?}");
        let taps = conv.kernel * conv.kernel;
        let (outer, inner) = match pass {
            Pass::Forward => (conv.outputs, conv.inputs),
            Pass::BackwardData => (conv.inputs, conv.outputs),
        };
        // The filter from inner channel `i` to outer channel `o` of this pass; backwards it is turned around.
        let turned = pass == Pass::BackwardData;
        let filter = |o: usize, i: usize| {
            let pair = if turned { i * conv.inputs + o } else { o * conv.inputs + i };
            &weights[pair * taps..][..taps]
        };
        match conv.algorithm {
            Algorithm::Direct => {
                self.data.resize(outer.div_ceil(GROUP) * taps * inner * GROUP);
                let rows = self.data.chunks_exact_mut(GROUP).enumerate();
                for (row, packed) in rows {
                    let (group, t, i) = (row / (taps * inner), row / inner % taps, row % inner);
                    for (k, value) in packed.iter_mut().enumerate() {
                        let o = group * GROUP + k;
                        let tap = if turned { taps - 1 - t } else { t };
                        *value = if o < outer { filter(o, i)[tap] } else { 0.0 };
                    }
                }
            }
            Algorithm::Winograd => winograd::pack(set, outer, inner, filter, turned, &mut self.data),
        }
        self.packed_for = Some((conv.with_batch(1), pass));
    }

    pub(crate) fn for_forward(&self, conv: &ConvShape) -> &[f32] {
        self.checked(conv, Pass::Forward)
    }

    pub(crate) fn for_backward(&self, conv: &ConvShape) -> &[f32] {
        self.checked(conv, Pass::BackwardData)
    }

    fn checked(&self, conv: &ConvShape, pass: Pass) -> &[f32] {
        let same = |&(packed, packed_pass): &(ConvShape, Pass)| {
            let sized = ConvShape { height: conv.height, width: conv.width, ..packed.with_batch(conv.batch) };
            sized == *conv && packed_pass == pass
        };
        assert!(
            self.packed_for.as_ref().is_some_and(same),
            "weights were packed for {:?}, not for {pass:?} of {conv:?}",
            self.packed_for
        );
        &self.data
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::BatchShape;

    #[test]
    #[should_panic(expected = "weights were packed for")]
    fn a_forward_pack_is_refused_by_the_backward_pass() {
        let conv = ConvShape::one(BatchShape::new(4, 2, 3, 3), 3, 1);
        let mut pack = PackedWeights::new();
        pack.pack_forward(InstructionSet::PORTABLE, &conv, &[0.0; 6]);
        let _ = pack.for_backward(&conv);
    }

    #[test]
    fn a_pack_serves_every_batch_size() {
        let conv = ConvShape::one(BatchShape::new(4, 2, 3, 3), 3, 1);
        let mut pack = PackedWeights::new();
        pack.pack_forward(InstructionSet::PORTABLE, &conv, &[1.0; 6]);
        assert_eq!(pack.for_forward(&conv.with_batch(9)).len(), 2 * GROUP);
    }
}
