//! Where runs become groups: seeds that differ in nothing else, and the groups that can be compared with each other.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;

use evenkeel_metrics::{Curve, Interval, PaperReading, Point, Quantity, quantity};
use evenkeel_report::Style;
use serde::Serialize;

use super::left_out::{LeftOut, UNFINISHED};
use super::noise_floor::Control;
use super::run_again;
use crate::paper::{self, PaperRow};
use crate::spec::{Benchmark, RunSpec, Settings, optimizers};
use crate::store::recorded::{Extra, read_extra};
use crate::store::{Status, StoredRun};

/// What a finished seed measured.
#[derive(Debug, Clone)]
pub struct Finished {
    /// The seed.
    pub seed: u64,
    /// Its curve.
    pub curve: Curve,
    /// What else it recorded.
    pub extras: Vec<Extra>,
    /// Seconds that it took, where they are known.
    pub seconds: Option<f64>,
}

/// A seed whose loss became infinite. It is never dropped: it counts as the worst value.
#[derive(Debug, Clone)]
pub struct Diverged {
    /// The seed.
    pub seed: u64,
    /// The curve until then, if there is one.
    curve: Option<Curve>,
}

/// How a number comes from what a seed measured.
pub type Of<'a> = Box<dyn Fn(&Finished) -> Option<f64> + 'a>;

/// A number per seed: a registered quantity, or one that a result needs for itself.
pub struct Measure<'a> {
    /// Its name in tables and files.
    pub name: String,
    /// Decimals that are shown.
    pub digits: usize,
    /// The values that are possible.
    pub range: [f64; 2],
    /// What a diverged seed counts.
    pub worst: Option<f64>,
    /// The number; `None` where the run does not hold what it needs.
    pub of: Of<'a>,
}

impl<'a> Measure<'a> {
    /// A measure of a result's own.
    pub fn new(name: impl Into<String>, digits: usize, of: impl Fn(&Finished) -> Option<f64> + 'a) -> Self {
        let range = [f64::NEG_INFINITY, f64::INFINITY];
        Self { name: name.into(), digits, range, worst: None, of: Box::new(of) }
    }

    /// The registered quantity of that name.
    ///
    /// # Panics
    /// If there is none: the names in the code are tested.
    pub fn named(name: &str) -> Measure<'static> {
        quantity(name).unwrap_or_else(|| panic!("there is no quantity '{name}'")).into()
    }
}

impl From<&'static Quantity> for Measure<'static> {
    fn from(quantity: &'static Quantity) -> Self {
        Self {
            name: quantity.name.to_string(),
            digits: quantity.digits,
            range: quantity.range(),
            worst: quantity.worst,
            of: Box::new(|seed| (quantity.of)(&seed.curve)),
        }
    }
}

/// All seeds of one optimizer under one protocol.
#[derive(Debug, Clone)]
pub struct Group {
    /// The spec of its first seed.
    pub spec: RunSpec,
    /// Its name in tables: the optimizer's, with its parameters where two have the same.
    pub name: String,
    /// The finished seeds, in order.
    pub finished: Vec<Finished>,
    /// The seeds that diverged, in order.
    pub diverged: Vec<Diverged>,
    /// Runs without a switch, to measure the noise floor of its gaps.
    pub controls: Vec<Control>,
    /// Which programs made its runs.
    pub programs: BTreeSet<Program>,
    /// Where its curves come from.
    pub origin: Origin,
}

/// Where the curves of a group come from: it decides which seeds are pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Runs of this program: equal seeds share their data and initial weights.
    Runs,
    /// Files of another program. Equal numbers in their names are equal seeds among themselves, but none of this program's.
    Files {
        /// Whether every name has a number.
        numbered: bool,
    },
}

/// A program that made runs: where the last digits come from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Program {
    /// The commit that it was built from.
    pub commit: String,
    /// Its kernels.
    pub kernels: String,
}

impl Group {
    /// Whether its seeds and those of another group are pairs: both come from the same kind of source, which says what their
    /// seeds are, and they have seeds in common.
    pub fn pairs_with(&self, other: &Self) -> bool {
        let known = match (self.origin, other.origin) {
            (Origin::Runs, Origin::Runs) => true,
            (Origin::Files { numbered: ours }, Origin::Files { numbered: theirs }) => ours && theirs,
            _ => false,
        };
        // Without a common seed a paired test of runs says so; files are then compared as groups.
        let others = other.seed_list();
        let common = self.seed_list().iter().any(|seed| others.contains(seed));
        known && (common || self.origin == Origin::Runs)
    }

    /// Curves of another program carry ρ in their name if they were not evaluated after each iteration.
    pub(super) fn say_interval(&mut self) {
        let interval = self.finished.first().map_or(1, |seed| seed.curve.interval());
        if self.origin != Origin::Runs && interval > 1 {
            let _ = write!(self.name, " (ρ = {interval})");
        }
    }

    /// How many seeds count.
    pub fn seeds(&self) -> usize {
        self.finished.len() + self.diverged.len()
    }

    /// The seeds that count, in order.
    pub fn seed_list(&self) -> Vec<u64> {
        let all =
            self.finished.iter().map(|seed| seed.seed).chain(self.diverged.iter().map(|seed| seed.seed));
        let mut seeds: Vec<u64> = all.collect();
        seeds.sort_unstable();
        seeds
    }

