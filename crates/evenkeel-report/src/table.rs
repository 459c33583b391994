//! Tables as data, with typed cells so that each format shows a number as it should.

mod csv;
mod latex;
mod markdown;

use serde::{Deserialize, Serialize};

/// A table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Name for links and files.
    pub id: String,
    /// What it shows.
    pub caption: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows; a short one is filled with empty cells.
    pub rows: Vec<Vec<Cell>>,
    /// The column whose numbers the page also draws, with their intervals, on one scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawn: Option<usize>,
}

/// More decimals than this are never shown: an f64 has 17 digits.
const MOST_DIGITS: usize = 17;

/// What stands in a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Cell {
    /// Nothing, shown as a dash.
    Empty,
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// A number.
    Number {
        /// Its value.
        value: f64,
        /// Decimals shown.
        digits: usize,
        /// Show a plus sign: differences.
        #[serde(default)]
        signed: bool,
    },
    /// Mean ± spread.
    Estimate {
        /// The mean.
        mean: f64,
        /// The ±.
        pm: f64,
        /// Decimals shown.
        digits: usize,
    },
    /// Mean and interval.
    Interval {
        /// The mean.
        mean: f64,
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
        /// Decimals shown.
        digits: usize,
        /// Show plus signs: differences.
        #[serde(default)]
        signed: bool,
    },
    /// The p of a test; one too small for four decimals is shown as below the smallest that they can show.
    P {
        /// Its value.
        p: f64,
    },
    /// Whether something holds.
    Check {
        /// It does.
        yes: bool,
    },
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// A number with so many decimals; empty if it is not finite.
    pub fn number(value: f64, digits: usize) -> Self {
        if value.is_finite() { Self::Number { value, digits, signed: false } } else { Self::Empty }
    }

    /// A difference with its sign; empty if it is not finite.
    pub fn difference(value: f64, digits: usize) -> Self {
        if value.is_finite() { Self::Number { value, digits, signed: true } } else { Self::Empty }
    }

    /// Mean ± spread; empty if either is not finite.
    pub fn estimate(mean: f64, pm: f64, digits: usize) -> Self {
        if mean.is_finite() && pm.is_finite() { Self::Estimate { mean, pm, digits } } else { Self::Empty }
    }

    /// Mean and interval; a plain number if there is no interval.
    pub fn interval(mean: f64, bounds: Option<[f64; 2]>, digits: usize) -> Self {
        match bounds {
            Some([low, high]) if mean.is_finite() && low.is_finite() && high.is_finite() => {
                Self::Interval { mean, low, high, digits, signed: false }
            }
            _ => Self::number(mean, digits),
        }
    }

    /// Whether something holds.
    pub fn check(yes: bool) -> Self {
        Self::Check { yes }
    }

    /// As people read it.
    pub fn shown(&self) -> String {
        let number = |value: f64, digits: usize, signed: bool| {
            // A file may ask for more decimals than a number has, or than can be printed.
            let digits = digits.min(MOST_DIGITS);
            if signed { format!("{value:+.digits$}") } else { format!("{value:.digits$}") }
        };
        match self {
            Cell::Empty => "–".to_string(),
            Cell::Text { text } => text.clone(),
            Cell::Number { value, digits, signed } => number(*value, *digits, *signed),
            Cell::Estimate { mean, pm, digits } => {
                format!("{} ± {}", number(*mean, *digits, false), number(*pm, *digits, false))
            }
            Cell::Interval { mean, low, high, digits, signed } => {
                let [mean, low, high] = [mean, low, high].map(|value| number(*value, *digits, *signed));
                format!("{mean} [{low}, {high}]")
            }
            Cell::P { p } if *p < 1e-4 => "<0.0001".to_string(),
            Cell::P { p } => number(*p, 4, false),
            Cell::Check { yes } => if *yes { "yes" } else { "no" }.to_string(),
        }
    }

    /// What it is sorted by, if it is a number.
    pub fn sort_key(&self) -> Option<f64> {
        match self {
            Cell::Number { value, .. } | Cell::P { p: value } => Some(*value),
            Cell::Estimate { mean, .. } | Cell::Interval { mean, .. } => Some(*mean),
            Cell::Check { yes } => Some(f64::from(u8::from(*yes))),
            Cell::Empty | Cell::Text { .. } => None,
        }
    }
}

impl Table {
    /// A table without rows.
    pub fn new<S: Into<String>>(
        id: impl Into<String>,
        caption: impl Into<String>,
        columns: impl IntoIterator<Item = S>,
    ) -> Self {
        let columns = columns.into_iter().map(Into::into).collect();
        Self { id: id.into(), caption: caption.into(), columns, rows: Vec::new(), drawn: None }
    }

    /// The cells of a row, as many as there are columns.
    pub(crate) fn filled<'a>(&self, row: &'a [Cell]) -> impl Iterator<Item = &'a Cell> + use<'a> {
        row.iter().chain(std::iter::repeat(&Cell::Empty)).take(self.columns.len())
    }

    /// Whether a column holds no words: it is set to the right.
    pub fn is_numeric(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row.get(column)).peekable();
        cells.peek().is_some() && cells.all(|cell| !matches!(cell, Cell::Text { .. }))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn example() -> Table {
        let mut table = Table::new("main", "Main & only", ["optimizer", "avg-ACC", "difference", "agree"]);
        let estimate = Cell::estimate(99.021, 0.05, 2);
        let interval = Cell::Interval { mean: 1.0, low: -0.5, high: 2.5, digits: 1, signed: true };
        table.rows.push(vec![Cell::text("a|b_<script>"), estimate, interval, Cell::check(true)]);
        table.rows.push(vec![Cell::text("b"), Cell::estimate(f64::NAN, 0.0, 2)]);
        table
    }

    #[test]
    fn cells_show_their_digits() {
        let shown: Vec<String> = example().rows[0].iter().map(Cell::shown).collect();
        assert_eq!(shown[1..], ["99.02 ± 0.05", "+1.0 [-0.5, +2.5]", "yes"]);
        assert_eq!(Cell::interval(1.5, None, 1).shown(), "1.5");
        assert_eq!(Cell::difference(0.25, 2).shown(), "+0.25");
        assert_eq!([1e-5, 0.03].map(|p| Cell::P { p }.shown()), ["<0.0001", "0.0300"]);
    }

    #[test]
    fn a_table_survives_a_round_trip() {
        let json = serde_json::to_string(&example()).unwrap();
        assert_eq!(serde_json::from_str::<Table>(&json).unwrap(), example());
    }
}
