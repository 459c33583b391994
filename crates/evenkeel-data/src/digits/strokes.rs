//! The ten digits as pen strokes in a unit square, y pointing down.

/// A point, `(x, y)`.
pub(super) type Point = (f32, f32);

/// Points that the pen passes through in straight lines.
pub(super) type Stroke = Vec<Point>;

/// The strokes of `digit`; any other number draws a nine.
pub(super) fn strokes(digit: usize) -> Vec<Stroke> {
    match digit {
        0 => vec![arc((0.5, 0.5), (0.31, 0.46), 0.0, 360.0)],
        1 => vec![vec![(0.34, 0.22), (0.54, 0.04), (0.54, 0.96)]],
        2 => vec![chain(arc((0.5, 0.29), (0.29, 0.25), 195.0, 400.0), &[(0.2, 0.94), (0.84, 0.94)])],
        3 => {
            vec![arc((0.46, 0.27), (0.28, 0.22), 205.0, 450.0), arc((0.46, 0.72), (0.32, 0.23), 270.0, 515.0)]
        }
        4 => vec![vec![(0.52, 0.04), (0.16, 0.64), (0.88, 0.64)], vec![(0.66, 0.36), (0.66, 0.97)]],
        5 => {
            vec![vec![(0.8, 0.06), (0.3, 0.06), (0.27, 0.46)], arc((0.47, 0.68), (0.32, 0.27), 228.0, 510.0)]
        }
        6 => vec![
            vec![(0.68, 0.04), (0.48, 0.2), (0.32, 0.42), (0.24, 0.7)],
            arc((0.51, 0.71), (0.27, 0.24), 0.0, 360.0),
        ],
        7 => vec![vec![(0.16, 0.08), (0.84, 0.08), (0.6, 0.45), (0.42, 0.97)]],
        8 => vec![arc((0.5, 0.27), (0.24, 0.22), 0.0, 360.0), arc((0.5, 0.73), (0.29, 0.24), 0.0, 360.0)],
        _ => vec![
            arc((0.49, 0.29), (0.27, 0.24), 0.0, 360.0),
            vec![(0.76, 0.29), (0.74, 0.55), (0.66, 0.78), (0.56, 0.96)],
        ],
    }
}

/// An elliptic arc between two angles in degrees; 270° is up, and angles grow clockwise.
fn arc(centre: Point, radius: Point, from: f32, to: f32) -> Stroke {
    let pieces = ((to - from) / 24.0).ceil();
    (0..=pieces as usize)
        .map(|i| (from + (to - from) * i as f32 / pieces).to_radians())
        .map(|angle| (centre.0 + radius.0 * angle.cos(), centre.1 + radius.1 * angle.sin()))
        .collect()
}

fn chain(mut stroke: Stroke, rest: &[Point]) -> Stroke {
    stroke.extend_from_slice(rest);
    stroke
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_digit_stays_in_the_unit_square_and_is_tall() {
        for digit in 0..10 {
            let points: Vec<Point> = strokes(digit).concat();
            let inside = |p: &Point| (0.0..=1.0).contains(&p.0) && (0.0..=1.0).contains(&p.1);
            assert!(points.iter().all(inside), "digit {digit}");
            let top = points.iter().map(|p| p.1).fold(1.0, f32::min);
            let bottom = points.iter().map(|p| p.1).fold(0.0, f32::max);
            assert!(bottom - top > 0.85, "digit {digit}");
        }
    }
}
