//! Normalise, add the residual, cut off: one pass.

use super::{Normaliser, clear_padding};
use crate::instruction_set::InstructionSet;
use crate::layout::BatchShape;
use crate::simd::{self, Kernel, Simd};
use rayon::prelude::*;

/// `y = relu?(scale · z + shift + residual?)`; padding images of `y` become zeros.
pub fn normalise(
    set: InstructionSet,
    shape: &BatchShape,
    normaliser: &Normaliser,
    z: &[f32],
    residual: Option<&[f32]>,
    relu: bool,
    y: &mut [f32],
) {
    shape.check(set, "input", z.len());
    shape.check(set, "output", y.len());
    if let Some(residual) = residual {
        shape.check(set, "residual", residual.len());
    }
    assert_eq!(normaliser.channels(), shape.channels, "one normaliser per channel");
    let len = shape.block_len(set);
    y.par_chunks_mut(len).enumerate().for_each(|(block, y)| {
        normalise_blocks(set, shape, normaliser, (z, residual), relu, block, y);
    });
}

/// [`normalise`] of the whole blocks `y` from block `first` on; `z` and the residual are those of the whole batch.
pub(crate) fn normalise_blocks(
    set: InstructionSet,
    shape: &BatchShape,
    normaliser: &Normaliser,
    (z, residual): (&[f32], Option<&[f32]>),
    relu: bool,
    first: usize,
    y: &mut [f32],
) {
    let len = shape.block_len(set);
    for (block, y) in (first..).zip(y.chunks_exact_mut(len)) {
        let part = block * len..(block + 1) * len;
        let residual = residual.map(|r| &r[part.clone()]);
        simd::run(set, Normalise { normaliser, z: &z[part], residual, relu, y: &mut *y });
        clear_padding(y, set.lanes(), shape.images_in(set, block));
    }
}

struct Normalise<'a> {
    normaliser: &'a Normaliser,
    z: &'a [f32],
    residual: Option<&'a [f32]>,
    relu: bool,
    y: &'a mut [f32],
}

impl Kernel for Normalise<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Normaliser { scale, shift, .. } = self.normaliser;
        let pixel = scale.len() * S::LANES;
        for (index, (z, y)) in self.z.chunks_exact(pixel).zip(self.y.chunks_exact_mut(pixel)).enumerate() {
            for (channel, (&scale, &shift)) in scale.iter().zip(shift).enumerate() {
                let at = channel * S::LANES;
                let mut v = s.fma(s.get(z, at), s.splat(scale), s.splat(shift));
                if let Some(residual) = self.residual {
                    v = s.add(v, s.get(residual, index * pixel + at));
                }
                if self.relu {
                    v = s.relu(v);
                }
                s.put(v, y, at);
            }
        }
    }
}
