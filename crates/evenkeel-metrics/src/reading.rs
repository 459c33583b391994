//! The paper's reading of several seeds: how deep the dip of their *average* curve is.
//!
//! How deep a run dips on *average* is what a user of one run will meet: that is each seed's own
//! [`Quantity`](crate::Quantity), and then their mean.

mod paper;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use self::paper::PaperReading;
use crate::mean_curve::SeedsError;
use crate::metrics::MetricsError;

/// A value as the paper prints it, `mean ± pm`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The value.
    pub mean: f64,
    /// Its population standard deviation across seeds, carried through sums by [`error_propagation`](crate::error_propagation).
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
