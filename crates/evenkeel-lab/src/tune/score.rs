//! How good a trial is: what it knows at the end, less what it lost on the way.

use evenkeel_metrics::Interval;
use serde::Serialize;

use crate::analysis::comparisons::{ALL_SEEN, DECIDES};
use crate::analysis::{Measure, Runs};

/// The score of a run, `S = A − 100·w·G`: `A` is its accuracy on all seen tasks at the end in percent, `G` its avg-SG.
///
/// With `w = 1` a gap of 0.01 weighs as much as one percent of accuracy. The score of a trial is the mean over its runs. A run that
/// diverged, or whose gap is undefined because nothing was left to lose, counts as the worst there is: `A = 0` and `G = 1`, or `G = 1`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Score {
    /// `w`.
    pub gap_weight: f64,
}

/// What the runs of a trial come to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scored {
    /// Mean score over the runs, with its interval where there are enough.
    pub score: Interval,
    /// Accuracy on all seen tasks at the end, in percent.
    pub all_seen: Interval,
    /// Stability gap.
    pub avg_sg: Interval,
    /// How many of the runs diverged.
    pub diverged: usize,
    /// What each run came to.
    pub runs: Vec<ScoredRun>,
}

/// One run of a trial.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoredRun {
    /// The benchmark, and what differs from it.
    pub protocol: String,
    /// The seed.
    pub seed: u64,
    /// Its score.
    pub score: f64,
    /// Accuracy on all seen tasks at the end, in percent.
    pub all_seen: f64,
    /// Stability gap.
    pub avg_sg: f64,
    /// Whether it diverged.
    pub diverged: bool,
}

impl Score {
    /// The equation in words.
    pub fn equation(self) -> String {
        format!(
            "score = all seen (percent) − 100 · {} · avg-SG, mean over the runs of a trial",
            self.gap_weight
        )
    }

    /// The score of a run with this accuracy and this gap.
    pub fn of(self, all_seen: f64, avg_sg: f64) -> f64 {
        all_seen - 100.0 * self.gap_weight * avg_sg
    }

    /// Of the runs of one trial; `None` if one of the `expected` runs is not there yet.
    pub fn of_runs(self, runs: &Runs, expected: usize) -> Option<Scored> {
        let (accuracy, gap) = (Measure::named(ALL_SEEN), Measure::named(DECIDES));
        let mut scored = Vec::new();
        for lineup in &runs.lineups {
            for group in &lineup.groups {
                let finished =
                    group.finished.iter().map(|run| (run.seed, false, (accuracy.of)(run), (gap.of)(run)));
                let diverged = group.diverged.iter().map(|run| (run.seed, true, None, None));
                for (seed, diverged, all_seen, avg_sg) in finished.chain(diverged) {
                    let (all_seen, avg_sg) = (all_seen.unwrap_or(0.0), avg_sg.unwrap_or(1.0));
                    let score = self.of(all_seen, avg_sg);
                    let protocol = lineup.label.clone();
                    scored.push(ScoredRun { protocol, seed, score, all_seen, avg_sg, diverged });
                }
            }
        }
        if scored.len() < expected {
            return None;
        }
        let interval = |of: fn(&ScoredRun) -> f64| Interval::of(&scored.iter().map(of).collect::<Vec<_>>());
        Some(Scored {
            score: interval(|run| run.score)?,
            all_seen: interval(|run| run.all_seen)?.clamped(accuracy.range),
            avg_sg: interval(|run| run.avg_sg)?.clamped(gap.range),
            diverged: scored.iter().filter(|run| run.diverged).count(),
            runs: scored,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundredth_of_gap_weighs_a_percent_of_accuracy() {
        let score = Score { gap_weight: 1.0 };
        assert!((score.of(95.0, 0.03) - 92.0).abs() < 1e-12);
        assert!((score.of(0.0, 1.0) + 100.0).abs() < 1e-12);
        assert!((Score { gap_weight: 0.5 }.of(95.0, 0.03) - 93.5).abs() < 1e-12);
        assert_eq!(score.of_runs(&Runs::default(), 1), None);
    }
}
