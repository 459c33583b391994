//! A document as one HTML file: nothing is loaded from anywhere, everything from files is escaped.

use std::collections::HashSet;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use self::data::panel_data;
use crate::document::{Document, Section, slug};
use crate::figure::{Figure, Plot};
use crate::svg::{Legend, REFERENCE, Theme, dash_array, escape, panel_element};
use crate::table::{Cell, Table};

mod data;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/script.js");

/// Curves are drawn with about so many points: more than pixels, few enough for a small file.
const POINTS: usize = 900;

/// So many tables come before the figures, the others after them.
const TABLES_FIRST: usize = 2;

impl Document {
    /// The page, to be opened from disk.
    pub fn to_html(&self) -> String {
        self.render(None)
    }

    /// The page of a server, which asks `version` now and then whether it is still the newest.
    pub fn to_live_html(&self, version: &str) -> String {
        self.render(Some(version))
    }

    fn render(&self, live: Option<&str>) -> String {
        let mut ids = Ids::default();
        let (mut nav, mut main) = (String::new(), String::new());
        for part in &self.sections {
            let id = ids.unique(&part.id);
            let _ = write!(nav, "<a href=\"#{id}\">{}</a> ", escape(&part.heading));
            let body = section(part, &mut ids);
            let hash = STANDARD.encode(&Sha256::digest(&body)[..12]);
            let _ = writeln!(main, "<section id=\"{id}\" data-hash=\"{hash}\">\n{body}</section>");
        }
        let (light, dark) = (Theme::Light.variables(), Theme::Dark.variables());
        let style = format!(
            ":root{{color-scheme:light dark;{light}}}\n\
             @media (prefers-color-scheme: dark){{:root:not([data-theme=light]){{{dark}}}}}\n\
             :root[data-theme=dark]{{color-scheme:dark;{dark}}}\n:root[data-theme=light]{{color-scheme:light}}\n{STYLE}"
        );
        let live = live.map_or(String::new(), |version| format!(" data-live=\"{}\"", escape(version)));
        let script_hash = STANDARD.encode(Sha256::digest(SCRIPT));
        // One pass over the template: what is filled in is never searched for places to fill in.
        let mut page = String::with_capacity(main.len() + 40_000);
        let mut rest = PAGE;
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, after) = after.split_once("}}").expect("the template is part of the program");
            page += before;
            match name {
                "title" => page += &escape(&self.title),
                "style" => page += &style,
                "nav" => page += &nav,
                "main" => page += &main,
                "live" => page += &live,
                "script" => page += SCRIPT,
                "script-hash" => page += &script_hash,
                other => unreachable!("no such place in the template: {other}"),
            }
            rest = after;
        }
        page + rest
    }
}

/// Anchors that are used already: two folders may hold the same benchmark.
#[derive(Default)]
struct Ids(HashSet<String>);

impl Ids {
    fn unique(&mut self, name: &str) -> String {
        let base = slug(name);
        // Two ids of the page itself.
        let taken =
            |ids: &HashSet<String>, id: &str| ids.contains(id) || ["main", "tip", "theme"].contains(&id);
        let mut id = base.clone();
        let mut n = 2;
        while taken(&self.0, &id) {
            id = format!("{base}-{n}");
            n += 1;
        }
        self.0.insert(id.clone());
        id
    }
}

fn section(section: &Section, ids: &mut Ids) -> String {
    let mut html = format!("<h2>{}</h2>\n", escape(&section.heading));
    for paragraph in &section.paragraphs {
        let _ = writeln!(html, "<p>{}</p>", escape(paragraph));
    }
    for command in &section.commands {
        let _ = writeln!(
            html,
            "<div class=\"command\"><pre>{}</pre><button type=\"button\">copy</button></div>",
            escape(command)
        );
    }
    if !section.warnings.is_empty() {
        html += "<ul class=\"warnings\" role=\"note\">\n";
        for warning in &section.warnings {
            let _ = writeln!(html, "<li>{}</li>", escape(warning));
        }
        html += "</ul>\n";
    }
    let (first, rest) = section.tables.split_at(section.tables.len().min(TABLES_FIRST));
    for table in first {
        html += &table_element(table, &ids.unique(&table.id));
    }
    for figure in &section.figures {
        html += &figure_element(&figure.thinned(POINTS), &ids.unique(&figure.id));
    }
    for table in rest {
        html += &table_element(table, &ids.unique(&table.id));
    }
    html
}

