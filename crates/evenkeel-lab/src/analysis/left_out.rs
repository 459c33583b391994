//! Runs that do not count.

use serde::Serialize;

use crate::spec::RunSpec;
use crate::words::ranges;

/// A run that does not count, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeftOut {
    /// The benchmark.
    pub benchmark: String,
    /// The optimizer.
    pub optimizer: String,
    /// The seed.
    pub seed: u64,
    /// Unfinished, or a file that cannot be read.
    pub reason: String,
    /// Whether it had ended, and a file of it is no longer what it was.
    pub damaged: bool,
}

/// Why a run does not count yet.
pub(super) const UNFINISHED: &str = "unfinished";

impl LeftOut {
    /// A run that only does not count.
    pub(super) fn new(spec: &RunSpec, seed: u64, reason: String) -> Self {
        let (benchmark, optimizer) = (spec.benchmark.clone(), spec.optimizer.name.clone());
        Self { benchmark, optimizer, seed, reason, damaged: false }
    }

    /// Whether it only is not finished: nothing is wrong with it.
    pub fn is_unfinished(&self) -> bool {
        self.reason == UNFINISHED
    }

    /// All of them in sentences: seeds of one optimizer that are left out for one reason stand together.
    pub fn sentences<'a>(all: impl IntoIterator<Item = &'a LeftOut>) -> Vec<String> {
        let mut kinds: Vec<(&LeftOut, Vec<u64>)> = Vec::new();
        for out in all {
            let same = |(known, _): &&mut (&LeftOut, Vec<u64>)| {
                (&known.benchmark, &known.optimizer, &known.reason)
                    == (&out.benchmark, &out.optimizer, &out.reason)
            };
            match kinds.iter_mut().find(same) {
                Some((_, seeds)) => seeds.push(out.seed),
                None => kinds.push((out, vec![out.seed])),
            }
        }
        let sentence = |(out, mut seeds): (&LeftOut, Vec<u64>)| {
            seeds.sort_unstable();
            let word = if seeds.len() == 1 { "seed" } else { "seeds" };
            format!(
                "not counted: {} {} {word} {}: {}",
                out.benchmark,
                out.optimizer,
                ranges(&seeds),
                out.reason
            )
        };
        kinds.into_iter().map(sentence).collect()
    }
}
