//! Groups of runs: seeds that differ in nothing else, and the groups that can be compared with each other.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use evenkeel_metrics::{Curve, Interval, PaperReading, Point};
use evenkeel_report::Style;
use serde::Serialize;

use super::measure::Measure;
use super::noise_floor::Control;
use crate::paper::{self, PaperRow};
use crate::spec::{RunSpec, Settings, optimizers};
use crate::store::recorded::Extra;

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
    pub(super) curve: Option<Curve>,
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
