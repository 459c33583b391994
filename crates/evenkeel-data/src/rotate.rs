//! Rotation by any angle, pixel for pixel as Pillow and torchvision do it.
//!
//! The convention is `rotate(angle, NEAREST, expand=False, fill=0)` on an 8-bit image:
//! counter-clockwise, about the centre, nearest neighbour, same size, black outside. Pillow walks
//! the output in 16.16 fixed point and special-cases right angles; so does this, which is why the
//! results agree exactly (see `tests/rotate_parity.rs`).

use crate::images::ImageShape;
use crate::labelled::Labelled;

/// A rotation of images of one size, ready to be applied to many.
///
/// ```
/// use evenkeel_data::rotate::Rotation;
///
/// let mut turned = [0; 4];
/// Rotation::new(2, 2, 90.0).apply(&[1, 2, 3, 4], &mut turned);
/// assert_eq!(turned, [2, 4, 1, 3]);
/// ```
#[derive(Debug, Clone)]
pub struct Rotation {
    /// For each output pixel the input pixel it shows, or `OUTSIDE`.
    source: Vec<u32>,
}

const OUTSIDE: u32 = u32::MAX;

impl Rotation {
    /// Prepares a counter-clockwise rotation of `height × width` images by `degrees`.
    #[expect(clippy::float_cmp, reason = "Pillow, too, treats exactly these angles apart")]
    pub fn new(height: usize, width: usize, degrees: f64) -> Self {
        let degrees = degrees.rem_euclid(360.0);
        let (h, w) = (height, width);
        let map = |f: &dyn Fn(usize, usize) -> usize| {
            (0..h).flat_map(|y| (0..w).map(move |x| (y, x))).map(|(y, x)| f(y, x) as u32).collect()
        };
        let source = if degrees == 0.0 {
            map(&|y, x| y * w + x)
        } else if degrees == 180.0 {
            map(&|y, x| (h - 1 - y) * w + (w - 1 - x))
        } else if degrees == 90.0 && h == w {
            map(&|y, x| x * w + (w - 1 - y))
        } else if degrees == 270.0 && h == w {
            map(&|y, x| (h - 1 - x) * w + y)
        } else {
            nearest(height, width, degrees)
        };
        Self { source }
    }

    /// Rotates every channel of `image` (channel after channel) into `out`.
    ///
    /// # Panics
    /// If `image` and `out` differ in length, or are not made of planes of the prepared size.
    pub fn apply(&self, image: &[u8], out: &mut [u8]) {
        let plane = self.source.len().max(1);
        assert_eq!(image.len(), out.len(), "image and output differ in size");
        assert!(image.len().is_multiple_of(plane), "the image is not of the size that was prepared");
        for (image, out) in image.chunks_exact(plane).zip(out.chunks_exact_mut(plane)) {
            for (out, &source) in out.iter_mut().zip(&self.source) {
                *out = if source == OUTSIDE { 0 } else { image[source as usize] };
            }
        }
    }
}

/// The same examples with every image rotated counter-clockwise by `degrees`.
#[must_use]
pub fn rotate(set: &Labelled, degrees: f64) -> Labelled {
    if degrees.rem_euclid(360.0) == 0.0 {
        return set.clone();
    }
    let ImageShape { height, width, .. } = set.shape();
    let rotation = Rotation::new(height, width, degrees);
    set.map_images(|image, out| rotation.apply(image, out))
}

/// Pillow's affine transform with nearest neighbour, as a table of source pixels.
fn nearest(height: usize, width: usize, degrees: f64) -> Vec<u32> {
    let angle = -degrees.to_radians();
    let (cos, sin) = (round15(angle.cos()), round15(angle.sin()));
    let (cx, cy) = (width as f64 / 2.0, height as f64 / 2.0);
    // Output (x, y) shows input (cos·x + sin·y + tx, −sin·x + cos·y + ty).
    let tx = cos * -cx + sin * -cy + cx;
    let ty = -sin * -cx + cos * -cy + cy;

    let fixed = |v: f64| (v * 65536.0 + 0.5).floor() as i64;
    let (dx, dy) = ((fixed(cos), fixed(-sin)), (fixed(sin), fixed(cos)));
    let mut row = (fixed(tx + cos * 0.5 + sin * 0.5), fixed(ty - sin * 0.5 + cos * 0.5));
    let mut source = Vec::with_capacity(height * width);
    for _ in 0..height {
        let mut at = row;
        for _ in 0..width {
            let (x, y) = (at.0 >> 16, at.1 >> 16);
            let inside = (0..width as i64).contains(&x) && (0..height as i64).contains(&y);
            source.push(if inside { (y * width as i64 + x) as u32 } else { OUTSIDE });
            at = (at.0 + dx.0, at.1 + dx.1);
        }
        row = (row.0 + dy.0, row.1 + dy.1);
    }
    source
}

/// Rounds to 15 decimals as Python's `round` does: by the exact decimal value.
fn round15(v: f64) -> f64 {
    format!("{v:.15}").parse().unwrap_or(v)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 5;

    fn picture() -> Vec<u8> {
        (1..=(SIZE * SIZE) as u8).collect()
    }

    fn turned(image: &[u8], degrees: f64) -> Vec<u8> {
        let mut out = vec![0; image.len()];
        Rotation::new(SIZE, SIZE, degrees).apply(image, &mut out);
        out
    }

    #[test]
    fn no_turn_and_a_full_turn_change_nothing() {
        assert_eq!(turned(&picture(), 0.0), picture());
        assert_eq!(turned(&picture(), 360.0), picture());
        assert_eq!(turned(&picture(), -360.0), picture());
    }

    #[test]
    fn quarter_turns_are_counter_clockwise_and_add_up() {
        let quarter = turned(&picture(), 90.0);
        assert_eq!(quarter[..SIZE], [5, 10, 15, 20, 25]);
        assert_eq!(turned(&quarter, 90.0), turned(&picture(), 180.0));
        assert_eq!(turned(&turned(&picture(), 180.0), 90.0), turned(&picture(), 270.0));
        assert_eq!(turned(&picture(), -90.0), turned(&picture(), 270.0));
    }

    #[test]
    fn a_nearly_right_angle_agrees_with_the_right_one() {
        assert_eq!(turned(&picture(), 90.0001), turned(&picture(), 90.0));
    }

    #[test]
    fn corners_that_turn_in_from_outside_are_black() {
        let out = turned(&picture(), 45.0);
        assert_eq!((out[0], out[SIZE - 1], out[SIZE * SIZE - 1]), (0, 0, 0));
        assert_eq!(out[12], 13);
    }

    #[test]
    fn every_channel_is_turned() {
        let two = [picture(), picture()].concat();
        let out = turned(&two, 80.0);
        assert_eq!(out[..25], out[25..]);
    }
}
