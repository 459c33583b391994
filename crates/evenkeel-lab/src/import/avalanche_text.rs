//! What Avalanche's `TextLogger` and `InteractiveLogger` write: words for people, with every evaluation in them.

use std::collections::BTreeMap;

use super::{ImportError, LogFormat, LoggedRun, When, name_of};

const TRAINING: &str = "-- >> Start of training phase << --";
const TRAINED: &str = "-- >> End of training phase << --";

pub(super) static FORMAT: LogFormat = LogFormat {
    name: "avalanche-text",
    summary: "output of Avalanche's TextLogger or InteractiveLogger",
    recognises: |_, head| String::from_utf8_lossy(head).contains("-- >> Start of "),
    read: |path| {
        let bytes = std::fs::read(path).map_err(|error| ImportError::new(path, error.to_string()))?;
        let mut run = parse(&String::from_utf8_lossy(&bytes)).map_err(|p| ImportError::new(path, p))?;
        run.name = name_of(path);
        Ok(vec![run])
    },
};

type Metrics = BTreeMap<String, f64>;

/// The evaluations of one training phase, which is a task.
#[derive(Default)]
struct Phase {
    /// Those between its begin and its end.
    within: Vec<Metrics>,
    /// Those between its end and the next phase.
    after: Vec<Metrics>,
    /// How many of those within had been made at the end of each epoch.
    epochs: Vec<usize>,
}

fn parse(text: &str) -> Result<LoggedRun, String> {
    let mut phases: Vec<Phase> = Vec::new();
    let mut training = false;
    for line in text.lines() {
        // A progress bar may stand in front of what is said.
        if line.ends_with(TRAINING) {
            phases.push(Phase::default());
            training = true;
        } else if line.ends_with(TRAINED) {
            training = false;
        } else if let (true, Some(phase)) = (is_epoch(line), phases.last_mut()) {
            phase.epochs.push(phase.within.len());
        } else if let (Some((name, value)), Some(phase)) = (metric(line), phases.last_mut()) {
            let evaluations = if training { &mut phase.within } else { &mut phase.after };
            note(evaluations, name, value);
        }
    }
    if phases.is_empty() {
        return Err(format!("has no line '{TRAINING}'"));
    }
    let mut run = LoggedRun { fraction: true, ..LoggedRun::default() };
    let mut counted = BTreeMap::new();
    for (task, phase) in (1..).zip(phases) {
        for (when, metrics) in evaluations(phase) {
            let step = counted.len() as u64 + 1;
            counted.insert(step, (task, when));
            for (name, value) in metrics {
                run.series.entry(name).or_default().insert(step, value);
            }
        }
    }
    if counted.is_empty() {
        return Err("holds no evaluation of an experience: give the EvaluationPlugin \
                    accuracy_metrics(experience=True), and train() its eval_streams"
            .to_string());
    }
    run.counted = Some(counted);
    Ok(run)
}

/// `Top1_Acc_Exp/eval_phase/test_stream/Task000/Exp000 = 0.9800`, which is indented.
fn metric(line: &str) -> Option<(&str, f64)> {
    let (name, value) = line.strip_prefix('\t')?.split_once(" = ")?;
    let of_one_experience = name.contains("/eval_phase/") && name.contains("/Exp");
    Some((name, value.trim_end().parse().ok()?)).filter(|_| of_one_experience)
}

/// `Epoch 0 ended.`
fn is_epoch(line: &str) -> bool {
    line.starts_with("Epoch ") && line.ends_with(" ended.")
}

/// Metrics come one by one; an experience that is evaluated again begins a new evaluation.
fn note(evaluations: &mut Vec<Metrics>, name: &str, value: f64) {
    match evaluations.last_mut().filter(|last| !last.contains_key(name)) {
        Some(last) => drop(last.insert(name.to_string(), value)),
        None => evaluations.push(Metrics::from([(name.to_string(), value)])),
    }
}

