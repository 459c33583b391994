//! Run folders to groups: what is read, what counts, and what is left out and why.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;

use evenkeel_metrics::PaperReading;

use super::groups::{Diverged, Finished, Group, Lineup, Origin, Program};
use super::left_out::{LeftOut, UNFINISHED};
use super::noise_floor::Control;
use super::run_again;
use crate::spec::{Benchmark, RunSpec, optimizers};
use crate::store::recorded::read_extra;
use crate::store::{Status, StoredRun};

/// Runs, grouped.
#[derive(Debug, Default)]
pub struct Runs {
    /// One per protocol, in the order in which the runs are given.
    pub lineups: Vec<Lineup>,
    /// Runs that do not count.
    pub left_out: Vec<LeftOut>,
}

impl Runs {
    /// Reads the curves. Unfinished and damaged runs are named, not counted.
    pub fn load(runs: &[StoredRun]) -> Self {
        let mut all = Self::default();
        let mut counted = HashSet::new();
        // A copy of a run in another folder is not another seed.
        for run in runs.iter().filter(|run| counted.insert(&run.record.id)) {
            all.add(run);
        }
        for lineup in &mut all.lineups {
            // Stable: optimizers that are not registered stay in the order in which they are given.
            lineup.groups.sort_by_key(|group| optimizers::rank(&group.spec.optimizer.name));
            for group in &mut lineup.groups {
                group.finished.sort_by_key(|seed| seed.seed);
                group.diverged.sort_by_key(|seed| seed.seed);
            }
            tell_apart(&mut lineup.groups);
            lineup.groups.iter_mut().for_each(Group::say_interval);
            for group in lineup.groups.iter().filter(|group| group.seeds() == 0) {
                let alone = "it is a control, and the run that it belongs to is not here";
                let alone = |control: &Control| LeftOut::new(&group.spec, control.seed, alone.to_string());
                all.left_out.extend(group.controls.iter().map(alone));
            }
            lineup.groups.retain(|group| group.seeds() > 0);
        }
        all.lineups.retain(|lineup| !lineup.groups.is_empty());
        all.leave_out_strangers();
        all
    }

    fn add(&mut self, run: &StoredRun) {
        let spec = &run.record.spec;
        if let Err(damage) = run.check_files() {
            let command = run_again::commands(&[spec]).join("; ");
            let command = if command.is_empty() { command } else { format!(" ({command})") };
            let reason = format!("{damage}{command}");
            self.left_out.push(LeftOut { damaged: true, ..LeftOut::new(spec, spec.seed, reason) });
            return;
        }
        if let Some((last_task, held_from)) = spec.settings.hold.zip(spec.settings.held_from()) {
            return self.add_control(run, last_task, held_from);
        }
        let group = self.group_of(spec);
        let reason = match &run.record.status {
            Status::Unfinished => UNFINISHED.to_string(),
            Status::Diverged { .. } => {
                let curve = run.growing_curve().ok();
                group.diverged.push(Diverged { seed: spec.seed, curve });
                group.programs.extend(Program::of(run));
                return;
            }
            Status::Done => match (run.curve(), read_extra(&run.extra_path())) {
                (Ok(curve), Ok(extras)) => {
                    let seconds = Some(run.record.seconds);
                    group.finished.push(Finished { seed: spec.seed, curve, extras, seconds });
                    group.programs.extend(Program::of(run));
                    return;
                }
                (Err(error), _) => error.to_string(),
                (_, Err(error)) => format!("{}: {error}", run.extra_path().display()),
            },
        };
        let damaged = run.record.status == Status::Done;
        self.left_out.push(LeftOut { damaged, ..LeftOut::new(spec, spec.seed, reason) });
    }

    fn add_control(&mut self, run: &StoredRun, last_task: usize, held_from: u64) {
        let spec = &run.record.spec;
        let reason = match &run.record.status {
            Status::Unfinished => UNFINISHED.to_string(),
            Status::Diverged { .. } => {
                format!(
                    "the control of {last_task}→{} diverged: this switch has no noise floor",
                    last_task + 1
                )
            }
            Status::Done => match run.curve() {
                Ok(curve) => {
                    let group = self.group_of(&spec.without_hold());
                    group.controls.push(Control { last_task, seed: spec.seed, held_from, curve });
                    group.programs.extend(Program::of(run));
                    return;
                }
                Err(error) => error.to_string(),
            },
        };
        let damaged = run.record.status == Status::Done;
        self.left_out.push(LeftOut { damaged, ..LeftOut::new(spec, spec.seed, reason) });
    }

