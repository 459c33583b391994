//! Tables for a paper: `booktabs`.

use super::{Cell, Table};

impl Table {
    /// As a LaTeX `table` (needs the package `booktabs`).
    pub fn to_latex(&self) -> String {
        let columns: String =
            (0..self.columns.len()).map(|i| if self.is_numeric(i) { 'r' } else { 'l' }).collect();
        let line = |cells: Vec<String>| format!("    {} \\\\\n", cells.join(" & "));
        let mut text = format!(
            "\\begin{{table}}\n  \\centering\n  \\caption{{{}}}\n  \\label{{tab:{}}}\n  \\begin{{tabular}}{{{columns}}}\n    \\toprule\n",
            escape(&self.caption),
            crate::document::slug(&self.id)
        );
        text += &line(self.columns.iter().map(|name| escape(name)).collect());
        text += "    \\midrule\n";
        for row in &self.rows {
            text += &line(self.filled(row).map(cell).collect());
        }
        text + "    \\bottomrule\n  \\end{tabular}\n\\end{table}\n"
    }
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Empty => "--".to_string(),
        Cell::Estimate { .. } => format!("${}$", cell.shown().replace('±', "\\pm")),
        Cell::Number { .. } | Cell::P { .. } | Cell::Interval { .. } => format!("${}$", cell.shown()),
        Cell::Text { .. } | Cell::Check { .. } => escape(&cell.shown()),
    }
}

/// Text that LaTeX prints as it is.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => escaped.extend(['\\', c]),
            '\\' => escaped += "\\textbackslash{}",
            '~' => escaped += "\\textasciitilde{}",
            '^' => escaped += "\\textasciicircum{}",
            '<' => escaped += "\\textless{}",
            '>' => escaped += "\\textgreater{}",
            '|' => escaped += "\\textbar{}",
            '→' => escaped += "$\\rightarrow$",
            '±' => escaped += "$\\pm$",
            '−' => escaped += "$-$",
            'γ' => escaped += "$\\gamma$",
            'η' => escaped += "$\\eta$",
            '\n' | '\r' => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use crate::table::tests::example;

    #[test]
    fn commands_in_text_are_escaped() {
        let latex = example().to_latex();
        assert!(latex.contains(r"\caption{Main \& only}"), "{latex}");
        assert!(
            latex.contains(r"a\textbar{}b\_\textless{}script\textgreater{} & $99.02 \pm 0.05$"),
            "{latex}"
        );
        assert!(latex.contains(r"\begin{tabular}{lrrr}"), "{latex}");
    }
}
