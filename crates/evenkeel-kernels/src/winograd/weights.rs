//! Filters to and from the transformed domain, many at a time: lanes are channel pairs here.

use super::{POSITIONS, transform};
use crate::buffer::Buffer;
use crate::instruction_set::InstructionSet;
use crate::scratch;
use crate::simd::{self, Kernel, Simd};
use crate::tile::GROUP;

/// Numbers between two positions of `pairs` channel pairs: whole vectors of any instruction set.
fn plane_len(pairs: usize) -> usize {
    pairs.next_multiple_of(16)
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
    let plane = packed_plane(outputs, inputs);
    packed.resize(POSITIONS * plane);
    scratch::with(9 * plane, |taps| {
        taps.fill(0.0);
        for output in 0..outputs {
            let (group, lane) = (output / GROUP, output % GROUP);
            for input in 0..inputs {
                let at = (group * inputs + input) * GROUP + lane;
                let places = taps[at..].iter_mut().step_by(plane);
                let filter = &filter(output, input)[..9];
                if turned {
                    places.zip(filter.iter().rev()).for_each(|(to, &from)| *to = from);
                } else {
                    places.zip(filter).for_each(|(to, &from)| *to = from);
                }
            }
        }
        simd::run(set, Transform { taps, packed, plane });
    });
}

/// `G g Gᵀ` of every channel pair.
struct Transform<'a> {
    taps: &'a [f32],
    packed: &'a mut [f32],
    plane: usize,
}

impl Kernel for Transform<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        for at in (0..self.plane).step_by(S::LANES) {
            let mut half = [[s.zero(); 6]; 3];
            for (x, half) in half.iter_mut().enumerate() {
                let column = [
                    s.get(self.taps, x * self.plane + at),
                    s.get(self.taps, (3 + x) * self.plane + at),
                    s.get(self.taps, (6 + x) * self.plane + at),
                ];
                *half = transform::filter(s, column);
            }
            for y in 0..6 {
                let row = transform::filter(s, [half[0][y], half[1][y], half[2][y]]);
                for (x, &v) in row.iter().enumerate() {
                    s.put(v, self.packed, (y * 6 + x) * self.plane + at);
                }
            }
        }
    }
}

/// Numbers of one partial gradient `[36][outputs][inputs]`.
pub(crate) fn gradient_len(outputs: usize, inputs: usize) -> usize {
    POSITIONS * plane_len(outputs * inputs)
}

/// Adds up partial gradients of `part_len` numbers and brings them back to `[outputs][inputs][3][3]`.
pub(crate) fn unpack_gradient(set: InstructionSet, parts: &[f32], part_len: usize, dw: &mut [f32]) {
    assert!(plane_len(dw.len() / 9) * POSITIONS == part_len);
    simd::run(set, Unpack { parts, part_len, dw });
}

/// `Gᵀ (Σ parts) G` of every channel pair.
struct Unpack<'a> {
    parts: &'a [f32],
    part_len: usize,
    dw: &'a mut [f32],
}

impl Kernel for Unpack<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let plane = self.part_len / POSITIONS;
        let mut taps = [0.0; 9 * 16];
        for at in (0..self.dw.len() / 9).step_by(S::LANES) {
            let mut half = [[s.zero(); 3]; 6];
            for (x, half) in half.iter_mut().enumerate() {
                let mut column = [s.zero(); 6];
                for part in self.parts.chunks_exact(self.part_len) {
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
            for (lane, filter) in self.dw[at * 9..].chunks_exact_mut(9).take(S::LANES).enumerate() {
                for (tap, value) in filter.iter_mut().enumerate() {
                    *value = taps[tap * S::LANES + lane];
                }
            }
        }
    }
}
