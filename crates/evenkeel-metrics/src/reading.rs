//! The metrics of several seeds, in two readings that answer different questions.
//!
//! [`PaperReading`] asks how deep the dip of the *average* curve is; [`PerSeed`] asks how deep a run dips on
//! *average*. The first compares with the paper's tables, the second is what a user of one run will meet.

mod paper;
mod per_seed;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use self::paper::PaperReading;
pub use self::per_seed::{GapSummary, PerSeed, Recovery};
use crate::mean_curve::SeedsError;
use crate::metrics::MetricsError;

/// A value as the paper prints it, `mean ± pm`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The value.
    pub mean: f64,
    /// Its population standard deviation across seeds, carried through sums by [`quadrature`](crate::quadrature).
    pub pm: f64,
}

/// Why several curves have no common metrics.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReadingError {
    /// The curves do not belong together.
    #[error(transparent)]
    Seeds(#[from] SeedsError),
    /// They do, but a single curve has no metrics.
    #[error(transparent)]
    Metrics(#[from] MetricsError),
}
