//! The whole analysis as JSON: `summary.json`.

use std::collections::{BTreeMap, BTreeSet};

use evenkeel_metrics::{Interval, PaperReading, QUANTITIES};
use serde::Serialize;

use super::comparisons::{self, Comparison};
use super::groups::{Group, Lineup, Program};
use super::left_out::LeftOut;
use super::noise_floor::{self, Floor};
use super::ranking::Ranking;
use super::runs::Runs;
use crate::paper::PaperRow;
use crate::program;

/// The contents of `summary.json`. Accuracies are in percent.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// The program that wrote this file; each row names those that made its runs.
    pub written_by: Program,
    /// Who has the smallest gap under each protocol, and how certain that is.
    pub rankings: Vec<Ranking>,
    /// One row per optimizer and protocol.
    pub rows: Vec<Row>,
    /// Each optimizer against the reference of its protocol.
    pub comparisons: Vec<Comparison>,
    /// Runs that do not count.
    pub left_out: Vec<LeftOut>,
}

/// One optimizer under one protocol.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The benchmark.
    pub benchmark: String,
    /// The benchmark and what differs from it, as tables show it.
    pub protocol: String,
    /// The optimizer.
    pub optimizer: String,
    /// Its parameters, as `key=value`.
    pub parameters: String,
    /// The seeds that count.
    pub seeds: Vec<u64>,
    /// Those among them that diverged.
    pub diverged: Vec<u64>,
    /// The programs that made its runs.
    pub programs: BTreeSet<Program>,
    /// Iterations between two evaluations (ρ). If it is not 1, minima are upper and gaps lower bounds.
    pub evaluated_every: Option<u64>,
    /// Minimum on the mean curve over seeds, ± as in the paper.
    pub mean_curve: Option<PaperReading>,
    /// Each quantity of each seed's own curve: mean, deviation and Student's interval.
    pub per_seed: BTreeMap<&'static str, Interval>,
    /// Its gaps beside those of controls without a switch, where there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub noise_floor: Vec<Floor>,
    /// The published row, if this is the paper's protocol.
    pub paper: Option<PaperRow>,
}

impl Summary {
    /// Of grouped runs; the comparisons are with `against`, or with the first optimizer of each protocol.
    pub fn of(runs: &Runs, against: Option<&str>) -> Self {
        let rows =
            runs.lineups.iter().flat_map(|lineup| lineup.groups.iter().map(move |group| row(lineup, group)));
        Self {
            written_by: Program { commit: program::COMMIT.to_string(), kernels: program::kernels() },
            rankings: runs.lineups.iter().filter_map(Ranking::of).collect(),
            rows: rows.collect(),
            comparisons: runs
                .lineups
                .iter()
                .flat_map(|lineup| comparisons::comparisons(lineup, against))
                .collect(),
            left_out: runs.left_out.clone(),
        }
    }
}

fn row(lineup: &Lineup, group: &Group) -> Row {
    let intervals =
        QUANTITIES.iter().filter_map(|quantity| Some((quantity.name, group.interval(&quantity.into())?)));
    Row {
        benchmark: lineup.benchmark.clone(),
        protocol: lineup.label.clone(),
        optimizer: group.spec.optimizer.name.clone(),
        parameters: group.spec.optimizer.to_string(),
        seeds: group.seed_list(),
        diverged: group.diverged.iter().map(|seed| seed.seed).collect(),
        programs: group.programs.clone(),
        evaluated_every: group.finished.first().map(|seed| seed.curve.interval()),
        mean_curve: group.paper_reading(),
        per_seed: intervals.collect(),
        noise_floor: noise_floor::floors(group),
        paper: group.published(),
    }
}
