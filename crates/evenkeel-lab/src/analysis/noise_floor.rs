//! The gap beyond the noise floor: each switch against a control that trains on without one.

use evenkeel_metrics::noise_floor::{gap_after, loss_rise_after};
use evenkeel_metrics::{
    Curve, Evidence, Interval, MeanCurve, Metrics, RECOVERED_FRACTION, Side, Verdict, gaps, holm, stats,
};
use evenkeel_report::{Cell, Table};
use serde::Serialize;

use super::groups::{Group, Lineup};
use super::tables;

/// A run without its switch: it has trained on with what it had seen, for as long as the next task would have lasted.
#[derive(Debug, Clone)]
pub struct Control {
    /// Which task was the last to come: the control of the switch to the one after it.
    pub last_task: usize,
    /// The seed.
    pub seed: u64,
    /// The iteration after which the switch would have come.
    pub held_from: u64,
    /// Its curve.
    pub curve: Curve,
}

/// A switch of one optimizer, beside its control.
#[derive(Debug, Clone, Serialize)]
pub struct Floor {
    /// The switch, as 1→2; all of them for their mean.
    pub switch: String,
    /// The seeds that have both.
    pub seeds: Vec<u64>,
    /// SG of task 1 at the switch, each seed's own.
    pub sg: Interval,
    /// The same statistic of the control.
    pub control: Interval,
    /// Their difference, paired by seed, and what it says of the gap being above the floor.
    pub excess: Evidence,
    /// SG and that of the control on the mean curves over seeds, as the paper reads them.
    pub mean_curve: Option<[f64; 2]>,
    /// The values of each seed.
    #[serde(skip)]
    pub values: Vec<Pair>,
}

/// A seed with its gap and that of its control.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    /// The seed.
    pub seed: u64,
    /// Its gap.
    pub sg: f64,
    /// Its control's.
    pub control: f64,
}

impl Pair {
    /// What the gap is beyond the floor.
    pub fn excess(&self) -> f64 {
        self.sg - self.control
    }
}

/// The values that a gap can have.
const POSSIBLE: [f64; 2] = [f64::NEG_INFINITY, 1.0];

/// What all switches together are called.
pub const ALL: &str = "all";

/// The switches of a group that have controls, then their mean if all have. A seed that diverged counts as a gap of 1 if its control did
/// not; one whose control diverged has no floor.
pub fn floors(group: &Group) -> Vec<Floor> {
    let Some(tasks) = group.finished.first().map(|seed| seed.curve.tasks()) else { return Vec::new() };
    let pairs: Vec<Vec<Pair>> = (1..tasks).map(|last| pairs(group, last)).collect();
    let mut floors: Vec<Floor> = (1..tasks)
        .zip(&pairs)
        .filter_map(|(last, pairs)| {
            let mean_curve = mean_curve(group, last, pairs);
            floor(format!("{last}→{}", last + 1), pairs.clone(), mean_curve)
        })
        .collect();
    if floors.len() > 1 && floors.len() == tasks - 1 {
        let both: Option<Vec<[f64; 2]>> = floors.iter().map(|floor| floor.mean_curve).collect();
        let mean =
            |both: &[[f64; 2]], i: usize| both.iter().map(|one| one[i]).sum::<f64>() / both.len() as f64;
        let mean_curve = both.map(|both| [mean(&both, 0), mean(&both, 1)]);
        floors.extend(floor(ALL.to_string(), means(&pairs), mean_curve));
    }
    floors
}

fn floor(switch: String, values: Vec<Pair>, mean_curve: Option<[f64; 2]>) -> Option<Floor> {
    let of = |value: fn(&Pair) -> f64| values.iter().map(value).collect::<Vec<f64>>();
    Some(Floor {
        switch,
        seeds: values.iter().map(|pair| pair.seed).collect(),
        sg: Interval::of(&of(|pair| pair.sg))?.clamped(POSSIBLE),
        control: Interval::of(&of(|pair| pair.control))?.clamped(POSSIBLE),
        excess: Evidence::of(&of(Pair::excess), Side::More)?,
        mean_curve,
        values,
    })
}

/// The seeds of a group that have a control for the switch after a task.
fn pairs(group: &Group, last_task: usize) -> Vec<Pair> {
    let controls = group.controls.iter().filter(|control| control.last_task == last_task);
    let mut pairs: Vec<Pair> = controls
        .filter_map(|control| {
            let finished = group.finished.iter().find(|seed| seed.seed == control.seed);
            let diverged = group.diverged.iter().any(|seed| seed.seed == control.seed);
            let sg = match finished {
                Some(seed) => Metrics::of(&seed.curve).ok()?.sg.get(last_task - 1).copied().flatten()?,
                None if diverged => 1.0,
                None => return None,
            };
            Some(Pair { seed: control.seed, sg, control: gap_after(&control.curve, control.held_from)? })
        })
        .collect();
    pairs.sort_by_key(|pair| pair.seed);
    pairs
}

/// The mean over all switches of each seed that has all of them.
fn means(pairs: &[Vec<Pair>]) -> Vec<Pair> {
    let Some(first) = pairs.first() else { return Vec::new() };
    let mean = |seed: u64| {
        let own: Vec<Pair> = pairs
            .iter()
            .map(|switch| switch.iter().find(|pair| pair.seed == seed).copied())
            .collect::<Option<_>>()?;
        let mean = |of: fn(&Pair) -> f64| own.iter().map(of).sum::<f64>() / own.len() as f64;
        Some(Pair { seed, sg: mean(|pair| pair.sg), control: mean(|pair| pair.control) })
    };
    first.iter().filter_map(|pair| mean(pair.seed)).collect()
}

