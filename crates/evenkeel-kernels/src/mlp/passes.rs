//! Some groups of a training batch forward through all layers and back again, while their activations are in the cache.

use super::active::Active;
use super::cross_entropy::{RowSeen, differentiate};
use super::rows::{ROWS, SparseRows};
use super::tile::{self, strips};
use crate::simd::{Kernel, Simd};
use crate::tile::with_width;

/// A layer as the passes read it. Widths are whole vectors.
#[derive(Clone, Copy)]
pub(super) struct Wide<'a> {
    /// `[inputs][width of the outputs]`.
    pub forward: &'a [f32],
    /// `[outputs][width of the inputs]`; empty for the first layer, whose inputs need no gradient.
    pub backward: &'a [f32],
    pub inputs: usize,
    pub outputs: usize,
    /// Outputs, filled up to whole vectors.
    pub width: usize,
    pub scale: f32,
}

/// What the passes leave behind of some groups, row by row: for each layer `[rows][width]`.
pub(super) struct Trace<'a> {
    /// What comes out of each layer but the last, after the ReLU.
    pub activations: Vec<&'a mut [f32]>,
    /// Gradient of the loss with respect to what comes out of each layer, before the ReLU and after the gain.
    pub errors: Vec<&'a mut [f32]>,
    /// What the logits say of each row.
    pub seen: &'a mut [RowSeen],
}

/// Forward and backward through all layers.
pub(super) struct Passes<'a> {
    pub x: &'a SparseRows,
    pub groups: std::ops::Range<usize>,
    pub layers: &'a [Wide<'a>],
    /// `background · colsum` of the first layer's weights.
    pub base: &'a [f32],
    /// Of all rows, in their original order.
    pub labels: &'a [usize],
    pub trace: Trace<'a>,
}

impl Kernel for Passes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let last = self.layers.len() - 1;
        let mut active: Vec<Active> = Vec::with_capacity(last);
        let mut overflow = s.zero();
        for l in 0..=last {
            if l > 0 {
                let (units, width) = (self.layers[l].inputs, self.layers[l - 1].width);
                active.push(Active::of_rows(s, self.trace.activations[l - 1], units, width));
            }
            for (first, vectors) in strips(self.layers[l].width / S::LANES, S::STRIP) {
                let (units, at) = (active.last(), first * S::LANES);
                with_width!(vectors in [5, 4, 3, 2] or 1, V => {
                    overflow = self.forward::<S, V>(s, l, units, at, overflow);
                });
            }
        }
        self.differentiate();
        if s.sums([overflow; 4])[0] != 0.0 {
            self.trace.seen.fill(RowSeen { loss: f64::NAN, entropy: f64::NAN, hit: false });
        }
        for l in (1..=last).rev() {
            // An output that is silent has no error.
            let every = Active::every(self.groups.len(), self.layers[l].outputs);
            let units = active.get(l).unwrap_or(&every);
            for (first, vectors) in strips(self.layers[l - 1].width / S::LANES, S::STRIP) {
                let at = first * S::LANES;
                with_width!(vectors in [5, 4, 3, 2] or 1, V => self.backward::<S, V>(s, l, units, at));
            }
        }
    }
}

impl Passes<'_> {
    /// `V` vectors of the outputs of layer `l`, from `at` on: from the images, or from the active units of the layer before.
    ///
    /// Gives `overflow` back, which is no longer zero if an output is infinite or not a number: the ReLU would hide that.
    #[inline(always)]
    fn forward<S: Simd, const V: usize>(
        &mut self,
        s: S,
        l: usize,
        active: Option<&Active>,
        at: usize,
        mut overflow: S::V,
    ) -> S::V {
        let Wide { forward, inputs, width, scale, .. } = self.layers[l];
        assert!(forward.len() == inputs * width && at + V * S::LANES <= width);
        let (relu, scale) = (l + 1 < self.layers.len(), s.splat(scale));
        let Trace { activations, errors, .. } = &mut self.trace;
        let (before, here) = activations.split_at_mut(l);
        let y = if relu { &mut here[0] } else { &mut errors[l] };
        for (i, (group, y)) in self.groups.clone().zip(y.chunks_exact_mut(ROWS * width)).enumerate() {
            let mut tile = match active {
                None => {
                    let (column, value) = self.x.group(group);
                    // SAFETY: columns lie below the layer's inputs (`Training` compared them), of which `forward` has every row.
                    unsafe { tile::strided::<S, V>(s, column, value, forward, width, at) }
                }
                Some(active) => {
                    let from = self.layers[l - 1].width;
                    let x = &before[l - 1][i * ROWS * from..][..ROWS * from];
                    // SAFETY: active units lie below `inputs`, which is at most `from`; `forward` has a row for each.
                    unsafe { tile::units::<S, V>(s, active.of(i), (x, from), forward, width, at) }
                }
            };
            if l == 0 {
                for sum in &mut tile {
                    for (v, sum) in sum.iter_mut().enumerate() {
                        *sum = s.add(*sum, s.get(self.base, at + v * S::LANES));
                    }
                }
            }
            for (tile, row) in tile.into_iter().zip(y.chunks_exact_mut(width)) {
                for (v, sum) in tile.into_iter().enumerate() {
                    let sum = s.mul(sum, scale);
                    overflow = s.fma(sum, s.zero(), overflow);
                    s.put(if relu { s.relu(sum) } else { sum }, row, at + v * S::LANES);
                }
            }
        }
        overflow
    }

    /// Turns the logits into their gradients; those of rows that only fill up a group are zero.
    fn differentiate(&mut self) {
        let (Wide { outputs, width, .. }, rows) = (self.layers[self.layers.len() - 1], self.labels.len());
        let origin = &self.x.origin()[self.groups.start * ROWS..self.groups.end * ROWS];
        let logits = self.trace.errors.last_mut().expect("there is a layer").chunks_exact_mut(width);
        for ((logits, seen), &row) in logits.zip(self.trace.seen.iter_mut()).zip(origin) {
            match self.labels.get(row as usize) {
                Some(&label) => *seen = differentiate(&mut logits[..outputs], label, 1.0 / rows as f64),
                None => logits.fill(0.0),
            }
        }
    }

    /// `V` vectors of the errors of layer `l − 1`, from `at` on, from those of the active outputs of layer `l`.
    #[inline(always)]
    fn backward<S: Simd, const V: usize>(&mut self, s: S, l: usize, active: &Active, at: usize) {
        let Wide { backward, outputs, width: from, scale, .. } = self.layers[l];
        let width = self.layers[l - 1].width;
        assert!(backward.len() == outputs * width && at + V * S::LANES <= width);
        let scale = s.splat(scale);
        let (below, here) = self.trace.errors.split_at_mut(l);
        let gates = self.trace.activations[l - 1].chunks_exact(ROWS * width);
        let groups = below[l - 1].chunks_exact_mut(ROWS * width).zip(gates);
        for (i, (dx, gate)) in groups.enumerate() {
            let dy = &here[0][i * ROWS * from..][..ROWS * from];
            // SAFETY: active units lie below `outputs`, which is at most `from`; `backward` has a row for each.
            let tile = unsafe { tile::units::<S, V>(s, active.of(i), (dy, from), backward, width, at) };
            for (r, tile) in tile.into_iter().enumerate() {
                for (v, sum) in tile.into_iter().enumerate() {
                    let at = r * width + at + v * S::LANES;
                    s.put(s.gated(s.mul(sum, scale), s.get(gate, at)), dx, at);
                }
            }
        }
    }
}
