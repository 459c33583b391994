//! Images and labels in memory.

use std::ops::Range;
use std::sync::Arc;

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

/// Images with one label each: a view, so that subsets and copies share the pixels.
#[derive(Debug, Clone)]
pub struct Labelled {
    images: Arc<Images>,
    rows: Arc<[u32]>,
    labels: Arc<[u16]>,
    classes: usize,
}

impl Labelled {
    /// Pairs every image with its label; labels must lie below `classes`.
    pub fn new(
        images: impl Into<Arc<Images>>,
        labels: Vec<u16>,
        classes: usize,
    ) -> Result<Self, FormatError> {
        let images = images.into();
        let rows = (0..images.len() as u32).collect();
        Self::view(images, rows, labels, classes)
    }

    fn view(
        images: Arc<Images>,
        rows: Arc<[u32]>,
        labels: Vec<u16>,
        classes: usize,
    ) -> Result<Self, FormatError> {
        let problem = |problem| FormatError::new("images and labels", problem);
        if rows.len() != labels.len() {
            return Err(problem(Problem::CountMismatch { images: rows.len(), labels: labels.len() }));
        }
        if let Some(index) = labels.iter().position(|&label| usize::from(label) >= classes) {
            return Err(problem(Problem::LabelOutOfRange { label: labels[index], index, classes }));
        }
        Ok(Self { images, rows, labels: labels.into(), classes })
    }

    /// The same images under other labels.
    pub fn relabel(&self, labels: Vec<u16>, classes: usize) -> Result<Self, FormatError> {
        Self::view(Arc::clone(&self.images), Arc::clone(&self.rows), labels, classes)
    }

    /// The same examples with every image changed by `f`, which writes into its second argument.
    #[must_use]
    pub fn map_images(&self, mut f: impl FnMut(&[u8], &mut [u8])) -> Self {
        let size = self.shape().len();
        let mut pixels = vec![0; self.len() * size];
        for (i, out) in pixels.chunks_exact_mut(size).enumerate() {
            f(self.image(i), out);
        }
        Self {
            images: Arc::new(Images { shape: self.shape(), pixels }),
            rows: (0..self.len() as u32).collect(),
            labels: Arc::clone(&self.labels),
            classes: self.classes,
        }
    }

    /// The examples at `indices`, in that order, sharing the pixels.
    ///
    /// # Panics
    /// If an index is out of range, as slice indexing does.
    #[must_use]
    pub fn select(&self, indices: &[usize]) -> Self {
        Self {
            images: Arc::clone(&self.images),
            rows: indices.iter().map(|&i| self.rows[i]).collect(),
            labels: indices.iter().map(|&i| self.labels[i]).collect(),
            classes: self.classes,
        }
    }

    /// The examples whose index is `wanted`, sharing the pixels.
    #[must_use]
    pub fn filter(&self, wanted: impl Fn(usize) -> bool) -> Self {
        self.select(&(0..self.len()).filter(|&i| wanted(i)).collect::<Vec<_>>())
    }

    /// Number of examples.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no example.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The shape that all images share.
    pub fn shape(&self) -> ImageShape {
        self.images.shape()
    }

    /// Number of classes that labels may name, whether or not each occurs.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The pixels of example `i`.
    ///
    /// # Panics
    /// If there is no example `i`, as slice indexing does.
    pub fn image(&self, i: usize) -> &[u8] {
        self.images.image(self.rows[i] as usize)
    }

    /// The label of example `i`.
    ///
    /// # Panics
    /// If there is no example `i`, as slice indexing does.
    pub fn label(&self, i: usize) -> u16 {
        self.labels[i]
    }

    /// All labels, in example order.
    pub fn labels(&self) -> &[u16] {
        &self.labels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn four() -> Images {
        Images::new(ImageShape::new(1, 1, 2), (0..8).collect()).unwrap()
    }

    #[test]
    fn pixels_must_fill_whole_images() {
        let error = Images::new(ImageShape::new(3, 2, 2), vec![0; 13]).unwrap_err();
        assert_eq!(error.to_string(), "images: 13 pixels are not a whole number of 12-pixel images");
        assert!(Images::new(ImageShape::new(3, 0, 2), vec![]).is_err());
        assert!(Images::new(ImageShape::new(usize::MAX, 2, 2), vec![]).is_err());
    }

    #[test]
    fn labels_must_match_the_images_and_lie_below_the_class_count() {
        let error = Labelled::new(four(), vec![0; 3], 2).unwrap_err();
        assert_eq!(error.to_string(), "images and labels: 4 images but 3 labels");
        let error = Labelled::new(four(), vec![0, 1, 2, 0], 2).unwrap_err();
        assert_eq!(error.problem, Problem::LabelOutOfRange { label: 2, index: 2, classes: 2 });
    }

    #[test]
    fn a_selection_keeps_its_order_and_can_be_selected_again() {
        let all = Labelled::new(four(), vec![0, 1, 2, 3], 4).unwrap();
        let some = all.select(&[3, 1, 0]);
        assert_eq!(some.labels(), [3, 1, 0]);
        assert_eq!(some.select(&[1]).image(0), [2, 3]);
    }

    #[test]
    fn relabelling_shares_the_pixels() {
        let all = Labelled::new(four(), vec![0, 1, 2, 3], 4).unwrap();
        let coarse = all.relabel(vec![0, 0, 1, 1], 2).unwrap();
        assert_eq!(coarse.image(2).as_ptr(), all.image(2).as_ptr());
        assert_eq!((coarse.label(2), coarse.classes()), (1, 2));
    }
}
