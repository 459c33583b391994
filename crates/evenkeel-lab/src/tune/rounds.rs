//! How the seeds are spent: on every trial, or in rounds after each of which only the best go on.

use serde::Serialize;

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
