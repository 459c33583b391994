//! Gradients of the fused BatchNorm: `g = dy · [y > 0]`, `dβ = Σ g`, `dγ = Σ g ẑ`,
//! `dz = γ/σ · (g − dβ/n − ẑ dγ/n)`.

use super::{Normaliser, clear_padding, moments::FLUSH};
use crate::conv::Tally;
use crate::instruction_set::InstructionSet;
use crate::layout::BatchShape;
use crate::scratch;
use crate::simd::{self, Kernel, Simd};
use rayon::prelude::*;

/// Where the gradient passes the ReLU.
#[derive(Clone, Copy, Debug)]
pub enum Gate<'a> {
    /// There was no ReLU: every gradient passes.
    Open,
    /// A ReLU right after the BatchNorm: the gate follows from `z`, nothing more is read.
    Input,
    /// A ReLU after a residual: the gate follows from this output `y`.
    Output(&'a [f32]),
}

/// Gradients of `γ` and `β`, from [`backward_sums`].
#[derive(Clone, Debug, PartialEq)]
pub struct GradientSums {
    /// `dγ`.
    pub gamma: Vec<f32>,
    /// `dβ`.
    pub beta: Vec<f32>,
    count: usize,
}

/// First pass: sums over the batch. With [`Gate::Output`], `dy` is gated in place and thereby becomes the
/// gradient of the residual; else it is left alone. Padding images of `dy` must be zero.
pub fn backward_sums(
    set: InstructionSet,
    shape: &BatchShape,
    normaliser: &Normaliser,
    z: &[f32],
    dy: &mut [f32],
    gate: Gate<'_>,
) -> GradientSums {
    check(set, shape, normaliser, [z, dy]);
    if let Gate::Output(y) = gate {
        shape.check(set, "output", y.len());
    }
    let blocks = dy.par_chunks_mut(shape.block_len(set)).enumerate();
    let totals: Vec<Vec<f64>> = blocks
        .map(|(block, dy)| GradientSums::of_block(set, shape, normaliser, z, block, dy, gate))
        .collect();
    GradientSums::reduce(shape, &totals)
}

impl GradientSums {
    /// `[sum, sum with ẑ]` per channel of one block `dy`, for [`GradientSums::reduce`]; `z` and the gate are those of the whole batch.
    pub(crate) fn of_block(
        set: InstructionSet,
        shape: &BatchShape,
        normaliser: &Normaliser,
        z: &[f32],
        block: usize,
        dy: &mut [f32],
        gate: Gate<'_>,
    ) -> Vec<f64> {
        let (len, channels) = (shape.block_len(set), shape.channels);
        let part = block * len..(block + 1) * len;
        let y = if let Gate::Output(y) = gate { Some(&y[part.clone()]) } else { None };
        let mut totals = vec![0.0; 2 * channels];
        scratch::with(2 * channels * set.lanes(), |lanes| {
            lanes.fill(0.0);
            let tally = Tally { lanes, totals: &mut totals };
            let gated = matches!(gate, Gate::Input);
            simd::run(set, Sums { normaliser, z: &z[part], dy, y, gated, tally });
        });
        totals
    }

    /// Adds up what [`GradientSums::of_block`] gave for every block, in their order.
    pub(crate) fn reduce(shape: &BatchShape, blocks: &[Vec<f64>]) -> Self {
        let total =
            |channel: usize, which: usize| blocks.iter().map(|b| b[2 * channel + which]).sum::<f64>() as f32;
        Self {
            beta: (0..shape.channels).map(|c| total(c, 0)).collect(),
            gamma: (0..shape.channels).map(|c| total(c, 1)).collect(),
            count: shape.batch * shape.height * shape.width,
        }
    }
}

/// The gradient of `z`, not yet computed: `dy` as [`backward_sums`] left it, and what it depends on.
#[derive(Clone, Copy, Debug)]
pub struct NormGradient<'a> {
    /// The normaliser of the forward pass.
    pub normaliser: &'a Normaliser,
    /// What [`backward_sums`] returned.
    pub sums: &'a GradientSums,
    /// Input of the BatchNorm.
    pub z: &'a [f32],
    /// Gradient of the output, as [`backward_sums`] left it.
    pub dy: &'a [f32],
    /// The same gate as for [`backward_sums`].
    pub gate: Gate<'a>,
}

