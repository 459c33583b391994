//! A section from the top down: the answer, its table, the figures that show it, the other figures, details.

use std::fmt::Write as _;

use super::Ids;
use super::figure::figure_element;
use super::table;
use super::terms::Terms;
use crate::document::{Progress, Section};
use crate::figure::Figure;
use crate::svg::escape;

/// So many tables of a section without an answer come before its figures, the others after them.
const TABLES_FIRST: usize = 2;

/// The section as HTML, and its parts for the table of contents: anchors and names.
pub(super) fn section(
    section: &Section,
    id: &str,
    terms: &Terms<'_>,
    ids: &mut Ids,
) -> (String, Vec<(String, String)>) {
    let mut links = Vec::new();
    let mut html = heading(2, id, &section.heading);
    if let Some(verdict) = &section.verdict {
        let _ = writeln!(html, "<p class=\"verdict\">{}</p>", terms.sentence(verdict));
    }
    for caution in &section.cautions {
        let _ = writeln!(html, "<p class=\"caution\">{}</p>", terms.sentence(caution));
    }
    html += &list("warnings", &section.warnings);
    html += &section.progress.as_ref().map_or(String::new(), progress);
    html += &list("notes", &section.notes);
    let (leading, others): (Vec<&Figure>, Vec<&Figure>) =
        section.figures.iter().partition(|figure| figure.leads);
    if let Some(ranking) = &section.ranking {
        let id = ids.unique(&ranking.id);
        html += &table::element(ranking, &id, terms);
        let caption = terms.sentence(&ranking.caption);
        let _ = writeln!(html, "<p class=\"caption below\" id=\"{id}-caption\">{caption}</p>");
        links.push((id, "Ranking".to_string()));
    }
    if section.ranking.is_some() || section.progress.is_some() {
        html += &leads(&leading, ids, &mut links);
        html += &all_figures(&others, ids, &mut links);
        html += &details(section, terms, ids, &mut links);
        return (html, links);
    }
    html += &text(section, terms);
    let (first, rest) = section.tables.split_at(section.tables.len().min(TABLES_FIRST));
    for table in first {
        html += &table::captioned(table, &ids.unique(&table.id), terms);
    }
    html += &leads(&leading, ids, &mut links);
    html += &all_figures(&others, ids, &mut links);
    for table in rest {
        html += &table::captioned(table, &ids.unique(&table.id), terms);
    }
    (html, links)
}

/// What is looked up and not looked at: folded.
fn details(section: &Section, terms: &Terms<'_>, ids: &mut Ids, links: &mut Vec<(String, String)>) -> String {
    let id = ids.unique(&format!("{}-details", section.id));
    let mut html = format!(
        "<details class=\"fold\" id=\"{id}\"><summary><h3>Details: every table, what was run, how to run it again</h3></summary>\n"
    );
    links.push((id, "Details".to_string()));
    html += &text(section, terms);
    for table in &section.tables {
        html += &table::captioned(table, &ids.unique(&table.id), terms);
    }
    html + "</details>\n"
}

/// A heading with a link to itself beside it.
pub(super) fn heading(level: usize, id: &str, text: &str) -> String {
    format!(
        "<div class=\"head\"><h{level}>{text}</h{level}><a class=\"anchor\" href=\"#{id}\" aria-label=\"Link to {text}\">#</a></div>\n",
        text = escape(text)
    )
}

fn list(class: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut html = format!("<ul class=\"{class}\">\n");
    for line in lines {
        let _ = writeln!(html, "<li>{}</li>", escape(line));
    }
    html + "</ul>\n"
}

/// Paragraphs and commands.
fn text(section: &Section, terms: &Terms<'_>) -> String {
    let mut html = String::new();
    for paragraph in &section.paragraphs {
        let _ = writeln!(html, "<p>{}</p>", terms.sentence(paragraph));
    }
    for command in &section.commands {
        let _ = writeln!(
            html,
            "<div class=\"command\"><pre tabindex=\"0\">{}</pre><button type=\"button\" data-do=\"copy\">copy</button></div>",
            escape(command)
        );
    }
    html
}

/// What goes on now: a bar for each part.
fn progress(progress: &Progress) -> String {
    let mut html = format!("<div class=\"progress\">\n<p>{}</p>\n", escape(&progress.summary));
    for part in &progress.parts {
        let name = escape(&part.name);
        let (bar, done) = if part.total > 0 {
            let (done, total) = (part.done, part.total);
            (
                format!("<progress max=\"{total}\" value=\"{done}\" aria-label=\"{name}\"></progress>"),
                format!("{done} of {total}"),
            )
        } else {
            (format!("<progress aria-label=\"{name}\"></progress>"), part.done.to_string())
        };
        let _ = writeln!(
            html,
            "<div class=\"part\"><span>{name}</span>{bar}<span>{done}</span><span>{}</span></div>",
            escape(&part.note)
        );
    }
    html + "</div>\n"
}

/// The figures at the top, side by side: each as wide as its columns. One legend serves all that it names.
fn leads(figures: &[&Figure], ids: &mut Ids, links: &mut Vec<(String, String)>) -> String {
    if figures.is_empty() {
        return String::new();
    }
    let columns: usize = figures.iter().map(|figure| figure.columns.max(1)).sum();
    let mut html = format!("<div class=\"leads\" style=\"--columns:{columns}\">\n");
    for (index, figure) in figures.iter().enumerate() {
        let id = ids.unique(&figure.id);
        html += &figure_element(figure, &id, index == 0);
        links.push((id, figure.title.clone()));
    }
    html + "</div>\n"
}

fn all_figures(figures: &[&Figure], ids: &mut Ids, links: &mut Vec<(String, String)>) -> String {
    let mut html = String::new();
    for figure in figures {
        let id = ids.unique(&figure.id);
        html += &figure_element(figure, &id, true);
        links.push((id, figure.title.clone()));
    }
    html
}
