//! Filters to and from the transformed domain, many at a time: lanes are channel pairs here.

use super::{POSITIONS, transform};
use crate::buffer::Buffer;
use crate::correlate::Pairs;
use crate::instruction_set::InstructionSet;
use crate::simd::{self, Kernel, Simd};
use crate::tile::GROUP;

/// Numbers between two positions of `pairs` channel pairs: whole vectors of any instruction set, and an odd number of cache lines,
/// so that the 36 positions of a pair do not compete for the same places of the cache.
fn plane_len(pairs: usize) -> usize {
    (pairs.div_ceil(16) | 1) * 16
}

/// Numbers between two positions of packed weights.
pub(super) fn packed_plane(outputs: usize, inputs: usize) -> usize {
    plane_len(outputs.div_ceil(GROUP) * GROUP * inputs)
}

/// Transforms the taps `filter(output, input)`, turned around if `turned`, into `[36][outputs / GROUP][inputs][GROUP]`.
pub(crate) fn pack<'a>(
    set: InstructionSet,
    outputs: usize,
    inputs: usize,
    filter: impl Fn(usize, usize) -> &'a [f32],
    turned: bool,
    packed: &mut Buffer,
) {
    packed.resize(POSITIONS * packed_plane(outputs, inputs));
    simd::run(set, Transform { outputs, inputs, filter, turned, packed });
}

/// `G g Gᵀ` of every channel pair.
struct Transform<'a, F> {
    outputs: usize,
    inputs: usize,
    filter: F,
    turned: bool,
    packed: &'a mut [f32],
}

impl<'a, F: Fn(usize, usize) -> &'a [f32]> Kernel for Transform<'_, F> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let plane = packed_plane(self.outputs, self.inputs);
        // The pairs of one vector; what fills up the last group stays zero.
        let mut taps = [0.0; 9 * 16];
        for at in (0..plane).step_by(S::LANES) {
            for lane in 0..S::LANES {
                let (row, place) = ((at + lane) / GROUP, (at + lane) % GROUP);
                let (output, input) = (row / self.inputs * GROUP + place, row % self.inputs);
                let places = taps[lane..].iter_mut().step_by(S::LANES).take(9);
                if output >= self.outputs {
                    places.for_each(|tap| *tap = 0.0);
                } else if self.turned {
                    places.zip((self.filter)(output, input).iter().rev()).for_each(|(to, &from)| *to = from);
                } else {
                    places.zip((self.filter)(output, input)).for_each(|(to, &from)| *to = from);
                }
            }
            let mut half = [[s.zero(); 6]; 3];
            for (x, half) in half.iter_mut().enumerate() {
                let column = [
                    s.get(&taps, x * S::LANES),
                    s.get(&taps, (3 + x) * S::LANES),
                    s.get(&taps, (6 + x) * S::LANES),
                ];
                *half = transform::filter(s, column);
            }
            for y in 0..6 {
                let row = transform::filter(s, [half[0][y], half[1][y], half[2][y]]);
                for (x, &v) in row.iter().enumerate() {
                    s.put(v, self.packed, (y * 6 + x) * plane + at);
                }
            }
        }
    }
}

/// Numbers of one partial gradient `[36][pairs of channels]`.
pub(crate) fn gradient_len(pairs: &Pairs) -> usize {
    POSITIONS * plane_len(pairs.len())
}

/// Adds up partial gradients of [`gradient_len`] numbers and brings them back to `[outputs][inputs][3][3]`.
pub(crate) fn unpack_gradient(set: InstructionSet, pairs: &Pairs, parts: &[f32], dw: &mut [f32]) {
    simd::run(set, Unpack { pairs, parts, dw });
}

/// `Gᵀ (Σ parts) G` of every channel pair.
struct Unpack<'a> {
    pairs: &'a Pairs,
    parts: &'a [f32],
    dw: &'a mut [f32],
}

impl Kernel for Unpack<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let part_len = gradient_len(self.pairs);
        let plane = part_len / POSITIONS;
        let mut taps = [0.0; 9 * 16];
        for at in (0..self.pairs.len()).step_by(S::LANES) {
            let mut half = [[s.zero(); 3]; 6];
            for (x, half) in half.iter_mut().enumerate() {
                let mut column = [s.zero(); 6];
                for part in self.parts.chunks_exact(part_len) {
                    for (y, sum) in column.iter_mut().enumerate() {
                        *sum = s.add(*sum, s.get(part, (y * 6 + x) * plane + at));
                    }
                }
                *half = transform::filter_adjoint(s, column);
            }
            for y in 0..3 {
                let row = [half[0][y], half[1][y], half[2][y], half[3][y], half[4][y], half[5][y]];
                for (x, &v) in transform::filter_adjoint(s, row).iter().enumerate() {
                    s.put(v, &mut taps, (y * 3 + x) * S::LANES);
                }
            }
            for lane in 0..S::LANES.min(self.pairs.len() - at) {
                if let Some(filter) = self.pairs.filter(at + lane) {
                    for (tap, value) in self.dw[filter * 9..][..9].iter_mut().enumerate() {
                        *value = taps[tap * S::LANES + lane];
                    }
                }
            }
        }
    }
}
