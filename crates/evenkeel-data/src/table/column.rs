//! A column of words or whole numbers, each kept once.

use std::collections::HashMap;

/// A column whose cells repeat: each different cell is kept once, and each row as a number.
#[derive(Debug, Default, Clone)]
pub struct Column {
    names: Vec<String>,
    codes: Vec<u32>,
    known: HashMap<String, u32>,
}

impl Column {
    /// Adds a row.
    pub fn push(&mut self, cell: &str) {
        let code = if let Some(code) = self.known.get(cell) {
            *code
        } else {
            let code = self.names.len() as u32;
            self.names.push(cell.to_owned());
            self.known.insert(cell.to_owned(), code);
            code
        };
        self.codes.push(code);
    }

    /// The different cells, in order of first appearance.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// For each row, the position of its cell in [`names`](Self::names).
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The different cells as whole numbers, if all are, and none is written in two ways.
    pub fn numbers(&self) -> Option<Vec<i64>> {
        let numbers: Option<Vec<i64>> = self.names.iter().map(|name| name.trim().parse().ok()).collect();
        let numbers = numbers?;
        let different: std::collections::HashSet<&i64> = numbers.iter().collect();
        (different.len() == numbers.len()).then_some(numbers)
    }
}

impl<S: AsRef<str>> Extend<S> for Column {
    fn extend<I: IntoIterator<Item = S>>(&mut self, cells: I) {
        cells.into_iter().for_each(|cell| self.push(cell.as_ref()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_kept_once_and_numbers_are_recognised() {
        let mut column = Column::default();
        column.extend(["3", "-1", "3"]);
        assert_eq!((column.codes(), column.numbers()), (&[0, 1, 0][..], Some(vec![3, -1])));
        column.push("x");
        assert_eq!((column.names().len(), column.numbers()), (3, None));
        let mut twice = Column::default();
        twice.extend(["1", "01"]);
        assert_eq!(twice.numbers(), None);
    }
}
