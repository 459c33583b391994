//! Claims of the paper, judged by numbers: never by hand.
//!
//! A page's claims are one family: Holm's adjustment goes over all of them that are tested. What is true by construction is shown
//! apart and never counted.

mod shown;

use evenkeel_metrics::{Evidence, Side, Verdict, holm};
use evenkeel_report::Cell;

pub use self::shown::{paragraphs, tables, to_csv};
use super::comparisons::paired;
use super::groups::{Group, Lineup};
use super::measure::Measure;
use crate::paper::claims::PaperClaim;

/// What a claim rests on.
#[derive(Debug, Clone)]
pub enum Basis {
    /// A number per seed, or the difference of two.
    Seeds(Test),
    /// A computation without chance: it is so or not.
    Exact(bool, Cell),
    /// True by construction; whether it is so is only a check of the code.
    Identity(bool, Cell),
    /// Nothing that could be tested, and why.
    Nothing(String),
}

/// A test over seeds, with all that is needed to do it again.
#[derive(Debug, Clone)]
pub struct Test {
    /// The quantity.
    pub quantity: String,
    /// The first group.
    pub a: String,
    /// The group that is subtracted, if there is one.
    pub b: Option<String>,
    /// What the claim says of the number.
    pub side: Side,
    /// The numbers of each seed.
    pub values: Vec<Paired>,
    /// Decimals that are shown.
    pub digits: usize,
}

impl Test {
    /// First group minus second on the seeds that both have.
    fn paired((a, b): (&Group, &Group), side: Side, measure: &Measure<'_>) -> Self {
        let pairs = paired(a, b, measure).into_iter();
        Self {
            quantity: measure.name.clone(),
            a: a.name.clone(),
            b: Some(b.name.clone()),
            side,
            values: pairs.map(|(seed, a, b)| Paired { seed, a, b: Some(b) }).collect(),
            digits: measure.digits,
        }
    }
}

/// The number of a seed, and the one that is subtracted from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paired {
    /// The seed.
    pub seed: u64,
    /// The number of the first group.
    pub a: f64,
    /// That of the second.
    pub b: Option<f64>,
}

impl Paired {
    /// What is tested.
    pub fn difference(self) -> f64 {
        self.a - self.b.unwrap_or(0.0)
    }
}

/// One claim, before it is judged.
#[derive(Debug, Clone)]
pub struct Claim {
    /// What it says here.
    pub text: String,
    /// Where the paper says it.
    pub place: String,
    /// Whether the paper says it of this benchmark; else carrying it over is ours.
    pub of_paper: bool,
    /// The protocol.
    pub lineup: String,
    /// What it rests on.
    pub basis: Basis,
    /// Whether the paper's own table says so; `None` where it prints no number.
    pub table: Option<bool>,
}

/// A claim with its verdict.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The claim.
    pub claim: Claim,
    /// The test, where there is one.
    pub evidence: Option<Evidence>,
    /// Its p after Holm's adjustment over the page.
    pub adjusted: Option<f64>,
    /// What follows.
    pub verdict: Verdict,
}

impl Claim {
    /// A claim of the paper's list on one lineup; `text` says it for these optimizers.
    pub fn new(id: &str, lineup: &Lineup, text: impl Into<String>, basis: Basis) -> Self {
        let known = PaperClaim::named(id);
        Self {
            text: text.into(),
            place: known.place.clone(),
            of_paper: known.benchmarks.is_empty() || known.benchmarks.contains(&lineup.benchmark),
            lineup: lineup.label.clone(),
            basis,
            table: None,
        }
    }

    /// First group minus second on one number per seed.
    pub fn compare(
        id: &str,
        lineup: &Lineup,
        text: impl Into<String>,
        (a, b): (&Group, &Group),
        side: Side,
        measure: &Measure<'_>,
    ) -> Self {
        Self::new(id, lineup, text, Basis::Seeds(Test::paired((a, b), side, measure)))
    }

    /// The same for a claim of our own, which is not on the paper's list.
    pub fn ours(
        lineup: &Lineup,
        text: impl Into<String>,
        (a, b): (&Group, &Group),
        side: Side,
        measure: &Measure<'_>,
    ) -> Self {
        Self {
            text: text.into(),
            place: String::new(),
            of_paper: false,
            lineup: lineup.label.clone(),
            basis: Basis::Seeds(Test::paired((a, b), side, measure)),
            table: None,
        }
    }

