//! The standard figures of a lineup: one file per figure, registered in one line below.

use evenkeel_metrics::Curve;
use evenkeel_report::Figure;

use super::groups::Lineup;

pub use self::pareto::{point, series};

/// More curves than this cannot be told apart.
pub const MOST_CURVES: usize = 8;

/// A run that is not finished: drawn by itself.
pub struct Unfinished {
    /// Its name in legends.
    pub name: String,
    /// Its curve so far.
    pub curve: Curve,
}

/// What figures are drawn from.
pub struct Drawn<'a> {
    /// Beginning of the figures' names.
    pub id: &'a str,
    /// The groups; figures of curves show the first [`MOST_CURVES`].
    pub lineup: &'a Lineup,
    /// Runs that are not finished.
    pub unfinished: &'a [Unfinished],
}

macro_rules! figures {
    ($($module:ident;)*) => {
        $(mod $module;)*

        /// Every figure that there is something to draw for.
        pub fn all(drawn: &Drawn<'_>) -> Vec<Figure> {
            let mut figures: Vec<Figure> = [$($module::figure(drawn)),*].into_iter().flatten().collect();
            if let Some(note) = drawn.lineup.sampled() {
                for figure in &mut figures {
                    figure.caption = format!("{} {note}", figure.caption);
                }
            }
            figures
        }
    };
}

figures! {
    switches;
    pareto;
    curves;
    gaps;
    all_tasks;
}
