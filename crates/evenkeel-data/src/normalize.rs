//! From 8-bit pixels to the numbers that a network sees.

use thiserror::Error;

use crate::examples::Examples;
use crate::labelled::Labelled;

/// Channel-wise standardisation: `x = (p / 255 − mean) / std`.
///
/// There are only 256 pixel values, so each channel keeps a table of its results.
///
/// ```
/// use evenkeel_data::Normalization;
///
/// let mut x = Vec::new();
/// Normalization::mnist().append(&[0, 255], &mut x);
/// assert_eq!(x, [(0.0 - 0.1307) / 0.3081, (1.0 - 0.1307) / 0.3081]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Normalization {
    mean: Vec<f32>,
    std: Vec<f32>,
    /// Of pixels; empty for other examples.
    tables: Vec<[f32; 256]>,
}

/// Means and deviations that cannot standardise anything.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum NormalizationError {
    /// There must be one mean and one deviation per channel.
    #[error("normalization: {mean} means but {std} deviations; give one of each for every channel")]
    Lengths {
        /// The number of means given.
        mean: usize,
        /// The number of deviations given.
        std: usize,
    },
    /// A mean that is not finite, or a deviation that is not a positive number.
    #[error("normalization: mean {mean} and deviation {std} of channel {channel} are not usable")]
    Value {
        /// The channel, counted from 0.
        channel: usize,
        /// The mean given for it.
        mean: f32,
        /// The deviation given for it.
        std: f32,
    },
}

impl Normalization {
    /// One mean and one standard deviation per channel, on the scale where white is 1.
    pub fn new(mean: Vec<f32>, std: Vec<f32>) -> Result<Self, NormalizationError> {
        if mean.len() != std.len() || mean.is_empty() {
            return Err(NormalizationError::Lengths { mean: mean.len(), std: std.len() });
        }
        for (channel, (&mean, &std)) in mean.iter().zip(&std).enumerate() {
            if !mean.is_finite() || !std.is_finite() || std <= 0.0 {
                return Err(NormalizationError::Value { channel, mean, std });
            }
        }
        Ok(Self::checked(mean, std))
    }

    fn checked(mean: Vec<f32>, std: Vec<f32>) -> Self {
        let table = |(&m, &s): (&f32, &f32)| std::array::from_fn(|p| (p as f32 / 255.0 - m) / s);
        let tables = mean.iter().zip(&std).map(table).collect();
        Self { mean, std, tables }
    }

    /// One mean and one deviation per column of numbers that are not pixels: `x = (v − mean) / std`.
    pub fn of_columns(mean: Vec<f32>, std: Vec<f32>) -> Result<Self, NormalizationError> {
        let Self { mean, std, .. } = Self::new(mean, std)?;
        Ok(Self { mean, std, tables: Vec::new() })
    }

    /// Numbers that are used as they are.
    pub fn none() -> Self {
        Self { mean: Vec::new(), std: Vec::new(), tables: Vec::new() }
    }

    /// Whether it is for pixels, and not for other numbers.
    pub fn is_for_pixels(&self) -> bool {
        !self.tables.is_empty()
    }

    /// Standardises a row of numbers in place.
    pub(crate) fn standardise(&self, row: &mut [f32]) {
        for ((value, mean), std) in row.iter_mut().zip(&self.mean).zip(&self.std) {
            *value = (*value - mean) / std;
        }
    }

    /// The number that most of an example is, where there is one: black of images, and zero of sparse rows.
    pub fn background(&self) -> f32 {
        self.tables.first().map_or(0.0, |table| table[0])
    }

    /// The usual values for MNIST: 0.1307 and 0.3081.
    pub fn mnist() -> Self {
        Self::checked(vec![0.1307], vec![0.3081])
    }

    /// The usual values for Fashion-MNIST: 0.2860 and 0.3530.
    pub fn fashion_mnist() -> Self {
        Self::checked(vec![0.2860], vec![0.3530])
    }

    /// The usual values for CIFAR-10; Domain CIFAR-100 uses them too.
    pub fn cifar10() -> Self {
        Self::checked(vec![0.4914, 0.4822, 0.4465], vec![0.2470, 0.2435, 0.2616])
    }

    /// The usual values for `ImageNet` and its subsets.
    pub fn imagenet() -> Self {
        Self::checked(vec![0.485, 0.456, 0.406], vec![0.229, 0.224, 0.225])
    }

    /// No standardisation: pixels divided by 255.
    pub fn unit(channels: usize) -> Self {
        Self::checked(vec![0.0; channels.max(1)], vec![1.0; channels.max(1)])
    }

    /// Measures mean and (population) deviation over all examples of `set`: of every channel of images, of every column of
    /// numbers. A column that never changes is only shifted. Sparse rows are used as they are.
    pub fn measure(set: &Labelled) -> Result<Self, NormalizationError> {
        match &**set.parts().0 {
            Examples::Images(_) => Self::measure_pixels(set),
            Examples::Numbers(_) => Self::measure_columns(set),
            Examples::Sparse(_) => Ok(Self::none()),
        }
    }

