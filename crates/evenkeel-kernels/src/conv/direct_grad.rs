//! Direct weight gradient of one block of images.

use super::shape::ConvShape;
use crate::correlate::{Pairs, Strided, correlate};
use crate::simd::{Kernel, Simd};

use std::ops::Range;

/// Pixels whose products are summed in registers before lanes are added up.
const PIXELS: usize = 32;

/// Adds the gradient of one block of images to `gradient`.
pub(crate) struct DirectGradient<'a> {
    pub(crate) conv: &'a ConvShape,
    /// Input block `[H][W][inputs][L]`.
    pub(crate) x: &'a [f32],
    /// Gradient of the output block `[H][W][outputs][L]`.
    pub(crate) dy: &'a [f32],
    /// How the gradient of a tap is laid out.
    pub(crate) pairs: Pairs,
    /// `[tap][pairs of channels]`.
    pub(crate) gradient: &'a mut [f32],
}

/// The outputs among `outputs` whose tap `k` reads an existing input of an axis of `size`.
fn valid(conv: &ConvShape, k: usize, size: usize, outputs: Range<usize>) -> Range<usize> {
    let pad = (conv.kernel - 1) / 2;
    let start = pad.saturating_sub(k).div_ceil(conv.stride).max(outputs.start);
    // `out · stride + k − pad <= size − 1`.
    let end = (size + pad).checked_sub(k + 1).map_or(0, |last| last / conv.stride + 1);
    start..end.min(outputs.end).max(start)
}

impl Kernel for DirectGradient<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let conv = self.conv;
        let output = conv.output();
        let pad = (conv.kernel - 1) / 2;
        let (in_pixel, out_pixel) = (conv.inputs * S::LANES, conv.outputs * S::LANES);
        let band = PIXELS.div_ceil(output.width);
        assert!(self.x.len() == conv.height * conv.width * in_pixel);
        assert!(self.dy.len() == output.height * output.width * out_pixel);
        for top in (0..output.height).step_by(band) {
            let bottom = (top + band).min(output.height);
            for (tap, gradient) in self.gradient.chunks_exact_mut(self.pairs.len()).enumerate() {
                let (ky, kx) = (tap / conv.kernel, tap % conv.kernel);
                let rows = valid(conv, ky, conv.height, top..bottom);
                let columns = valid(conv, kx, conv.width, 0..output.width);
                if rows.is_empty() || columns.is_empty() {
                    continue;
                }
                let (y, x) = (rows.start * conv.stride + ky - pad, columns.start * conv.stride + kx - pad);
                let dy = Strided {
                    data: self.dy,
                    at: (rows.start * output.width + columns.start) * out_pixel,
                    step: out_pixel,
                    row: output.width * out_pixel,
                };
                let x = Strided {
                    data: self.x,
                    at: (y * conv.width + x) * in_pixel,
                    step: conv.stride * in_pixel,
                    row: conv.stride * conv.width * in_pixel,
                };
                let channels = (conv.outputs, conv.inputs);
                // SAFETY: `rows` × `columns` are output pixels whose tap reads an existing input pixel
                // (`valid`), both slices hold whole maps (asserted above), and `gradient` is one plane.
                unsafe { correlate(s, dy, x, (rows.len(), columns.len()), channels, gradient, true) };
            }
        }
    }
}