/// Both on the mean curves over the same seeds.
fn mean_curve(group: &Group, last_task: usize, pairs: &[Pair]) -> Option<[f64; 2]> {
    let has = |seed: u64| pairs.iter().any(|pair| pair.seed == seed);
    let runs: Vec<&Curve> =
        group.finished.iter().filter(|seed| has(seed.seed)).map(|seed| &seed.curve).collect();
    let controls: Vec<_> =
        group.controls.iter().filter(|control| control.last_task == last_task && has(control.seed)).collect();
    if runs.len() != controls.len() {
        return None;
    }
    let held: Vec<&Curve> = controls.iter().map(|control| &control.curve).collect();
    let sg = Metrics::of(&MeanCurve::of(&runs).ok()?.curve).ok()?.sg.get(last_task - 1).copied().flatten()?;
    Some([sg, gap_after(&MeanCurve::of(&held).ok()?.curve, controls.first()?.held_from)?])
}

/// A switch of an optimizer of a lineup, beside its control.
type Row<'a> = (&'a Lineup, &'a Group, Floor);

/// Every switch that has controls, with its verdict; `None` without any.
pub fn table(lineups: &[Lineup]) -> Option<Table> {
    let (mut table, all) = excess_table(lineups)?;
    table.caption += " One curve gives one verdict: on the mean over all switches where each has a control; p is adjusted by Holm over this \
                      table.";
    // The switches of an optimizer whose mean is tested are not tested one by one.
    let whole = |name: &str| all.iter().any(|(_, group, floor)| group.name == name && floor.switch == ALL);
    let tested = |group: &Group, floor: &Floor| floor.switch == ALL || !whole(&group.name);
    let p = |(_, group, floor): &Row<'_>| floor.excess.p.filter(|_| tested(group, floor));
    let adjusted = holm(&all.iter().map(p).collect::<Vec<_>>());
    table.columns.extend(["Holm's p", "above the floor"].map(String::from));
    for ((row, (_, group, floor)), adjusted) in table.rows.iter_mut().zip(&all).zip(adjusted) {
        let verdict = Verdict::of(Some(&floor.excess), adjusted).word();
        let verdict = if tested(group, floor) { verdict } else { "" };
        row.extend([tables::p_value(adjusted), Cell::text(verdict)]);
    }
    Some(table)
}

/// The same without verdicts, beside claims that have them.
pub fn without_verdicts(lineups: &[Lineup]) -> Option<Table> {
    let (mut table, _) = excess_table(lineups)?;
    table.caption += " What is certain of it stands in the table of claims.";
    Some(table)
}

fn excess_table(lineups: &[Lineup]) -> Option<(Table, Vec<Row<'_>>)> {
    let all: Vec<Row<'_>> = lineups
        .iter()
        .flat_map(|lineup| lineup.groups.iter().map(move |group| (lineup, group)))
        .flat_map(|(lineup, group)| floors(group).into_iter().map(move |floor| (lineup, group, floor)))
        .collect();
    if all.is_empty() {
        return None;
    }
    let caption = "The gap beyond the noise floor. The control of a switch is the same run, trained on with the data that it had seen for as \
                   long as the next task lasts; its SG is what the minimum over so many evaluations falls by itself. Excess = SG − SG of \
                   the control, paired by seed: mean and Student's 95 % interval. The last two numbers are of the mean curves over seeds, \
                   as the paper reads them.";
    let columns =
        ["switch", "seeds", "SG", "SG of the control", "excess", "mean-curve SG", "mean-curve control"];
    let columns = columns.map(String::from);
    let mut table =
        Table::new("noise-floor", tables::caption(caption, lineups), tables::columns(lineups, columns));
    for (lineup, group, floor) in &all {
        let mut row = tables::start(lineups, lineup, group);
        row.extend([Cell::text(&floor.switch), Cell::number(floor.seeds.len() as f64, 0)]);
        row.extend([tables::interval(Some(floor.sg), 3), tables::interval(Some(floor.control), 3)]);
        row.push(tables::difference(Some(&floor.excess), 3));
        row.extend([0, 1].map(|i| floor.mean_curve.map_or(Cell::Empty, |both| Cell::number(both[i], 3))));
        table.rows.push(row);
    }
    Some((table, all))
}

/// How much more the task-1 loss rises after a switch than without it: of each seed that has the controls, the mean over the switches
/// that have any. Nothing if a seed has no such number: leaving it out would favour the runs that failed.
pub fn loss_rises(group: &Group) -> Vec<(u64, f64)> {
    let mut seeds: Vec<u64> = group.controls.iter().map(|control| control.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let rises = seeds.iter().map(|&seed| Some((seed, loss_rise(group, seed)?)));
    rises.collect::<Option<_>>().unwrap_or_default()
}

fn loss_rise(group: &Group, seed: u64) -> Option<f64> {
    let run = group.finished.iter().find(|finished| finished.seed == seed)?;
    let switches = gaps(&run.curve, RECOVERED_FRACTION);
    let controls = group.controls.iter().filter(|control| control.seed == seed);
    let beyond: Vec<f64> = controls
        .map(|control| {
            let spike = switches.get(control.last_task - 1)?.loss_spike?;
            Some(spike - loss_rise_after(&control.curve, control.held_from)?)
        })
        .collect::<Option<_>>()?;
    Some(stats::mean(&beyond))
}
