//! The experiment with the chosen values, for `evenkeel run`.

use serde_json::{Map, Value};

use super::outcome::Outcome;
use super::trials::Trial;
use crate::analysis::run_again::{base_and_changes, changed, seeds_shown};
use crate::spec::experiment::DEFAULT_SEEDS;
use crate::spec::{Benchmark, Experiment, flattened};
use crate::words::ranges;

/// The text of an experiment file with the chosen trial of each optimizer. Its seeds are others than those of the search.
pub fn text(outcome: &Outcome, trials: &[Trial]) -> Result<String, toml::ser::Error> {
    let mut parts: Vec<Experiment> = Vec::new();
    for searched in &outcome.optimizers {
        let Some(chosen) = &searched.chosen else { continue };
        let trial = trials.iter().find(|trial| trial.optimizer == searched.name && trial.values == *chosen);
        for experiment in trial.iter().flat_map(|trial| &trial.experiments) {
            let same = |part: &&mut Experiment| {
                part.benchmark == experiment.benchmark && part.settings == experiment.settings
            };
            match parts.iter_mut().find(same) {
                Some(part) => part.optimizers.extend(experiment.optimizers.iter().cloned()),
                None => parts.push((**experiment).clone()),
            }
        }
    }
    let seeds = comparison_seeds(&outcome.seeds);
    let mut tables: Vec<Map<String, Value>> = parts.iter().filter_map(|part| table(part, &seeds)).collect();
    let whole = if tables.len() == 1 {
        tables.remove(0)
    } else {
        let parts: Vec<Value> = tables.into_iter().map(Value::Object).collect();
        std::iter::once(("part".to_string(), parts.into())).collect()
    };
    Ok(format!(
        "# Chosen by `{}` on the seeds {}.\n# {}\n# The seeds here are others: what was chosen by looking is compared on runs that had no say in it.\n{}",
        outcome.command.replace('\n', " "),
        ranges(&outcome.seeds),
        outcome.equation,
        toml::to_string(&whole)?
    ))
}

/// As many seeds as a comparison has by default, none of them one of the search.
fn comparison_seeds(searched: &[u64]) -> Vec<u64> {
    (0..).filter(|seed| !searched.contains(seed)).take(DEFAULT_SEEDS as usize).collect()
}

/// One experiment as the table of a file; `None` if there is no such benchmark.
fn table(part: &Experiment, seeds: &[u64]) -> Option<Map<String, Value>> {
    let benchmark = Benchmark::named(&part.benchmark)?;
    let names = part.optimizers.iter().map(|optimizer| optimizer.name.clone());
    let mut table = Map::new();
    table.insert("benchmark".into(), part.benchmark.clone().into());
    table.insert("optimizers".into(), names.collect::<Vec<_>>().into());
    table.insert("seeds".into(), seeds_shown(seeds).into());
    table.extend(changed(&flattened(&benchmark.settings()), &flattened(&part.settings)));
    let mut described = Map::new();
    for optimizer in &part.optimizers {
        let (base, changes) = base_and_changes(benchmark, optimizer)?;
        let base = (base != optimizer.name).then(|| ("base".to_string(), Value::from(base)));
        let own: Map<String, Value> = base.into_iter().chain(changes).collect();
        if !own.is_empty() {
            described.insert(optimizer.name.clone(), Value::Object(own));
        }
    }
    if !described.is_empty() {
        table.insert("optimizer".into(), Value::Object(described));
    }
    Some(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Plan;
    use crate::tune::outcome::Searched;
    use crate::tune::trials::trials;
    use crate::tune::{Axis, Rounds, Score, Scored, Search};
    use evenkeel_metrics::Interval;

    #[test]
    fn the_file_gives_the_chosen_optimizers_on_other_seeds() {
        let text = "benchmark = 'split-digits'\noptimizers = ['sgd', 'mine']\nbatch = 8\nhidden = [24, 16]\n\
                    train_acc = true\n[optimizer.mine]\nbase = 'ngm-sgd'\neta = 0.7\n";
        let parts: Vec<_> =
            Plan::parse(text, "x").unwrap().parts.iter().map(|part| part.check().unwrap()).collect();
        let trials = trials(&parts, &[Axis::usual()], Search::Grid).unwrap();
        let interval = |value: f64| Interval::of(&[value]).unwrap();
        let scored = |i: usize| Scored {
            score: interval(if i == 5 { 9.0 } else { 1.0 }),
            all_seen: interval(1.0),
            avg_sg: interval(0.0),
            diverged: 0,
            runs: vec![],
        };
        let searched = trials.chunks(7).map(|own| {
            let results: Vec<_> =
                own.iter().enumerate().map(|(i, trial)| (trial, 0, Some(scored(i)))).collect();
            Searched::of(&results, &Rounds::one(1), 1).unwrap()
        });
        let settings = (Search::Grid, Rounds::one(1), Score { gap_weight: 1.0 });
        let outcome = Outcome::new(("x", "evenkeel tune x".into()), settings, &[1, 1000], searched.collect());
        assert_eq!(outcome.budget.unwrap().trials, 7);
        let file = super::text(&outcome, &trials).unwrap();
        let [part] = &Plan::parse(&file, "y").unwrap().parts[..] else { panic!("one part: {file}") };
        assert_eq!(part.seeds, [0, 2, 3, 4, 5]);
        assert_eq!(part.settings, parts[0].settings);
        assert_eq!(part.optimizers[0], trials[5].experiments[0].optimizers[0]);
        assert_eq!(part.optimizers[1], trials[12].experiments[0].optimizers[0]);
    }
}
