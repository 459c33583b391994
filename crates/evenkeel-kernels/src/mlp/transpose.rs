//! Weights, transposed.

use crate::simd::{Kernel, Simd};

/// Rows and columns that are turned in registers.
const SIDE: usize = 8;

/// Some rows of the transpose of weights `[inputs][outputs]`: those of the outputs from `first` on, each filled up with zeros to `width`.
pub(super) struct Transpose<'a> {
    pub weights: &'a [f32],
    pub outputs: usize,
    pub first: usize,
    /// `[rows][width]`.
    pub to: &'a mut [f32],
    pub width: usize,
}

impl Kernel for Transpose<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { weights, outputs, first, to, width } = self;
        let (rows, inputs) = (to.len() / width, weights.len() / outputs);
        let (whole_rows, whole_inputs) = (rows / SIDE * SIDE, inputs / SIDE * SIDE);
        for input in (0..whole_inputs).step_by(SIDE) {
            for row in (0..whole_rows).step_by(SIDE) {
                let block: [[f32; SIDE]; SIDE] = std::array::from_fn(|i| {
                    let from = &weights[(input + i) * outputs + first + row..][..SIDE];
                    std::array::from_fn(|o| from[o])
                });
                for o in 0..SIDE {
                    let column: [f32; SIDE] = std::array::from_fn(|i| block[i][o]);
                    to[(row + o) * width + input..][..SIDE].copy_from_slice(&column);
                }
            }
        }
        for (row, to) in to.chunks_exact_mut(width).enumerate() {
            let done = if row < whole_rows { whole_inputs } else { 0 };
            for (input, to) in to[..inputs].iter_mut().enumerate().skip(done) {
                *to = weights[input * outputs + first + row];
            }
            to[inputs..].fill(0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instruction_set::InstructionSet;
    use crate::simd;

    #[test]
    fn every_weight_is_where_it_belongs_and_the_rest_is_zero() {
        for (inputs, outputs) in [(1, 1), (8, 16), (21, 19), (7, 40)] {
            let weights: Vec<f32> = (1..=inputs * outputs).map(|i| i as f32).collect();
            let width = inputs + 3;
            for set in InstructionSet::available() {
                for first in [0, outputs / 2] {
                    let mut to = vec![f32::NAN; (outputs - first) * width];
                    simd::run(set, Transpose { weights: &weights, outputs, first, to: &mut to, width });
                    for (row, to) in to.chunks_exact(width).enumerate() {
                        let expected = (0..width).map(|input| {
                            if input < inputs { weights[input * outputs + first + row] } else { 0.0 }
                        });
                        assert!(to.iter().copied().eq(expected), "{inputs}×{outputs}");
                    }
                }
            }
        }
    }
}
