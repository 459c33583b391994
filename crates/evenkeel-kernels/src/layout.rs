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
    /// Channels.
    pub channels: usize,
    /// Rows.
    pub height: usize,
    /// Columns.
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
    assert_eq!(nchw.len(), shape.batch * shape.image_len(), "nchw: {shape:?}");
    shape.check(set, "blocked", blocked.len());
    if blocked.is_empty() {
        return;
    }
    let lanes = set.lanes();
    let (image, pixels, channels) = (shape.image_len(), shape.height * shape.width, shape.channels);
    let blocks = blocked.par_chunks_mut(shape.block_len(set));
    blocks.zip(nchw.par_chunks(image * lanes)).for_each(|(block, images)| {
        if images.len() < block.len() {
            block.fill(0.0);
        }
        // Runs of sixteen pixels: a cache line of every image is read whole, while the lines that are
        // written stay in the first-level cache.
        for start in (0..pixels).step_by(16) {
            let end = (start + 16).min(pixels);
            for channel in 0..channels {
                for (lane, image) in images.chunks_exact(image).enumerate() {
                    let row = &image[channel * pixels..][start..end];
                    for (pixel, &value) in (start..end).zip(row) {
                        block[(pixel * channels + channel) * lanes + lane] = value;
                    }
                }
            }
        }
    });
}

/// Converts the blocked layout to NCHW and drops the padding images.
pub fn from_blocked(set: InstructionSet, shape: &BatchShape, blocked: &[f32], nchw: &mut [f32]) {
    assert_eq!(nchw.len(), shape.batch * shape.image_len(), "nchw: {shape:?}");
    shape.check(set, "blocked", blocked.len());
    if blocked.is_empty() {
        return;
    }
    let lanes = set.lanes();
    let (image, pixels, channels) = (shape.image_len(), shape.height * shape.width, shape.channels);
    let blocks = blocked.par_chunks(shape.block_len(set));
    blocks.zip(nchw.par_chunks_mut(image * lanes)).for_each(|(block, images)| {
        for start in (0..pixels).step_by(16) {
            let end = (start + 16).min(pixels);
            for channel in 0..channels {
                for (lane, image) in images.chunks_exact_mut(image).enumerate() {
                    let row = &mut image[channel * pixels..][start..end];
                    for (pixel, value) in (start..end).zip(row) {
                        *value = block[(pixel * channels + channel) * lanes + lane];
                    }
                }
            }
        }
    });
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
