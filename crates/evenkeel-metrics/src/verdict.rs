//! Verdicts on a family of claims: Holm's adjustment for looking at many at once.

use serde::{Deserialize, Serialize};

use crate::evidence::{Direction, Evidence};

/// Adjusted p-values below this decide.
pub const LEVEL: f64 = 0.05;

/// What numbers say of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// They bear it out.
    Holds,
    /// They say the opposite.
    Contradicted,
    /// They allow both.
    Undecided,
    /// There are fewer than three paired seeds.
    NotTested,
    /// It is true by construction: code against its own equation, or algebra. It is never counted.
    Identity,
}

impl Verdict {
    /// All of them, in the order of a summary.
    pub const ALL: [Self; 5] =
        [Self::Holds, Self::Contradicted, Self::Undecided, Self::NotTested, Self::Identity];

    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Contradicted => "contradicted",
            Self::Undecided => "undecided",
            Self::NotTested => "not tested",
            Self::Identity => "identity",
        }
    }

    /// In words, of several claims.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Holds => "hold",
            Self::Contradicted => "are contradicted",
            Self::Undecided | Self::NotTested => self.word(),
            Self::Identity => "identities",
        }
    }

    /// From evidence and its adjusted p.
    pub fn of(evidence: Option<&Evidence>, adjusted: Option<f64>) -> Self {
        match (evidence, adjusted) {
            (Some(evidence), Some(p)) if p < LEVEL => match evidence.direction {
                Direction::For => Self::Holds,
                Direction::Against => Self::Contradicted,
            },
            (Some(_), Some(_)) => Self::Undecided,
            _ => Self::NotTested,
        }
    }
}

/// Holm's step-down adjustment of a family of p-values; `None` stays out of the family.
///
/// The smallest of m is multiplied by m, the next by m − 1 and so on, none below the one before, none above 1. The chance that any true
/// null hypothesis of the family is rejected stays below the level.
///
/// ```
/// use evenkeel_metrics::holm;
///
/// assert_eq!(holm(&[Some(0.01), None, Some(0.04), Some(0.03)]), [Some(0.03), None, Some(0.06), Some(0.06)]);
/// ```
///
/// Reference: Holm, *A simple sequentially rejective multiple test procedure* (1979).
pub fn holm(p: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> = p.iter().enumerate().filter_map(|(i, p)| Some((i, (*p)?))).collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut adjusted = vec![None; p.len()];
    let mut highest: f64 = 0.0;
    for (rank, (index, p)) in order.iter().enumerate() {
        highest = highest.max((p * (order.len() - rank) as f64).min(1.0));
        adjusted[*index] = Some(highest);
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Side;

    #[test]
    fn an_adjusted_p_is_never_below_one_that_was_smaller() {
        assert_eq!(holm(&[Some(0.02), Some(0.021), Some(0.9)]), [Some(0.06), Some(0.06), Some(0.9)]);
        assert_eq!(holm(&[Some(0.6), Some(0.7)]), [Some(1.0), Some(1.0)]);
        assert_eq!(holm(&[]), []);
    }

    #[test]
    fn the_side_and_the_adjusted_p_decide() {
        let evidence = Evidence::of(&[1.0, 1.1, 0.9], Side::More).unwrap();
        assert_eq!(Verdict::of(Some(&evidence), Some(0.049)), Verdict::Holds);
        assert_eq!(Verdict::of(Some(&evidence), Some(0.051)), Verdict::Undecided);
        let against = Evidence::of(&[1.0, 1.1, 0.9], Side::Less).unwrap();
        assert_eq!(Verdict::of(Some(&against), Some(0.01)), Verdict::Contradicted);
        assert_eq!(Verdict::of(Some(&against), None), Verdict::NotTested);
        assert_eq!(Verdict::of(None, None), Verdict::NotTested);
    }
}
