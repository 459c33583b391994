//! Points with error bars, labelled where there is room.

use std::fmt::Write as _;

use super::frame::{Canvas, Frame, Margins, NOTE, Rect, clipped, tick_room};
use super::legend::Legend;
use super::marker::marker;
use super::markup::{escape, number, width};
use super::scale::Scale;
use super::theme::dash_array;
use crate::figure::{ErrorPoint, Panel, Scatter};

pub(super) fn draw(panel: &Panel, plot: &Scatter, canvas: &Canvas, legend: &Legend) -> (String, Frame) {
    let theme = canvas.theme;
    let points = || plot.series.iter().flat_map(|s| &s.points);
    let ys = || points().flat_map(|p| ends(p.y, p.y_error)).chain(plot.rules.iter().map(|rule| rule.at));
    let xs = points().flat_map(|p| ends(p.x, p.x_error));
    let y_scale = |area: &Rect| Scale::new(ys(), panel.y.range, panel.y.log, 0.1, (area.bottom(), area.y));
    let mut margins = Margins { top: 0.0, bottom: 0.0, left: 0.0, right: 0.0 };
    let area = canvas.plot(&margins);
    margins.left = tick_room(&y_scale(&area), area.height);
    let area = canvas.plot(&margins);
    let y = y_scale(&area);
    let x = Scale::new(xs, panel.x.range, panel.x.log, 0.1, (area.x, area.right()));

    let mut svg = canvas.titles(panel, &area) + &canvas.y_axis(&area, &y) + &canvas.x_axis(&area, &x);
    let mut inner = canvas.rules(&plot.rules, &area, &y);
    // Labels keep clear of all points and of each other.
    let mut taken: Vec<Rect> = points()
        .map(|p| Rect { x: x.at(p.x) - 5.0, y: y.at(p.y) - 5.0, width: 10.0, height: 10.0 })
        .collect();
    for series in &plot.series {
        let (index, style) = legend.find(&series.name);
        let color = theme.color(style.color);
        let _ = writeln!(inner, "<g class=\"s\" data-s=\"{index}\">");
        if series.joined {
            let mut path = String::new();
            for (i, p) in series.points.iter().enumerate() {
                let _ = write!(path, "{}{:.1} {:.1}", if i == 0 { 'M' } else { 'L' }, x.at(p.x), y.at(p.y));
            }
            let _ = writeln!(
                inner,
                "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.4\" stroke-dasharray=\"{}\"/>",
                dash_array(style.dash)
            );
        }
        for point in &series.points {
            let (px, py) = (x.at(point.x), y.at(point.y));
            if let Some(error) = point.x_error {
                let (low, high) = (x.at(point.x - error), x.at(point.x + error));
                let _ = writeln!(inner, "<path d=\"M{low:.1} {py:.1}H{high:.1}\" stroke=\"{color}\"/>");
            }
            if let Some(error) = point.y_error {
                let (low, high) = (y.at(point.y - error), y.at(point.y + error));
                let _ = writeln!(inner, "<path d=\"M{px:.1} {low:.1}V{high:.1}\" stroke=\"{color}\"/>");
            }
            let tip = escape(&tip(&series.name, point, panel));
            let _ = writeln!(
                inner,
                "<path class=\"tip\" data-tip=\"{tip}\" d=\"{}\" fill=\"{color}\"><title>{tip}</title></path>",
                marker(px, py, 4.6, style.dash)
            );
            if !point.label.is_empty() {
                inner += &label(&point.label, (px, py), &area, &mut taken, theme.ink());
            }
        }
        inner += "</g>\n";
    }
    svg += &clipped(&area, &inner);
    svg += &canvas.spines(&area);
    (svg, Frame { plot: area, x })
}

fn ends(value: f64, error: Option<f64>) -> [f64; 2] {
    let error = error.filter(|e| e.is_finite()).unwrap_or(0.0);
    [value - error, value + error]
}

fn tip(name: &str, point: &ErrorPoint, panel: &Panel) -> String {
    let value = |value: f64, error: Option<f64>| match error {
        Some(error) => format!("{} ± {}", number(value), number(error)),
        None => number(value),
    };
    let label = if point.label.is_empty() || point.label == name {
        String::new()
    } else {
        format!(" ({})", point.label)
    };
    format!(
        "{name}{label}: {} {}, {} {}",
        panel.x.label,
        value(point.x, point.x_error),
        panel.y.label,
        value(point.y, point.y_error)
    )
}

fn label(text: &str, (px, py): (f64, f64), area: &Rect, taken: &mut Vec<Rect>, ink: &str) -> String {
    let (wide, high) = (width(text, NOTE), 13.0);
    // Beside both error bars first.
    let places = [
        (px + 6.0, py - 5.0 - high),
        (px + 6.0, py + 5.0),
        (px - 6.0 - wide, py - 5.0 - high),
        (px - 6.0 - wide, py + 5.0),
        (px - wide / 2.0, py - 10.0 - high),
        (px - wide / 2.0, py + 10.0),
    ];
    let free = |r: &Rect| {
        let inside =
            r.x >= area.x && r.right() <= area.right() && r.y >= area.y && r.bottom() <= area.bottom();
        let apart = |t: &Rect| r.x > t.right() || t.x > r.right() || r.y > t.bottom() || t.y > r.bottom();
        inside && taken.iter().all(apart)
    };
    let rects = places.map(|(x, y)| Rect { x, y, width: wide, height: high });
    // Where nothing is free the point stays without its label; the tooltip has it.
    let Some(place) = rects.into_iter().find(free) else { return String::new() };
    taken.push(place);
    format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{NOTE}\" fill=\"{ink}\">{}</text>\n",
        place.x,
        place.y + 10.5,
        escape(text)
    )
}
