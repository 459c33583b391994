//! Images and labels in memory.

use std::ops::Range;

use crate::error::{FormatError, Problem};

/// Channels, height and width of every image in a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ImageShape {
    /// 1 for grey, 3 for RGB.
    pub channels: usize,
    /// The number of rows.
    pub height: usize,
    /// The number of columns.
    pub width: usize,
}

impl ImageShape {
    /// A shape from its three sizes.
    pub const fn new(channels: usize, height: usize, width: usize) -> Self {
        Self { channels, height, width }
    }

    /// Values in one image: `channels × height × width`.
    pub const fn len(self) -> usize {
        self.channels * self.height * self.width
    }

    /// Whether an image of this shape has no pixels.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// 8-bit images of one size, stored as `n × channels × height × width`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Images {
    shape: ImageShape,
    pixels: Vec<u8>,
}

impl Images {
    /// Wraps `pixels`, which must fill a whole number of images.
    ///
    /// ```
    /// use evenkeel_data::{Images, ImageShape};
    ///
    /// let images = Images::new(ImageShape::new(1, 2, 2), vec![0, 1, 2, 3, 4, 5, 6, 7])?;
    /// assert_eq!(images.len(), 2);
    /// assert_eq!(images.image(1), [4, 5, 6, 7]);
    /// # Ok::<(), evenkeel_data::FormatError>(())
    /// ```
    pub fn new(shape: ImageShape, pixels: Vec<u8>) -> Result<Self, FormatError> {
        let ImageShape { channels, height, width } = shape;
        let image = channels.checked_mul(height).and_then(|n| n.checked_mul(width)).unwrap_or(0);
        if image == 0 {
            return Err(FormatError::new("images", Problem::EmptyImage { channels, height, width }));
        }
        if !pixels.len().is_multiple_of(image) {
            return Err(FormatError::new("images", Problem::PartialImage { image, found: pixels.len() }));
        }
        Ok(Self { shape, pixels })
    }

    /// Number of images.
    pub fn len(&self) -> usize {
        self.pixels.len() / self.shape.len()
    }

    /// Whether there is no image.
    pub fn is_empty(&self) -> bool {
        self.pixels.is_empty()
    }

    /// The shape that all images share.
    pub fn shape(&self) -> ImageShape {
        self.shape
    }

    /// The number of channels of every image.
    pub fn channels(&self) -> usize {
        self.shape.channels
    }

    /// The number of rows of every image.
    pub fn height(&self) -> usize {
        self.shape.height
    }

    /// The number of columns of every image.
    pub fn width(&self) -> usize {
        self.shape.width
    }

    /// All pixels, image after image.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// The pixels of image `i`, channel by channel, row by row.
    ///
    /// # Panics
    /// If there is no image `i`, as slice indexing does.
    pub fn image(&self, i: usize) -> &[u8] {
        &self.pixels[self.span(i)]
    }

    fn span(&self, i: usize) -> Range<usize> {
        let n = self.shape.len();
        i * n..(i + 1) * n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_must_fill_whole_images() {
        let error = Images::new(ImageShape::new(3, 2, 2), vec![0; 13]).unwrap_err();
        assert_eq!(error.to_string(), "images: 13 pixels are not a whole number of 12-pixel images");
        assert!(Images::new(ImageShape::new(3, 0, 2), vec![]).is_err());
        assert!(Images::new(ImageShape::new(usize::MAX, 2, 2), vec![]).is_err());
    }
}
