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
}

/// Where the results of a convolution go: through the epilogue to the output, and into the tally if there is one.
pub(crate) struct Output<'a> {
    pub(crate) y: &'a mut [f32],
    pub(crate) epilogue: Epilogue<'a>,
    pub(crate) tally: Option<Tally<'a>>,
}

/// Sum and sum of squares of some vectors of one channel that were written.
pub(crate) struct Written<S: Simd> {
    total: S::V,
    square: S::V,
}

impl<S: Simd> Written<S> {
    /// Nothing written yet.
    #[inline(always)]
    pub(crate) fn nothing(s: S) -> Self {
        Self { total: s.zero(), square: s.zero() }
    }
}

impl Output<'_> {
    /// Writes `W` results of a channel, the first to `y[first..]` and each other one `step` numbers behind.
    ///
    /// What the epilogue asks for is looked up once for all of them.
    ///
    /// # Safety
    /// `first + p · step + LANES <= y.len()` for every `p < W`.
    #[inline(always)]
    pub(crate) unsafe fn write<S: Simd, const W: usize>(
        &mut self,
        s: S,
        mut values: [S::V; W],
        (first, step): (usize, usize),
        channel: usize,
        written: &mut Written<S>,
    ) {
        let Epilogue { bias, residual, accumulate, relu } = self.epilogue;
        if let Some(bias) = bias {
            let bias = s.splat(bias[channel]);
            for v in &mut values {
                *v = s.add(*v, bias);
            }
        }
        if let Some(residual) = residual {
            for (p, v) in values.iter_mut().enumerate() {
                *v = s.add(*v, s.get(residual, first + p * step));
            }
        }
        if accumulate {
            for (p, v) in values.iter_mut().enumerate() {
                // SAFETY: promised by the caller.
                *v = s.add(*v, unsafe { s.load(self.y, first + p * step) });
            }
        }
        if relu {
            for v in &mut values {
                *v = s.relu(*v);
            }
        }
        for (p, &v) in values.iter().enumerate() {
            // SAFETY: promised by the caller.
            unsafe { s.store(v, self.y, first + p * step) };
        }
        if self.tally.is_some() {
            for &v in &values {
                written.total = s.add(written.total, v);
                written.square = s.fma(v, v, written.square);
            }
        }
    }

    /// Counts what was written to a channel.
    #[inline(always)]
    pub(crate) fn count<S: Simd>(&mut self, s: S, channel: usize, written: &Written<S>) {
        if let Some(tally) = &mut self.tally {
            tally.add(s, channel, written.total, written.square);
        }
    }

    /// Moves the sums of the tally to f64: to be called before they lose precision, and at the end.
    #[inline(always)]
    pub(crate) fn flush<S: Simd>(&mut self, s: S) {
        if let Some(tally) = &mut self.tally {
            tally.flush(s);
        }
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
