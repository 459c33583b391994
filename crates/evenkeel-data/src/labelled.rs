//! Examples with labels.

use std::borrow::Cow;
use std::sync::Arc;

use crate::error::{FormatError, Problem};
use crate::examples::Examples;
use crate::images::{ImageShape, Images};
use crate::normalize::Normalization;

/// Examples with one label each: a view, so that subsets, copies and permuted versions share what they are made of.
#[derive(Debug, Clone)]
pub struct Labelled {
    examples: Arc<Examples>,
    rows: Arc<[u32]>,
    labels: Arc<[u16]>,
    classes: usize,
    /// For each position within a channel, the position of the pixel that is seen there.
    order: Option<Arc<[u32]>>,
}

impl Labelled {
    /// Pairs every example with its label; labels must lie below `classes`.
    pub fn new(examples: impl Into<Examples>, labels: Vec<u16>, classes: usize) -> Result<Self, FormatError> {
        let examples = Arc::new(examples.into());
        let rows = (0..examples.len() as u32).collect();
        Self { examples, rows, labels: Arc::new([]), classes, order: None }.relabel(labels, classes)
    }

    /// The same images under other labels.
    pub fn relabel(&self, labels: Vec<u16>, classes: usize) -> Result<Self, FormatError> {
        let problem = |problem| FormatError::new("images and labels", problem);
        if self.rows.len() != labels.len() {
            return Err(problem(Problem::CountMismatch { images: self.rows.len(), labels: labels.len() }));
        }
        if let Some(index) = labels.iter().position(|&label| usize::from(label) >= classes) {
            return Err(problem(Problem::LabelOutOfRange { label: labels[index], index, classes }));
        }
        Ok(Self { labels: labels.into(), classes, ..self.clone() })
    }

    /// The same examples with their pixels in another order, the same in every channel: position `i` shows what was at
    /// `order[i]`. The pixels are shared, not copied.
    ///
    /// # Panics
    /// If `order` does not name every position of a channel.
    #[must_use]
    pub fn permute(&self, order: &[u32]) -> Self {
        let plane = self.shape().height * self.shape().width;
        assert_eq!(order.len(), plane, "an order of all positions");
        let order = match &self.order {
            None => order.into(),
            Some(before) => order.iter().map(|&i| before[i as usize]).collect(),
        };
        Self { order: Some(order), ..self.clone() }
    }

    /// The same examples with every image changed by `f`, which writes into its second argument.
    ///
    /// # Panics
    /// If these are no images.
    #[must_use]
    pub fn map_images(&self, mut f: impl FnMut(&[u8], &mut [u8])) -> Self {
        assert!(self.is_images(), "only images can be changed pixel by pixel");
        let size = self.shape().len();
        let mut pixels = vec![0; self.len() * size];
        for (i, out) in pixels.chunks_exact_mut(size).enumerate() {
            f(&self.image(i), out);
        }
        let images = Images::new(self.shape(), pixels).expect("whole images of the same shape");
        Self {
            examples: Arc::new(images.into()),
            rows: (0..self.len() as u32).collect(),
            order: None,
            ..self.clone()
        }
    }

    /// The examples at `indices`, in that order, sharing the pixels.
    ///
    /// # Panics
    /// If an index is out of range, as slice indexing does.
    #[must_use]
    pub fn select(&self, indices: &[usize]) -> Self {
        Self {
            rows: indices.iter().map(|&i| self.rows[i]).collect(),
            labels: indices.iter().map(|&i| self.labels[i]).collect(),
            ..self.clone()
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
        self.examples.shape()
    }

    /// Number of classes that labels may name, whether or not each occurs.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Whether the examples are 8-bit images, which can be cropped, flipped and rotated.
    pub fn is_images(&self) -> bool {
        matches!(*self.examples, Examples::Images(_))
    }

    /// What the examples are made of, and which of them this view shows.
    pub(crate) fn parts(&self) -> (&Arc<Examples>, &[u32]) {
        (&self.examples, &self.rows)
    }

    /// The pixels of example `i`; of other examples the bytes that they are stored as, in no other order.
    ///
    /// # Panics
    /// If there is no example `i`, as slice indexing does.
    pub fn image(&self, i: usize) -> Cow<'_, [u8]> {
        let image = self.examples.bytes(self.rows[i] as usize);
        match &self.order {
            Some(order) if self.is_images() => {
                let planes = image.chunks_exact(order.len().max(1));
                Cow::Owned(planes.flat_map(|plane| order.iter().map(|&at| plane[at as usize])).collect())
            }
            _ => image,
        }
    }

    /// Appends example `i` as a network sees it.
    ///
    /// # Panics
    /// If there is no example `i`, or the channels differ from the normalisation's.
    pub fn append(&self, i: usize, normalization: &Normalization, out: &mut Vec<f32>) {
        let start = out.len();
        self.examples.append(self.rows[i] as usize, normalization, out);
        if let Some(order) = &self.order {
            // Every channel is standardised by itself, so that it does not matter what comes first.
            let before = out[start..].to_vec();
            let planes = before.chunks_exact(order.len().max(1));
            let shown = planes.flat_map(|plane| order.iter().map(|&at| plane[at as usize]));
            out[start..].iter_mut().zip(shown).for_each(|(out, value)| *out = value);
        }
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

    /// Examples of a store at some rows, in the order of the rows.
    pub(crate) fn of_rows(
        examples: Arc<Examples>,
        rows: Vec<u32>,
        labels: Vec<u16>,
        classes: usize,
    ) -> Result<Self, FormatError> {
        if let Some(&row) = rows.iter().find(|row| **row as usize >= examples.len()) {
            let problem = format!("row {row} of {}", examples.len());
            return Err(FormatError::new("examples", Problem::Inconsistent(problem)));
        }
        Self { examples, rows: rows.into(), labels: Arc::new([]), classes, order: None }
            .relabel(labels, classes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn four() -> Images {
        Images::new(ImageShape::new(1, 1, 2), (0..8).collect()).unwrap()
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
        assert_eq!(*some.select(&[1]).image(0), [2, 3]);
    }

    #[test]
    fn permuted_pixels_are_a_view_that_can_be_permuted_again() {
        let images = Images::new(ImageShape::new(2, 1, 3), (0..6).collect()).unwrap();
        let one = Labelled::new(images, vec![0], 1).unwrap();
        let turned = one.permute(&[1, 2, 0]);
        assert_eq!(*turned.image(0), [1, 2, 0, 4, 5, 3]);
        assert_eq!(*turned.permute(&[1, 2, 0]).image(0), [2, 0, 1, 5, 3, 4]);
        assert_eq!(*turned.select(&[0]).relabel(vec![0], 2).unwrap().image(0), [1, 2, 0, 4, 5, 3]);
        let mut seen = Vec::new();
        turned.append(0, &Normalization::unit(2), &mut seen);
        assert_eq!(seen.len(), 6);
        assert!((seen[2] - 0.0).abs() < 1e-6 && (seen[4] * 255.0 - 5.0).abs() < 1e-5);
    }

    #[test]
    fn relabelling_shares_the_pixels() {
        let all = Labelled::new(four(), vec![0, 1, 2, 3], 4).unwrap();
        let coarse = all.relabel(vec![0, 0, 1, 1], 2).unwrap();
        assert_eq!(coarse.image(2).as_ptr(), all.image(2).as_ptr());
        assert_eq!((coarse.label(2), coarse.classes()), (1, 2));
    }
}
