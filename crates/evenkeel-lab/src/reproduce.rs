//! Every result of the paper, by name: an experiment file, and an analysis that turns its finished runs into tables and
//! figures beside the published ones and says which of the paper's claims our numbers bear out.
//!
//! One file an analysis; [`runs`], [`claim`], `curves`, `metrics_table` are what they share, [`outcome`] writes the result.

mod ablations;
pub mod claim;
mod curves;
mod frozen_backbone;
mod gain_complexity;
mod gain_ema;
mod gain_sweep;
mod lr_sweep;
mod main_table;
mod mechanism;
mod metrics_table;
mod oracle_reset;
pub mod outcome;
mod quick;
mod replay;
pub mod runs;
mod two_timescale;

use evenkeel_report::{Figure, Table};

use self::claim::Claim;
pub use self::quick::quick;
use self::runs::Runs;

/// A result of the paper.
pub struct Reproduction {
    /// Name on the command line and of the experiment file.
    pub name: &'static str,
    /// Where it stands in the paper.
    pub place: &'static str,
    /// One line.
    pub summary: &'static str,
    /// The experiment file.
    pub file: &'static str,
    /// What makes the page.
    pub analysis: Analysis,
}

/// What makes a page.
#[derive(Clone, Copy)]
pub enum Analysis {
    /// From the text of the file alone: nothing is trained.
    OfFile(fn(&str) -> Result<Page, String>),
    /// From finished runs.
    OfRuns(fn(&Runs) -> Page),
}

/// What an analysis says.
#[derive(Default)]
pub struct Page {
    /// What was computed and how to read it.
    pub paragraphs: Vec<String>,
    /// Claims of the paper, evaluated.
    pub claims: Vec<Claim>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Figures.
    pub figures: Vec<Figure>,
}

macro_rules! file {
    ($name:literal) => {
        include_str!(concat!("../../../experiments/", $name, ".toml"))
    };
}

/// All of them, in the order of the paper.
pub const REPRODUCTIONS: [Reproduction; 11] = [
    Reproduction {
        name: "two-timescale",
        place: "Figure 2",
        summary: "a scalar model under a gain, beside fast and slow weights",
        file: file!("two-timescale"),
        analysis: Analysis::OfFile(two_timescale::page),
    },
    Reproduction {
        name: "mechanism",
        place: "Figure 3",
        summary: "accuracy, gain, loss and curvature around the first switch of Split MNIST",
        file: file!("mechanism"),
        analysis: Analysis::OfRuns(mechanism::page),
    },
    Reproduction {
        name: "ablations",
        place: "Figure 4",
        summary: "NGM-SGD against tonic gain, instantaneous gain and Entropy-LR",
        file: file!("ablations"),
        analysis: Analysis::OfRuns(ablations::page),
    },
    Reproduction {
        name: "main",
        place: "Table 1, gaps per transition, Figure 5",
        summary: "five benchmarks × four optimizers",
        file: file!("main"),
        analysis: Analysis::OfRuns(main_table::page),
    },
    Reproduction {
        name: "oracle-reset",
        place: "reset table, Figure 6",
        summary: "MSGD and Adam with their state cleared at each switch",
        file: file!("oracle-reset"),
        analysis: Analysis::OfRuns(oracle_reset::page),
    },
    Reproduction {
        name: "gain-complexity",
        place: "Figure 7",
        summary: "mean gain of the first three tasks and its slope",
        file: file!("gain-complexity"),
        analysis: Analysis::OfRuns(gain_complexity::page),
    },
    Reproduction {
        name: "lr-sweep",
        place: "learning-rate table",
        summary: "five learning rates × four optimizers",
        file: file!("lr-sweep"),
        analysis: Analysis::OfRuns(lr_sweep::page),
    },
    Reproduction {
        name: "gain-sweep",
        place: "γ–η table",
        summary: "three decays γ × five scales η of the gain",
        file: file!("gain-sweep"),
        analysis: Analysis::OfRuns(gain_sweep::page),
    },
    Reproduction {
        name: "gain-ema",
        place: "appendix on gain dynamics",
        summary: "the gain against a moving average, entropy against η, discrete against continuous time",
        file: file!("gain-ema"),
        analysis: Analysis::OfRuns(gain_ema::page),
    },
    Reproduction {
        name: "replay",
        place: "experience-replay table",
        summary: "replay buffers of the paper's sizes, six optimizers",
        file: file!("replay"),
        analysis: Analysis::OfRuns(replay::page),
    },
    Reproduction {
        name: "frozen-backbone",
        place: "appendix on layer freezing",
        summary: "MSGD with the convolutional part frozen after task 1",
        file: file!("frozen-backbone"),
        analysis: Analysis::OfRuns(frozen_backbone::page),
    },
];

impl Reproduction {
    /// The reproduction of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        REPRODUCTIONS.iter().find(|reproduction| reproduction.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Plan;

    #[test]
    fn every_experiment_file_is_valid_in_full_and_in_quick() {
        for reproduction in &REPRODUCTIONS {
            match reproduction.analysis {
                Analysis::OfFile(page) => drop(page(reproduction.file).unwrap()),
                Analysis::OfRuns(_) => {
                    let plan = Plan::parse(reproduction.file, reproduction.name).unwrap();
                    for mut part in plan.parts {
                        assert_eq!(part.seeds.len(), 5, "{}", reproduction.name);
                        quick(&mut part);
                        part.check().unwrap();
                    }
                }
            }
        }
    }
}
