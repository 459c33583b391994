//! Curves with bands, dots, arrows and marks.

use std::fmt::Write as _;

use super::frame::{Canvas, Frame, Margins, NOTE, Rect, clipped, tick_room};
use super::legend::Legend;
use super::marker::marker;
use super::markup::{escape, number, shortened, width};
use super::scale::Scale;
use super::theme::dash_array;
use crate::figure::{Lines, Panel, Series};

pub(super) fn draw(panel: &Panel, plot: &Lines, canvas: &Canvas, legend: &Legend) -> (String, Frame) {
    let theme = canvas.theme;
    let labelled = plot.marks.iter().any(|mark| !mark.label.is_empty())
        || plot.shades.iter().any(|shade| !shade.label.is_empty());
    let mut margins = Margins { top: if labelled { 15.0 } else { 0.0 }, bottom: 0.0, left: 0.0, right: 0.0 };
    let visible = |x: f64| panel.x.range.is_none_or(|[low, high]| (low..=high).contains(&x));
    let values = || {
        plot.series.iter().flat_map(move |s| {
            let band = s.band.iter().flat_map(|band| s.x.iter().zip(band.low.iter().zip(&band.high)));
            let band = band.filter(move |(x, _)| visible(**x)).flat_map(|(_, (low, high))| [*low, *high]);
            let line = s.x.iter().zip(&s.y).filter(move |(x, _)| visible(**x)).map(|(_, y)| *y);
            let dots = s.dots.iter().flat_map(|dot| [dot.y, dot.arrow_to.map_or(dot.y, |to| to[1])]);
            line.chain(band).chain(dots)
        })
    };
    let y_scale =
        |area: &Rect| Scale::new(values(), panel.y.range, panel.y.log, 0.04, (area.bottom(), area.y));
    let area = canvas.plot(&margins);
    margins.left = tick_room(&y_scale(&area), area.height);
    let area = canvas.plot(&margins);
    let y = y_scale(&area);
    let xs = plot.series.iter().flat_map(|s| s.x.iter().copied());
    let x = Scale::new(xs, panel.x.range, panel.x.log, 0.0, (area.x, area.right()));

    let mut svg = canvas.titles(panel, &area);
    let mut inner = String::new();
    for shade in &plot.shades {
        let (from, to) = (x.at(shade.from), x.at(shade.to));
        let _ = writeln!(
            inner,
            "<rect x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\"/>",
            area.y,
            (to - from).max(0.0),
            area.height,
            theme.shade()
        );
    }
    svg += &clipped(&area, &inner);
    svg += &canvas.y_axis(&area, &y);
    svg += &canvas.x_axis(&area, &x);
    svg += &labels(plot, canvas, &area, &x);
    let mut inner = canvas.rules(&plot.rules, &area, &y);
    for mark in plot.marks.iter().filter(|mark| x.shows(mark.at)) {
        let _ = writeln!(
            inner,
            "<path d=\"M{:.1} {:.1}V{:.1}\" stroke=\"{}\" stroke-dasharray=\"3 3\"/>",
            x.at(mark.at),
            area.y,
            area.bottom(),
            theme.soft()
        );
    }
    // The first series is the one that is looked for: it lies on top.
    for series in plot.series.iter().rev() {
        inner += &curve(series, canvas, legend, &x, &y);
    }
    svg += &clipped(&area, &inner);
    svg += &canvas.spines(&area);
    (svg, Frame { plot: area, x })
}

/// Labels of marks and shades above the plot, where there is room beside the one before.
fn labels(plot: &Lines, canvas: &Canvas, area: &Rect, x: &Scale) -> String {
    let mut svg = String::new();
    let middle = |from: f64, to: f64| f64::midpoint(x.at(from).max(area.x), x.at(to).min(area.right()));
    let marks = plot.marks.iter().filter(|mark| x.shows(mark.at)).map(|mark| (x.at(mark.at), &mark.label));
    let shades = plot.shades.iter().map(|shade| (middle(shade.from, shade.to), &shade.label));
    let mut labels: Vec<(f64, &String)> =
        marks.chain(shades).filter(|(_, label)| !label.is_empty()).collect();
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut end = f64::NEG_INFINITY;
    for (at, label) in labels {
        let label = shortened(label, NOTE, area.width / 2.0);
        let half = width(&label, NOTE) / 2.0;
        let at = at.clamp(area.x + half, (canvas.area.right() - half).max(area.x + half));
        if at - half > end + 3.0 {
            end = at + half;
            let _ = writeln!(
                svg,
                "<text x=\"{at:.1}\" y=\"{:.1}\" font-size=\"{NOTE}\" text-anchor=\"middle\" fill=\"{}\">{}</text>",
                area.y - 4.0,
                canvas.theme.soft(),
                escape(&label)
            );
        }
    }
    svg
}

