//! What an example can be: an image, a row of numbers in a file, or a sparse row.

use std::borrow::Cow;

use crate::images::{ImageShape, Images};
use crate::normalize::Normalization;
use crate::numbers::Numbers;
use crate::sparse::Sparse;

/// Examples of one kind and shape.
#[derive(Debug)]
pub enum Examples {
    /// 8-bit images.
    Images(Images),
    /// Rows of numbers that stay in their file.
    Numbers(Numbers),
    /// Rows that are mostly zero.
    Sparse(Sparse),
}

impl From<Images> for Examples {
    fn from(images: Images) -> Self {
        Self::Images(images)
    }
}

impl From<Numbers> for Examples {
    fn from(numbers: Numbers) -> Self {
        Self::Numbers(numbers)
    }
}

impl From<Sparse> for Examples {
    fn from(sparse: Sparse) -> Self {
        Self::Sparse(sparse)
    }
}

impl Examples {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Images(images) => images.len(),
            Self::Numbers(numbers) => numbers.place().rows,
            Self::Sparse(sparse) => sparse.rows(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The shape of each; a row of numbers is an image of one line.
    pub fn shape(&self) -> ImageShape {
        match self {
            Self::Images(images) => images.shape(),
            Self::Numbers(numbers) => ImageShape::new(1, 1, numbers.place().columns),
            Self::Sparse(sparse) => ImageShape::new(1, 1, sparse.columns()),
        }
    }

    /// The pixels of example `i`; of other examples the bytes that they are stored as.
    pub(crate) fn bytes(&self, i: usize) -> Cow<'_, [u8]> {
        match self {
            Self::Images(images) => Cow::Borrowed(images.image(i)),
            Self::Numbers(numbers) => Cow::Owned(numbers.bytes(i, 1)),
            Self::Sparse(sparse) => {
                let bytes =
                    |(column, value): &(u32, f32)| [column.to_le_bytes(), value.to_le_bytes()].concat();
                Cow::Owned(sparse.row(i).iter().flat_map(bytes).collect())
            }
        }
    }

    /// Appends example `i` as a network sees it.
    pub(crate) fn append(&self, i: usize, normalization: &Normalization, out: &mut Vec<f32>) {
        match self {
            Self::Images(images) => normalization.append(images.image(i), out),
            Self::Numbers(numbers) => {
                let start = out.len();
                numbers.append(i, 1, out);
                normalization.standardise(&mut out[start..]);
            }
            Self::Sparse(sparse) => sparse.append(i, out),
        }
    }
}
