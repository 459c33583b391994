//! What a search found: `tune.json`.

use serde::Serialize;
use serde_json::{Map, Value};

use super::rounds::Rounds;
use super::score::{Score, Scored};
use super::trials::{Search, Trial};
use crate::analysis::groups::Program;
use crate::program;
use crate::spec::experiment::DEFAULT_SEEDS;
use crate::spec::optimizers;

/// The contents of `tune.json`.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// The benchmark or experiment file.
    pub experiment: String,
    /// The command that gave this.
    pub command: String,
    /// The program that wrote this file.
    pub written_by: Program,
    /// How values were chosen.
    pub search: Search,
    /// How the seeds were spent on the trials.
    pub rounds: Rounds,
    /// The weight of the gap in the score.
    #[serde(flatten)]
    pub score: Score,
    /// The score in words.
    pub equation: String,
    /// The seeds of the trials. Compare on others.
    pub seeds: Vec<u64>,
    /// Trials and runs of each optimizer, if all have the same.
    pub budget: Option<Budget>,
    /// What was found for each optimizer.
    pub optimizers: Vec<Searched>,
}

/// What the search for one optimizer may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Budget {
    /// Trials.
    pub trials: usize,
    /// Runs.
    pub runs: usize,
}

/// The search for one optimizer.
#[derive(Debug, Clone, Serialize)]
pub struct Searched {
    /// Its name on the command line.
    pub name: String,
    /// Its name in tables.
    pub shown: String,
    /// What it cost.
    pub budget: Budget,
    /// The values of the best trial; `None` if no trial was finished.
    pub chosen: Option<Map<String, Value>>,
    /// Parameters whose chosen value is the lowest or the highest that was tried: there may be a better one beyond.
    pub at_edge: Vec<String>,
    /// The trials, in the order of the search.
    pub trials: Vec<Tried>,
}

/// A trial and what it came to.
#[derive(Debug, Clone, Serialize)]
pub struct Tried {
    /// Its values.
    pub values: Map<String, Value>,
    /// The last round that it was in, counted from 1.
    pub round: usize,
    /// Whether it was chosen.
    pub chosen: bool,
    /// What its runs came to; `None` while one of them is missing.
    #[serde(flatten)]
    pub scored: Option<Scored>,
}

/// Seeds that are also those of a comparison that names none.
pub fn shared_seeds(seeds: &[u64]) -> Vec<u64> {
    seeds.iter().copied().filter(|seed| *seed < DEFAULT_SEEDS).collect()
}

/// One trial per row: its values, the last round that it was in, and what it came to there.
pub type Result<'a> = (&'a Trial, usize, Option<Scored>);

impl Searched {
    /// Chooses the best trial of one optimizer among those that came to the last round.
    pub fn of(results: &[Result<'_>], rounds: &Rounds, parts: usize) -> Option<Self> {
        let (first, ..) = results.first()?;
        let last = results.iter().map(|(_, round, _)| *round).max()?;
        let best = best(results, last);
        let trials: Vec<Tried> = results
            .iter()
            .enumerate()
            .map(|(i, (trial, round, scored))| Tried {
                values: trial.values.clone(),
                round: round + 1,
                chosen: best == Some(i),
                scored: scored.clone(),
            })
            .collect();
        let chosen = best.map(|best| trials[best].values.clone());
        Some(Self {
            name: first.optimizer.clone(),
            shown: optimizers::shown(&first.optimizer),
            budget: Budget { trials: trials.len(), runs: rounds.runs(trials.len()) * parts },
            at_edge: chosen.iter().flat_map(|chosen| at_edge(chosen, &trials)).collect(),
            chosen,
            trials,
        })
    }

    /// The searches of all optimizers; `results` has the last round of every trial and what it came to there.
    pub fn all(optimizers: &[&[Trial]], results: &[(usize, Option<Scored>)], rounds: &Rounds) -> Vec<Self> {
        let mut results = results.iter();
        let of_one = optimizers.iter().filter_map(|own| {
            let own: Vec<Result<'_>> = own
                .iter()
                .zip(results.by_ref())
                .map(|(trial, (round, scored))| (trial, *round, scored.clone()))
                .collect();
            let parts = own.first().map_or(1, |(trial, ..)| trial.experiments.len());
            Self::of(&own, rounds, parts)
        });
        of_one.collect()
    }

    /// The chosen trial.
    pub fn best(&self) -> Option<&Tried> {
        self.trials.iter().find(|trial| trial.chosen)
    }
}

/// The trial of the round with the highest score; the first of equals.
fn best(results: &[Result<'_>], round: usize) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (i, (_, in_round, scored)) in results.iter().enumerate() {
        let Some(score) = scored.as_ref().filter(|_| *in_round == round).map(|scored| scored.score.mean)
        else {
            continue;
        };
        if best.is_none_or(|(_, highest)| score > highest) {
            best = Some((i, score));
        }
    }
    best.map(|(i, _)| i)
}

fn at_edge(chosen: &Map<String, Value>, trials: &[Tried]) -> Vec<String> {
    let at_edge = |(key, value): &(&String, &Value)| {
        let Some(value) = value.as_f64() else { return false };
        let tried: Vec<f64> = trials.iter().filter_map(|trial| trial.values.get(*key)?.as_f64()).collect();
        let (low, high) = tried
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)));
        low < high && (value == low || value == high)
    };
    chosen.iter().filter(at_edge).map(|(key, _)| key.clone()).collect()
}

impl Outcome {
    /// Of searches that are done.
    pub fn new(
        (experiment, command): (&str, String),
        (search, rounds, score): (Search, Rounds, Score),
        seeds: &[u64],
        optimizers: Vec<Searched>,
    ) -> Self {
        let first = optimizers.first().map(|searched| searched.budget);
        Self {
            experiment: experiment.to_string(),
            command,
            written_by: Program { commit: program::COMMIT.to_string(), kernels: program::kernels() },
            search,
            rounds,
            score,
            equation: score.equation(),
            seeds: seeds.to_vec(),
            budget: first.filter(|first| optimizers.iter().all(|searched| searched.budget == *first)),
            optimizers,
        }
    }
}
