//! From curves to rows, and from rows to tables, figures and pages.

mod again;
mod curves;
mod figures;
mod folder;
mod section;
mod summary;
mod table;
mod tables;

pub use folder::Folders;
pub use section::document;
pub use summary::{Comparison, LeftOut, PerSeedRow, Row, Summary, SummaryError};
pub use table::{Format, render};
pub(crate) use tables::status;
