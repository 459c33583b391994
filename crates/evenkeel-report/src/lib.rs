//! Documents of tables and figures as plain data, and their renderings.
//!
//! A [`Document`] is made of [`Section`]s, each with paragraphs, [`Table`]s and [`Figure`]s. All of them are serde types, so
//! that a section can be written by one program and shown by another.

pub mod document;
pub mod export;
pub mod figure;
pub mod page;
pub mod png;
pub mod svg;
pub mod table;

pub use crate::document::{Document, Part, Progress, Section, Term};
pub use crate::figure::{Axis, Color, Dash, Figure, Panel, Plot, Style};
pub use crate::svg::Theme;
pub use crate::table::{Cell, Table};
