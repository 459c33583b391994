//! From curves to rows, and from rows to tables.

mod summary;
mod table;

pub use summary::{Comparison, LeftOut, PerSeedRow, Row, Summary, SummaryError};
pub use table::{Format, render};
