//! A document as one HTML file: nothing is loaded from anywhere, everything from files is escaped.

mod data;
mod figure;
mod section;
mod table;
mod terms;

use std::collections::HashSet;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use self::section::section;
use self::terms::Terms;
use crate::document::{Document, slug};
use crate::svg::{Theme, escape};

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");

/// One script: each file is a part of it, in this order.
const SCRIPT: [&str; 6] = [
    include_str!("page/script/state.js"),
    include_str!("page/script/tables.js"),
    include_str!("page/script/values.js"),
    include_str!("page/script/download.js"),
    include_str!("page/script/controls.js"),
    include_str!("page/script/live.js"),
];

/// Ids of the page itself.
const OWN_IDS: [&str; 6] = ["main", "tip", "theme", "filter", "contents", "terms"];

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
        let terms = Terms::of(&self.glossary);
        let (mut nav, mut main) = (String::new(), String::new());
        for part in &self.sections {
            let id = ids.unique(&part.id);
            let _ = write!(nav, "<li><a href=\"#{id}\">{}</a>", escape(&part.heading));
            let (body, links) = section(part, &id, &terms, &mut ids);
            if !links.is_empty() {
                nav += "<ul>";
                for (id, name) in links {
                    let _ = write!(nav, "<li><a href=\"#{id}\">{}</a></li>", escape(&name));
                }
                nav += "</ul>";
            }
            nav += "</li>\n";
            let hash = STANDARD.encode(&Sha256::digest(&body)[..12]);
            let _ = writeln!(main, "<section id=\"{id}\" data-hash=\"{hash}\">\n{body}</section>");
        }
        if !self.glossary.is_empty() {
            nav += "<li><a href=\"#terms\">What the words mean</a></li>\n";
        }
        let script = SCRIPT.concat();
        let script_hash = STANDARD.encode(Sha256::digest(&script));
        let live = live.map_or(String::new(), |version| format!(" data-live=\"{}\"", escape(version)));
        // One pass over the template: what is filled in is never searched for places to fill in.
        let mut page = String::with_capacity(main.len() + 60_000);
        let mut rest = PAGE;
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, after) = after.split_once("}}").expect("the template is part of the program");
            page += before;
            match name {
                "title" => page += &escape(&self.title),
                "style" => page += &style(),
                "nav" => page += &nav,
                "main" => page += &main,
                "terms" => page += &terms.list(),
                "live" => page += &live,
                "script" => page += &script,
                "script-hash" => page += &script_hash,
                other => unreachable!("no such place in the template: {other}"),
            }
            rest = after;
        }
        page + rest
    }
}

/// Colours of both themes, then the rules that use them. Paper is white.
fn style() -> String {
    let (light, dark) = (Theme::Light.variables(), Theme::Dark.variables());
    format!(
        ":root{{color-scheme:light dark;{light}}}\n\
         @media (prefers-color-scheme: dark){{:root:not([data-theme=light]){{{dark}}}}}\n\
         :root[data-theme=dark]{{color-scheme:dark;{dark}}}\n:root[data-theme=light]{{color-scheme:light}}\n\
         @media print{{:root:root:root{{color-scheme:light;{light}}}}}\n{STYLE}"
    )
}

/// Anchors that are used already: two folders may hold the same benchmark.
#[derive(Default)]
struct Ids(HashSet<String>);

impl Ids {
    fn unique(&mut self, name: &str) -> String {
        let base = slug(name);
        let taken = |ids: &HashSet<String>, id: &str| ids.contains(id) || OWN_IDS.contains(&id);
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

#[cfg(test)]
mod tests;
