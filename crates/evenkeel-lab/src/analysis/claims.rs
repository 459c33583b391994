//! Claims of the paper, evaluated from numbers: never written by hand.
//!
//! A comparison is decided by Student's 95 % interval of the difference over the seeds that both have (same initial weights,
//! same batches): the claim holds if the whole interval is on its side, is contradicted if it is on the other, else undecided.

use evenkeel_metrics::{Curve, Summary};
use evenkeel_report::{Cell, Table};

use super::runs::{Group, avg_min_acc, avg_sg};
use crate::paper::PaperRow;

/// What our numbers say to a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// They bear it out.
    Holds,
    /// They say the opposite.
    Contradicted,
    /// They allow both.
    Undecided,
}

impl Verdict {
    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Contradicted => "contradicted",
            Self::Undecided => "undecided",
        }
    }

    fn of_fact(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Contradicted }
    }

    /// By an interval that the claim says lies above zero.
    fn of_interval(interval: Option<[f64; 2]>) -> Self {
        match interval {
            Some([low, _]) if low > 0.0 => Self::Holds,
            Some([_, high]) if high < 0.0 => Self::Contradicted,
            _ => Self::Undecided,
        }
    }
}

/// Which side a claim is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The first is smaller.
    Less,
    /// The first is larger.
    More,
}

/// One claim with its verdict.
#[derive(Debug, Clone)]
pub struct Claim {
    /// What the paper says.
    pub text: String,
    /// Where.
    pub place: String,
    /// What our numbers say.
    pub verdict: Verdict,
    /// The number that decides, with its interval.
    pub evidence: Cell,
    /// What that number is.
    pub measure: String,
    /// Whether the paper's own table says so; `None` where it prints no number.
    pub paper: Option<bool>,
}

impl Claim {
    /// First group against the second on one number a seed.
    pub fn compare(
        (place, text): (&str, String),
        (a, b): (&Group, &Group),
        side: Side,
        (measure, digits): (&str, usize),
        value: impl Fn(&Curve) -> Option<f64>,
    ) -> Self {
        let differences: Option<Vec<f64>> = a
            .seeds
            .iter()
            .zip(&a.curves)
            .filter_map(|(seed, curve)| Some((curve, b.seeds.iter().position(|other| other == seed)?)))
            .map(|(curve, i)| Some(value(curve)? - value(&b.curves[i])?))
            .collect();
        let measure = format!("{measure}: {} − {}", a.name(), b.name());
        Self::of_differences((place, text), &differences.unwrap_or_default(), side, (&measure, digits))
    }

    /// That the first group has the smaller gap and the higher minimum than the second, beside what the paper's rows say.
    pub fn steadier(
        place: &str,
        [smaller_gap, higher_minimum]: [String; 2],
        groups: (&Group, &Group),
        rows: Option<(&PaperRow, &PaperRow)>,
    ) -> [Self; 2] {
        [
            Self::compare((place, smaller_gap), groups, Side::Less, ("avg-SG", 3), avg_sg)
                .with_paper(rows.map(|(a, b)| a.avg_sg.mean < b.avg_sg.mean)),
            Self::compare((place, higher_minimum), groups, Side::More, ("avg-min-ACC", 2), avg_min_acc)
                .with_paper(rows.map(|(a, b)| a.avg_min_acc.mean > b.avg_min_acc.mean)),
        ]
    }

    /// A number of each seed against zero.
    pub fn of_differences(
        (place, text): (&str, String),
        differences: &[f64],
        side: Side,
        (measure, digits): (&str, usize),
    ) -> Self {
        let summary = Summary::of(differences);
        let towards = |[low, high]: [f64; 2]| match side {
            Side::More => [low, high],
            Side::Less => [-high, -low],
        };
        let evidence = match summary {
            None => Cell::Empty,
            Some(Summary { mean, ci95: Some([low, high]), .. }) => {
                Cell::Interval { mean, low, high, digits, signed: true }
            }
            Some(summary) => Cell::difference(summary.mean, digits),
        };
        let verdict = Verdict::of_interval(summary.and_then(|summary| summary.ci95).map(towards));
        Self {
            text,
            place: place.to_string(),
            verdict,
            evidence,
            measure: format!("{measure} ({} seeds)", differences.len()),
            paper: None,
        }
    }

