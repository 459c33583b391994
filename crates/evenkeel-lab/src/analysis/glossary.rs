//! What the words of a report mean: every quantity by its registered definition, and the words of statistics.

use evenkeel_metrics::QUANTITIES;
use evenkeel_report::Term;

const WORDS: [(&str, &str); 14] = [
    (
        "stability gap",
        "When training goes on to a new task, accuracy on the old ones drops for a while, even if their data is still trained on.",
    ),
    (
        "seeds",
        "Runs that differ only in their random numbers. Equal seeds of two optimizers share data order and initial weights.",
    ),
    (
        "95 % interval",
        "Student's interval of the mean over seeds: computed this way, 95 of 100 such intervals hold the true mean.",
    ),
    (
        "Holm's p",
        "The p of a test, raised for the number of tests that are looked at together (Holm 1979). Below 0.05 it decides.",
    ),
    (
        "adjusted by Holm",
        "Raised for the number of tests that are looked at together (Holm 1979), so that chance alone decides hardly any.",
    ),
    (
        "paired test",
        "Student's test of the differences on equal seeds, which share data order and initial weights.",
    ),
    ("certainly", "The adjusted p of the paired test is below 0.05."),
    ("undecided", "The numbers allow both: the adjusted p is 0.05 or more. More seeds may decide."),
    ("not tested", "Fewer than three seeds that both have: no test."),
    (
        "against the best",
        "Whether the gap is larger than the smallest one: larger (certainly), undecided or not tested.",
    ),
    (
        "s per run",
        "Seconds of training and evaluation of the median run: what it cost on the machine that ran it.",
    ),
    ("task switch", "The iteration at which the data of a new task begins to come."),
    (
        "mean curve",
        "The mean over seeds at each iteration. Dips at different iterations hide each other in it.",
    ),
    (
        "smaller gap",
        "Whether the first optimizer has the smaller avg-SG: holds, contradicted, undecided or not tested.",
    ),
];

/// Every word with its meaning.
pub fn glossary() -> Vec<Term> {
    let quantities = QUANTITIES.iter().map(|quantity| Term::new(quantity.name, quantity.definition));
    quantities.chain(WORDS.map(|(name, definition)| Term::new(name, definition))).collect()
}
