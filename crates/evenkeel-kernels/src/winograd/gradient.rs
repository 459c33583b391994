//! Winograd weight gradient of a few blocks of images.

use super::forward::{Stream, transform_input};
use super::tiles::{Tile, Tiles};
use super::{POSITIONS, transform};
use crate::correlate::{Strided, correlate};
use crate::simd::{Kernel, Simd};

/// Computes the transformed gradient of some blocks for a range of output channels.
pub(crate) struct WinogradGradient<'a> {
    /// The tiles; its outputs are those of the range.
    pub(crate) tiles: Tiles,
    /// Start of the range.
    pub(crate) first: usize,
    /// Channels of `dy`.
    pub(crate) channels: usize,
    /// Input blocks `[block][H][W][inputs][L]`.
    pub(crate) x: &'a [f32],
    /// Output gradients `[block][H][W][channels][L]`.
    pub(crate) dy: &'a [f32],
    /// Add to the gradient instead of overwriting it.
    pub(crate) add: bool,
    /// `[36][pairs of channels]`, planes padded as by [`super::gradient_len`].
    pub(crate) gradient: &'a mut [f32],
    /// [`Tiles::scratch_len`] numbers.
    pub(crate) scratch: &'a mut [f32],
}

impl Kernel for WinogradGradient<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let tiles = self.tiles;
        let blocks = tiles.blocks(s, self.x, self.dy, self.channels);
        assert!(self.first + tiles.outputs <= self.channels);
        let (in_stride, out_stride) = (tiles.stride(tiles.inputs), tiles.stride(tiles.outputs));
        let (v, d) = tiles.split_scratch(std::mem::take(&mut self.scratch));
        let gradient = std::mem::take(&mut self.gradient);
        let plane = gradient.len() / POSITIONS;
        for (start, count) in tiles.chunks(blocks) {
            for t in 0..count {
                let tile = tiles.tile(start + t);
                transform_input(s, &tiles, self.x, tile, t, v);
                if tiles.is_full(tile) {
                    self.transform::<S, true>(s, tile, t, d);
                } else {
                    self.transform::<S, false>(s, tile, t, d);
                }
            }
            // One row of tiles ahead, while the products do not wait for memory.
            let ahead = start + tiles.width.div_ceil(4);
            let mut x_lines = Stream::new::<S>(&tiles, tiles.inputs, ahead, count, POSITIONS);
            let mut dy_lines = Stream::new::<S>(&tiles, self.channels, ahead, count, POSITIONS);
            for (position, gradient) in gradient.chunks_exact_mut(plane).enumerate() {
                let (in_step, out_step) = (tiles.inputs * S::LANES, tiles.outputs * S::LANES);
                let dy = Strided { data: d, at: position * out_stride, step: out_step, row: 0 };
                let x = Strided { data: v, at: position * in_stride, step: in_step, row: 0 };
                let (channels, add) = ((tiles.outputs, tiles.inputs), self.add || start > 0);
                // SAFETY: `count <= chunk` tiles of all channels fit into a stride, and both buffers hold 36.
                unsafe { correlate(s, dy, x, (1, count), channels, gradient, add) };
                for _ in 0..x_lines.lines_per_call {
                    s.prefetch(self.x, x_lines.next());
                }
                for _ in 0..dy_lines.lines_per_call {
                    s.prefetch(self.dy, dy_lines.next());
                }
            }
        }
    }
}

impl WinogradGradient<'_> {
    /// `A dy Aᵀ` of tile `t` of the chunk, all channels, to `d = [36][t][outputs][L]`. `FULL` says
    /// that all sixteen outputs are inside the map.
    #[inline(always)]
    fn transform<S: Simd, const FULL: bool>(&self, s: S, tile: Tile, t: usize, d: &mut [f32]) {
        let (tiles, dy) = (self.tiles, self.dy);
        let pixel = self.channels * S::LANES;
        let block = tile.block * tiles.height * tiles.width * pixel;
        let stride = tiles.stride(tiles.outputs);
        let (rows, columns) = ((tiles.height - tile.row).min(4), (tiles.width - tile.column).min(4));
        assert!(block + tiles.height * tiles.width * pixel <= dy.len());
        assert!(t < tiles.chunk && POSITIONS * stride <= d.len());
        for c in 0..tiles.outputs {
            let mut half = [[s.zero(); 6]; 4];
            for (j, half) in half.iter_mut().enumerate() {
                let mut column = [s.zero(); 4];
                for (i, value) in column.iter_mut().enumerate() {
                    if FULL || (i < rows && j < columns) {
                        let at = ((tile.row + i) * tiles.width + tile.column + j) * pixel
                            + (self.first + c) * S::LANES;
                        // SAFETY: row and column are inside the map, whose block lies in `dy` (asserted).
                        *value = unsafe { s.load(dy, block + at) };
                    }
                }
                *half = transform::output_adjoint(s, column);
            }
            let at = (t * tiles.outputs + c) * S::LANES;
            for i in 0..6 {
                let row = [half[0][i], half[1][i], half[2][i], half[3][i]];
                for (j, &value) in transform::output_adjoint(s, row).iter().enumerate() {
                    // SAFETY: `at + LANES <= chunk · outputs · LANES <= stride`; `d` has 36 strides (asserted).
                    unsafe { s.store(value, d, (i * 6 + j) * stride + at) };
                }
            }
        }
    }
}