/// The evaluations of a task without the first: Avalanche makes it before the phase begins, when the weights are those at the end of the
/// phase before.
///
/// An evaluation after an epoch is logged below the line of that epoch. One at an iteration comes before the line of its epoch; in that case the
/// one below the last line is at the end of the phase. So are those after it.
fn evaluations(phase: Phase) -> Vec<(When, Metrics)> {
    let at_iterations = phase.epochs.first().is_some_and(|&evaluations| evaluations > 1);
    let all = phase.epochs.len() as u64;
    let mut found: Vec<(When, Metrics)> = Vec::new();
    for (index, metrics) in phase.within.into_iter().enumerate().skip(1) {
        let done = phase.epochs.iter().filter(|&&evaluations| evaluations <= index).count() as u64;
        let when = match (at_iterations, done == all) {
            (true, false) => When::Iterations(found.len() as u64),
            (false, false) => When::Epochs(done, all),
            (false, true) if all > 0 && !found.iter().any(|(when, _)| *when == When::Epochs(all, all)) => {
                When::Epochs(all, all)
            }
            _ => When::End,
        };
        found.push((when, metrics));
    }
    found.extend(phase.after.into_iter().map(|metrics| (When::End, metrics)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluation(accuracy: f64) -> String {
        format!(
            "-- >> Start of eval phase << --\n\
             \tTop1_Acc_Exp/eval_phase/test_stream/Task000/Exp000 = {accuracy:.4}\n\
             -- >> End of eval phase << --\n\
             \tTop1_Acc_Stream/eval_phase/test_stream/Task000 = {accuracy:.4}\n"
        )
    }

    fn found(text: &str) -> Vec<(usize, When, f64)> {
        let run = parse(text).unwrap();
        let series = &run.series["Top1_Acc_Exp/eval_phase/test_stream/Task000/Exp000"];
        let counted = run.counted.unwrap().into_values();
        counted.zip(series.values()).map(|((task, when), value)| (task, when, *value)).collect()
    }

    fn all(values: &[f64]) -> String {
        values.iter().map(|value| evaluation(*value)).collect()
    }

    #[test]
    fn evaluations_at_iterations_come_before_the_line_of_their_epoch() {
        let phase = |before: &[f64], end: f64| {
            format!("{TRAINING}\n{}Epoch 0 ended.\n{}{TRAINED}\n", all(before), evaluation(end))
        };
        let text = phase(&[0.1, 0.5, 0.6], 0.7) + &evaluation(0.7) + &phase(&[0.7, 0.2], 0.8);
        let at = When::Iterations;
        let first = [(1, at(0), 0.5), (1, at(1), 0.6), (1, When::End, 0.7), (1, When::End, 0.7)];
        assert_eq!(found(&text)[..4], first);
        assert_eq!(found(&text)[4..], [(2, at(0), 0.2), (2, When::End, 0.8)]);
    }

    #[test]
    fn evaluations_after_epochs_come_below_their_lines() {
        let epoch = |values: &[f64]| format!("Epoch 0 ended.\n{}", all(values));
        let text = |epochs: &[&[f64]]| {
            let epochs: String = epochs.iter().map(|values| epoch(values)).collect();
            found(&format!("{TRAINING}\n{}{epochs}{TRAINED}\n", evaluation(0.1)))
        };
        let after = When::Epochs;
        assert_eq!(text(&[&[0.5], &[0.6]]), [(1, after(1, 2), 0.5), (1, after(2, 2), 0.6)]);
        // Every second epoch, and at the end; only at the end; an evaluation too many.
        assert_eq!(text(&[&[0.5], &[], &[0.6]]), [(1, after(1, 3), 0.5), (1, after(3, 3), 0.6)]);
        assert_eq!(text(&[&[], &[0.6, 0.6]]), [(1, after(2, 2), 0.6), (1, When::End, 0.6)]);
        // Only by hand, after each task.
        let plain = format!("{TRAINING}\nEpoch 0 ended.\n{TRAINED}\n{}", evaluation(0.9));
        assert_eq!(found(&plain.repeat(2)), [(1, When::End, 0.9), (2, When::End, 0.9)]);
    }

    #[test]
    fn a_log_without_evaluations_says_what_to_do() {
        assert!(parse(&format!("{TRAINING}\n{TRAINED}\n")).unwrap_err().contains("experience=True"));
        assert!(parse("words\n").unwrap_err().contains("Start of training phase"));
    }
}
