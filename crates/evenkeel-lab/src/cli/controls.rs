//! `--control`: which switches get a control, and the experiments that run them.

use std::str::FromStr;

use evenkeel_data::Loaded;

use super::error::BadInput;
use crate::run::prepare::cut;
use crate::run::progress::FetchProgress;
use crate::spec::{CheckedExperiment, Settings};

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

impl Controls {
    /// The experiments, and after them their controls.
    pub(super) fn beside(&self, experiments: &[CheckedExperiment]) -> anyhow::Result<Vec<CheckedExperiment>> {
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
    }
}
