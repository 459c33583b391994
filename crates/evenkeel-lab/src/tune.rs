//! The search for good parameters behind `evenkeel tune`: which trials there are, how they are scored, and which one is chosen.
//!
//! An [`axis`] is a parameter with the values to try; [`trials`] makes a grid or a random sample of them, [`rounds`] spends the seeds on
//! them, [`score`] says how good one is, [`outcome`] is the result as `tune.json`, [`page`] shows it, and [`mod@file`] is the experiment with the chosen values.

pub mod axis;
mod figures;
pub mod file;
pub mod outcome;
pub mod page;
pub mod rounds;
pub mod score;
pub mod trials;

pub use self::axis::Axis;
pub use self::outcome::{Outcome, Searched};
pub use self::rounds::Rounds;
pub use self::score::{Score, Scored};
pub use self::trials::{Search, Trial};

/// The first of the seeds that trials run on unless others are named. Comparisons begin at seed 0, so that they have seeds of their own.
pub const FIRST_SEED: u64 = 1000;
/// How many seeds a trial has unless another number is named.
pub const SEEDS: u64 = 3;
