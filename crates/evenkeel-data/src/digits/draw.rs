//! Drawing strokes with a random hand and a random pen.

use std::f32::consts::TAU;

use rand::Rng;

use super::SIZE;
use super::strokes::{Point, strokes};
use crate::random::between;

/// One 28 × 28 image of `digit`.
pub(super) fn digit(digit: usize, rng: &mut impl Rng) -> Vec<u8> {
    let hand = Hand::random(rng);
    let pen = between(rng, 0.9, 1.8);
    let ink = between(rng, 0.8, 1.0);
    let segments: Vec<(Point, Point)> = strokes(digit)
        .iter()
        .flat_map(|stroke| stroke.windows(2).map(|pair| (hand.place(pair[0]), hand.place(pair[1]))))
        .collect();
    let cover = coverage(&segments, pen);
    let grain = |c: f32| (255.0 * ink * c * between(rng, 0.75, 1.05)).clamp(0.0, 255.0) as u8;
    cover.into_iter().map(grain).collect()
}

/// From the unit square to the image: a gentle wave, then an affine map.
struct Hand {
    wave: [(f32, f32); 2],
    linear: [[f32; 2]; 2],
    shift: Point,
}

impl Hand {
    fn random(rng: &mut impl Rng) -> Self {
        let mut wave = || (between(rng, -0.05, 0.05), between(rng, 0.0, TAU));
        let wave = [wave(), wave()];
        let (sin, cos) = between(rng, -0.3, 0.3).sin_cos();
        let slant = between(rng, -0.35, 0.2);
        let (wide, tall) = (between(rng, 13.0, 19.0), between(rng, 17.0, 21.0));
        let middle = (SIZE - 1) as f32 / 2.0;
        let shift = (middle + between(rng, -1.8, 1.8), middle + between(rng, -1.5, 1.5));
        // Scale, then slant, then turn.
        let (a, b, d) = (wide, slant * tall, tall);
        Self { wave, linear: [[cos * a, cos * b - sin * d], [sin * a, sin * b + cos * d]], shift }
    }

    fn place(&self, (x, y): Point) -> Point {
        let [(ax, px), (ay, py)] = self.wave;
        let x = x + ax * (TAU * y + px).sin() - 0.5;
        let y = y + ay * (TAU * x + py).sin() - 0.5;
        let [[a, b], [c, d]] = self.linear;
        (a * x + b * y + self.shift.0, c * x + d * y + self.shift.1)
    }
}

/// How much of each pixel the pen covers, with an edge one pixel soft.
fn coverage(segments: &[(Point, Point)], pen: f32) -> Vec<f32> {
    let mut cover = vec![0.0f32; SIZE * SIZE];
    let reach = pen + 1.0;
    for &(a, b) in segments {
        let rows = span(a.1, b.1, reach);
        let columns = span(a.0, b.0, reach);
        for y in rows {
            for x in columns.clone() {
                let edge = pen + 0.5 - distance((x as f32, y as f32), a, b);
                let pixel = &mut cover[y * SIZE + x];
                *pixel = pixel.max(edge.clamp(0.0, 1.0));
            }
        }
    }
    cover
}

/// The pixels between two coordinates and `reach` beyond, within the image.
fn span(a: f32, b: f32, reach: f32) -> std::ops::Range<usize> {
    let low = (a.min(b) - reach).max(0.0) as usize;
    let high = (a.max(b) + reach + 1.0).clamp(0.0, SIZE as f32) as usize;
    low.min(high)..high
}

/// Distance of `p` from the segment between `a` and `b`.
fn distance(p: Point, a: Point, b: Point) -> f32 {
    let (ab, ap) = ((b.0 - a.0, b.1 - a.1), (p.0 - a.0, p.1 - a.1));
    let length = ab.0 * ab.0 + ab.1 * ab.1;
    let t = if length > 0.0 { ((ap.0 * ab.0 + ap.1 * ab.1) / length).clamp(0.0, 1.0) } else { 0.0 };
    (ap.0 - t * ab.0).hypot(ap.1 - t * ab.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_to_a_segment_counts_its_ends() {
        assert!((distance((5.0, 3.0), (0.0, 0.0), (10.0, 0.0)) - 3.0).abs() < 1e-6);
        assert!((distance((13.0, 4.0), (0.0, 0.0), (10.0, 0.0)) - 5.0).abs() < 1e-6);
        assert!((distance((3.0, 4.0), (0.0, 0.0), (0.0, 0.0)) - 5.0).abs() < 1e-6);
    }

    #[test]
    fn segments_outside_the_image_draw_nothing() {
        let cover = coverage(&[((-50.0, -50.0), (-40.0, -45.0)), ((90.0, 5.0), (99.0, 6.0))], 2.0);
        assert!(cover.iter().all(|&c| c == 0.0));
    }
}