    /// What is exactly so or not: no seeds, no interval.
    pub fn fact((place, text): (&str, String), holds: bool, (measure, evidence): (&str, Cell)) -> Self {
        Self {
            text,
            place: place.to_string(),
            verdict: Verdict::of_fact(holds),
            evidence,
            measure: measure.to_string(),
            paper: None,
        }
    }

    /// What cannot be told from these numbers.
    pub fn undecided((place, text): (&str, String), why: &str) -> Self {
        Self {
            text,
            place: place.to_string(),
            verdict: Verdict::Undecided,
            evidence: Cell::Empty,
            measure: why.to_string(),
            paper: None,
        }
    }

    /// Adds what the paper's own table says.
    #[must_use]
    pub fn with_paper(mut self, paper: Option<bool>) -> Self {
        self.paper = paper;
        self
    }
}

/// The claims as a table.
pub fn table(claims: &[Claim]) -> Table {
    let mut table = Table::new(
        "claims",
        "What the paper says and what our numbers say. Differences are over the same seeds with Student's 95 % interval; \
         the last column is what the paper's own table says, where it has one.",
        ["claim", "in the paper", "verdict", "evidence", "what is measured", "the paper's table"],
    );
    for claim in claims {
        table.rows.push(vec![
            Cell::text(&claim.text),
            Cell::text(&claim.place),
            Cell::text(claim.verdict.word()),
            claim.evidence.clone(),
            Cell::text(&claim.measure),
            claim
                .paper
                .map_or(Cell::Empty, |says| Cell::text(if says { "agrees" } else { "contradicts it" })),
        ]);
    }
    table
}

/// What the page says first: how many claims there are, and each that our numbers contradict.
pub fn paragraphs(claims: &[Claim]) -> Vec<String> {
    if claims.is_empty() {
        return Vec::new();
    }
    let count = |verdict| claims.iter().filter(|claim| claim.verdict == verdict).count();
    let mut paragraphs = vec![format!(
        "Of {} claims, {} hold, {} are contradicted and {} are undecided.",
        claims.len(),
        count(Verdict::Holds),
        count(Verdict::Contradicted),
        count(Verdict::Undecided)
    )];
    for claim in claims.iter().filter(|claim| claim.verdict == Verdict::Contradicted) {
        paragraphs.push(format!(
            "Contradicted ({}): \"{}\". {} = {}.",
            claim.place,
            claim.text,
            claim.measure,
            claim.evidence.shown()
        ));
    }
    for claim in claims.iter().filter(|claim| claim.paper == Some(false)) {
        paragraphs.push(format!(
            "The paper's own table contradicts its text ({}): \"{}\".",
            claim.place, claim.text
        ));
    }
    paragraphs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(differences: &[f64], side: Side) -> Verdict {
        Claim::of_differences(("", String::new()), differences, side, ("", 2)).verdict
    }

    #[test]
    fn the_whole_interval_decides() {
        let above = [1.0, 1.2, 0.8, 1.1, 0.9];
        assert_eq!(verdict(&above, Side::More), Verdict::Holds);
        assert_eq!(verdict(&above, Side::Less), Verdict::Contradicted);
        let both = [1.0, -1.2, 0.8, -1.1, 0.9];
        assert_eq!(verdict(&both, Side::More), Verdict::Undecided);
        assert_eq!(verdict(&both, Side::Less), Verdict::Undecided);
    }

    #[test]
    fn one_seed_or_none_decides_nothing() {
        assert_eq!(verdict(&[5.0], Side::More), Verdict::Undecided);
        assert_eq!(verdict(&[], Side::More), Verdict::Undecided);
    }

    #[test]
    fn a_contradiction_is_said_in_words_with_its_interval() {
        let claim =
            Claim::of_differences(("Figure 9", "A beats B".into()), &[-1.0, -1.5], Side::More, ("A − B", 1));
        assert_eq!(claim.verdict, Verdict::Undecided, "two seeds leave a wide interval");
        let claim = Claim::of_differences(
            ("Figure 9", "A beats B".into()),
            &[-1.0, -1.1, -1.0, -1.1],
            Side::More,
            ("A − B", 1),
        );
        let text = paragraphs(&[claim]);
        assert_eq!(text[0], "Of 1 claims, 0 hold, 1 are contradicted and 0 are undecided.");
        assert!(
            text[1].starts_with("Contradicted (Figure 9): \"A beats B\". A − B (4 seeds) = -1.1 ["),
            "{text:?}"
        );
    }
}
