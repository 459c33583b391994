//! A gain boost as a two-timescale optimizer: the scalar model of the paper's Figure 2.
//!
//! `y = W·x` with `x = 1` has to follow a target that switches from `T₁` to `T₂`, under `L = ½ (T − y)²`. Three learners
//! try: one under a gain, one with fast and slow weights, one with slow weights alone. Pure numbers, no tensors.
//!
//! ```
//! use evenkeel::two_timescale::{Learner, TwoTimescaleConfig};
//!
//! let run = TwoTimescaleConfig::new().check()?.run()?;
//! let peak = run.peak();
//! println!("gain {:.2} at t = {}", peak.gain, peak.t);
//! assert!(run.landscape(101).effective_curvature < run.landscape(101).base_curvature);
//! assert!(run.adaptation_time(Learner::GainModulated, 0.5) < run.adaptation_time(Learner::Slow, 0.5));
//! # Ok::<(), evenkeel::two_timescale::TwoTimescaleError>(())
//! ```

mod config;
mod landscape;
mod run;

pub use config::{TwoTimescale, TwoTimescaleConfig, TwoTimescaleError};
pub use landscape::{Landscape, LandscapePoint};
pub use run::{Learner, State, TwoTimescaleRun};
