//! Which input pixels meet which taps: forward and backward, stride 1 and 2, as one kind of loop.

use super::shape::ConvShape;

/// One tap of one axis: the output at position `a` of its phase reads the input at `a · in_step + offset`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AxisTap {
    pub(crate) offset: isize,
    /// Index of the tap in the packed weights along this axis.
    pub(crate) index: usize,
}

/// One axis of a phase: outputs `first, first + out_step, …` that share the same taps.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) first: usize,
    pub(crate) out_step: usize,
    pub(crate) in_step: usize,
    /// Outputs in this phase.
    pub(crate) count: usize,
    /// Size of the input along this axis.
    pub(crate) input: usize,
    pub(crate) taps: Vec<AxisTap>,
}

impl Axis {
    /// The taps whose input exists for output `a`.
    pub(crate) fn valid(&self, a: usize) -> impl Iterator<Item = (AxisTap, usize)> + '_ {
        self.taps.iter().filter_map(move |&tap| {
            let at = (a * self.in_step).checked_add_signed(tap.offset)?;
            (at < self.input).then_some((tap, at))
        })
    }

    /// The range of outputs for which every tap has its input.
    pub(crate) fn interior(&self) -> std::ops::Range<usize> {
        let full = |a: &usize| self.valid(*a).count() == self.taps.len();
        let start = (0..self.count).find(full).unwrap_or(self.count);
        let end = (start..self.count).rev().find(full).map_or(start, |a| a + 1);
        start..end
    }
}

/// The axes of the forward pass: one phase, `out = Σ_k in[out · stride + k − pad] · w[k]`.
fn forward_axis(conv: &ConvShape, input: usize) -> Vec<Axis> {
    let pad = (conv.kernel - 1) / 2;
    let taps = (0..conv.kernel).map(|k| AxisTap { offset: k as isize - pad as isize, index: k }).collect();
    let count = input.div_ceil(conv.stride);
    vec![Axis { first: 0, out_step: 1, in_step: conv.stride, count, input, taps }]
}

/// The axes of the backward pass: input gradient `i` gathers the outputs `(i + pad − k) / stride` that are
/// whole; which taps those are depends on `i mod stride`. Packed taps are turned around: `k = kernel − 1 − index`.
fn backward_axis(conv: &ConvShape, size: usize) -> Vec<Axis> {
    let pad = (conv.kernel - 1) / 2;
    let stride = conv.stride as isize;
    (0..conv.stride.min(size))
        .map(|first| {
            let taps = (0..conv.kernel)
                .filter_map(|index| {
                    let shift = (first + pad) as isize - (conv.kernel - 1 - index) as isize;
                    (shift % stride == 0).then_some(AxisTap { offset: shift / stride, index })
                })
                .collect();
            let (count, input) = ((size - first).div_ceil(conv.stride), size.div_ceil(conv.stride));
            Axis { first, out_step: conv.stride, in_step: 1, count, input, taps }
        })
        .collect()
}

/// A pass as a sum over taps: every combination of a row phase and a column phase.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) rows: Vec<Axis>,
    pub(crate) columns: Vec<Axis>,
    pub(crate) kernel: usize,
    /// Channels that are summed over.
    pub(crate) depth: usize,
    /// Channels that are written.
    pub(crate) outputs: usize,
    pub(crate) in_width: usize,
    pub(crate) out_height: usize,
    pub(crate) out_width: usize,
}

impl Plan {
    pub(crate) fn forward(conv: &ConvShape) -> Self {
        Self {
            rows: forward_axis(conv, conv.height),
            columns: forward_axis(conv, conv.width),
            kernel: conv.kernel,
            depth: conv.inputs,
            outputs: conv.outputs,
            in_width: conv.width,
            out_height: conv.output().height,
            out_width: conv.output().width,
        }
    }

    pub(crate) fn backward(conv: &ConvShape) -> Self {
        Self {
            rows: backward_axis(conv, conv.height),
            columns: backward_axis(conv, conv.width),
            kernel: conv.kernel,
            depth: conv.outputs,
            outputs: conv.inputs,
            in_width: conv.output().width,
            out_height: conv.height,
            out_width: conv.width,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::BatchShape;

    #[test]
    fn only_the_first_column_of_an_even_strided_map_touches_padding() {
        let conv = ConvShape::three(BatchShape::new(1, 1, 16, 16), 1, 2);
        assert_eq!(Plan::forward(&conv).columns[0].interior(), 1..8);
    }

    #[test]
    fn a_strided_backward_pass_has_one_and_two_taps() {
        let conv = ConvShape::three(BatchShape::new(1, 1, 16, 16), 1, 2);
        let taps: Vec<_> = Plan::backward(&conv).rows.iter().map(|axis| axis.taps.len()).collect();
        assert_eq!(taps, [1, 2]);
    }

    #[test]
    fn a_map_too_small_for_the_filter_has_no_interior() {
        let conv = ConvShape::three(BatchShape::new(1, 1, 1, 2), 1, 1);
        assert!(Plan::forward(&conv).columns[0].interior().is_empty());
    }
}