fn table_element(table: &Table, id: &str) -> String {
    // The caption stands outside of what scrolls, so that a phone shows all of it.
    let mut html = format!(
        "<p class=\"caption\" id=\"{id}-caption\">{}</p>\n<div class=\"scroll\" role=\"region\" aria-labelledby=\"{id}-caption\" tabindex=\"0\">\
         <table id=\"{id}\" aria-labelledby=\"{id}-caption\">\n<thead><tr>",
        escape(&table.caption)
    );
    for (i, name) in table.columns.iter().enumerate() {
        let class = if table.is_numeric(i) { " class=\"num\"" } else { "" };
        let _ =
            write!(html, "<th scope=\"col\"{class}><button type=\"button\">{}</button></th>", escape(name));
    }
    html += "</tr></thead>\n<tbody>\n";
    for row in &table.rows {
        html += "<tr>";
        for (i, cell) in
            row.iter().chain(std::iter::repeat(&Cell::Empty)).take(table.columns.len()).enumerate()
        {
            let shown = cell.shown();
            let class = match cell {
                Cell::Check { yes: false } => " class=\"num no\"",
                Cell::Text { .. } if shown.chars().count() > 40 => " class=\"wrap\"",
                _ if table.is_numeric(i) => " class=\"num\"",
                _ => "",
            };
            let key = cell.sort_key().map_or(String::new(), |key| format!(" data-key=\"{key}\""));
            let _ = write!(html, "<td{class}{key}>{}</td>", escape(&shown));
        }
        html += "</tr>\n";
    }
    html + "</tbody></table></div>\n"
}

fn figure_element(figure: &Figure, id: &str) -> String {
    let legend = Legend::of(figure);
    let mut html = format!("<figure id=\"{id}\">\n<h3>{}</h3>\n", escape(&figure.title));
    if legend.entries.len() > 1 || legend.reference {
        html += "<div class=\"legend\" role=\"group\" aria-label=\"Curves\">\n";
        for (s, (name, style)) in legend.entries.iter().enumerate() {
            let _ = writeln!(
                html,
                "<button type=\"button\" aria-pressed=\"true\" data-s=\"{s}\" data-name=\"{name}\"><svg viewBox=\"0 0 28 10\" aria-hidden=\"true\">\
                 <path d=\"M0 5h28\" stroke=\"{}\" stroke-width=\"3\" stroke-dasharray=\"{}\"/></svg>{name}</button>",
                Theme::Page.color(style.color),
                dash_array(style.dash),
                name = escape(name)
            );
        }
        if legend.reference {
            let _ = writeln!(
                html,
                "<span class=\"note\"><svg viewBox=\"0 0 28 10\" aria-hidden=\"true\"><path d=\"M0 5h28\" stroke=\"{}\" stroke-width=\"2\"/></svg>{REFERENCE}</span>",
                Theme::Page.ink()
            );
        }
        html += "</div>\n";
    }
    let columns = figure.columns.max(1);
    let _ = writeln!(html, "<div class=\"panels\" style=\"--columns:{columns}\">");
    for (index, panel) in figure.panels.iter().enumerate() {
        let span = panel.span.clamp(1, columns);
        // A wide panel has a narrow twin for phones, with letters of a readable size.
        let widths: &[(usize, &str)] = if span > 1 { &[(span, " wide"), (1, " narrow")] } else { &[(1, "")] };
        for (width, class) in widths {
            let _ = writeln!(html, "<div class=\"panel{class}\" style=\"--span:{width}\">");
            let (svg, frame) = panel_element(figure, index, &legend, *width);
            html += &svg;
            if let Plot::Lines(lines) = &panel.plot {
                html += &panel_data(panel, lines, &frame, &legend);
            }
            html += "</div>\n";
        }
    }
    html += "</div>\n";
    if !figure.caption.is_empty() {
        let _ = writeln!(html, "<figcaption>{}</figcaption>", escape(&figure.caption));
    }
    html + "</figure>\n"
}

#[cfg(test)]
mod tests;
