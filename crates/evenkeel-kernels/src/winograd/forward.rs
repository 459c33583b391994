//! Winograd convolution of a few blocks of images; the backward-data pass is the same with turned filters.

use super::tiles::{Tile, Tiles};
use super::weights::packed_plane;
use super::{POSITIONS, transform};
use crate::conv::{Output, Written};
use crate::simd::{Kernel, Simd};
use crate::tile::{GROUP, Tap, multiply, with_width};

/// Fewest tiles (of 16 pixels) between two flushes of the statistics to f64.
const FLUSH: usize = 8;
/// Channels, inputs and outputs together, beyond which nothing is prefetched.
const WIDE: usize = 80;

/// Computes whole blocks of output images.
pub(crate) struct WinogradForward<'a> {
    pub(crate) tiles: Tiles,
    /// Input blocks `[block][H][W][inputs][L]`.
    pub(crate) x: &'a [f32],
    /// Transformed weights `[36][outputs / GROUP][inputs][GROUP]`.
    pub(crate) weights: &'a [f32],
    /// Output blocks `[block][H][W][outputs][L]`.
    pub(crate) output: Output<'a>,
    /// [`Tiles::scratch_len`] numbers.
    pub(crate) scratch: &'a mut [f32],
}

impl Kernel for WinogradForward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let tiles = self.tiles;
        let blocks = tiles.blocks(s, self.x, self.output.y, tiles.outputs);
        let (v, m) = tiles.split_scratch(std::mem::take(&mut self.scratch));
        let mut pending = 0;
        for (start, count) in tiles.chunks(blocks) {
            for t in 0..count {
                transform_input(s, &tiles, self.x, tiles.tile(start + t), t, v);
            }
            self.products(s, start, count, v, m);
            for t in 0..count {
                let tile = tiles.tile(start + t);
                if tiles.is_full(tile) {
                    self.transform_output::<S, true>(s, tile, t, m);
                } else {
                    self.transform_output::<S, false>(s, tile, t, m);
                }
            }
            pending += count;
            if pending >= FLUSH.max(tiles.worthwhile) {
                pending = 0;
                self.output.flush(s);
            }
        }
        self.output.flush(s);
    }
}

/// `Bᵀ d B` of tile `t` of the chunk, all channels, to `v = [36][t][inputs][L]`.
#[inline(always)]
pub(super) fn transform_input<S: Simd>(s: S, tiles: &Tiles, x: &[f32], tile: Tile, t: usize, v: &mut [f32]) {
    let inside =
        tile.row > 0 && tile.column > 0 && tile.row + 5 <= tiles.height && tile.column + 5 <= tiles.width;
    if inside {
        transform_tile::<S, true>(s, tiles, x, tile, t, v);
    } else {
        transform_tile::<S, false>(s, tiles, x, tile, t, v);
    }
}

/// [`transform_input`]; `INSIDE` says that no part of the tile is padding.
#[inline(always)]
fn transform_tile<S: Simd, const INSIDE: bool>(
    s: S,
    tiles: &Tiles,
    x: &[f32],
    tile: Tile,
    t: usize,
    v: &mut [f32],
) {
    let pixel = tiles.inputs * S::LANES;
    let block = tile.block * tiles.height * tiles.width * pixel;
    let stride = tiles.stride(tiles.inputs);
    assert!(block + tiles.height * tiles.width * pixel <= x.len());
    assert!(t < tiles.chunk && POSITIONS * stride <= v.len());
    // Row and column −1 wrap around and are seen as beyond the map.
    let (top, left) = (tile.row.wrapping_sub(1), tile.column.wrapping_sub(1));
    for c in 0..tiles.inputs {
        let mut half = [[s.zero(); 6]; 6];
        for (j, half) in half.iter_mut().enumerate() {
            let column = left.wrapping_add(j);
            let mut d = [s.zero(); 6];
            if INSIDE || column < tiles.width {
                for (i, d) in d.iter_mut().enumerate() {
                    let row = top.wrapping_add(i);
                    if INSIDE || row < tiles.height {
                        let at = block + (row * tiles.width + column) * pixel + c * S::LANES;
                        // SAFETY: `row` and `column` are inside the map (checked above or by the caller's
                        // choice of `INSIDE`), whose block lies in `x` (asserted).
                        *d = unsafe { s.load(x, at) };
                    }
                }
            }
            *half = transform::input(s, d);
        }
        let at = (t * tiles.inputs + c) * S::LANES;
        for i in 0..6 {
            let row = [half[0][i], half[1][i], half[2][i], half[3][i], half[4][i], half[5][i]];
            for (j, &value) in transform::input(s, row).iter().enumerate() {
                // SAFETY: `at + LANES <= chunk · inputs · LANES <= stride`, and `v` has 36 strides (asserted).
                unsafe { s.store(value, v, (i * 6 + j) * stride + at) };
            }
        }
    }
}

