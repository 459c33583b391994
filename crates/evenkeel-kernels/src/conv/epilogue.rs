//! What happens to an output value before it is written.

use crate::instruction_set::InstructionSet;
use crate::layout::BatchShape;
use crate::simd::Simd;

/// Work on the output of a convolution while it is still in registers:
/// `y = relu?(conv + bias + residual + (old y))`. The default does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Epilogue<'a> {
    /// One number per output channel, for instance of a folded BatchNorm.
    pub bias: Option<&'a [f32]>,
    /// A tensor of the output's shape to add.
    pub residual: Option<&'a [f32]>,
    /// Add the result to what the output holds already.
    pub accumulate: bool,
    /// Cut off negative values at the very end.
    pub relu: bool,
}

impl<'a> Epilogue<'a> {
    pub(crate) fn check(&self, set: InstructionSet, output: &BatchShape) {
        if let Some(bias) = self.bias {
            assert_eq!(bias.len(), output.channels, "bias: {output:?}");
        }
        if let Some(residual) = self.residual {
            output.check(set, "residual", residual.len());
        }
    }

    /// The part of the epilogue that belongs to `len` numbers of the output from `start`.
    pub(crate) fn part(&self, start: usize, len: usize) -> Epilogue<'a> {
        Epilogue { residual: self.residual.map(|r| &r[start..start + len]), ..*self }
    }

    /// Finishes the vector for `y[at..]` of `channel` and writes it; returns what was written.
    #[inline(always)]
    pub(crate) fn write<S: Simd>(&self, s: S, v: S::V, y: &mut [f32], at: usize, channel: usize) -> S::V {
        let mut v = v;
        if let Some(bias) = self.bias {
            v = s.add(v, s.splat(bias[channel]));
        }
        if let Some(residual) = self.residual {
            v = s.add(v, s.get(residual, at));
        }
        if self.accumulate {
            v = s.add(v, s.get(y, at));
        }
        if self.relu {
            v = s.relu(v);
        }
        s.put(v, y, at);
        v
    }
}

/// Per-channel sums of an output, gathered while it is written.
///
/// Lanes are summed in f32 over a few hundred pixels at most, then moved to f64.
pub(crate) struct Tally<'a> {
    /// `[channel][sum, square][LANES]`.
    pub(crate) lanes: &'a mut [f32],
    /// `[channel][sum, square]`.
    pub(crate) totals: &'a mut [f64],
}

impl Tally<'_> {
    pub(crate) fn reborrow(&mut self) -> Tally<'_> {
        Tally { lanes: self.lanes, totals: self.totals }
    }

    #[inline(always)]
    pub(crate) fn add<S: Simd>(&mut self, s: S, channel: usize, sum: S::V, square: S::V) {
        let at = 2 * channel * S::LANES;
        s.put(s.add(sum, s.get(self.lanes, at)), self.lanes, at);
        s.put(s.add(square, s.get(self.lanes, at + S::LANES)), self.lanes, at + S::LANES);
    }

    /// Moves the f32 sums to f64.
    #[inline(always)]
    pub(crate) fn flush<S: Simd>(&mut self, s: S) {
        for (lanes, totals) in self.lanes.chunks_exact_mut(2 * S::LANES).zip(self.totals.chunks_exact_mut(2))
        {
            let sums = s.sums([s.get(lanes, 0), s.get(lanes, S::LANES), s.zero(), s.zero()]);
            totals[0] += f64::from(sums[0]);
            totals[1] += f64::from(sums[1]);
            lanes.fill(0.0);
        }
    }
}
