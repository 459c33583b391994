//! Tables for programs: full precision, a column a number.

use super::{Cell, Table};

impl Table {
    /// As CSV. A column of estimates becomes two (`name`, `name ±`), one of intervals three (`name`, `name low`, `name high`).
    pub fn to_csv(&self) -> String {
        let mut writer = ::csv::Writer::from_writer(Vec::new());
        let mut write = |record: Vec<String>| writer.write_record(record).expect("memory does not fail");
        let parts: Vec<&[&str]> = (0..self.columns.len()).map(|column| self.parts(column)).collect();
        let names = self.columns.iter().zip(&parts);
        write(
            names.flat_map(|(name, parts)| parts.iter().map(move |part| format!("{name}{part}"))).collect(),
        );
        for row in &self.rows {
            let cells = self.filled(row).zip(&parts);
            write(cells.flat_map(|(cell, parts)| parts.iter().map(|part| cell.part(part))).collect());
        }
        String::from_utf8(writer.into_inner().expect("memory does not fail")).expect("text in, text out")
    }

    /// Endings of the names of the columns that this column becomes.
    fn parts(&self, column: usize) -> &'static [&'static str] {
        let cells = || self.rows.iter().filter_map(|row| row.get(column));
        let estimates = cells().any(|cell| matches!(cell, Cell::Estimate { .. }));
        let intervals = cells().any(|cell| matches!(cell, Cell::Interval { .. }));
        match (estimates, intervals) {
            (false, false) => &[""],
            (true, false) => &["", " ±"],
            (false, true) => &["", " low", " high"],
            (true, true) => &["", " ±", " low", " high"],
        }
    }
}

impl Cell {
    fn part(&self, part: &str) -> String {
        match (self, part) {
            (Cell::Text { text }, "") => text.clone(),
            (Cell::Check { .. }, "") => self.shown(),
            (Cell::Number { value, .. } | Cell::P { p: value }, "") => value.to_string(),
            (Cell::Estimate { mean, .. } | Cell::Interval { mean, .. }, "") => mean.to_string(),
            (Cell::Estimate { pm, .. }, " ±") => pm.to_string(),
            (Cell::Interval { low, .. }, " low") => low.to_string(),
            (Cell::Interval { high, .. }, " high") => high.to_string(),
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::table::tests::example;

    #[test]
    fn numbers_keep_their_precision_in_columns_of_their_own() {
        let expected = "optimizer,avg-ACC,avg-ACC ±,difference,difference low,difference high,agree\n\
            a|b_<script>,99.021,0.05,1,-0.5,2.5,yes\nb,,,,,,\n";
        assert_eq!(example().to_csv(), expected);
    }
}
