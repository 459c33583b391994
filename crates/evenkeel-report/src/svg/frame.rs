//! What every panel has: a title, axes with ticks and labels, a grid.

use std::fmt::Write as _;

use super::markup::{escape, fitted, shortened, width};
use super::scale::Scale;
use super::theme::Theme;
use crate::figure::Panel;

/// A rectangle in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Rect {
    pub(crate) fn right(&self) -> f64 {
        self.x + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.y + self.height
    }
}

/// Where a panel is drawn, and how.
pub(super) struct Canvas {
    pub(super) area: Rect,
    pub(super) theme: Theme,
    pub(super) letter: String,
}

/// Where the data of a panel ended up.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) plot: Rect,
    pub(crate) x: Scale,
}

/// Room around the plot.
pub(super) struct Margins {
    /// Above, for labels of marks.
    pub(super) top: f64,
    /// Below, for rotated names.
    pub(super) bottom: f64,
    /// Left, for names of rows.
    pub(super) left: f64,
    /// Right, for a colour bar.
    pub(super) right: f64,
}

// Sizes of letters. A page shows a panel of 380 units on 350 pixels or more: none gets smaller than 11 pixels.
pub(super) const TICK: f64 = 12.0;
pub(super) const LABEL: f64 = 12.5;
pub(super) const NOTE: f64 = 12.0;

impl Canvas {
    /// The rectangle of the plot.
    pub(super) fn plot(&self, margins: &Margins) -> Rect {
        let top = 27.0 + margins.top;
        let bottom = 42.0 + margins.bottom;
        let left = 28.0 + margins.left;
        let right = 12.0 + margins.right;
        let area = &self.area;
        Rect {
            x: area.x + left,
            y: area.y + top,
            width: area.width - left - right,
            height: area.height - top - bottom,
        }
    }

    /// Title and labels of the axes.
    pub(super) fn titles(&self, panel: &Panel, plot: &Rect) -> String {
        let (area, ink) = (&self.area, self.theme.ink());
        let mut svg = String::new();
        let mut x = area.x + 4.0;
        if !self.letter.is_empty() {
            let _ = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"14\" font-weight=\"bold\" fill=\"{ink}\">{}</text>",
                area.y + 15.0,
                self.letter
            );
            x += 17.0;
        }
        // A panel whose title is its letter has it once.
        let title = if panel.title == self.letter { "" } else { &panel.title };
        let (size, title) = fitted(title, 13.0, area.right() - x);
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"{size:.1}\" font-weight=\"600\" fill=\"{ink}\">{}</text>",
            area.y + 15.0,
            escape(&title)
        );
        let label = shortened(&panel.x.label, LABEL, area.width);
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{LABEL}\" text-anchor=\"middle\" fill=\"{ink}\">{}</text>",
            plot.x + plot.width / 2.0,
            area.bottom() - 5.0,
            escape(&label)
        );
        let (x, y) = (area.x + 13.0, plot.y + plot.height / 2.0);
        let label = shortened(&panel.y.label, LABEL, plot.height + 50.0);
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{LABEL}\" text-anchor=\"middle\" transform=\"rotate(-90 {x:.1} {y:.1})\" fill=\"{ink}\">{}</text>",
            escape(&label)
        );
        svg
    }

    /// Vertical axis with its grid.
    pub(super) fn y_axis(&self, plot: &Rect, y: &Scale) -> String {
        let mut svg = String::new();
        for (value, label) in y.ticks((plot.height / 28.0) as usize) {
            let at = y.at(value);
            let _ = writeln!(
                svg,
                "<path d=\"M{:.1} {at:.1}H{:.1}\" stroke=\"{}\"/><text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{TICK}\" text-anchor=\"end\" fill=\"{}\">{label}</text>",
                plot.x,
                plot.right(),
                self.theme.grid(),
                plot.x - 5.0,
                at + 4.2,
                self.theme.soft()
            );
        }
        svg
    }

    /// Horizontal axis: as many ticks as fit side by side.
    pub(super) fn x_axis(&self, plot: &Rect, x: &Scale) -> String {
        let mut svg = String::new();
        let mut end = f64::NEG_INFINITY;
        for (value, label) in x.ticks((plot.width / 50.0) as usize) {
            let (at, half) = (x.at(value), width(&label, TICK) / 2.0);
            let _ = writeln!(
                svg,
                "<path d=\"M{at:.1} {:.1}v4\" stroke=\"{}\"/>",
                plot.bottom(),
                self.theme.soft()
            );
            // Labels of a logarithmic axis get crowded: the next one waits until there is room.
            if at - half < end + 4.0 || at + half > self.area.right() + 2.0 {
                continue;
            }
            end = at + half;
            let _ = writeln!(
                svg,
                "<text x=\"{at:.1}\" y=\"{:.1}\" font-size=\"{TICK}\" text-anchor=\"middle\" fill=\"{}\">{label}</text>",
                plot.bottom() + 17.0,
                self.theme.soft()
            );
        }
        svg
    }

    /// The two lines of the axes.
    pub(super) fn spines(&self, plot: &Rect) -> String {
        format!(
            "<path d=\"M{:.1} {:.1}V{:.1}H{:.1}\" fill=\"none\" stroke=\"{}\"/>\n",
            plot.x,
            plot.y,
            plot.bottom(),
            plot.right(),
            self.theme.soft()
        )
    }

    /// Horizontal dashed lines with their labels.
    pub(super) fn rules(&self, rules: &[crate::figure::Mark], plot: &Rect, y: &Scale) -> String {
        let mut svg = String::new();
        for rule in rules.iter().filter(|rule| y.shows(rule.at)) {
            let at = y.at(rule.at);
            let _ = writeln!(
                svg,
                "<path d=\"M{:.1} {at:.1}H{:.1}\" stroke=\"{}\" stroke-dasharray=\"4 3\"/><text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{NOTE}\" text-anchor=\"end\" fill=\"{}\">{}</text>",
                plot.x,
                plot.right(),
                self.theme.soft(),
                plot.right() - 3.0,
                at - 3.0,
                self.theme.soft(),
                escape(&shortened(&rule.label, NOTE, plot.width))
            );
        }
        svg
    }
}

/// How far to the left tick labels reach.
pub(super) fn tick_room(y: &Scale, height: f64) -> f64 {
    let widths = y.ticks((height / 28.0) as usize).into_iter().map(|(_, label)| width(&label, TICK));
    widths.fold(0.0, f64::max)
}

/// A part of the drawing that does not reach beyond `plot`.
pub(super) fn clipped(plot: &Rect, body: &str) -> String {
    format!(
        "<svg x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" viewBox=\"{:.1} {:.1} {:.1} {:.1}\" overflow=\"hidden\">\n{body}</svg>\n",
        plot.x, plot.y, plot.width, plot.height, plot.x, plot.y, plot.width, plot.height
    )
}