    fn measure_columns(set: &Labelled) -> Result<Self, NormalizationError> {
        let columns = set.shape().len();
        let (mut mean, mut squares) = (vec![0.0_f64; columns], vec![0.0_f64; columns]);
        let mut row = Vec::new();
        // Welford's update: no loss of digits where the mean is large.
        for i in 0..set.len() {
            row.clear();
            set.append(i, &Self::none(), &mut row);
            for ((&value, mean), squares) in row.iter().zip(&mut mean).zip(&mut squares) {
                let before = f64::from(value) - *mean;
                *mean += before / (i + 1) as f64;
                *squares += before * (f64::from(value) - *mean);
            }
        }
        let n = set.len().max(1) as f64;
        let std = |squares: f64| Some((squares / n).sqrt() as f32).filter(|std| *std > 0.0).unwrap_or(1.0);
        let mean = mean.into_iter().map(|mean| mean as f32).collect();
        Self::of_columns(mean, squares.into_iter().map(std).collect())
    }

    fn measure_pixels(set: &Labelled) -> Result<Self, NormalizationError> {
        let channels = set.shape().channels;
        let mut counts = vec![[0u64; 256]; channels];
        for i in 0..set.len() {
            let image = set.image(i);
            for (plane, counts) in image.chunks_exact(image.len() / channels).zip(&mut counts) {
                for &p in plane {
                    counts[usize::from(p)] += 1;
                }
            }
        }
        let moment = |counts: &[u64; 256], f: &dyn Fn(f64) -> f64| {
            let total: u64 = counts.iter().sum();
            let sum: f64 = counts.iter().enumerate().map(|(p, &n)| n as f64 * f(p as f64 / 255.0)).sum();
            sum / total as f64
        };
        let mean: Vec<f64> = counts.iter().map(|c| moment(c, &|p| p)).collect();
        let std = counts.iter().zip(&mean).map(|(c, m)| moment(c, &|p| (p - m).powi(2)).sqrt() as f32);
        let std = std.collect();
        Self::new(mean.into_iter().map(|m| m as f32).collect(), std)
    }

    /// The mean of every channel.
    pub fn mean(&self) -> &[f32] {
        &self.mean
    }

    /// The standard deviation of every channel.
    pub fn std(&self) -> &[f32] {
        &self.std
    }

    /// Appends one converted image (channel after channel) to `out`.
    ///
    /// # Panics
    /// If the image does not divide into as many channels as this has.
    pub fn append(&self, image: &[u8], out: &mut Vec<f32>) {
        let channels = self.tables.len();
        assert!(image.len().is_multiple_of(channels), "the image does not have {channels} channels");
        for (plane, table) in image.chunks_exact((image.len() / channels).max(1)).zip(&self.tables) {
            out.extend(plane.iter().map(|&p| table[usize::from(p)]));
        }
    }

    /// Replaces `out` by the converted images of `set` at `indices`: `n × c × h × w`.
    ///
    /// A buffer that is passed again keeps its memory, so a training loop allocates once.
    ///
    /// # Panics
    /// If an index is out of range or the channels differ.
    pub fn gather(&self, set: &Labelled, indices: impl IntoIterator<Item = usize>, out: &mut Vec<f32>) {
        out.clear();
        for i in indices {
            set.append(i, self, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::images::{ImageShape, Images};

    #[test]
    fn channels_are_standardised_one_by_one() {
        let normal = Normalization::new(vec![0.0, 1.0], vec![1.0, 0.5]).unwrap();
        let mut out = Vec::new();
        normal.append(&[0, 255, 0, 255], &mut out);
        assert_eq!(out, [0.0, 1.0, -2.0, 0.0]);
    }

    #[test]
    fn gather_reuses_its_buffer() {
        let images = Images::new(ImageShape::new(1, 1, 2), vec![0, 0, 255, 255, 0, 255]).unwrap();
        let set = Labelled::new(images, vec![0, 0, 0], 1).unwrap();
        let mut out = Vec::with_capacity(4);
        let memory = out.as_ptr();
        Normalization::unit(1).gather(&set, [2, 1], &mut out);
        Normalization::unit(1).gather(&set, [1, 2], &mut out);
        assert_eq!(out, [1.0, 1.0, 0.0, 1.0]);
        assert_eq!(out.as_ptr(), memory);
    }

    #[test]
    fn a_measured_set_has_mean_zero_and_variance_one() {
        let images = Images::new(ImageShape::new(2, 1, 2), vec![0, 255, 10, 20, 255, 0, 30, 40]).unwrap();
        let set = Labelled::new(images, vec![0, 0], 1).unwrap();
        let normal = Normalization::measure(&set).unwrap();
        let mut out = Vec::new();
        normal.gather(&set, 0..2, &mut out);
        let second: Vec<f32> = out.chunks(4).flat_map(|image| image[2..].to_vec()).collect();
        assert!(second.iter().sum::<f32>().abs() < 1e-5);
        assert!((second.iter().map(|x| x * x).sum::<f32>() / 4.0 - 1.0).abs() < 1e-5);
        assert_eq!((normal.mean()[0], normal.std()[0]), (0.5, 0.5));
    }

    #[test]
    fn unusable_values_are_refused() {
        assert!(Normalization::new(vec![0.0], vec![]).is_err());
        assert!(Normalization::new(vec![], vec![]).is_err());
        assert!(Normalization::new(vec![0.0], vec![0.0]).is_err());
        assert!(Normalization::new(vec![f32::NAN], vec![1.0]).is_err());
        let blank = Images::new(ImageShape::new(1, 1, 1), vec![7]).unwrap();
        assert!(Normalization::measure(&Labelled::new(blank, vec![0], 1).unwrap()).is_err());
    }
}