    /// A number of each seed, in the order of the seeds; a diverged seed counts as the worst value. `None` if one has none: leaving it
    /// out would favour a method for the runs in which it failed.
    pub fn values(&self, measure: &Measure<'_>) -> Option<Vec<(u64, f64)>> {
        let finished = self.finished.iter().map(|seed| Some((seed.seed, (measure.of)(seed)?)));
        let diverged = self.diverged.iter().map(|seed| Some((seed.seed, measure.worst?)));
        let mut values: Vec<(u64, f64)> = finished.chain(diverged).collect::<Option<_>>()?;
        values.sort_by_key(|(seed, _)| *seed);
        Some(values).filter(|values| !values.is_empty())
    }

    /// Mean and interval over seeds, within the values that are possible.
    pub fn interval(&self, measure: &Measure<'_>) -> Option<Interval> {
        let values: Vec<f64> = self.values(measure)?.into_iter().map(|(_, value)| value).collect();
        Interval::of(&values).map(|interval| interval.clamped(measure.range))
    }

    /// The paper's reading: metrics of the mean curve over seeds. A diverged seed's accuracy is 0 from then on.
    pub fn paper_reading(&self) -> Option<PaperReading> {
        PaperReading::of(&self.curves()?).ok()
    }

    /// The curves of all seeds; that of a diverged one goes on at 0. `None` if no seed came to its end.
    pub fn curves(&self) -> Option<Vec<Cow<'_, Curve>>> {
        let schedule = &self.finished.first()?.curve;
        let finished = self.finished.iter().map(|seed| Cow::Borrowed(&seed.curve));
        let diverged = self.diverged.iter().filter_map(|seed| seed.padded(schedule)).map(Cow::Owned);
        Some(finished.chain(diverged).collect())
    }

    /// Values of one recorded quantity of each finished seed, as (iteration, task, value).
    pub fn recorded(&self, quantity: &str) -> Vec<Vec<(u64, usize, f64)>> {
        self.finished.iter().map(|seed| seed.recorded(quantity)).collect()
    }

    /// Seconds of the median run: one that shared its cores with others does not count for more.
    pub fn seconds(&self) -> Option<f64> {
        let mut all: Vec<f64> = self.finished.iter().map(|seed| seed.seconds).collect::<Option<_>>()?;
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied()
    }

    /// How it looks in figures: by the place of its optimizer in the list.
    pub fn style(&self) -> Option<Style> {
        let rank = optimizers::rank(&self.spec.optimizer.name);
        (rank < Style::COUNT).then(|| Style::nth(rank))
    }

    /// The published row for this optimizer under this protocol.
    pub fn published(&self) -> Option<PaperRow> {
        paper::comparable(&self.spec)
    }
}

impl Finished {
    /// Values of one recorded quantity, as (iteration, task, value).
    pub fn recorded(&self, quantity: &str) -> Vec<(u64, usize, f64)> {
        let rows = self.extras.iter().filter(|row| row.quantity == quantity);
        rows.map(|row| (row.iteration, row.task, row.value)).collect()
    }
}

impl Diverged {
    fn padded(&self, schedule: &Curve) -> Option<Curve> {
        let known: Vec<Point> = self.curve.iter().flat_map(|curve| curve.points().iter()).collect();
        let rest = schedule.points().iter().skip(known.len());
        let rest = rest.map(|point| Point::new(point.iteration, point.task, 0.0));
        Curve::sampled(known.into_iter().chain(rest).collect(), schedule.interval()).ok()
    }
}

/// The groups that ran under one protocol and can be compared.
#[derive(Debug, Clone)]
pub struct Lineup {
    /// The benchmark.
    pub benchmark: String,
    /// Heading: the benchmark, the buffer if there is one, and ρ if it is not 1.
    pub label: String,
    /// The protocol.
    pub settings: Settings,
    /// The optimizers in the order of `evenkeel list`, others after them.
    pub groups: Vec<Group>,
}

impl Lineup {
    /// The group of an optimizer by its name on the command line, if a seed of it came to an end.
    pub fn find(&self, optimizer: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.spec.optimizer.name == optimizer && group.seeds() > 0)
    }

    /// The groups that have a finished seed.
    pub fn finished(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(|group| !group.finished.is_empty())
    }

    /// The group that the others are compared with: the one that is asked for, else the first.
    pub fn reference(&self, against: Option<&str>) -> Option<&Group> {
        match against {
            Some(name) => {
                self.groups.iter().find(|group| group.spec.optimizer.name == name || group.name == name)
            }
            None => self.groups.first(),
        }
    }

    /// What must stand beside every dip of runs that were not evaluated after each iteration. (Groups of files say it in their names.)
    pub fn sampled(&self) -> Option<String> {
        let ours = self.groups.iter().any(|group| group.origin == Origin::Runs);
        let sampling = self.settings.sampling().filter(|_| ours)?;
        Some(format!(
            "Not evaluated after every iteration ({sampling}): a deeper dip may lie between two evaluations, so gaps are lower and minima \
             upper bounds."
        ))
    }

    /// Number of tasks, by the curves.
    pub fn tasks(&self) -> usize {
        self.finished().map(|group| group.finished[0].curve.tasks()).max().unwrap_or(0)
    }
}

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
