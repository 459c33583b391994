//! A shape for each dash, so that colour is not all that tells series apart.

use crate::figure::Dash;

/// The outline of a marker around a point: `size` is about its radius.
pub(crate) fn marker(x: f64, y: f64, size: f64, dash: Dash) -> String {
    match dash {
        Dash::Solid => {
            format!(
                "M{:.1} {y:.1}a{size} {size} 0 1 0 {d} 0a{size} {size} 0 1 0 -{d} 0Z",
                x - size,
                d = 2.0 * size
            )
        }
        Dash::Dashed => {
            let half = 0.9 * size;
            format!("M{:.1} {:.1}h{side:.1}v{side:.1}h-{side:.1}Z", x - half, y - half, side = 2.0 * half)
        }
        Dash::DashDot => {
            let half = 1.15 * size;
            format!("M{x:.1} {:.1}l{half:.1} {:.1}h-{:.1}Z", y - half, 1.9 * size, 2.0 * half)
        }
        Dash::Dotted => {
            let half = 1.2 * size;
            format!("M{x:.1} {:.1}l{half:.1} {half:.1}l-{half:.1} {half:.1}l-{half:.1} -{half:.1}Z", y - half)
        }
    }
}