    fn group_of(&mut self, spec: &RunSpec) -> &mut Group {
        let protocol = spec.protocol();
        let of_lineup =
            |lineup: &Lineup| lineup.groups.first().is_some_and(|group| group.spec.protocol() == protocol);
        let index = self.lineups.iter().position(of_lineup).unwrap_or_else(|| {
            self.lineups.push(Lineup {
                benchmark: spec.benchmark.clone(),
                label: label(spec),
                settings: spec.settings.clone(),
                groups: Vec::new(),
            });
            self.lineups.len() - 1
        });
        let groups = &mut self.lineups[index].groups;
        let recorded = spec.is_recorded();
        let known = groups.iter().position(|group| group.spec.optimizer == spec.optimizer);
        let index = known.unwrap_or_else(|| {
            groups.push(Group {
                spec: spec.clone(),
                name: spec.optimizer.shown(),
                finished: vec![],
                diverged: vec![],
                controls: vec![],
                programs: BTreeSet::new(),
                origin: if recorded { Origin::Files { numbered: true } } else { Origin::Runs },
            });
            groups.len() - 1
        });
        &mut groups[index]
    }

    /// Seeds whose curve was evaluated at other iterations than the first of its group cannot be averaged with it.
    fn leave_out_strangers(&mut self) {
        for group in self.lineups.iter_mut().flat_map(|lineup| &mut lineup.groups) {
            let Some(first) = group.finished.first().map(|seed| &seed.curve) else { continue };
            let fits = |seed: &Finished| PaperReading::of(&[first, &seed.curve]).map(drop);
            let mut verdicts = group.finished.iter().map(fits).collect::<Vec<_>>().into_iter();
            let (spec, left_out) = (&group.spec, &mut self.left_out);
            group.finished.retain(|seed| match verdicts.next().expect("one for each seed") {
                Ok(()) => true,
                Err(error) => {
                    left_out.push(LeftOut::new(spec, seed.seed, error.to_string()));
                    false
                }
            });
        }
        for lineup in &mut self.lineups {
            lineup.groups.retain(|group| group.seeds() > 0);
        }
        self.lineups.retain(|lineup| !lineup.groups.is_empty());
    }

    /// Whether a run that had ended is not counted because a file of it is no longer what it was.
    pub fn damaged(&self) -> bool {
        self.left_out.iter().any(|run| run.damaged)
    }

    /// Every program that made one of the runs.
    pub fn programs(&self) -> BTreeSet<Program> {
        self.lineups
            .iter()
            .flat_map(|lineup| &lineup.groups)
            .flat_map(|group| group.programs.clone())
            .collect()
    }
}

impl Program {
    /// `None` for curves that another program recorded.
    fn of(run: &StoredRun) -> Option<Self> {
        let record = &run.record;
        if record.spec.is_recorded() {
            return None;
        }
        let mut commit = if record.commit.is_empty() { "unknown" } else { &record.commit }.to_string();
        if !record.begun_by.is_empty() {
            commit = format!("{commit} (begun by {})", record.begun_by.join(", "));
        }
        Some(Self { commit, kernels: record.machine.kernels.clone() })
    }
}

/// Configurations of one optimizer get their parameters into their names.
fn tell_apart(groups: &mut [Group]) {
    let names: Vec<String> = groups.iter().map(|group| group.name.clone()).collect();
    for (group, name) in groups.iter_mut().zip(&names) {
        if names.iter().filter(|other| *other == name).count() > 1 {
            group.name = format!("{name} {}", group.spec.optimizer);
        }
    }
}

fn label(spec: &RunSpec) -> String {
    let mut label = Benchmark::shown(&spec.benchmark);
    if let Some(buffer) = spec.settings.replay {
        let _ = write!(label, ", buffer {buffer}");
    }
    // The dips of a sampled curve are others than those of a whole one: wherever a number has a name, it says so.
    if let Some(sampling) = spec.settings.sampling() {
        let _ = write!(label, ", {sampling}");
    }
    label
}
