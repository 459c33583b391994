//! Names, colours and dashes of a figure's series.

use std::fmt::Write as _;

use super::marker::marker;
use super::markup::{escape, shortened, width};
use super::theme::{Theme, dash_array};
use crate::figure::{Figure, Plot, Style};

const SIZE: f64 = 12.0;
const ROW: f64 = 20.0;
const SAMPLE: f64 = 26.0;

/// Every name with a style of its own: the one that it asks for if nobody before it has it, else the first that is free.
fn told_apart(wishes: Vec<(String, Option<Style>)>) -> Vec<(String, Style)> {
    let mut styles: Vec<Option<Style>> = Vec::new();
    for (_, wish) in &wishes {
        styles.push(wish.filter(|wish| !styles.contains(&Some(*wish))));
    }
    for i in 0..styles.len() {
        if styles[i].is_none() {
            let free = (0..Style::COUNT).map(Style::nth).find(|style| !styles.contains(&Some(*style)));
            styles[i] = Some(free.unwrap_or(Style::nth(i)));
        }
    }
    let names = wishes.into_iter().map(|(name, _)| name);
    names.zip(styles.into_iter().flatten()).collect()
}

/// The series of a figure by name, in order of appearance.
pub(crate) struct Legend {
    pub(crate) entries: Vec<(String, Style)>,
    /// Whether bars carry the marks of a reference.
    pub(crate) reference: bool,
}

impl Legend {
    pub(crate) fn of(figure: &Figure) -> Self {
        let mut wishes: Vec<(String, Option<Style>)> = Vec::new();
        let mut reference = false;
        let mut add = |name: &str, style: Option<Style>| {
            if !wishes.iter().any(|(known, _)| known == name) {
                wishes.push((name.to_string(), style));
            }
        };
        for panel in &figure.panels {
            match &panel.plot {
                Plot::Lines(plot) => plot.series.iter().for_each(|s| add(&s.name, s.style)),
                Plot::Bars(plot) => {
                    reference |= plot.series.iter().any(|s| s.reference.is_some());
                    plot.series.iter().for_each(|s| add(&s.name, s.style));
                }
                Plot::Scatter(plot) => plot.series.iter().for_each(|s| add(&s.name, s.style)),
                Plot::Heatmap(_) => {}
            }
        }
        Self { entries: told_apart(wishes), reference }
    }

    /// Number and style of a series.
    pub(crate) fn find(&self, name: &str) -> (usize, Style) {
        let index = self.entries.iter().position(|(known, _)| known == name);
        index.map_or((0, Style::nth(0)), |index| (index, self.entries[index].1))
    }

    /// Left edges and rows of the entries.
    fn places(&self, room: f64) -> Vec<(f64, usize)> {
        let (mut x, mut row) = (0.0, 0);
        let mut names: Vec<&str> = self.entries.iter().map(|(name, _)| name.as_str()).collect();
        names.extend(self.reference.then_some(REFERENCE));
        names
            .into_iter()
            .map(|name| {
                let wide = SAMPLE + 8.0 + width(&shortened(name, SIZE, room - SAMPLE), SIZE) + 18.0;
                if x > 0.0 && x + wide > room {
                    (x, row) = (0.0, row + 1);
                }
                let place = (x, row);
                x += wide;
                place
            })
            .collect()
    }

    /// Height in a figure of that width; a single series needs no legend.
    pub(super) fn height(&self, room: f64) -> f64 {
        if self.entries.len() < 2 && !self.reference {
            return 0.0;
        }
        self.places(room).last().map_or(0.0, |(_, row)| (row + 1) as f64 * ROW + 6.0)
    }

    pub(super) fn draw(&self, left: f64, top: f64, room: f64, theme: Theme) -> String {
        let mut svg = String::new();
        if self.height(room) == 0.0 {
            return svg;
        }
        let places = self.places(room);
        for ((name, style), (x, row)) in self.entries.iter().zip(&places) {
            let (x, y) = (left + x, top + *row as f64 * ROW + ROW / 2.0);
            let _ = writeln!(
                svg,
                "<path d=\"M{x:.1} {y:.1}h{SAMPLE}\" stroke=\"{color}\" stroke-width=\"2.5\" stroke-dasharray=\"{}\"/><path d=\"{}\" fill=\"{color}\"/>",
                dash_array(style.dash),
                marker(x + SAMPLE / 2.0, y, 4.0, style.dash),
                color = theme.color(style.color)
            );
            svg += &entry(x, y, &shortened(name, SIZE, room - SAMPLE), theme);
        }
        if let (true, Some((x, row))) = (self.reference, places.last()) {
            let (x, y) = (left + x, top + *row as f64 * ROW + ROW / 2.0);
            let _ = writeln!(
                svg,
                "<path d=\"M{x:.1} {y:.1}h{SAMPLE}\" stroke=\"{}\" stroke-width=\"2\"/>",
                theme.ink()
            );
            svg += &entry(x, y, REFERENCE, theme);
        }
        svg
    }
}

/// Name of the marks across bars.
pub(crate) const REFERENCE: &str = "paper";

fn entry(x: f64, y: f64, name: &str, theme: Theme) -> String {
    format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{SIZE}\" fill=\"{}\">{}</text>\n",
        x + SAMPLE + 6.0,
        y + 4.0,
        theme.ink(),
        escape(name)
    )
}
