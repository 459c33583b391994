//! Groups of bars with error bars.

use std::fmt::Write as _;

use super::frame::{Canvas, Frame, Margins, Rect, TICK, clipped, tick_room};
use super::legend::Legend;
use super::marker::marker;
use super::markup::{escape, number, shortened, width};
use super::scale::Scale;
use super::theme::Theme;
use crate::figure::{BarSeries, Bars, Dash, Panel};

pub(super) fn draw(panel: &Panel, plot: &Bars, canvas: &Canvas, legend: &Legend) -> (String, Frame) {
    let theme = canvas.theme;
    let values = || {
        plot.series.iter().flat_map(|s| {
            let error =
                |i: usize| s.errors.as_ref().and_then(|e| e.get(i)).copied().filter(|e| e.is_finite());
            let tips = s.values.iter().enumerate().flat_map(move |(i, v)| {
                let error = error(i).unwrap_or(0.0);
                [v - error, v + error]
            });
            tips.chain(s.reference.iter().flatten().copied())
        })
    };
    // Bars stand on zero, and have some air above them.
    let range = panel.y.range.or_else(|| {
        let (low, high) =
            values().filter(|v| v.is_finite()).fold((0f64, 0f64), |(l, h), v| (l.min(v), h.max(v)));
        (!panel.y.log && high > low).then_some([low * 1.05, high * 1.05])
    });
    let y_scale = |area: &Rect| Scale::new(values(), range, panel.y.log, 0.1, (area.bottom(), area.y));
    let mut margins = Margins { top: 0.0, bottom: 0.0, left: 0.0, right: 0.0 };
    let area = canvas.plot(&margins);
    margins.left = tick_room(&y_scale(&area), area.height);
    let groups = plot.groups.len().max(1);
    let room = canvas.plot(&margins).width / groups as f64;
    let widest = plot.groups.iter().map(|name| width(name, TICK)).fold(0.0, f64::max);
    let slanted = widest > room - 4.0;
    if slanted {
        margins.bottom = (widest.min(110.0) * 0.5).min(60.0);
    }
    let area = canvas.plot(&margins);
    let y = y_scale(&area);
    let x = Scale { low: 0.0, high: groups as f64, from: area.x, to: area.right(), log: false };

    let mut svg = canvas.titles(panel, &area) + &canvas.y_axis(&area, &y);
    svg += &names(plot, &x, area.bottom() + 17.0, slanted, theme);
    let mut inner = String::new();
    let bar = (room * 0.8 / plot.series.len().max(1) as f64).min(44.0);
    let side = (room - bar * plot.series.len() as f64) / 2.0;
    let base = if panel.y.log { area.bottom() } else { y.at(0.0).clamp(area.y, area.bottom()) };
    for (k, series) in plot.series.iter().enumerate() {
        let (index, style) = legend.find(&series.name);
        let color = theme.color(style.color);
        let _ = writeln!(inner, "<g class=\"s\" data-s=\"{index}\">");
        for i in 0..groups.min(series.values.len()) {
            let left = x.at(i as f64) + side + k as f64 * bar;
            inner +=
                &one_bar(plot, series, i, &Place { left, bar, base, y: &y, color, dash: style.dash, theme });
        }
        inner += "</g>\n";
    }
    svg += &clipped(&area, &inner);
    svg += &canvas.spines(&area);
    (svg, Frame { plot: area, x })
}

/// Where a bar stands and how it looks.
struct Place<'a> {
    left: f64,
    bar: f64,
    base: f64,
    y: &'a Scale,
    color: &'a str,
    dash: Dash,
    theme: Theme,
}

/// A bar with its error and the value that it is compared with; nothing where there is no value.
fn one_bar(plot: &Bars, series: &BarSeries, i: usize, place: &Place<'_>) -> String {
    let finite =
        |values: &Option<Vec<f64>>| values.as_ref()?.get(i).copied().filter(|value| value.is_finite());
    let Some(value) = series.values.get(i).copied().filter(|value| value.is_finite()) else {
        return String::new();
    };
    let (error, reference) = (finite(&series.errors), finite(&series.reference));
    let Place { left, bar, base, y, color, dash, theme } = place;
    let ink = theme.ink();
    let group = plot.groups.get(i).map_or("", String::as_str);
    let mut tip = format!("{}, {group}: {}", series.name, number(value));
    if let Some(error) = error {
        let _ = write!(tip, " ± {}", number(error));
    }
    if let Some(reference) = reference {
        let _ = write!(tip, "; paper {}", number(reference));
    }
    let (tip, top) = (escape(&tip), y.at(value));
    let mut svg = format!(
        "<rect class=\"tip\" data-tip=\"{tip}\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{color}\" fill-opacity=\"0.85\"><title>{tip}</title></rect>\n",
        top.min(*base),
        (bar - 1.0).max(0.5),
        (top - base).abs().max(0.5)
    );
    let middle = left + (bar - 1.0) / 2.0;
    // The series' shape at the foot of its bar, where there is room: colour is not all that tells them apart.
    let size = (bar * 0.3).min(4.0);
    if size >= 1.8 && (base - top).abs() > 4.0 * size {
        let foot = if top < *base { base - 2.0 * size } else { base + 2.0 * size };
        let _ = writeln!(
            svg,
            "<path d=\"{}\" fill=\"{}\" pointer-events=\"none\"/>",
            marker(middle, foot, size, *dash),
            theme.behind()
        );
    }
    if let Some(error) = error {
        let cap = (bar * 0.22).min(4.0);
        let (low, high) = (y.at(value - error), y.at(value + error));
        let _ = writeln!(
            svg,
            "<path d=\"M{middle:.1} {low:.1}V{high:.1}M{:.1} {high:.1}h{:.1}M{:.1} {low:.1}h{:.1}\" fill=\"none\" stroke=\"{ink}\"/>",
            middle - cap,
            2.0 * cap,
            middle - cap,
            2.0 * cap
        );
    }
    if let Some(reference) = reference {
        let _ = writeln!(
            svg,
            "<path d=\"M{left:.1} {:.1}h{:.1}\" stroke=\"{ink}\" stroke-width=\"2\"/>",
            y.at(reference),
            bar - 1.0
        );
    }
    svg
}

/// Names of the groups below the axis.
fn names(plot: &Bars, x: &Scale, below: f64, slanted: bool, theme: Theme) -> String {
    let mut svg = String::new();
    for (i, name) in plot.groups.iter().enumerate() {
        let at = x.at(i as f64 + 0.5);
        let place = if slanted {
            format!("text-anchor=\"end\" transform=\"rotate(-30 {at:.1} {below:.1})\"")
        } else {
            "text-anchor=\"middle\"".to_string()
        };
        let _ = writeln!(
            svg,
            "<text x=\"{at:.1}\" y=\"{below:.1}\" font-size=\"{TICK}\" {place} fill=\"{}\">{}</text>",
            theme.soft(),
            escape(&shortened(name, TICK, 115.0))
        );
    }
    svg
}