    /// A number of one group against zero.
    pub fn of_group(
        id: &str,
        lineup: &Lineup,
        text: impl Into<String>,
        group: &Group,
        side: Side,
        measure: &Measure<'_>,
    ) -> Self {
        let values = group.values(measure).unwrap_or_default();
        let values = values.into_iter().map(|(seed, a)| Paired { seed, a, b: None }).collect();
        let test = Test {
            quantity: measure.name.clone(),
            a: group.name.clone(),
            b: None,
            side,
            values,
            digits: measure.digits,
        };
        Self::new(id, lineup, text, Basis::Seeds(test))
    }

    /// Adds what the paper's own table says.
    #[must_use]
    pub fn with_table(mut self, table: Option<bool>) -> Self {
        self.table = table;
        self
    }

    /// Keeps only the seeds for which `wanted` holds: those that did not choose what is tested.
    #[must_use]
    pub fn on_seeds(mut self, wanted: impl Fn(u64) -> bool) -> Self {
        if let Basis::Seeds(test) = &mut self.basis {
            test.values.retain(|value| wanted(value.seed));
        }
        self
    }

    fn evidence(&self) -> Option<Evidence> {
        match &self.basis {
            Basis::Seeds(test) => {
                let values: Vec<f64> = test.values.iter().map(|value| value.difference()).collect();
                Evidence::of(&values, test.side)
            }
            _ => None,
        }
    }
}

/// Judges a page's claims as one family.
pub fn judge(claims: Vec<Claim>) -> Vec<Judged> {
    let evidence: Vec<Option<Evidence>> = claims.iter().map(Claim::evidence).collect();
    let p: Vec<Option<f64>> = evidence.iter().map(|evidence| evidence.and_then(|e| e.p)).collect();
    let judged = claims.into_iter().zip(evidence).zip(holm(&p));
    judged
        .map(|((claim, evidence), adjusted)| {
            let verdict = match claim.basis {
                Basis::Seeds(_) => Verdict::of(evidence.as_ref(), adjusted),
                Basis::Exact(true, _) => Verdict::Holds,
                Basis::Exact(false, _) => Verdict::Contradicted,
                Basis::Identity(..) => Verdict::Identity,
                Basis::Nothing(_) => Verdict::NotTested,
            };
            Judged { claim, evidence, adjusted, verdict }
        })
        .collect()
}

/// How many claims have each verdict, identities apart.
pub fn count(judged: &[Judged], verdict: Verdict) -> usize {
    judged.iter().filter(|one| one.verdict == verdict).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(values: &[f64], side: Side) -> Claim {
        let test = Test {
            quantity: "avg-SG".into(),
            a: "A".into(),
            b: Some("B".into()),
            side,
            values: (0..).zip(values).map(|(seed, &a)| Paired { seed, a, b: None }).collect(),
            digits: 1,
        };
        Claim {
            text: "A beats B".into(),
            place: "Figure 9".into(),
            of_paper: true,
            lineup: "Split MNIST".into(),
            basis: Basis::Seeds(test),
            table: None,
        }
    }

    #[test]
    fn a_page_is_one_family() {
        // p = 0.023 alone; adjusted for four it decides nothing any more.
        let values = [1.0, 1.9, 0.4, 2.2, 1.2];
        assert_eq!(judge(vec![claim(&values, Side::More)])[0].verdict, Verdict::Holds);
        let four = judge(vec![claim(&values, Side::More); 4]);
        assert!(four.iter().all(|one| one.verdict == Verdict::Undecided), "{four:?}");
    }

    #[test]
    fn two_seeds_are_not_a_test_and_identities_are_not_counted() {
        let mut identity = claim(&[], Side::More);
        identity.basis = Basis::Identity(true, Cell::number(1.0, 1));
        let judged = judge(vec![claim(&[5.0, 5.1], Side::More), identity]);
        assert_eq!([judged[0].verdict, judged[1].verdict], [Verdict::NotTested, Verdict::Identity]);
        let text = paragraphs(&judged);
        assert_eq!(
            text[0],
            "Of 1 claims: 0 hold, 0 are contradicted, 0 undecided, 1 not tested (1 identities are not counted)."
        );
        assert_eq!(tables(&judged).len(), 2);
    }

    #[test]
    fn a_contradiction_is_said_in_words_with_its_interval() {
        let judged = judge(vec![claim(&[-1.0, -1.1, -1.0, -1.1], Side::More)]);
        let text = paragraphs(&judged);
        assert!(
            text[1].starts_with(
                "Contradicted (Figure 9): \"A beats B\" on Split MNIST. avg-SG: A − B (more; 4 seeds) = -1.1 ["
            ),
            "{text:?}"
        );
    }
}
