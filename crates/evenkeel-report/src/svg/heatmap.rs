//! A matrix as colours, the numbers in it, and a colour bar.

use std::fmt::Write as _;

use super::frame::{Canvas, Frame, Margins, NOTE, TICK};
use super::markup::{escape, number, shortened, width};
use super::scale::Scale;
use crate::figure::{Heatmap, Panel};

/// Cividis: monotonous in lightness, the same for every kind of colour vision.
const RAMP: [(f64, f64, f64); 6] = [
    (0.0, 34.0, 78.0),
    (53.0, 69.0, 108.0),
    (102.0, 105.0, 112.0),
    (148.0, 142.0, 119.0),
    (200.0, 184.0, 102.0),
    (254.0, 232.0, 56.0),
];

pub(super) fn draw(panel: &Panel, plot: &Heatmap, canvas: &Canvas) -> (String, Frame) {
    let theme = canvas.theme;
    let widest = plot.y_names.iter().map(|name| width(name, TICK)).fold(0.0, f64::max);
    let margins = Margins { top: 0.0, bottom: 0.0, left: widest.min(120.0) + 4.0, right: 60.0 };
    let area = canvas.plot(&margins);
    let (columns, rows) = (plot.x_names.len().max(1), plot.y_names.len().max(1));
    let (wide, high) = (area.width / columns as f64, area.height / rows as f64);
    let finite = || plot.values.iter().flatten().copied().filter(|v| v.is_finite());
    let (low, top) = finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let share = |value: f64| if top > low { (value - low) / (top - low) } else { 0.5 };
    let best = if plot.low_is_good { low } else { top };

    let look = Look::of(plot, (wide, high));
    let mut svg = canvas.titles(panel, &area);
    let mut frames = String::new();
    for (j, name) in plot.y_names.iter().enumerate() {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{TICK}\" text-anchor=\"end\" fill=\"{}\">{}</text>",
            area.x - 5.0,
            area.y + (j as f64 + 0.5) * high + 4.2,
            theme.soft(),
            escape(&shortened(name, TICK, 120.0))
        );
        for (i, value) in plot.values.get(j).into_iter().flatten().enumerate().take(columns) {
            let at = (area.x + i as f64 * wide, area.y + j as f64 * high, wide, high);
            svg += &cell(
                panel,
                plot,
                canvas,
                &look,
                (i, j),
                (*value, value.is_finite().then(|| share(*value))),
                at,
            );
            if *value == best && plot.groups.is_empty() {
                frames += &frame(at, canvas.theme.color(crate::figure::Color::Orange));
            }
        }
    }
    svg += &frames;
    svg += &names(plot, canvas, (area.x, area.bottom() + 17.0), wide);
    if top >= low {
        svg += &bar(plot, canvas, (area.right() + 8.0, area.y, area.height), (low, top));
    }
    let x = Scale { low: 0.0, high: columns as f64, from: area.x, to: area.right(), log: false };
    (svg, Frame { plot: area, x })
}

/// The names of the columns below them; of groups that of the last one at its right end, as far as they have room.
fn names(plot: &Heatmap, canvas: &Canvas, (x, y): (f64, f64), wide: f64) -> String {
    let mut svg = String::new();
    let mut write = |at: f64, anchor: &str, name: &str| {
        let _ = writeln!(
            svg,
            "<text x=\"{at:.1}\" y=\"{y:.1}\" font-size=\"{TICK}\" text-anchor=\"{anchor}\" fill=\"{}\">{}</text>",
            canvas.theme.soft(),
            escape(name)
        );
    };
    if plot.groups.is_empty() {
        // As many numbers as fit side by side; words are all shown, shortened where they must be.
        let numbers = plot.x_names.iter().all(|name| name.parse::<f64>().is_ok());
        let widest = plot.x_names.iter().map(|name| width(name, TICK)).fold(0.0, f64::max);
        let every = if numbers { ((widest + 4.0) / wide).ceil().max(1.0) as usize } else { 1 };
        let first = (every - 1).min(plot.x_names.len().saturating_sub(1));
        for (i, name) in plot.x_names.iter().enumerate().skip(first).step_by(every) {
            // The estimate of the width is generous.
            let name = shortened(name, TICK, 1.15 * wide * every as f64);
            write(x + (i as f64 + 0.5) * wide, "middle", &name);
        }
        return svg;
    }
    let (mut end, mut free) = (0, x);
    for group in &plot.groups {
        end += group;
        let Some(name) = end.checked_sub(1).and_then(|last| plot.x_names.get(last)) else { continue };
        let right = x + end as f64 * wide;
        if right - width(name, TICK) >= free {
            write(right, "end", name);
            free = right + 6.0;
        }
    }
    svg
}

