//! The blocked layout `[N/L][H][W][C][L]`: the lanes of a vector are images.

use crate::instruction_set::InstructionSet;
use rayon::prelude::*;

/// The logical size of a batch of feature maps.
///
/// In memory a batch is `[N/L][H][W][C][L]` with `L` = [`InstructionSet::lanes`] images side by side, so that no lane
/// is wasted at any channel count. The last block is filled up with images of zeros; kernels keep them out
/// of statistics and weight gradients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchShape {
    /// Images, without padding.
    pub batch: usize,
    /// Numbers per pixel.
    pub channels: usize,
    /// Rows of pixels per image.
    pub height: usize,
    /// Columns of pixels per image.
    pub width: usize,
}

impl BatchShape {
    /// A shape in the order of NCHW.
    pub const fn new(batch: usize, channels: usize, height: usize, width: usize) -> Self {
        Self { batch, channels, height, width }
    }

    /// Numbers in one image: `C · H · W`.
    pub const fn image_len(&self) -> usize {
        self.channels * self.height * self.width
    }

    /// Blocks of `L` images, the last one possibly padded.
    pub fn blocks(&self, set: InstructionSet) -> usize {
        self.batch.div_ceil(set.lanes())
    }

    /// Numbers in one block.
    pub fn block_len(&self, set: InstructionSet) -> usize {
        self.image_len() * set.lanes()
    }

    /// Numbers in the whole blocked batch, padding included.
    pub fn blocked_len(&self, set: InstructionSet) -> usize {
        self.blocks(set) * self.block_len(set)
    }

    /// Images of block `block` that are not padding.
    pub(crate) fn images_in(&self, set: InstructionSet, block: usize) -> usize {
        (self.batch - block * set.lanes()).min(set.lanes())
    }

    pub(crate) fn check(&self, set: InstructionSet, name: &str, len: usize) {
        let expected = self.blocked_len(set);
        assert_eq!(len, expected, "{name}: {self:?} on {} has {expected} numbers", set.name());
    }
}

/// Converts NCHW to the blocked layout; padding images become zeros.
pub fn to_blocked(set: InstructionSet, shape: &BatchShape, nchw: &[f32], blocked: &mut [f32]) {
    let rows = Rows::new(set, shape, nchw.len(), blocked.len());
    let blocks = blocked.par_chunks_mut(shape.block_len(set).max(1));
    blocks.zip(nchw.par_chunks((shape.image_len() * set.lanes()).max(1))).for_each(|(block, images)| {
        if images.len() < block.len() {
            block.fill(0.0);
        }
        rows.of_block(images.len(), |row| {
            let to = block[row.in_block..].iter_mut().step_by(rows.step);
            to.zip(&images[row.in_images]).for_each(|(to, from)| *to = *from);
        });
    });
}

/// Converts the blocked layout to NCHW and drops the padding images.
pub fn from_blocked(set: InstructionSet, shape: &BatchShape, blocked: &[f32], nchw: &mut [f32]) {
    let rows = Rows::new(set, shape, nchw.len(), blocked.len());
    let blocks = blocked.par_chunks(shape.block_len(set).max(1));
    blocks.zip(nchw.par_chunks_mut((shape.image_len() * set.lanes()).max(1))).for_each(|(block, images)| {
        rows.of_block(images.len(), |row| {
            let from = block[row.in_block..].iter().step_by(rows.step);
            images[row.in_images].iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        });
    });
}

/// Rows of pixels that both layouts hold: side by side in NCHW, spread in a block.
struct Rows {
    /// Numbers of one image, and of one of its channels.
    image: usize,
    pixels: usize,
    channels: usize,
    lanes: usize,
    /// Distance between neighbouring pixels in a block.
    step: usize,
}

/// One row: its place among the images of a block, and where it begins in the block.
struct Row {
    in_images: std::ops::Range<usize>,
    in_block: usize,
}

impl Rows {
    /// Pixels of a row: a cache line of every image is read or written whole, while the lines of the block stay in the first-level cache.
    const LEN: usize = 16;

    /// Panics unless so many numbers are a batch of this shape in either layout.
    fn new(set: InstructionSet, shape: &BatchShape, nchw: usize, blocked: usize) -> Self {
        assert_eq!(nchw, shape.batch * shape.image_len(), "nchw: {shape:?}");
        shape.check(set, "blocked", blocked);
        let (channels, lanes) = (shape.channels, set.lanes());
        let (image, pixels) = (shape.image_len(), shape.height * shape.width);
        Self { image, pixels, channels, lanes, step: channels * lanes }
    }

    /// Visits the rows of a block whose images have `len` numbers.
    #[inline]
    fn of_block(&self, len: usize, mut visit: impl FnMut(Row)) {
        for start in (0..self.pixels).step_by(Self::LEN) {
            let end = (start + Self::LEN).min(self.pixels);
            for channel in 0..self.channels {
                for (lane, image) in (0..len).step_by(self.image).enumerate() {
                    let plane = image + channel * self.pixels;
                    let in_block = (start * self.channels + channel) * self.lanes + lane;
                    visit(Row { in_images: plane + start..plane + end, in_block });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Buffer;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn blocking_and_unblocking_is_the_identity(n in 1usize..40, c in 1usize..6, h in 1usize..9, w in 1usize..9) {
            let shape = BatchShape::new(n, c, h, w);
            let data: Vec<f32> = (0..n * shape.image_len()).map(|i| i as f32).collect();
            for set in InstructionSet::available() {
                let mut blocked = Buffer::zeroed(shape.blocked_len(set));
                blocked.fill(f32::NAN);
                to_blocked(set, &shape, &data, &mut blocked);
                prop_assert!(blocked.iter().all(|v| v.is_finite()));
                let mut back = vec![0.0; data.len()];
                from_blocked(set, &shape, &blocked, &mut back);
                prop_assert_eq!(&back, &data);
            }
        }
    }

    #[test]
    fn lanes_are_images_and_padding_is_zero() {
        let (set, shape) = (InstructionSet::PORTABLE, BatchShape::new(9, 2, 1, 2));
        let data: Vec<f32> = (0..36).map(|i| i as f32).collect();
        let mut blocked = vec![f32::NAN; shape.blocked_len(set)];
        to_blocked(set, &shape, &data, &mut blocked);
        // Image 3, channel 1, pixel 0 is number 3·4 + 2 of NCHW.
        assert_eq!(blocked[8 + 3], 14.0);
        // Image 8 is lane 0 of block 1; lane 1 is padding.
        assert_eq!(blocked[32..34], [32.0, 0.0]);
    }
}
