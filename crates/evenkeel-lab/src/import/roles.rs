//! Which series of a log is what.

use std::path::Path;

use super::{ImportError, LoggedRun};

/// The names of the series that make a curve.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Roles {
    /// The accuracy on the test sets of task 1, 2, …
    pub accuracy: Vec<String>,
    /// The loss on the test set of task 1.
    pub loss: Option<String>,
    /// The accuracy on everything seen so far.
    pub seen: Option<String>,
    /// The training loss.
    pub train_loss: Option<String>,
    /// The task that is being trained.
    pub task: Option<String>,
}

impl Roles {
    /// What the user says, and beside it what names tell: those that Avalanche and this program give, or that of the only series.
    pub fn complete(&self, run: &LoggedRun, path: &Path) -> Result<Self, ImportError> {
        let mut roles = self.clone();
        if roles.accuracy.is_empty() {
            let only = || match &run.series.keys().collect::<Vec<_>>()[..] {
                [only] => vec![(*only).clone()],
                _ => vec![],
            };
            let known = [avalanche(run), ours(run), Self { accuracy: only(), ..Self::default() }];
            let known = known.into_iter().find(|known| !known.accuracy.is_empty()).ok_or_else(|| {
                let message = format!(
                    "which series is the accuracy on the test set of task 1? Say it with --accuracy; there are {}",
                    listed(run)
                );
                ImportError::new(path, message)
            })?;
            roles.accuracy = known.accuracy;
            roles.loss = roles.loss.or(known.loss);
            roles.seen = roles.seen.or(known.seen);
            roles.train_loss = roles.train_loss.or(known.train_loss);
            roles.task = roles.task.or(known.task);
        }
        let others = [&roles.loss, &roles.seen, &roles.train_loss, &roles.task].into_iter().flatten();
        let missing = roles.accuracy.iter().chain(others).find(|name| !run.series.contains_key(*name));
        if let Some(name) = missing {
            let message = format!("{}: there is no series '{name}'; there are {}", run.name, listed(run));
            return Err(ImportError::new(path, message));
        }
        Ok(roles)
    }
}

/// `Top1_Acc_Exp/eval_phase/test_stream/Task000/Exp000` and its kin; in CSV files `eval_accuracy/Exp000`.
fn avalanche(run: &LoggedRun) -> Roles {
    let of = |kinds: [&str; 2], experience: usize| {
        let end = format!("/Exp{experience:03}");
        let fits = |name: &&String| {
            name.ends_with(&end)
                && kinds.iter().any(|kind| name.starts_with(kind))
                && !name.contains("/train_phase/")
        };
        // Validation streams have such names, too.
        let mut names: Vec<&String> = run.series.keys().filter(fits).collect();
        names.sort_by_key(|name| !name.contains("/test_stream/"));
        names.first().map(|name| (*name).clone())
    };
    let accuracy = (0..).map_while(|experience| of(["Top1_Acc_Exp/", "eval_accuracy/"], experience));
    Roles { accuracy: accuracy.collect(), loss: of(["Loss_Exp/", "eval_loss/"], 0), ..Roles::default() }
}

/// What `evenkeel export --tensorboard` writes.
fn ours(run: &LoggedRun) -> Roles {
    let there = |name: &str| run.series.contains_key(name).then(|| name.to_string());
    Roles {
        accuracy: (1..).map_while(|task| there(&format!("task{task}/accuracy"))).collect(),
        loss: there("task1/loss"),
        seen: there("seen/accuracy"),
        train_loss: there("train/loss"),
        task: there("train/task"),
    }
}

/// The names of the series, as many as fit on a line.
fn listed(run: &LoggedRun) -> String {
    const SHOWN: usize = 12;
    let mut names: Vec<&str> = run.series.keys().map(String::as_str).take(SHOWN).collect();
    let rest = run.series.len().saturating_sub(SHOWN);
    let more = format!("{rest} more (--list shows all)");
    if rest > 0 {
        names.push(&more);
    }
    if names.is_empty() { "none".to_string() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(names: &[&str]) -> LoggedRun {
        let series = names.iter().map(|name| (name.to_string(), [(1, 0.5)].into())).collect();
        LoggedRun { name: "x".into(), series, ..LoggedRun::default() }
    }

    fn accuracy(said: &[&str], names: &[&str]) -> Result<Vec<String>, String> {
        let said = Roles { accuracy: said.iter().map(ToString::to_string).collect(), ..Roles::default() };
        said.complete(&run(names), Path::new("log")).map(|r| r.accuracy).map_err(|e| e.to_string())
    }

    #[test]
    fn names_are_known_or_said_or_asked_for() {
        let test =
            |experience: usize| format!("Top1_Acc_Exp/eval_phase/test_stream/Task000/Exp{experience:03}");
        let valid = test(0).replace("test_stream", "a_stream");
        assert_eq!(accuracy(&[], &[&test(1), &valid, &test(0)]).unwrap(), [test(0), test(1)]);
        assert_eq!(accuracy(&[], &["task1/accuracy", "train/task"]).unwrap(), ["task1/accuracy"]);
        assert_eq!(accuracy(&[], &["acc"]).unwrap(), ["acc"]);
        assert_eq!(accuracy(&["b", "a"], &["a", "b"]).unwrap(), ["b", "a"]);
        let error = accuracy(&[], &["a", "b"]).unwrap_err();
        assert!(
            error.starts_with("log: which series") && error.ends_with("--accuracy; there are a, b"),
            "{error}"
        );
        assert!(accuracy(&["c"], &["a", "b"]).unwrap_err().contains("no series 'c'; there are a, b"));
    }
}
