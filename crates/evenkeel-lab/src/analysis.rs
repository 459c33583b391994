//! From runs to groups, mean curves, intervals, comparisons, verdicts, tables and figures: computed in one place, and used by `run`,
//! `metrics`, `report`, `serve` and `reproduce` alike.
//!
//! [`runs`] reads folders into [`groups`], of which a [`measure`] takes a number per seed; [`ranking`] says who has the smallest gap and how certain that is; [`comparisons`] tests one
//! optimizer against the others; [`claims`] tests what somebody says;
//! [`noise_floor`] sets a gap against a control without a switch;
//! `tables` and `figures` show it; [`summary`] is the same as JSON, [`terminal`] as text, [`section`] as a page.

pub mod claims;
pub mod comparisons;
pub mod figures;
pub mod folders;
pub mod glossary;
pub mod groups;
pub mod left_out;
pub mod mean_curves;
pub mod measure;
pub mod noise_floor;
pub mod own_curves;
pub mod per_seed;
pub(crate) mod progress;
pub mod ranking;
pub(crate) mod run_again;
pub mod runs;
pub mod section;
pub mod summary;
pub mod tables;
pub mod terminal;

pub use self::folders::Folders;
pub use self::groups::{Group, Lineup};
pub use self::left_out::LeftOut;
pub use self::measure::Measure;
pub use self::own_curves::OwnCurves;
pub use self::ranking::Ranking;
pub use self::runs::Runs;
pub use self::section::document;
pub use self::summary::Summary;
pub use self::terminal::Format;
