//! Words that are explained where they stand.

use std::fmt::Write as _;

use crate::document::Term;
use crate::svg::escape;

/// The glossary of a page.
pub(super) struct Terms<'a>(Vec<&'a Term>);

impl<'a> Terms<'a> {
    pub(super) fn of(glossary: &'a [Term]) -> Self {
        let mut terms: Vec<&Term> = glossary.iter().filter(|term| !term.name.is_empty()).collect();
        // The longest first: "all-task SG" is not explained as "SG".
        terms.sort_by_key(|term| std::cmp::Reverse(term.name.len()));
        Self(terms)
    }

    /// The attribute with the meaning of a word that stands by itself, such as the head of a column.
    pub(super) fn attribute(&self, word: &str) -> String {
        let found = self.0.iter().find(|term| term.name.eq_ignore_ascii_case(word));
        found.map_or(String::new(), |term| format!(" data-def=\"{}\"", escape(&term.definition)))
    }

    /// A sentence in which each known word can be asked for its meaning where it stands first.
    pub(super) fn sentence(&self, text: &str) -> String {
        let mut marked: Vec<(usize, &Term)> = Vec::new();
        for term in &self.0 {
            let free = |at: usize| {
                let end = at + term.name.len();
                let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '-');
                let apart = |(start, other): &(usize, &Term)| end <= *start || start + other.name.len() <= at;
                !inside(text[..at].chars().next_back())
                    && !inside(text[end..].chars().next())
                    && marked.iter().all(apart)
            };
            if let Some((at, _)) = text.match_indices(term.name.as_str()).find(|(at, _)| free(*at)) {
                marked.push((at, term));
            }
        }
        marked.sort_by_key(|(at, _)| *at);
        let (mut html, mut done) = (String::new(), 0);
        for (at, term) in marked {
            html += &escape(&text[done..at]);
            let _ = write!(
                html,
                "<dfn class=\"term\" tabindex=\"0\" data-def=\"{}\">{}</dfn>",
                escape(&term.definition),
                escape(&term.name)
            );
            done = at + term.name.len();
        }
        html + &escape(&text[done..])
    }

    /// All words with their meanings.
    pub(super) fn list(&self) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        let mut names = self.0.clone();
        names.sort_by_key(|term| term.name.to_lowercase());
        let mut html = String::from(
            "<details id=\"terms\" class=\"fold\"><summary><h2>What the words mean</h2></summary>\n<dl>\n",
        );
        for term in names {
            let _ = writeln!(html, "<dt>{}</dt><dd>{}</dd>", escape(&term.name), escape(&term.definition));
        }
        html + "</dl></details>\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_explained_once_and_never_inside_another() {
        let glossary =
            [Term::new("SG", "gap"), Term::new("avg-SG", "mean <gap>"), Term::new("seed", "start")];
        let terms = Terms::of(&glossary);
        let html = terms.sentence("avg-SG of <b>, 5 seeds; SG of a seed, SG");
        assert_eq!(html.matches("<dfn").count(), 3, "{html}");
        assert!(
            html.contains("data-def=\"mean &lt;gap&gt;\">avg-SG</dfn> of &lt;b&gt;, 5 seeds; "),
            "{html}"
        );
        assert!(html.ends_with(">seed</dfn>, SG"), "{html}");
        assert_eq!(
            (terms.attribute("sg").as_str(), terms.attribute("x").as_str()),
            (" data-def=\"gap\"", "")
        );
    }
}
