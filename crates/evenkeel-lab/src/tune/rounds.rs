//! How the seeds are spent: on every trial, or in rounds after each of which only the best go on.

use serde::Serialize;

use super::score::Scored;
use super::trials::Trial;

/// Of how many trials one goes on to the next round of successive halving, and how many times more seeds it then has.
pub const FACTOR: usize = 3;

/// Rounds with their numbers of seeds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rounds {
    /// Seeds of a trial in each round; the last has all.
    pub seeds: Vec<usize>,
}

impl Rounds {
    /// All seeds for every trial.
    pub fn one(seeds: usize) -> Self {
        Self { seeds: vec![seeds] }
    }

    /// Successive halving: few seeds first, [`FACTOR`] times as many in each later round. `None` where fewer than two rounds fit.
    pub fn halving(seeds: usize) -> Option<Self> {
        let mut rounds = vec![seeds];
        while rounds[0] > 1 {
            rounds.insert(0, rounds[0].div_ceil(FACTOR));
        }
        (rounds.len() > 1).then_some(Self { seeds: rounds })
    }

    /// How many of so many trials are in a round, counted from 0.
    pub fn trials(&self, all: usize, round: usize) -> usize {
        (0..round).fold(all, |left, _| left.div_ceil(FACTOR))
    }

    /// The trials that are in a round: all in the first, then the best of each optimizer. `optimizers` are the trials of each, one after
    /// the other, and `results` the last round of every trial with its score.
    pub fn survivors(
        &self,
        optimizers: &[&[Trial]],
        results: &[(usize, Option<Scored>)],
        round: usize,
    ) -> Vec<usize> {
        let score = |index: usize| results[index].1.as_ref().map_or(f64::NEG_INFINITY, |one| one.score.mean);
        let (mut alive, mut start) = (Vec::new(), 0);
        for own in optimizers {
            let mut indices: Vec<usize> = (start..start + own.len()).collect();
            start += own.len();
            if round > 0 {
                indices.retain(|&index| results[index].0 + 1 == round);
                // Stable: of equals the first goes on.
                indices.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
                indices.truncate(self.trials(own.len(), round));
                indices.sort_unstable();
            }
            alive.extend(indices);
        }
        alive
    }

    /// Runs of so many trials.
    pub fn runs(&self, all: usize) -> usize {
        let mut before = 0;
        let of_round = self.seeds.iter().enumerate().map(|(round, seeds)| {
            let new = self.trials(all, round) * (seeds - before);
            before = *seeds;
            new
        });
        of_round.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_has_a_third_of_the_trials_and_three_times_the_seeds() {
        let rounds = Rounds::halving(9).unwrap();
        assert_eq!(rounds.seeds, [1, 3, 9]);
        assert_eq!([0, 1, 2].map(|round| rounds.trials(27, round)), [27, 9, 3]);
        assert_eq!(rounds.runs(27), 27 + 9 * 2 + 3 * 6);
        assert_eq!(Rounds::halving(2).unwrap().seeds, [1, 2]);
        assert_eq!(Rounds::halving(1), None);
        assert_eq!(Rounds::one(3).runs(7), 21);
    }
}
