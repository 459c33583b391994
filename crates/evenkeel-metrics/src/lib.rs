//! Stability-gap metrics and honest statistics for continual-learning accuracy curves.
//!
//! A network that starts on a new task first loses accuracy on what it knew, then usually recovers: the
//! *stability gap*. It shows only when the test accuracy on task 1 is measured every few iterations. This
//! crate takes such curves, one per seed, and turns them into the numbers of a results table. It knows
//! nothing of networks or tensors, so the curve may come from any framework.
//!
//! # Notation
//!
//! The docs use these symbols for one curve `A_i`, the accuracy on task 1 after iteration `i`, in percent:
//!
//! | symbol | meaning | where |
//! |---|---|---|
//! | `K` | number of tasks | [`Curve::tasks`] |
//! | `ρ` | iterations between two evaluations | [`Curve::interval`] |
//! | `E_k` | accuracy at the last iteration of task `k` | [`Metrics::ends`] |
//! | `m_k` | lowest accuracy within task `k ≥ 2` | [`Metrics::minima`] |
//! | `SG_k` | `(E_{k−1} − m_k) / E_{k−1}`, a fraction | [`Metrics::sg`] |
//!
//! # Two readings of several seeds
//!
//! The minimum of a mean is not the mean of the minima. [`PaperReading`] averages the curves over seeds and
//! takes the metrics of the mean curve; a [`Quantity`] is taken of every seed, and an [`Interval`] of those. Seeds
//! that dip at different iterations smooth each other out in the first reading, so its minima are never
//! lower. Publish both.
//!
//! # How certain it is
//!
//! [`Evidence`] tests the paired differences of the same seeds, [`holm`] adjusts a family of such tests, and
//! [`Verdict`] says what follows. There is no interval and no test with fewer than three seeds.
//!
//! # Example: the metrics of your own curve
//!
//! ```
//! use evenkeel_metrics::{Curve, Metrics, Point};
//!
//! // Accuracy on task 1 after each of six iterations; the second task starts at iteration 4.
//! let accuracy = [60.0, 80.0, 90.0, 45.0, 72.0, 88.0];
//! let points = (1..).zip(accuracy).map(|(iteration, acc)| {
//!     let task = if iteration <= 3 { 1 } else { 2 };
//!     Point::new(iteration, task, acc)
//! });
//! let metrics = Metrics::of(&Curve::new(points.collect())?)?;
//!
//! assert_eq!(metrics.avg_acc, (90.0 + 88.0) / 2.0);
//! assert_eq!(metrics.avg_min_acc, 45.0);
//! assert_eq!(metrics.minimum_iterations, [4]);
//! assert_eq!(metrics.wc_acc, 88.0 / 2.0 + 45.0 / 2.0);
//! assert_eq!(metrics.avg_sg, Some(0.5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Curves on disk are read with [`read_curve`].

pub mod all_task;
pub mod csv;
pub mod curve;
pub mod error_propagation;
pub mod evidence;
pub mod gap;
pub mod interval;
pub mod mean_curve;
pub mod metrics;
pub mod noise_floor;
pub mod plasticity;
pub mod quantities;
pub mod reading;
pub mod seen;
pub mod stats;
pub mod student_t;
#[cfg(test)]
mod testing;
pub mod verdict;

pub use crate::all_task::AllTask;
pub use crate::csv::{
    CurveFileError, CurveFileFault, Evaluations, is_packed, read_curve, read_curve_of, read_growing_curve,
    unpack, write_header, write_point,
};
pub use crate::curve::{Curve, CurveBuilder, CurveError, CurveFault, Point, Points};
pub use crate::evidence::{Direction, Evidence, Side};
pub use crate::gap::{Gap, RECOVERED_FRACTION, gaps};
pub use crate::interval::{FEWEST_SEEDS, Interval};
pub use crate::mean_curve::{MeanCurve, SeedsError};
pub use crate::metrics::{Metrics, MetricsError};
pub use crate::plasticity::Plasticity;
pub use crate::quantities::{Better, QUANTITIES, Quantity, Unit, quantity};
pub use crate::reading::{Estimate, PaperReading, ReadingError};
pub use crate::verdict::{Verdict, holm};
