//! Figure 7: the gain at switches and over tasks.

use evenkeel_data::ScenarioType;
use evenkeel_metrics::Side;
use evenkeel_report::figure::{ErrorPoint, Scatter, ScatterSeries};
use evenkeel_report::{Axis, Cell, Figure, Panel, Table};

use super::measures::{early_gain, gain_level, mean_gain, slope};
use super::{Page, Result};
use crate::analysis::claims::Claim;
use crate::analysis::mean_curves::{BAND, tidy};
use crate::analysis::{Group, Lineup, Measure, Runs, tables};
use crate::paper::gain_slope;

pub(super) const RESULT: Result = Result::of_runs(
    "gain-complexity",
    "Figure 7",
    "gain at switches, mean gain of the first three tasks and its slope",
    include_str!("gain_complexity.rs"),
    page,
    r#"
# Figure 7: the mean gain of the first three tasks.
optimizers = ["ngm-sgd"]
seeds = 5
benchmarks = ["split-mnist", "rotated-mnist", "split-cifar10", "domain-cifar100", "split-mini-imagenet"]
"#,
);

/// The paper fits the first three tasks.
const TASKS: usize = 3;

/// A slope within this is "a similar level": half of the smallest slope that the paper calls an increase (0.136).
const SIMILAR: f64 = 0.068;

fn page(runs: &Runs) -> Page {
    let pairs: Vec<(&Lineup, &Group)> =
        runs.lineups.iter().filter_map(|lineup| Some((lineup, lineup.find("ngm-sgd")?))).collect();
    Page {
        paragraphs: vec![
            "The mean of NGM-SGD's gain over all iterations of a task, for the first three tasks, and the slope of a line fitted \
             through the three means: of each seed, then averaged. The mean over a whole task contains its start, which in task 1 is \
             the start of training; the level over the last 50 iterations of each task does not, and stands beside it."
                .to_string(),
        ],
        claims: pairs.iter().flat_map(|(lineup, group)| claims(lineup, group)).collect(),
        tables: vec![table(&pairs)],
        figures: vec![figure(&pairs)],
    }
}

/// Slope over the first three tasks of whatever `of` says of a task.
fn trend(name: &str, of: fn(&evenkeel_metrics::Curve, usize) -> Option<f64>) -> Measure<'_> {
    Measure::new(name, 4, move |seed| {
        let values: Option<Vec<f64>> = (1..=TASKS).map(|k| of(&seed.curve, k)).collect();
        values.map(|values| slope(&values))
    })
}

fn whole_tasks() -> Measure<'static> {
    trend("slope of the mean gain over tasks 1–3", mean_gain)
}

fn levels() -> Measure<'static> {
    trend("slope of the gain over the last 50 iterations of tasks 1–3", gain_level)
}