impl NormGradient<'_> {
    pub(crate) fn check(&self, set: InstructionSet, shape: &BatchShape) {
        check(set, shape, self.normaliser, [self.z, self.dy]);
    }

    pub(crate) fn coefficients(&self) -> Coefficients {
        Coefficients::new(self.normaliser, self.sums, self.gate)
    }

    /// Computes the gradient of whole blocks from block `first` on.
    pub(crate) fn blocks(
        &self,
        set: InstructionSet,
        shape: &BatchShape,
        of: &Coefficients,
        first: usize,
        dz: &mut [f32],
    ) {
        let len = shape.block_len(set);
        for (block, dz) in (first..).zip(dz.chunks_exact_mut(len)) {
            let part = block * len..(block + 1) * len;
            let (z, dy) = (&self.z[part.clone()], &self.dy[part]);
            simd::run(set, Input { coefficients: of, z, dy, dz: &mut *dz });
            clear_padding(dz, set.lanes(), shape.images_in(set, block));
        }
    }
}

/// Second pass: the gradient of `z`. [`conv::backward`](crate::conv::backward) does it on the fly.
pub fn backward_input(set: InstructionSet, shape: &BatchShape, gradient: &NormGradient<'_>, dz: &mut [f32]) {
    gradient.check(set, shape);
    shape.check(set, "input gradient", dz.len());
    let coefficients = gradient.coefficients();
    let blocks = dz.par_chunks_mut(shape.block_len(set)).enumerate();
    blocks.for_each(|(block, dz)| gradient.blocks(set, shape, &coefficients, block, dz));
}

fn check(set: InstructionSet, shape: &BatchShape, normaliser: &Normaliser, [z, dy]: [&[f32]; 2]) {
    shape.check(set, "input", z.len());
    shape.check(set, "output gradient", dy.len());
    assert_eq!(normaliser.channels(), shape.channels, "one normaliser per channel");
}

struct Sums<'a> {
    normaliser: &'a Normaliser,
    z: &'a [f32],
    dy: &'a mut [f32],
    y: Option<&'a [f32]>,
    gated: bool,
    tally: Tally<'a>,
}

impl Kernel for Sums<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let Normaliser { mean, inverse, scale, shift } = self.normaliser;
        let channels = mean.len();
        let pixel = channels * S::LANES;
        for (index, (z, dy)) in self.z.chunks_exact(pixel).zip(self.dy.chunks_exact_mut(pixel)).enumerate() {
            for channel in 0..channels {
                let at = channel * S::LANES;
                let (z, mut g) = (s.get(z, at), s.get(dy, at));
                if let Some(y) = self.y {
                    g = s.gated(g, s.get(y, index * pixel + at));
                    s.put(g, dy, at);
                }
                if self.gated {
                    g = s.gated(g, s.fma(z, s.splat(scale[channel]), s.splat(shift[channel])));
                }
                let hat = s.mul(s.sub(z, s.splat(mean[channel])), s.splat(inverse[channel]));
                self.tally.add(s, channel, g, s.mul(g, hat));
            }
            if index % FLUSH == FLUSH - 1 {
                self.tally.flush(s);
            }
        }
        self.tally.flush(s);
    }
}

/// `dz = a·g + b·z + c` per channel, with `g = dy` where `scale · z + shift > 0`.
pub(crate) struct Coefficients {
    abc: Vec<[f32; 3]>,
    gate: Option<Vec<[f32; 2]>>,
}

impl Coefficients {
    fn new(normaliser: &Normaliser, sums: &GradientSums, gate: Gate<'_>) -> Self {
        let Normaliser { mean, inverse, scale, shift } = normaliser;
        let n = sums.count as f64;
        let abc = (0..normaliser.channels())
            .map(|c| {
                let (a, inverse) = (f64::from(scale[c]), f64::from(inverse[c]));
                let b = -a * inverse * f64::from(sums.gamma[c]) / n;
                let c = -a * f64::from(sums.beta[c]) / n - b * f64::from(mean[c]);
                [a as f32, b as f32, c as f32]
            })
            .collect();
        let pairs = || scale.iter().zip(shift).map(|(&scale, &shift)| [scale, shift]).collect();
        Self { abc, gate: matches!(gate, Gate::Input).then(pairs) }
    }
}

struct Input<'a> {
    coefficients: &'a Coefficients,
    z: &'a [f32],
    dy: &'a [f32],
    dz: &'a mut [f32],
}

impl Kernel for Input<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Coefficients { abc, gate } = self.coefficients;
        let pixel = abc.len() * S::LANES;
        for (index, (z, dz)) in self.z.chunks_exact(pixel).zip(self.dz.chunks_exact_mut(pixel)).enumerate() {
            for (channel, &[a, b, c]) in abc.iter().enumerate() {
                let at = channel * S::LANES;
                let z = s.get(z, at);
                let mut g = s.get(self.dy, index * pixel + at);
                if let Some(gate) = gate {
                    g = s.gated(g, s.fma(z, s.splat(gate[channel][0]), s.splat(gate[channel][1])));
                }
                s.put(s.fma(g, s.splat(a), s.fma(z, s.splat(b), s.splat(c))), dz, at);
            }
        }
    }
}
