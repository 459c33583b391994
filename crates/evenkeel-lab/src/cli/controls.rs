//! `--control`: which switches get a control, and the experiments that run them.

use std::fmt;
use std::str::FromStr;

use evenkeel_data::Loaded;

use super::error::BadInput;
use crate::run::prepare::cut;
use crate::run::progress::FetchProgress;
use crate::spec::{CheckedExperiment, Settings};

/// What `run` and `reproduce` have in common.
#[derive(clap::Args)]
pub(super) struct WithControls {
    /// Also run controls without a switch, which measure the noise floor: for each switch a run that trains on with the data it has seen, for
    /// as long as the next task lasts [default: every switch; `--control=1,2`: those after tasks 1 and 2].
    #[arg(long, value_name = "TASKS", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    pub(super) control: Option<Controls>,
}

impl WithControls {
    /// The experiments, and after them their controls, if they were asked for.
    pub(super) fn beside(
        &self,
        experiments: Vec<CheckedExperiment>,
    ) -> anyhow::Result<Vec<CheckedExperiment>> {
        match &self.control {
            None => Ok(experiments),
            Some(controls) => controls.beside(&experiments),
        }
    }
}

/// The switches that get a control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Controls {
    /// Every one.
    All,
    /// Those after these tasks.
    After(Vec<usize>),
}

impl FromStr for Controls {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self::All);
        }
        let tasks: Result<Vec<usize>, _> = text.split(',').map(|task| task.trim().parse()).collect();
        match tasks {
            Ok(mut tasks) if !tasks.contains(&0) => {
                tasks.sort_unstable();
                tasks.dedup();
                Ok(Self::After(tasks))
            }
            _ => Err("expected tasks from 1, such as 1,2: each switch after one of them gets a control"
                .to_string()),
        }
    }
}

/// As on the command line.
impl fmt::Display for Controls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("--control"),
            Self::After(tasks) => {
                let tasks: Vec<String> = tasks.iter().map(usize::to_string).collect();
                write!(f, "--control={}", tasks.join(","))
            }
        }
    }
}

impl Controls {
    /// The experiments, and after them their controls.
    fn beside(&self, experiments: &[CheckedExperiment]) -> anyhow::Result<Vec<CheckedExperiment>> {
        let mut all = experiments.to_vec();
        for experiment in experiments {
            if experiment.settings.hold.is_some() {
                return Err(BadInput(
                    "--control: the experiment has hold, so it is a control itself".to_string(),
                )
                .into());
            }
            let after = match self {
                Self::After(tasks) => tasks.clone(),
                Self::All => (1..tasks(experiment)?).collect(),
            };
            for last in after {
                let mut control = (**experiment).clone();
                control.settings.hold = Some(last);
                all.push(control.check()?);
            }
        }
        Ok(all)
    }
}

/// Number of tasks; asks the data where the settings do not tell.
fn tasks(experiment: &CheckedExperiment) -> anyhow::Result<usize> {
    let settings: &Settings = &experiment.settings;
    if let Some(order) = &settings.task_order {
        return Ok(order.len());
    }
    let known = settings.stream.tasks(evenkeel_data::classes(&settings.data).unwrap_or(0));
    if known > 0 {
        return Ok(known);
    }
    let seed = experiment.seeds.first().copied().unwrap_or(0);
    let data: Loaded =
        evenkeel_data::load_with(&settings.data, &settings.data_options, &mut FetchProgress::default())?;
    Ok(cut(settings, seed, data)?.stream.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Experiment;

    #[test]
    fn every_switch_or_the_named_ones_get_a_control() {
        let experiment = Experiment::named("split-digits").unwrap().check().unwrap();
        let held = |controls: &str| -> Vec<Option<usize>> {
            let controls: Controls = controls.parse().unwrap();
            let all = controls.beside(std::slice::from_ref(&experiment)).unwrap();
            all.iter().map(|experiment| experiment.settings.hold).collect()
        };
        assert_eq!(held("all"), [None, Some(1), Some(2), Some(3), Some(4)]);
        assert_eq!(held("2,1,2"), [None, Some(1), Some(2)]);
        assert!("0".parse::<Controls>().is_err() && "x".parse::<Controls>().is_err());
        let said = |controls: &str| controls.parse::<Controls>().unwrap().to_string();
        assert_eq!([said("all"), said("2,1")], ["--control", "--control=1,2"]);
    }
}
