//! How a map is cut into tiles and how many of them are worked on at a time.

use super::POSITIONS;
use crate::instruction_set::InstructionSet;
use crate::simd::Simd;

/// Tiles of the forward pass that are transformed before they are multiplied. Fewer leave registers empty; more were slower
/// (`bench/kernels/examples/evaluation.rs`): their transforms have left the near caches by then.
const AT_ONCE: usize = 2;
/// Channels × tiles whose transforms fill about three fifths of a second-level cache of 1.25 MiB (sixteen
/// lanes) or three quarters of one of 512 KiB (eight lanes).
const CACHED: usize = 341;

/// The tiles of one map and the working memory for a chunk of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tiles {
    pub(crate) height: usize,
    pub(crate) width: usize,
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// Tiles that are transformed before they are multiplied.
    pub(crate) chunk: usize,
    /// Tiles that make a task worth its while. Where tasks end and statistics are flushed decides how sums are rounded, so this does not
    /// follow `chunk`.
    pub(super) worthwhile: usize,
    lanes: usize,
}

/// Position of one tile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tile {
    pub(crate) block: usize,
    /// First output row and column.
    pub(crate) row: usize,
    pub(crate) column: usize,
}

impl Tiles {
    pub(crate) fn new(
        set: InstructionSet,
        height: usize,
        width: usize,
        inputs: usize,
        outputs: usize,
    ) -> Self {
        let worthwhile = (CACHED / (inputs + outputs) / 4 * 4).clamp(4, 16);
        Self { height, width, inputs, outputs, chunk: AT_ONCE, worthwhile, lanes: set.lanes() }
    }

    /// The same tiles in chunks for the weight gradient, which adds up lanes once per chunk.
    pub(crate) fn for_gradient(self) -> Self {
        // Wide layers leave the second-level cache anyway: rather add up lanes half as often. Eight lanes cost as much to add up as
        // sixteen, for half the products.
        let fewest = if self.inputs + self.outputs >= 160 || self.lanes == 8 { 16 } else { 8 };
        let chunk = self.worthwhile.max(fewest);
        Self { chunk, worthwhile: chunk, ..self }
    }

    /// The same tiles for a part of the outputs.
    pub(crate) fn with_outputs(self, outputs: usize) -> Self {
        Self { outputs, ..self }
    }

    /// Tiles in one block of images.
    pub(crate) fn per_block(&self) -> usize {
        self.height.div_ceil(4) * self.width.div_ceil(4)
    }

    /// Blocks that a task needs to be worth its while.
    pub(crate) fn blocks_per_task(&self) -> usize {
        self.worthwhile.div_ceil(self.per_block())
    }

    pub(crate) fn tile(&self, index: usize) -> Tile {
        let (across, per_block) = (self.width.div_ceil(4), self.per_block());
        let (block, index) = (index / per_block, index % per_block);
        Tile { block, row: index / across * 4, column: index % across * 4 }
    }

    /// Numbers between two positions: an odd number of cache lines, so that the 36 positions of a tile do
    /// not compete for the same places of the cache.
    pub(crate) fn stride(&self, channels: usize) -> usize {
        ((self.chunk * channels * self.lanes).div_ceil(16) | 1) * 16
    }

    /// Blocks of images in `x`. Panics unless they are whole and `y`, with so many channels, has as many.
    #[inline(always)]
    pub(crate) fn blocks<S: Simd>(&self, _: S, x: &[f32], y: &[f32], channels: usize) -> usize {
        let image = self.height * self.width * S::LANES;
        let blocks = x.len() / (image * self.inputs);
        assert!(x.len() == blocks * image * self.inputs && y.len() == blocks * image * channels);
        blocks
    }

    /// The chunks of so many blocks: the first tile of each, and how many.
    #[inline(always)]
    pub(crate) fn chunks(&self, blocks: usize) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (total, chunk) = (blocks * self.per_block(), self.chunk);
        (0..total).step_by(chunk).map(move |start| (start, chunk.min(total - start)))
    }

    /// Whether all sixteen outputs of a tile are inside the map.
    #[inline(always)]
    pub(crate) fn is_full(&self, tile: Tile) -> bool {
        tile.row + 4 <= self.height && tile.column + 4 <= self.width
    }

    /// The two parts of the working memory: for 36 positions of the inputs, and of the outputs.
    #[inline(always)]
    pub(crate) fn split_scratch<'a>(&self, scratch: &'a mut [f32]) -> (&'a mut [f32], &'a mut [f32]) {
        scratch[..self.scratch_len()].split_at_mut(POSITIONS * self.stride(self.inputs))
    }

    /// Numbers of working memory for the transformed inputs and outputs of one chunk.
    pub(crate) fn scratch_len(&self) -> usize {
        POSITIONS * (self.stride(self.inputs) + self.stride(self.outputs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_tiles_cover_odd_maps() {
        let tiles = Tiles::new(InstructionSet::PORTABLE, 21, 11, 80, 80);
        assert_eq!(tiles.per_block(), 6 * 3);
        let last = tiles.tile(2 * 18 - 1);
        assert_eq!((last.block, last.row, last.column), (1, 20, 8));
    }
}