fn curve(series: &Series, canvas: &Canvas, legend: &Legend, x: &Scale, y: &Scale) -> String {
    let (index, style) = legend.find(&series.name);
    let color = canvas.theme.color(style.color);
    let mut svg = format!("<g class=\"s\" data-s=\"{index}\">\n");
    if let Some(band) = &series.band {
        let n = series.x.len().min(band.low.len()).min(band.high.len());
        let shown: Vec<usize> = around(&series.x[..n], x).collect();
        // One shape for each stretch without gaps.
        for stretch in
            shown.chunk_by(|a, b| finite(band.low[*a], band.high[*a]) == finite(band.low[*b], band.high[*b]))
        {
            if !finite(band.low[stretch[0]], band.high[stretch[0]]) {
                continue;
            }
            let upper = stretch.iter().map(|&i| (series.x[i], band.high[i]));
            let lower = stretch.iter().rev().map(|&i| (series.x[i], band.low[i]));
            let path = path(upper.chain(lower), x, y);
            let _ = writeln!(svg, "<path d=\"{path}Z\" fill=\"{color}\" fill-opacity=\"0.18\"/>");
        }
    }
    let n = series.x.len().min(series.y.len());
    let path = path(around(&series.x[..n], x).map(|i| (series.x[i], series.y[i])), x, y);
    let _ = writeln!(
        svg,
        "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.6\" stroke-linejoin=\"round\" stroke-dasharray=\"{}\"/>",
        dash_array(style.dash)
    );
    for dot in &series.dots {
        let (cx, cy) = (x.at(dot.x), y.at(dot.y));
        if let Some([to_x, to_y]) = dot.arrow_to {
            svg += &arrow((cx, cy), (x.at(to_x), y.at(to_y)), color);
        }
        let _ = writeln!(
            svg,
            "<path d=\"{}\" fill=\"{color}\" stroke=\"{}\" stroke-width=\"1\"><title>{}: {} at {}</title></path>",
            marker(cx, cy, 4.0, style.dash),
            canvas.theme.behind(),
            escape(&series.name),
            number(dot.y),
            number(dot.x)
        );
    }
    svg + "</g>\n"
}

fn finite(a: f64, b: f64) -> bool {
    a.is_finite() && b.is_finite()
}

/// Indices of the points that are shown, and of one more on each side so that lines run to the edge.
fn around<'a>(xs: &'a [f64], scale: &'a Scale) -> impl Iterator<Item = usize> + 'a {
    let shown = |i: usize| scale.shows(xs[i]);
    (0..xs.len()).filter(move |&i| shown(i) || (i > 0 && shown(i - 1)) || (i + 1 < xs.len() && shown(i + 1)))
}

/// Path through points; one that is not finite interrupts it. Points that nobody would miss are left out.
fn path(points: impl Iterator<Item = (f64, f64)>, x: &Scale, y: &Scale) -> String {
    let pixels: Vec<(f64, f64)> = points
        .map(|(px, py)| if finite(px, py) { (x.at(px), y.at(py)) } else { (f64::NAN, f64::NAN) })
        .collect();
    let mut path = String::new();
    for stretch in pixels.chunk_by(|a, b| finite(a.0, a.1) == finite(b.0, b.1)) {
        if finite(stretch[0].0, stretch[0].1) {
            for (i, (px, py)) in straightened(stretch).into_iter().enumerate() {
                let _ = write!(path, "{}{px:.1} {py:.1}", if i == 0 { 'M' } else { 'L' });
            }
        }
    }
    path
}

/// Leaves out points that lie on the line between their neighbours, to a tenth of a pixel: a dip never does.
fn straightened(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    const TOLERANCE: f64 = 0.1;
    let Some(&first) = points.first() else { return Vec::new() };
    let (mut kept, mut start) = (vec![first], 0);
    for end in 2..points.len() {
        let ((ax, ay), (bx, by)) = (points[start], points[end]);
        let squared = ((bx - ax).powi(2) + (by - ay).powi(2)).max(1e-12);
        // Distance to the stretch between the two, not to the endless line: a curve may turn back on itself.
        let off = |&(px, py): &(f64, f64)| {
            let along = (((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / squared).clamp(0.0, 1.0);
            (px - ax - along * (bx - ax)).hypot(py - ay - along * (by - ay)) > TOLERANCE
        };
        if points[start + 1..end].iter().any(off) {
            start = end - 1;
            kept.push(points[start]);
        }
    }
    if points.len() > 1 {
        kept.extend(points.last());
    }
    kept
}

fn arrow(from: (f64, f64), to: (f64, f64), color: &str) -> String {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy).max(1e-9);
    let (ux, uy) = (dx / length, dy / length);
    let head = 6.0_f64.min(length);
    let (bx, by) = (to.0 - ux * head, to.1 - uy * head);
    format!(
        "<path d=\"M{:.1} {:.1}L{bx:.1} {by:.1}\" stroke=\"{color}\" stroke-width=\"2\"/><path d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z\" fill=\"{color}\"/>\n",
        from.0,
        from.1,
        to.0,
        to.1,
        bx - uy * head * 0.5,
        by + ux * head * 0.5,
        bx + uy * head * 0.5,
        by - ux * head * 0.5
    )
}

#[cfg(test)]
mod tests {
    use super::straightened;

    #[test]
    fn only_points_on_a_straight_line_are_left_out() {
        let line: Vec<(f64, f64)> = (0..100).map(|i| (f64::from(i), 5.0)).collect();
        assert_eq!(straightened(&line), [(0.0, 5.0), (99.0, 5.0)]);
        let mut dip = line.clone();
        dip[50].1 = 9.0;
        assert_eq!(straightened(&dip), [(0.0, 5.0), (49.0, 5.0), (50.0, 9.0), (51.0, 5.0), (99.0, 5.0)]);
        // Straight up and straight down again, at one place.
        let spike = [(0.0, 0.0), (1.0, 0.0), (1.0, 50.0), (1.0, 0.0), (2.0, 0.0)];
        assert!(straightened(&spike).contains(&(1.0, 50.0)));
        // A slow bend is followed.
        let bend: Vec<(f64, f64)> = (0..1000).map(|i| (f64::from(i), 1e-4 * f64::from(i * i))).collect();
        let kept = straightened(&bend);
        assert!(kept.len() > 5 && kept.len() < 300, "{}", kept.len());
        assert_eq!((straightened(&line[..1]).len(), straightened(&[]).len()), (1, 0));
    }
}
