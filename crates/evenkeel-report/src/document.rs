//! A report: headings, paragraphs, tables and figures in order.

use serde::{Deserialize, Serialize};

use crate::figure::Figure;
use crate::table::Table;

/// A whole report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Title of the page.
    pub title: String,
    /// Its parts, in order.
    pub sections: Vec<Section>,
    /// What the words in it mean; the page explains them wherever they stand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub glossary: Vec<Term>,
}

/// A word and what it means.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// The word.
    pub name: String,
    /// Its meaning, in a sentence.
    pub definition: String,
}

impl Term {
    /// A word and its meaning.
    pub fn new(name: impl Into<String>, definition: impl Into<String>) -> Self {
        Self { name: name.into(), definition: definition.into() }
    }
}

/// One part of a report. `evenkeel reproduce` writes one as `outcome.json`.
///
/// All text is plain text: it is escaped wherever it is shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// Name for links and files: letters, digits and hyphens; anything else is replaced.
    pub id: String,
    /// Heading.
    pub heading: String,
    /// The answer in a sentence: what stands first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// What keeps the answer from being taken for more than it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cautions: Vec<String>,
    /// The table of the answer. A section that has one, or that goes on, folds its other tables, its text and its commands away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranking: Option<Table>,
    /// What still goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// Text before the tables.
    #[serde(default)]
    pub paragraphs: Vec<String>,
    /// Commands, shown in monospace with a button to copy them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// What the reader must not miss: runs that failed, files that were left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What the reader should know although nothing is wrong: what is not finished, what is not drawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Tables.
    #[serde(default)]
    pub tables: Vec<Table>,
    /// Figures.
    #[serde(default)]
    pub figures: Vec<Figure>,
}

/// How far something is that goes on while the page is looked at.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// All of it in a sentence.
    pub summary: String,
    /// Its parts that are at work now.
    pub parts: Vec<Part>,
}

/// One part of what goes on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Steps that are done.
    pub done: u64,
    /// Steps in all; 0 where nobody knows.
    pub total: u64,
    /// What else there is to say: the time that is left.
    pub note: String,
}

impl Section {
    /// A section with that name and heading, and nothing in it yet.
    pub fn new(id: impl Into<String>, heading: impl Into<String>) -> Self {
        Self { id: id.into(), heading: heading.into(), ..Self::default() }
    }
}

/// A name that is safe in a file name, an anchor and an attribute.
pub fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "unnamed".to_string() } else { slug.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_safe_anywhere() {
        assert_eq!(slug("Split MNIST: SG 1→2"), "split-mnist-sg-1-2");
        assert_eq!(slug("../<script>"), "script");
        assert_eq!(slug("…"), "unnamed");
    }

    #[test]
    fn a_misspelt_key_is_refused() {
        let error = serde_json::from_str::<Section>(r#"{"id":"a","heading":"A","figurs":[]}"#).unwrap_err();
        assert!(error.to_string().contains("unknown field `figurs`"), "{error}");
        assert_eq!(
            serde_json::from_str::<Section>(r#"{"id":"a","heading":"A"}"#).unwrap(),
            Section::new("a", "A")
        );
    }
}