/// How the cells are drawn.
struct Look {
    /// Whether a column is followed by the next one without a line between them.
    joined: Vec<bool>,
    /// The size of all written values; each has its own where columns stand alone.
    size: Option<f64>,
}

impl Look {
    fn of(plot: &Heatmap, (wide, high): (f64, f64)) -> Self {
        if plot.groups.is_empty() {
            return Self { joined: vec![], size: None };
        }
        let joined = plot.groups.iter().flat_map(|&group| (1..=group).map(move |i| i < group)).collect();
        let values = plot.values.iter().flatten().filter(|value| value.is_finite());
        let longest = values.map(|value| format!("{value:.*}", plot.digits).len()).max().unwrap_or(1);
        Self { joined, size: Some(fitting(wide, high, longest)) }
    }
}

/// The size of so many characters in a cell.
fn fitting(wide: f64, high: f64, characters: usize) -> f64 {
    (wide / (0.66 * characters as f64)).min(high * 0.8).min(11.0)
}

/// One cell with its value; `share` is its place between the lowest and the highest value.
fn cell(
    panel: &Panel,
    plot: &Heatmap,
    canvas: &Canvas,
    look: &Look,
    (i, j): (usize, usize),
    (value, share): (f64, Option<f64>),
    (x, y, wide, high): (f64, f64, f64, f64),
) -> String {
    let name = |names: &[String], at: usize| names.get(at).cloned().unwrap_or_default();
    let (shown, fill, ink) = match share {
        Some(share) => {
            // Written otherwise than the paper, which turns dark on dark pages: the cells do not.
            let ink = if share > 0.55 { "#14171c" } else { "#fff" };
            (format!("{value:.*}", plot.digits), color(share), ink)
        }
        None => ("–".to_string(), "none".to_string(), canvas.theme.soft()),
    };
    let tip = escape(&format!(
        "{} {}, {} {}: {} {}",
        panel.x.label,
        name(&plot.x_names, i),
        panel.y.label,
        name(&plot.y_names, j),
        plot.label,
        number(value)
    ));
    let mut svg = format!(
        "<rect class=\"tip\" data-tip=\"{tip}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{fill}\"><title>{tip}</title></rect>\n",
        // A hair of overlap hides the seams.
        if look.joined.get(i) == Some(&true) { wide + 0.3 } else { wide - 1.0 },
        high - 1.0
    );
    // In maps over time what is not there has not come yet.
    if share.is_none() && !plot.groups.is_empty() {
        return svg;
    }
    let size = look.size.unwrap_or_else(|| fitting(wide, high, shown.chars().count()));
    if size >= 11.0 {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{size:.1}\" text-anchor=\"middle\" fill=\"{ink}\" pointer-events=\"none\">{shown}</text>",
            x + wide / 2.0,
            y + high / 2.0 + size * 0.35
        );
    }
    svg
}

/// A frame around the best cell.
fn frame((x, y, wide, high): (f64, f64, f64, f64), color: &str) -> String {
    format!(
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"3\" pointer-events=\"none\"/>\n",
        x + 0.5,
        y + 0.5,
        wide - 2.0,
        high - 2.0
    )
}

fn bar(plot: &Heatmap, canvas: &Canvas, (x, y, height): (f64, f64, f64), (low, top): (f64, f64)) -> String {
    let steps = 24;
    let step = height / f64::from(steps);
    let mut svg = String::new();
    for i in 0..steps {
        let _ = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{:.2}\" width=\"8\" height=\"{:.2}\" fill=\"{}\"/>",
            y + f64::from(i) * step,
            step + 0.3,
            color(1.0 - (f64::from(i) + 0.5) / f64::from(steps))
        );
    }
    let digits = plot.digits;
    for (value, at) in [(top, y + 10.0), (low, y + height)] {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{at:.1}\" font-size=\"{NOTE}\" fill=\"{}\">{value:.digits$}</text>",
            x + 11.0,
            canvas.theme.soft()
        );
    }
    let (cx, cy) = (x + 22.0, y + height / 2.0);
    svg + &format!(
        "<text x=\"{cx:.1}\" y=\"{cy:.1}\" font-size=\"{TICK}\" text-anchor=\"middle\" transform=\"rotate(-90 {cx:.1} {cy:.1})\" fill=\"{}\">{}</text>\n",
        canvas.theme.ink(),
        escape(&shortened(&plot.label, TICK, height - 30.0))
    )
}

fn color(share: f64) -> String {
    let at = share.clamp(0.0, 1.0) * (RAMP.len() - 1) as f64;
    let (from, to) = (RAMP[at.floor() as usize], RAMP[at.ceil() as usize]);
    let mix = |a: f64, b: f64| (a + (b - a) * at.fract()).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}
