//! Every result of the paper, by name: which runs it needs, and what turns them into tables and figures beside the published ones and
//! says which of the paper's claims our numbers bear out.
//!
//! One file per result, registered in one line below; [`outcome`] writes the page.

mod heatmap;
mod measures;
pub mod outcome;
mod quick;

use evenkeel_report::{Figure, Table};

pub use self::quick::quick;
use crate::analysis::Runs;
use crate::analysis::claims::Claim;

/// A result of the paper.
pub struct Result {
    /// Its name on the command line.
    pub name: &'static str,
    /// Where it stands in the paper.
    pub place: &'static str,
    /// One line.
    pub summary: &'static str,
    /// The runs that it needs, as an experiment file.
    pub experiment: &'static str,
    /// Its source: a test looks which claims it judges.
    pub source: &'static str,
    /// What makes the page.
    pub analysis: Analysis,
}

/// What makes a page.
#[derive(Clone, Copy)]
pub enum Analysis {
    /// From the text of the file alone: nothing is trained.
    OfFile(fn(&str) -> std::result::Result<Page, String>),
    /// From finished runs.
    OfRuns(fn(&Runs) -> Page),
}

/// What an analysis says.
#[derive(Default)]
pub struct Page {
    /// What was computed and how to read it.
    pub paragraphs: Vec<String>,
    /// Claims of the paper, to be judged as one family.
    pub claims: Vec<Claim>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Figures.
    pub figures: Vec<Figure>,
}

macro_rules! results {
    ($($module:ident;)*) => {
        $(mod $module;)*

        /// All of them, in the order of the paper.
        pub const RESULTS: &[Result] = &[$($module::RESULT),*];
    };
}

results! {
    two_timescale;
    mechanism;
    ablations;
    main_table;
    oracle_reset;
    gain_complexity;
    lr_sweep;
    gain_sweep;
    gain_ema;
    replay;
    frozen_backbone;
    sentences;
    rivals;
    self_tuned;
    self_tuned_parts;
}

impl Result {
    /// A result that is made from runs.
    const fn of_runs(
        name: &'static str,
        place: &'static str,
        summary: &'static str,
        source: &'static str,
        page: fn(&Runs) -> Page,
        experiment: &'static str,
    ) -> Self {
        Self { name, place, summary, experiment, source, analysis: Analysis::OfRuns(page) }
    }

    /// The result of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        RESULTS.iter().find(|result| result.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Plan;

    #[test]
    fn every_experiment_is_valid_in_full_and_in_quick() {
        for result in RESULTS {
            match result.analysis {
                Analysis::OfFile(page) => drop(page(result.experiment).unwrap()),
                Analysis::OfRuns(_) => {
                    let plan = Plan::parse(result.experiment, result.name).unwrap();
                    for mut part in plan.parts {
                        assert!(part.seeds.len() >= 5, "{}", result.name);
                        quick(&mut part);
                        part.check().unwrap();
                    }
                }
            }
        }
    }
}