impl WinogradForward<'_> {
    /// `m[position] = weights[position] · v[position]` for `count` tiles from tile `start` on.
    ///
    /// This is the part that does not wait for memory, so it also asks for what comes next: the inputs one
    /// row of tiles ahead and the place of the outputs.
    #[inline(always)]
    fn products<S: Simd>(&mut self, s: S, start: usize, count: usize, v: &[f32], m: &mut [f32]) {
        let tiles = &self.tiles;
        let across = tiles.width.div_ceil(4);
        let ahead = if tiles.chunk.is_multiple_of(across) { 0 } else { across };
        let calls = POSITIONS * tiles.outputs.div_ceil(GROUP) * count.div_ceil(S::WIDTH);
        let mut inputs = Stream::new::<S>(tiles, tiles.inputs, start + across, count, calls);
        let mut outputs_to_come = Stream::new::<S>(tiles, tiles.outputs, start + ahead, count, calls);
        let (depth, outputs) = (tiles.inputs, tiles.outputs);
        let (v_stride, m_stride) = (tiles.stride(depth), tiles.stride(outputs));
        let plane = packed_plane(outputs, depth);
        for position in 0..POSITIONS {
            let v = &v[position * v_stride..][..v_stride];
            let m = &mut m[position * m_stride..][..m_stride];
            let weights = &self.weights[position * plane..][..plane];
            for (group, weights) in weights.chunks_exact(depth * GROUP).enumerate() {
                if group * GROUP >= outputs {
                    break;
                }
                let mut t = 0;
                while t < count {
                    let width = (count - t).min(S::WIDTH);
                    with_width!(width in [4, 3, 2] or 1, W => product::<S, W>(s, tiles, v, weights, m, t, group));
                    for _ in 0..inputs.lines_per_call {
                        s.prefetch(self.x, inputs.next());
                    }
                    for _ in 0..outputs_to_come.lines_per_call {
                        s.prefetch_to_write(self.output.y, outputs_to_come.next());
                    }
                    t += width;
                }
            }
        }
    }

    /// `Aᵀ m A` of tile `t` of the chunk, all channels, through the epilogue to the output. `FULL` says that
    /// all sixteen outputs are inside the map.
    #[inline(always)]
    fn transform_output<S: Simd, const FULL: bool>(&mut self, s: S, tile: Tile, t: usize, m: &[f32]) {
        let tiles = self.tiles;
        let stride = tiles.stride(tiles.outputs);
        let block = tile.block * tiles.height * tiles.width;
        let (rows, columns) = ((tiles.height - tile.row).min(4), (tiles.width - tile.column).min(4));
        assert!(t < tiles.chunk && POSITIONS * stride <= m.len());
        assert!((block + tiles.height * tiles.width) * tiles.outputs * S::LANES <= self.output.y.len());
        for channel in 0..tiles.outputs {
            let from = (t * tiles.outputs + channel) * S::LANES;
            let mut half = [[s.zero(); 4]; 6];
            for (j, half) in half.iter_mut().enumerate() {
                let mut column = [s.zero(); 6];
                for (i, value) in column.iter_mut().enumerate() {
                    // SAFETY: `from + LANES <= chunk · outputs · LANES <= stride`; `m` has 36 strides (asserted).
                    *value = unsafe { s.load(m, (i * 6 + j) * stride + from) };
                }
                *half = transform::output(s, column);
            }
            let mut written = Written::nothing(s);
            for i in 0..4 {
                let row = [half[0][i], half[1][i], half[2][i], half[3][i], half[4][i], half[5][i]];
                let values = transform::output(s, row);
                let pixel = block + (tile.row + i) * tiles.width + tile.column;
                let (first, step) = ((pixel * tiles.outputs + channel) * S::LANES, tiles.outputs * S::LANES);
                if FULL {
                    // SAFETY: four pixels of a row of the map, whose block lies in `y` (asserted).
                    unsafe { self.output.write(s, values, (first, step), channel, &mut written) };
                } else if i < rows {
                    for (j, &value) in values[..columns].iter().enumerate() {
                        let place = (first + j * step, step);
                        // SAFETY: a pixel inside the map, whose block lies in `y` (asserted).
                        unsafe { self.output.write(s, [value], place, channel, &mut written) };
                    }
                }
            }
            self.output.count(s, channel, &written);
        }
    }
}

/// One register tile of [`WinogradForward::products`]: `GROUP` output channels × `W` tiles.
#[inline(always)]
fn product<S: Simd, const W: usize>(
    s: S,
    tiles: &Tiles,
    v: &[f32],
    weights: &[f32],
    m: &mut [f32],
    t: usize,
    group: usize,
) {
    let step = tiles.inputs * S::LANES;
    assert!((t + W) * step <= v.len() && weights.len() >= tiles.inputs * GROUP);
    assert!((t + W) * tiles.outputs * S::LANES <= m.len());
    let taps = [Tap { input: 0, weight: 0 }];
    // SAFETY: tiles `t..t + W` with all their channels and one group of weights, as asserted.
    let sums = unsafe { multiply::<S, W>(s, v, t * step, step, weights, &taps, tiles.inputs) };
    for (o, row) in sums.iter().enumerate() {
        let channel = group * GROUP + o;
        if channel < tiles.outputs {
            for (p, &sum) in row.iter().enumerate() {
                // SAFETY: one of the channels of tiles `t..t + W`, which `m` holds (asserted).
                unsafe { s.store(sum, m, ((t + p) * tiles.outputs + channel) * S::LANES) };
            }
        }
    }
}

/// Cache lines to ask for, spread evenly over a number of calls.
pub(super) struct Stream {
    at: usize,
    pub(super) lines_per_call: usize,
}

impl Stream {
    /// The lines of `count` tiles from tile `start` on, as if the tiles of a row shared it line by line.
    #[inline(always)]
    pub(super) fn new<S: Simd>(
        tiles: &Tiles,
        channels: usize,
        start: usize,
        count: usize,
        calls: usize,
    ) -> Self {
        // The maps of wide layers are small: they are near already, and asking for them pushes out the tiles.
        let wide = tiles.inputs + tiles.outputs > WIDE;
        let per_tile = 4 * tiles.width * channels * S::LANES / tiles.width.div_ceil(4);
        let lines_per_call = if wide { 0 } else { (count * per_tile / 16).div_ceil(calls) };
        Self { at: start * per_tile, lines_per_call }
    }

    /// The next line.
    #[inline(always)]
    pub(super) fn next(&mut self) -> usize {
        let at = self.at;
        self.at += 16;
        at
    }
}
