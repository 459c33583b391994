//! Text for a terminal: lines no longer than it is wide, and tables that fit.

use evenkeel_report::{Cell, Table};

/// How wide text is where nobody says how wide the terminal is.
pub(crate) const WIDTH: usize = 80;

/// Between two columns.
const BETWEEN: usize = 2;

/// Words in a cell may take so many characters before they go on in the next line.
const MOST_WORDS: usize = 22;

/// Columns of the terminal that standard output is; [`WIDTH`] where it is none.
pub(crate) fn width() -> usize {
    comfy_table::Table::new().width().map_or(WIDTH, |width| usize::from(width).max(40))
}

/// Lines of at most `width` characters. A word that is longer stays whole; lines after the first begin with `indent` spaces.
pub(crate) fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.split('\n') {
        let begins = paragraph.len() - paragraph.trim_start().len();
        let mut line = " ".repeat(begins);
        let mut empty = true;
        for word in paragraph.split_whitespace() {
            if !empty && count(&line) + 1 + count(word) > width {
                lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
                empty = true;
            }
            if !empty {
                line.push(' ');
            }
            line += word;
            empty = false;
        }
        lines.push(line);
    }
    lines.join("\n")
}

fn count(text: &str) -> usize {
    text.chars().count()
}

/// Words in lines of at most `width` characters; one that is longer is broken, but never within a number.
fn broken(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in wrapped(text, width, 0).split('\n') {
        let mut rest: Vec<char> = line.chars().collect();
        while rest.len() > width {
            let splits = |i: usize| !(is_of_number(rest[i - 1]) && is_of_number(rest[i]));
            let at = (1..=width).rev().find(|&i| splits(i)).unwrap_or(width);
            lines.push(rest.drain(..at).collect());
        }
        lines.push(rest.into_iter().collect());
    }
    lines
}

fn is_of_number(c: char) -> bool {
    c.is_ascii_alphanumeric() || "+-−.".contains(c)
}

/// A table as aligned columns. Where it is wider than `width`, the columns that do not fit stand below, beside the same names.
pub(crate) fn table(table: &Table, width: usize) -> String {
    let columns: Vec<Column> = (0..table.columns.len()).map(|column| Column::of(table, column)).collect();
    let keys = columns.iter().take_while(|column| !column.numeric).count().max(1).min(columns.len());
    let (keys, rest) = columns.split_at(keys);
    let room = width.saturating_sub(keys.iter().map(|key| key.width + BETWEEN).sum());
    let mut blocks: Vec<Vec<&Column>> = vec![Vec::new()];
    let mut used = 0;
    for column in rest {
        let block = blocks.last_mut().expect("there is one");
        let fits = used + column.width + usize::from(used > 0) * BETWEEN <= room;
        if block.is_empty() || fits {
            used += column.width + usize::from(!block.is_empty()) * BETWEEN;
            block.push(column);
        } else {
            used = column.width;
            blocks.push(vec![column]);
        }
    }
    let drawn: Vec<String> = blocks
        .iter()
        .map(|block| draw(&keys.iter().chain(block.iter().copied()).collect::<Vec<_>>(), table.rows.len()))
        .collect();
    drawn.join("\n")
}

/// A column with its cells in lines.
struct Column {
    numeric: bool,
    width: usize,
    head: Vec<String>,
    cells: Vec<Vec<String>>,
}

impl Column {
    fn of(table: &Table, index: usize) -> Self {
        let numeric = table.is_numeric(index);
        let lines = |text: &str| if numeric { vec![text.to_string()] } else { broken(text, MOST_WORDS) };
        let cell = |row: &Vec<Cell>| lines(&row.get(index).unwrap_or(&Cell::Empty).shown());
        let cells: Vec<Vec<String>> = table.rows.iter().map(cell).collect();
        let head = lines(&table.columns[index]);
        let all = cells.iter().chain([&head]).flatten();
        Self { numeric, width: all.map(|line| count(line)).max().unwrap_or(0), head, cells }
    }
}

fn draw(columns: &[&Column], rows: usize) -> String {
    let line = |of: &dyn Fn(&Column) -> Option<&String>| -> String {
        let cells = columns.iter().map(|column| {
            let text = of(column).map_or("", String::as_str);
            let space = " ".repeat(column.width - count(text));
            if column.numeric { format!("{space}{text}") } else { format!("{text}{space}") }
        });
        let line = cells.collect::<Vec<_>>().join(&" ".repeat(BETWEEN));
        format!("{}\n", line.trim_end())
    };
    let high = |of: &dyn Fn(&Column) -> usize| columns.iter().map(|column| of(column)).max().unwrap_or(0);
    let mut text = String::new();
    for i in 0..high(&|column| column.head.len()) {
        text += &line(&|column| column.head.get(i));
    }
    let wide = columns.iter().map(|column| column.width + BETWEEN).sum::<usize>().saturating_sub(BETWEEN);
    text += &"─".repeat(wide);
    text.push('\n');
    for row in 0..rows {
        for i in 0..high(&|column| column.cells[row].len()) {
            text += &line(&|column| column.cells[row].get(i));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_no_longer_than_asked_for_and_lose_nothing() {
        let text = "one two three four\n  five six seven";
        assert_eq!(wrapped(text, 10, 2), "one two\n  three\n  four\n  five six\n  seven");
        assert_eq!(broken("ngm-sgd lr=0.0125,eta=0.45", 12), ["ngm-sgd", "lr=0.0125,", "eta=0.45"]);
    }

    #[test]
    fn columns_that_do_not_fit_stand_below_beside_the_same_names() {
        let mut table = Table::new("t", "", ["optimizer", "a", "b", "c"]);
        let wide = || Cell::interval(95.5, Some([90.25, 99.75]), 2);
        table.rows.push(vec![Cell::text("ngm-sgd"), wide(), wide(), Cell::number(1.0, 0)]);
        table.rows.push(vec![Cell::text("a rather long name of a variant"), wide()]);
        let text = super::table(&table, 50);
        assert!(text.lines().all(|line| line.chars().count() <= 50), "{text}");
        assert_eq!(text.matches("ngm-sgd").count(), 2, "{text}");
        assert_eq!(text.matches("95.50 [90.25, 99.75]").count(), 3, "{text}");
        assert!(super::table(&table, 80).lines().count() < text.lines().count());
    }
}
