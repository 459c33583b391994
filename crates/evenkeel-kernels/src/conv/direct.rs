//! Direct convolution of one block of images: forward and backward-data are the same loop over a [`Plan`].

use super::epilogue::{Output, Written};
use super::plan::{Axis, Plan};
use crate::simd::{Kernel, Simd};
use crate::tile::{GROUP, Tap, multiply, with_width};

/// Pixels between two flushes of the statistics to f64.
const FLUSH: usize = 128;

/// Computes one block of output images.
pub(crate) struct Direct<'a> {
    pub(crate) plan: &'a Plan,
    /// Input block `[H][W][depth][L]`.
    pub(crate) x: &'a [f32],
    /// Packed weights `[outputs / GROUP][tap][depth][GROUP]`.
    pub(crate) weights: &'a [f32],
    /// Output block `[H][W][outputs][L]`.
    pub(crate) output: Output<'a>,
}

/// The taps of one run of pixels, neighbours in memory merged: a 3×3 filter has at most nine.
#[derive(Default)]
struct Taps {
    list: [Tap; 9],
    /// Channels of every tap: `depth`, or `3 · depth` where a row of the filter is one stretch of memory.
    depth: usize,
    count: usize,
}

/// Where the neighbours of a pixel are that are computed with it.
#[derive(Clone, Copy)]
enum Towards {
    /// In the same row.
    Beside,
    /// In the same column.
    Below,
}

impl Kernel for Direct<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let plan = self.plan;
        assert!(self.output.y.len() == plan.out_height * plan.out_width * plan.outputs * S::LANES);
        let mut pixels = 0;
        for rows in &plan.rows {
            for columns in &plan.columns {
                if self.output.epilogue.accumulate && rows.taps.len() * columns.taps.len() == 0 {
                    continue;
                }
                let (inside, interior) = (rows.interior(), columns.interior());
                // Two rows at a time, unless sums are gathered: those keep to the order of the pixels.
                let tallest = if self.output.tally.is_some() { 1 } else { 2 };
                let mut a = 0;
                while a < rows.count {
                    let height = if inside.contains(&a) { (inside.end - a).min(tallest) } else { 1 };
                    let mut b = 0;
                    while b < columns.count {
                        let width = if interior.contains(&b) { (interior.end - b).min(S::WIDTH) } else { 1 };
                        if (height, width) == (2, 1) {
                            // A pixel without a neighbour beside it would wait for its own sums: it goes with the one below.
                            self.pixels::<S, 2>(s, rows, columns, (a, b), Towards::Below);
                        } else {
                            for a in a..a + height {
                                with_width!(width in [4, 3, 2] or 1, W =>
                                    self.pixels::<S, W>(s, rows, columns, (a, b), Towards::Beside));
                            }
                        }
                        b += width;
                    }
                    a += height;
                    pixels += height * columns.count;
                    if pixels >= FLUSH {
                        pixels = 0;
                        self.output.flush(s);
                    }
                }
            }
        }
        self.output.flush(s);
    }
}

impl Direct<'_> {
    /// `W` neighbouring pixels, all output channels. All of them have the same taps.
    #[inline(always)]
    fn pixels<S: Simd, const W: usize>(
        &mut self,
        s: S,
        rows: &Axis,
        columns: &Axis,
        (a, b): (usize, usize),
        towards: Towards,
    ) {
        let plan = self.plan;
        let pixel = plan.depth * S::LANES;
        let taps = gather(plan, rows, columns, a, b, pixel);
        let (step, out_step) = match towards {
            Towards::Beside => (columns.in_step * pixel, columns.out_step),
            Towards::Below => (rows.in_step * plan.in_width * pixel, rows.out_step * plan.out_width),
        };
        let group_len = plan.kernel * plan.kernel * plan.depth * GROUP;
        let out = (rows.first + a * rows.out_step) * plan.out_width + columns.first + b * columns.out_step;
        for (group, weights) in self.weights.chunks_exact(group_len).enumerate() {
            // SAFETY: `gather` lists only taps whose input pixel exists for pixel `(a, b)`; `W > 1` only in the interior
            // of the row (beside) or the column (below), where the same holds for the pixels that follow. Every tap reads `depth` channels of
            // its pixel (merged ones those of neighbouring, existing pixels) and weights within its group.
            let sums = unsafe {
                multiply::<S, W>(s, self.x, 0, step, weights, &taps.list[..taps.count], taps.depth)
            };
            for (o, row) in sums.iter().enumerate() {
                let channel = group * GROUP + o;
                if channel >= plan.outputs {
                    break;
                }
                let mut written = Written::nothing(s);
                let first = (out * plan.outputs + channel) * S::LANES;
                let places = (first, out_step * plan.outputs * S::LANES);
                // SAFETY: these are pixels of the output, which is a whole map (asserted in `run`), and `channel` is one of its channels.
                unsafe { self.output.write(s, *row, places, channel, &mut written) };
                self.output.count(s, channel, &written);
            }
        }
    }
}

/// Lists the taps of output pixel `(a, b)` with absolute input offsets.
#[inline(always)]
fn gather(plan: &Plan, rows: &Axis, columns: &Axis, a: usize, b: usize, pixel: usize) -> Taps {
    let mut taps = Taps { depth: plan.depth, ..Taps::default() };
    let (mut first, mut found) = (None, 0);
    let mut merged = true;
    for (tap, x) in columns.valid(b) {
        let (index, start) = *first.get_or_insert((tap.index, x));
        // Weights and pixels of this tap follow those of the first one without a gap.
        merged &= tap.index == index + found && x == start + found;
        found += 1;
    }
    let width = if merged { found } else { 1 };
    for (row, y) in rows.valid(a) {
        for (column, x) in columns.valid(b).step_by(width.max(1)) {
            taps.list[taps.count] = Tap {
                input: (y * plan.in_width + x) * pixel,
                weight: (row.index * plan.kernel + column.index) * plan.depth * GROUP,
            };
            taps.count += 1;
        }
    }
    taps.depth = plan.depth * width.max(1);
    taps
}
