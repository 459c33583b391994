//! Random crops and flips for training images.

use rand::Rng;

use crate::images::ImageShape;
use crate::random::below;

/// Pad with zeros on all four sides, crop a random window of the original size, then flip it left to
/// right half of the time.
///
/// Works on pixels or on floats. On 8-bit images the padding is black, as torchvision's
/// `RandomCrop(size, padding)` before normalising. Every image draws the same number of random
/// words, so a batch can be recomputed from its generator.
///
/// ```
/// use evenkeel_data::ImageShape;
/// use evenkeel_data::augment::CropFlip;
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let augment = CropFlip { padding: 4, flip: true };
/// let image = vec![7u8; 3 * 32 * 32];
/// let mut out = vec![0; image.len()];
/// augment.apply(&image, ImageShape::new(3, 32, 32), &mut ChaCha8Rng::seed_from_u64(0), &mut out);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CropFlip {
    /// Zeros added on each side: 4 for CIFAR.
    pub padding: usize,
    /// Whether to flip half of the images.
    pub flip: bool,
}

impl CropFlip {
    /// Writes an augmented copy of `image` to `out`.
    ///
    /// # Panics
    /// If `image` or `out` does not have the size of `shape`.
    pub fn apply<T: Copy + Default>(
        &self,
        image: &[T],
        shape: ImageShape,
        rng: &mut impl Rng,
        out: &mut [T],
    ) {
        assert_eq!(image.len(), shape.len(), "the image does not have the given shape");
        assert_eq!(out.len(), shape.len(), "the output does not have the given shape");
        let offsets = 2 * self.padding + 1;
        let (down, right) = (below(rng, offsets), below(rng, offsets));
        let mirrored = below(rng, 2) == 1 && self.flip;
        let ImageShape { height, width, .. } = shape;
        for (i, out) in out.iter_mut().enumerate() {
            let (plane, y, x) = (i / (height * width), i / width % height, i % width);
            let x = if mirrored { width - 1 - x } else { x };
            // Positions in the padded image, shifted by the padding that precedes the original.
            let (y, x) = (y + down, x + right);
            let inside = (self.padding..self.padding + height).contains(&y)
                && (self.padding..self.padding + width).contains(&x);
            *out = if inside {
                image[(plane * height + y - self.padding) * width + x - self.padding]
            } else {
                T::default()
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::random::generator;

    const SHAPE: ImageShape = ImageShape::new(2, 3, 4);

    fn image() -> Vec<u8> {
        (1..=24).collect()
    }

    fn augmented(augment: CropFlip, draw: u64) -> Vec<u8> {
        let mut out = vec![99; 24];
        augment.apply(&image(), SHAPE, &mut generator(0, *b"testing.", draw), &mut out);
        out
    }

    #[test]
    fn without_padding_and_flip_nothing_changes() {
        assert_eq!(augmented(CropFlip { padding: 0, flip: false }, 1), image());
    }

    #[test]
    fn flips_are_exact_and_about_half() {
        let mirrored: Vec<u8> = image().chunks(4).flat_map(|row| row.iter().rev().copied()).collect();
        let all: Vec<_> = (0..400).map(|draw| augmented(CropFlip { padding: 0, flip: true }, draw)).collect();
        assert!(all.iter().all(|out| *out == image() || *out == mirrored));
        let flipped = all.iter().filter(|out| **out == mirrored).count();
        assert!((140..260).contains(&flipped), "{flipped} of 400");
    }

    #[test]
    fn every_offset_occurs_and_shows_the_shifted_image_on_zeros() {
        let outs: BTreeSet<_> =
            (0..400).map(|draw| augmented(CropFlip { padding: 1, flip: false }, draw)).collect();
        assert_eq!(outs.len(), 9);
        let up_left: Vec<u8> = vec![6, 7, 8, 0, 10, 11, 12, 0, 0, 0, 0, 0];
        assert!(outs.iter().any(|out| out[..12] == up_left));
        assert!(outs.contains(&image()));
    }

    #[test]
    fn the_generator_decides_alone_and_is_advanced_alike() {
        let augment = CropFlip { padding: 2, flip: true };
        assert_eq!(augmented(augment, 3), augmented(augment, 3));
        let after = |augment: CropFlip| {
            let mut rng = generator(0, *b"testing.", 9);
            augment.apply(&[0.5f32; 24], SHAPE, &mut rng, &mut [0.0; 24]);
            rng.next_u64()
        };
        assert_eq!(after(augment), after(CropFlip { padding: 0, flip: false }));
    }
}
