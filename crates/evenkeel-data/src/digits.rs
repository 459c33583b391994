//! Synthetic digits: a stand-in for MNIST that needs no download.

mod draw;
mod strokes;

use crate::dataset::DataSet;
use crate::images::{ImageShape, Images};
use crate::labelled::Labelled;
use crate::random::generator;

const SIZE: usize = 28;
const CLASSES: usize = 10;
/// Test images continue a seed's sequence from here, far from any training image.
const TEST_START: u64 = 1 << 32;

/// Draws `train` and `test` images of the digits 0 to 9, 28 × 28, from a seed.
///
/// Strokes are bent, turned, sheared, scaled and moved at random, drawn with a random pen and
/// roughened; the background stays black, so images are about as sparse as MNIST's. Classes take
/// turns (image `i` shows digit `i mod 10`), and image `i` of a seed is the same however many are drawn.
///
/// ```
/// let data = evenkeel_data::digits(20, 10, 0);
/// assert_eq!((data.train().len(), data.test().len()), (20, 10));
/// assert_eq!(data.train().label(13), 3);
/// ```
#[expect(clippy::missing_panics_doc, reason = "what is drawn here is well-formed")]
pub fn digits(train: usize, test: usize, seed: u64) -> DataSet {
    let set = |n: usize, start: u64| {
        let mut pixels = Vec::with_capacity(n * SIZE * SIZE);
        for i in 0..n {
            let mut rng = generator(seed, *b"digits..", start + i as u64);
            pixels.extend(draw::digit(i % CLASSES, &mut rng));
        }
        let labels = (0..n).map(|i| (i % CLASSES) as u16).collect();
        Images::new(ImageShape::new(1, SIZE, SIZE), pixels)
            .and_then(|images| Labelled::new(images, labels, CLASSES))
    };
    set(train, 0)
        .and_then(|train| DataSet::new("digits", train, set(test, TEST_START)?))
        .expect("whole images, labels below ten and one shape")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::Normalization;

    /// Mean image of every class.
    fn centroids(set: &Labelled) -> Vec<Vec<f32>> {
        let mut sums = vec![vec![0.0; SIZE * SIZE]; CLASSES];
        for i in 0..set.len() {
            let sum = &mut sums[usize::from(set.label(i))];
            sum.iter_mut().zip(set.image(i).iter()).for_each(|(s, &p)| *s += f32::from(p));
        }
        let per_class = (set.len() / CLASSES) as f32;
        sums.iter_mut().flatten().for_each(|s| *s /= per_class);
        sums
    }

    fn nearest(centroids: &[Vec<f32>], image: &[u8]) -> usize {
        let distance =
            |c: &Vec<f32>| c.iter().zip(image).map(|(c, &p)| (c - f32::from(p)).powi(2)).sum::<f32>();
        (0..CLASSES).min_by(|&a, &b| distance(&centroids[a]).total_cmp(&distance(&centroids[b]))).unwrap()
    }

    #[test]
    fn digits_can_be_told_apart_but_not_trivially() {
        let data = digits(2000, 500, 1);
        let centroids = centroids(data.train());
        let test = data.test();
        let right = (0..test.len())
            .filter(|&i| nearest(&centroids, &test.image(i)) == usize::from(test.label(i)))
            .count();
        let accuracy = right as f32 / test.len() as f32;
        assert!((0.6..0.99).contains(&accuracy), "nearest centroid reaches {accuracy}");
    }

    #[test]
    fn a_seed_gives_the_same_images_however_many() {
        let (few, many) = (digits(10, 10, 5), digits(30, 20, 5));
        assert_eq!(few.train().image(9), many.train().image(9));
        assert_eq!(few.test().image(9), many.test().image(9));
        assert_ne!(few.train().image(9), few.test().image(9));
        assert_ne!(few.train().image(0), digits(1, 1, 6).train().image(0));
    }

    #[test]
    fn classes_are_balanced_and_images_differ() {
        let train = digits(100, 1, 2).train().clone();
        for class in 0..10 {
            assert_eq!(train.labels().iter().filter(|&&label| label == class).count(), 10);
        }
        assert_ne!(train.image(3), train.image(13));
    }

    #[test]
    fn images_are_about_as_sparse_as_mnist() {
        let train = digits(1000, 1, 3).train().clone();
        let black = (0..train.len()).flat_map(|i| train.image(i).to_vec()).filter(|&p| p == 0).count();
        let share = black as f32 / (train.len() * SIZE * SIZE) as f32;
        assert!((0.74..0.88).contains(&share), "{share} of the pixels are black");
        let normal = Normalization::measure(&train).unwrap();
        assert!((0.09..0.18).contains(&normal.mean()[0]), "the mean is {}", normal.mean()[0]);
    }

    #[test]
    fn no_images_are_fine() {
        assert!(digits(0, 0, 0).train().is_empty());
    }
}
