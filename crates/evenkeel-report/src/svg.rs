//! Figures as SVG: the same drawing for files, for PNG and for the page.

mod bars;
mod frame;
mod heatmap;
mod legend;
mod lines;
mod marker;
mod markup;
mod scale;
mod scatter;
mod theme;

pub(crate) use self::frame::Frame;
pub(crate) use self::legend::{Legend, REFERENCE};
pub(crate) use self::marker::marker;
pub(crate) use self::markup::escape;
pub(crate) use self::scale::Scale;
pub use self::theme::Theme;
pub(crate) use self::theme::dash_array;

use std::fmt::Write as _;

use self::frame::{Canvas, Rect};
use crate::figure::{Figure, Panel, Plot};

/// Size of a panel of one column.
pub(crate) const PANEL: (f64, f64) = (380.0, 260.0);
const GAP: f64 = 14.0;
const TITLE: f64 = 28.0;

impl Figure {
    /// The whole figure as an SVG file.
    pub fn to_svg(&self, theme: Theme) -> String {
        let legend = Legend::of(self);
        let columns = self.columns.max(1);
        let width = columns as f64 * (PANEL.0 + GAP) + GAP;
        let title = if self.title.is_empty() { GAP } else { TITLE + GAP };
        let legend_height = legend.height(width - 2.0 * GAP);
        let places = places(&self.panels, columns);
        let rows = places.iter().map(|(row, _, _)| row + 1).max().unwrap_or(0);
        let height = title + legend_height + rows as f64 * (PANEL.1 + GAP) + GAP;

        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             height=\"{height:.0}\" role=\"img\" font-family=\"DejaVu Sans, Verdana, sans-serif\">\n\
             <title>{}</title>\n<desc>{}</desc>\n{}<rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n",
            escape(&self.title),
            escape(&self.caption),
            theme.style(),
            theme.paper()
        );
        if !self.title.is_empty() {
            let (size, title) = markup::fitted(&self.title, 15.0, width - 2.0 * GAP);
            let _ = writeln!(
                svg,
                "<text x=\"{:.0}\" y=\"{TITLE:.0}\" font-size=\"{size:.1}\" font-weight=\"bold\" text-anchor=\"middle\" fill=\"{}\">{}</text>",
                width / 2.0,
                theme.ink(),
                escape(&title)
            );
        }
        svg += &legend.draw(GAP, title, width - 2.0 * GAP, theme);
        for (index, (panel, (row, column, span))) in self.panels.iter().zip(&places).enumerate() {
            let x = GAP + *column as f64 * (PANEL.0 + GAP);
            let y = title + legend_height + *row as f64 * (PANEL.1 + GAP);
            let width = *span as f64 * (PANEL.0 + GAP) - GAP;
            let letter = letter(panel, index, self.panels.len());
            let canvas = Canvas { area: Rect { x, y, width, height: PANEL.1 }, theme, letter };
            svg += &draw(panel, &canvas, &legend).0;
        }
        svg + "</svg>\n"
    }
}

/// A panel as an SVG element of its own for the page, so many columns wide, and where its axes are.
pub(crate) fn panel_element(figure: &Figure, index: usize, legend: &Legend, span: usize) -> (String, Frame) {
    let panel = &figure.panels[index];
    let width = span as f64 * (PANEL.0 + GAP) - GAP;
    let area = Rect { x: 0.0, y: 0.0, width, height: PANEL.1 };
    let letter = letter(panel, index, figure.panels.len());
    let (body, frame) = draw(panel, &Canvas { area, theme: Theme::Page, letter }, legend);
    let label = format!("{}: {} over {}", panel.title, panel.y.label, panel.x.label);
    let svg = format!(
        "<svg class=\"plot\" viewBox=\"0 0 {width:.0} {:.0}\" role=\"img\" aria-label=\"{}\" tabindex=\"0\">\n{body}</svg>",
        PANEL.1,
        escape(&label),
    );
    (svg, frame)
}

fn draw(panel: &Panel, canvas: &Canvas, legend: &Legend) -> (String, Frame) {
    match &panel.plot {
        Plot::Lines(plot) => lines::draw(panel, plot, canvas, legend),
        Plot::Bars(plot) => bars::draw(panel, plot, canvas, legend),
        Plot::Scatter(plot) => scatter::draw(panel, plot, canvas, legend),
        Plot::Heatmap(plot) => heatmap::draw(panel, plot, canvas),
    }
}

/// Row, column and width of each panel: from the left, and on to the next row where one does not fit.
fn places(panels: &[Panel], columns: usize) -> Vec<(usize, usize, usize)> {
    let (mut row, mut column) = (0, 0);
    let mut places = Vec::new();
    for panel in panels {
        let span = panel.span.clamp(1, columns);
        if column + span > columns {
            (row, column) = (row + 1, 0);
        }
        places.push((row, column, span));
        column += span;
    }
    places
}

/// a, b, c … as in the paper, none for a panel that stands alone; a title of one letter is the panel's own.
fn letter(panel: &Panel, index: usize, panels: usize) -> String {
    let alphabet = b"abcdefghijklmnopqrstuvwxyz";
    if panel.title.len() == 1 && alphabet.contains(&panel.title.as_bytes()[0]) {
        panel.title.clone()
    } else if panels < 2 {
        String::new()
    } else {
        char::from(alphabet[index % alphabet.len()]).to_string()
    }
}

#[cfg(test)]
pub(crate) mod tests;
