//! Tables for a README or an issue.

use super::Table;

impl Table {
    /// As Markdown, without the caption.
    pub fn to_markdown(&self) -> String {
        let escape = |text: &str| {
            let mut escaped = String::new();
            for c in text.chars() {
                match c {
                    // Text from files must not become markup.
                    '\\' | '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '#' => escaped.extend(['\\', c]),
                    '\n' | '\r' => escaped.push(' '),
                    c => escaped.push(c),
                }
            }
            escaped
        };
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = line(self.columns.iter().map(|name| escape(name)).collect());
        let rules = (0..self.columns.len()).map(|i| if self.is_numeric(i) { "---:" } else { "---" });
        text += &line(rules.map(String::from).collect());
        for row in &self.rows {
            text += &line(
                self.filled(row)
                    .map(|cell| match cell {
                        super::Cell::Text { text } => escape(text),
                        cell => cell.shown(),
                    })
                    .collect(),
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use crate::table::tests::example;

    #[test]
    fn markup_in_text_is_escaped() {
        let expected = "| optimizer | avg-ACC | difference | agree |\n| --- | ---: | ---: | ---: |\n\
            | a\\|b\\_\\<script\\> | 99.02 ± 0.05 | +1.0 [-0.5, +2.5] | yes |\n| b | – | – | – |\n";
        assert_eq!(example().to_markdown(), expected);
    }
}
