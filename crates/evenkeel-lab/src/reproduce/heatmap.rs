//! A grid of scores as a figure: what the two sweeps share.

use evenkeel_report::figure::Heatmap;
use evenkeel_report::{Axis, Figure, Panel};

/// Scores over columns (`x`) and rows (`y`), each a name of the axis and its values.
pub(super) fn figure<X: ToString, Y: ToString>(
    (id, title): (&str, String),
    caption: &str,
    (x, columns): (&str, &[X]),
    (y, rows): (&str, &[Y]),
    score: impl Fn(&X, &Y) -> Option<f64>,
) -> Figure {
    let row = |y: &Y| columns.iter().map(|x| score(x, y).unwrap_or(f64::NAN)).collect();
    let map = Heatmap {
        x_names: columns.iter().map(ToString::to_string).collect(),
        y_names: rows.iter().map(ToString::to_string).collect(),
        values: rows.iter().map(row).collect(),
        label: "score".to_string(),
        digits: 1,
        ..Heatmap::default()
    };
    let mut figure = Figure::new(format!("scores {id}"), title, 1);
    figure.caption = caption.to_string();
    figure.panels.push(Panel::new("", Axis::new(x), Axis::new(y), map));
    figure
}
