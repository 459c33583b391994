//! Tables: heads that sort, a first column that stays, numbers with a small drawing.

use std::fmt::Write as _;

use super::terms::Terms;
use crate::svg::{Theme, escape};
use crate::table::{Cell, Table};

/// Width and height of the drawing beside a number.
const DRAWING: (f64, f64) = (80.0, 16.0);

/// A table below its caption.
pub(super) fn captioned(table: &Table, id: &str, terms: &Terms<'_>) -> String {
    // The caption stands outside of what scrolls, so that a phone shows all of it.
    format!(
        "<p class=\"caption\" id=\"{id}-caption\">{}</p>\n{}",
        terms.sentence(&table.caption),
        element(table, id, terms)
    )
}

/// The table alone; whoever shows it puts an element with the id of its caption beside it.
pub(super) fn element(table: &Table, id: &str, terms: &Terms<'_>) -> String {
    let mut html = format!(
        "<div class=\"scroll\" role=\"region\" aria-labelledby=\"{id}-caption\" tabindex=\"0\">\
         <table id=\"{id}\" aria-labelledby=\"{id}-caption\">\n<thead><tr>"
    );
    for (i, name) in table.columns.iter().enumerate() {
        let class = if table.is_numeric(i) { " class=\"num\"" } else { "" };
        let meaning = terms.attribute(name);
        let _ = write!(
            html,
            "<th scope=\"col\"{class}><button type=\"button\"{meaning}>{}</button></th>",
            escape(name)
        );
    }
    html += "</tr></thead>\n<tbody>\n";
    let scale = Scale::of(table);
    for row in &table.rows {
        let name = row.first().map(Cell::shown).unwrap_or_default();
        let _ = write!(html, "<tr data-name=\"{}\">", escape(&name));
        for (i, cell) in table.filled(row).enumerate() {
            let (shown, class) = (cell.shown(), class(table, i, cell));
            let key = cell.sort_key().map_or(String::new(), |key| format!(" data-key=\"{key}\""));
            let (tag, scope) = if i == 0 { ("th", " scope=\"row\"") } else { ("td", "") };
            let _ = write!(html, "<{tag}{scope}{class}{key}>");
            html += &match &scale {
                Some(scale) if table.drawn == Some(i) => scale.drawing(cell),
                _ => String::new(),
            };
            // The interval is read after the number: it stands back.
            match shown.split_once(" [") {
                Some((mean, rest)) if matches!(cell, Cell::Interval { .. }) => {
                    let _ = write!(html, "{} <span class=\"ci\">[{}</span>", escape(mean), escape(rest));
                }
                _ => html += &escape(&shown),
            }
            let _ = write!(html, "</{tag}>");
        }
        html += "</tr>\n";
    }
    html + "</tbody></table></div>\n"
}

fn class(table: &Table, column: usize, cell: &Cell) -> &'static str {
    match cell {
        Cell::Check { yes: false } => " class=\"num no\"",
        Cell::Text { text } if text.chars().count() > 40 => " class=\"wrap\"",
        _ if table.drawn == Some(column) => " class=\"num drawn\"",
        _ if table.is_numeric(column) => " class=\"num\"",
        _ => "",
    }
}

/// The range of a column that is drawn; zero is in it.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    fn of(table: &Table) -> Option<Self> {
        let column = table.drawn?;
        let ends = table.rows.iter().filter_map(|row| row.get(column)).filter_map(ends).flatten();
        let (low, high) = ends.fold((0f64, 0f64), |(low, high), value| (low.min(value), high.max(value)));
        (high > low).then_some(Self { low, high })
    }

    fn at(&self, value: f64) -> f64 {
        2.0 + (value - self.low) / (self.high - self.low) * (DRAWING.0 - 4.0)
    }

    /// A bar from zero to the number, and its interval across it.
    fn drawing(&self, cell: &Cell) -> String {
        let Some([low, mean, high]) = ends(cell) else { return String::new() };
        let (zero, mean, low, high) = (self.at(0.0), self.at(mean), self.at(low), self.at(high));
        let (width, height) = DRAWING;
        let interval = if high > low {
            format!(
                "<path d=\"M{low:.1} 8H{high:.1}M{low:.1} 4v8M{high:.1} 4v8\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>",
                Theme::Page.ink()
            )
        } else {
            String::new()
        };
        format!(
            "<svg class=\"bar\" viewBox=\"0 0 {width:.0} {height:.0}\" aria-hidden=\"true\"><rect x=\"{:.1}\" y=\"3\" width=\"{:.1}\" \
             height=\"10\" rx=\"1\" fill=\"{}\"/>{interval}</svg>",
            zero.min(mean),
            (mean - zero).abs().max(1.0),
            Theme::Page.color(crate::figure::Color::Cyan)
        )
    }
}

/// Lower bound, mean and upper bound; all the same where there is no interval.
fn ends(cell: &Cell) -> Option<[f64; 3]> {
    match cell {
        Cell::Interval { mean, low, high, .. } => Some([*low, *mean, *high]),
        Cell::Estimate { mean, pm, .. } => Some([mean - pm, *mean, mean + pm]),
        Cell::Number { value, .. } => Some([*value; 3]),
        _ => None,
    }
    .filter(|ends| ends.iter().all(|value| value.is_finite()))
}
