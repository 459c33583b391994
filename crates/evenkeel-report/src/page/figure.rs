//! Figures: a legend that hides and shows, panels that answer, buttons that download.

use std::fmt::Write as _;

use super::data::panel_data;
use super::section::heading;
use crate::figure::{Figure, Panel};
use crate::svg::{Legend, REFERENCE, Theme, dash_array, escape, marker, panel_element};

/// Curves are drawn with about so many points: more than pixels, few enough for a small file.
const POINTS: usize = 900;

/// More columns than this are too narrow to be read.
const MOST_COLUMNS: usize = 3;

pub(super) fn figure_element(figure: &Figure, id: &str, with_legend: bool) -> String {
    let figure = figure.thinned(POINTS);
    let legend = Legend::of(&figure);
    let columns = figure.columns.clamp(1, MOST_COLUMNS);
    let names: Vec<&str> = legend.entries.iter().map(|(name, _)| name.as_str()).collect();
    let names = serde_json::to_string(&names).expect("names are text");
    let mut html =
        format!("<figure id=\"{id}\" style=\"--wide:{columns}\" data-series=\"{}\">\n", escape(&names));
    html += &heading(3, id, &figure.title);
    if with_legend {
        html += &legend_element(&legend);
    }
    let _ = writeln!(html, "<div class=\"panels\" style=\"--columns:{columns}\">");
    for (index, panel) in figure.panels.iter().enumerate() {
        let span = panel.span.clamp(1, columns);
        // A wide panel has a narrow twin for phones, with letters of a readable size.
        let widths: &[(usize, &str)] = if span > 1 { &[(span, " wide"), (1, " narrow")] } else { &[(1, "")] };
        for (width, class) in widths {
            if figure.shared_range {
                html += &panel_in(&figure, index, panel, &legend, *width, &format!("{class} shared"));
                let mut own = figure.clone();
                own.panels[index].y.range = None;
                html += &panel_in(&own, index, &own.panels[index], &legend, *width, &format!("{class} own"));
            } else {
                html += &panel_in(&figure, index, panel, &legend, *width, class);
            }
        }
    }
    html += "</div>\n";
    html += &tools(&figure);
    if !figure.caption.is_empty() {
        let _ = writeln!(html, "<figcaption>{}</figcaption>", escape(&figure.caption));
    }
    html + "</figure>\n"
}

fn panel_in(
    figure: &Figure,
    index: usize,
    panel: &Panel,
    legend: &Legend,
    width: usize,
    class: &str,
) -> String {
    let (svg, frame) = panel_element(figure, index, legend, width);
    let data = panel_data(panel, &frame, legend);
    format!("<div class=\"panel{class}\" style=\"--span:{width}\">\n{svg}{data}</div>\n")
}

fn legend_element(legend: &Legend) -> String {
    if legend.entries.len() < 2 && !legend.reference {
        return String::new();
    }
    let mut html = String::from("<div class=\"legend\" role=\"group\" aria-label=\"Curves\">\n");
    for (s, (name, style)) in legend.entries.iter().enumerate() {
        let _ = writeln!(
            html,
            "<button type=\"button\" aria-pressed=\"true\" data-s=\"{s}\" data-name=\"{name}\"><svg viewBox=\"0 0 28 10\" aria-hidden=\"true\">\
             <path d=\"M0 5h28\" stroke=\"{color}\" stroke-width=\"2.5\" stroke-dasharray=\"{}\"/><path d=\"{}\" fill=\"{color}\"/></svg>{name}</button>",
            dash_array(style.dash),
            marker(14.0, 5.0, 4.0, style.dash),
            color = Theme::Page.color(style.color),
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
    html + "</div>\n"
}

/// Downloads, and the zoom where panels share a range.
fn tools(figure: &Figure) -> String {
    let mut html = String::from("<div class=\"tools\">");
    if figure.shared_range {
        html += "<button type=\"button\" data-do=\"zoom\" aria-pressed=\"false\">Zoom: each panel its own scale</button>";
    }
    let title = escape(&figure.title);
    for format in ["SVG", "PNG", "CSV"] {
        let _ = write!(
            html,
            "<button type=\"button\" data-do=\"download\" data-format=\"{}\" aria-label=\"Download {title} as {format}\">{format}</button>",
            format.to_lowercase()
        );
    }
    html + "</div>\n"
}
