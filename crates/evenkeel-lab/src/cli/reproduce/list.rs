//! `evenkeel reproduce --list`: what there is, and what it costs.

use std::fmt::Write as _;

use crate::columns;
use crate::reproduce::{Analysis, RESULTS};
use crate::spec::{Benchmark, Plan};

/// What a result costs on one benchmark.
#[derive(serde::Serialize)]
struct Cost {
    benchmark: String,
    runs: u64,
    iterations: u64,
    model: &'static str,
}

/// A result of the list.
#[derive(serde::Serialize)]
pub(super) struct Listed {
    name: &'static str,
    place: &'static str,
    summary: &'static str,
    /// None where nothing is trained.
    costs: Vec<Cost>,
}

pub(super) fn costs() -> anyhow::Result<Vec<Listed>> {
    let mut all = Vec::new();
    for result in RESULTS {
        let mut costs: Vec<Cost> = Vec::new();
        let parts = match result.analysis {
            Analysis::OfFile(_) => Vec::new(),
            Analysis::OfRuns(_) => Plan::parse(result.experiment, result.name)?.parts,
        };
        for part in parts {
            let runs = (part.optimizers.len() * part.seeds.len()) as u64;
            let tasks = Benchmark::named(&part.benchmark).map_or(0, Benchmark::tasks) as u64;
            let iterations = runs * part.settings.iterations * tasks;
            match costs.iter_mut().find(|known| known.benchmark == part.benchmark) {
                Some(known) => {
                    (known.runs, known.iterations) = (known.runs + runs, known.iterations + iterations);
                }
                None => costs.push(Cost {
                    benchmark: part.benchmark.clone(),
                    runs,
                    iterations,
                    model: part.settings.model.shown(),
                }),
            }
        }
        all.push(Listed { name: result.name, place: result.place, summary: result.summary, costs });
    }
    Ok(all)
}

pub(super) fn list() -> anyhow::Result<String> {
    let width = columns::width();
    let mut text = String::from("What can be reproduced (evenkeel reproduce NAME), with 5 seeds\n");
    for Listed { name, place, summary, costs } in costs()? {
        writeln!(text, "\n{}", columns::wrapped(&format!("  {name}: {place}; {summary}"), width, 4))?;
        if costs.is_empty() {
            writeln!(text, "    nothing is trained: at once")?;
        }
        for Cost { benchmark, runs, iterations, model } in costs {
            writeln!(text, "    {benchmark:20} {runs:4} runs, {iterations:7} iterations of {model}")?;
        }
    }
    let note = "Each iteration has an evaluation of the task-1 test set after it. An iteration of the MLP takes some 10 ms on two cores, one of \
                the slim ResNet-18 some hundred times as long (`evenkeel bench` measures both here). `mechanism` also measures the \
                curvature 20 times per run, a few seconds each. --quick takes minutes; --benchmark NAME chooses one benchmark.";
    writeln!(text, "\n{}", columns::wrapped(note, width, 0))?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_names_everything_with_its_runs() {
        let text = list().unwrap();
        for result in RESULTS {
            assert!(text.contains(result.name));
        }
        assert!(text.contains("split-mnist            20 runs,   20000 iterations of MLP"), "{text}");
    }
}