fn claims(lineup: &Lineup, group: &Group) -> Vec<Claim> {
    let claim = |id: &str, text: String, side: Side, measure: &Measure<'_>| {
        Claim::of_group(id, lineup, text, group, side, measure)
    };
    let mut claims = Vec::new();
    for k in 1..=lineup.tasks() {
        if k > 1 {
            let rise = Measure::new(
                format!("gain early in task {k} − at the end of task {}", k - 1),
                3,
                move |seed| Some(early_gain(&seed.curve, k)? - gain_level(&seed.curve, k - 1)?),
            );
            claims.push(claim(
                "gain-rises-at-switch",
                format!("the gain rises after the switch to task {k}"),
                Side::More,
                &rise,
            ));
        }
        let fall = Measure::new(format!("gain at the end of task {k} − early in it"), 3, move |seed| {
            Some(gain_level(&seed.curve, k)? - early_gain(&seed.curve, k)?)
        });
        claims.push(claim(
            "gain-decays-within-task",
            format!("the gain decays within task {k}"),
            Side::Less,
            &fall,
        ));
    }
    let table = gain_slope(&lineup.benchmark);
    if lineup.settings.stream.scenario() == ScenarioType::ClassIncremental {
        for k in 1..lineup.tasks() {
            let step =
                Measure::new(format!("level of the gain in task {} − in task {k}", k + 1), 3, move |seed| {
                    Some(gain_level(&seed.curve, k + 1)? - gain_level(&seed.curve, k)?)
                });
            let text = format!("the gain decays to a higher level in task {} than in task {k}", k + 1);
            claims.push(claim("gain-baseline-rises-class", text, Side::More, &step));
        }
        let text = "the mean gain over the first three tasks has a positive slope".to_string();
        claims.push(
            claim("gain-slope-positive-class", text, Side::More, &whole_tasks())
                .with_table(table.map(|slope| slope > 0.0)),
        );
        let bend = Measure::new("change of the level, tasks 3 to 5 − tasks 1 to 3", 3, |seed| {
            let level = |k: usize| gain_level(&seed.curve, k);
            Some((level(5)? - level(3)?) - (level(3)? - level(1)?))
        });
        let text = "the level of the gain changes less in later tasks".to_string();
        claims.push(claim("gain-late-tasks-change-less", text, Side::Less, &bend));
    } else {
        let text = "the gain decays to a similar level in every task".to_string();
        claims.push(claim("gain-level-similar-domain", text, Side::Within(SIMILAR), &levels()));
        let text = "the mean gain over the first three tasks has a negative slope".to_string();
        claims.push(
            claim("gain-slope-negative-domain", text, Side::Less, &whole_tasks())
                .with_table(table.map(|slope| slope < 0.0)),
        );
    }
    claims
}

fn table(pairs: &[(&Lineup, &Group)]) -> Table {
    let mut table = Table::new(
        "gain",
        "Mean gain of each task, the slope of its linear fit beside the paper's, and the same for the level over the last 50 iterations of \
         each task; Student's 95 % intervals.",
        [
            "benchmark",
            "seeds",
            "task 1",
            "task 2",
            "task 3",
            "slope",
            "slope in the paper",
            "level 1",
            "level 2",
            "level 3",
            "slope of the level",
        ],
    );
    let of_task = |of: fn(&evenkeel_metrics::Curve, usize) -> Option<f64>, k: usize| {
        Measure::new("gain", 3, move |seed| of(&seed.curve, k))
    };
    for (lineup, group) in pairs {
        let mut row = vec![Cell::text(&lineup.label), Cell::number(group.seeds() as f64, 0)];
        row.extend((1..=TASKS).map(|k| tables::interval(group.interval(&of_task(mean_gain, k)), 3)));
        row.push(tables::interval(group.interval(&whole_tasks()), 4));
        row.push(gain_slope(&lineup.benchmark).map_or(Cell::Empty, |slope| Cell::number(slope, 4)));
        row.extend((1..=TASKS).map(|k| tables::interval(group.interval(&of_task(gain_level, k)), 3)));
        row.push(tables::interval(group.interval(&levels()), 4));
        table.rows.push(row);
    }
    table
}

fn figure(pairs: &[(&Lineup, &Group)]) -> Figure {
    let mut figure = Figure::new("gain-across-tasks", "Mean gain of the first three tasks", 2);
    figure.caption = format!("NGM-SGD; {BAND}.");
    for scenario in [ScenarioType::ClassIncremental, ScenarioType::DomainIncremental] {
        let mut scatter = Scatter::default();
        for (lineup, group) in
            pairs.iter().filter(|(lineup, _)| lineup.settings.stream.scenario() == scenario)
        {
            let point = |k: usize| {
                let gain = group.interval(&Measure::new("gain", 3, move |seed| mean_gain(&seed.curve, k)))?;
                let (y, y_error) = (tidy(gain.mean), gain.standard_error().map(tidy));
                Some(ErrorPoint { x: k as f64, y, y_error, ..ErrorPoint::default() })
            };
            scatter.series.push(ScatterSeries {
                name: lineup.label.clone(),
                points: (1..=TASKS).filter_map(point).collect(),
                joined: true,
                ..ScatterSeries::default()
            });
        }
        if !scatter.series.is_empty() {
            let (x, y) = (Axis::new("task"), Axis::new("mean gain"));
            figure.panels.push(Panel::new(scenario.to_string(), x, y, scatter));
        }
    }
    figure
}
