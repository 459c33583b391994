//! Curvature of a loss: the dominant Hessian eigenvalue of any Burn module, and its ratio over time (Figure 3e).
//!
//! | file | what |
//! |---|---|
//! | `power_iteration` | the eigenvalue, from Hessian-vector products |
//! | `coordinates` | base weights `w` or effective weights `W = g·w` |
//! | `flat` | a module's parameters and gradients as one vector, and a copy in f64 |
//! | `ratio` | `R_λ(t)`, and its geometric mean over seeds |

mod coordinates;
mod flat;
mod power_iteration;
mod ratio;

pub use coordinates::Coordinates;
pub use flat::in_f64;
pub use power_iteration::{CurvatureError, Eigenvalue, PowerIteration, dominant_eigenvalue};
pub use ratio::{GeometricMean, curvature_ratio, geometric_mean};
