//! Beyond the paper: every rule that could be used instead.

use evenkeel_report::figure::{ErrorPoint, Scatter};
use evenkeel_report::{Axis, Cell, Figure, Panel, Table};

use super::{Page, Result, self_tuned};
use crate::analysis::comparisons::{ALL_SEEN, DECIDES};
use crate::analysis::figures::{point, series};
use crate::analysis::{Group, Lineup, Measure, Runs, tables};
use crate::spec::optimizers::{Price, price};

pub(super) const RESULT: Result = Result::of_runs(
    "rivals",
    "not in the paper",
    "NGM-SGD and our own optimizer against everything else",
    include_str!("rivals.rs"),
    page,
    include_str!("../../tuned/rivals.toml"),
);

/// What the table shows beside gap and price.
const SHOWN: [&str; 6] = [ALL_SEEN, "online", "first 50", "time to learn", "newest task", "avg-min-ACC"];

fn page(runs: &Runs) -> Page {
    Page {
        paragraphs: vec![
            "Every rule had the same budget on each stream: seven learning rates in half decades around its default, all on seed 1000 and the best \
             third of them on seeds 1000 to 1002 (200 test images per task), scored by the accuracy on all seen tasks at the end less 100 times \
             the gap. The table has the chosen values. Its seeds are others. EvenKeel was tuned for no stream: it has one setting for all \
             benchmarks, which was fixed on the same tuning seeds beforehand."
                .to_string(),
            "A rule that hardly learns has no gap, and is no answer: read gap and accuracy together. An oracle is told of the switch or \
             draws from the old data."
                .to_string(),
        ],
        claims: runs.lineups.iter().flat_map(self_tuned::against_everybody).collect(),
        tables: std::iter::once(prices(&runs.lineups)).chain(tables::beside_claims(&runs.lineups)).collect(),
        figures: runs.lineups.iter().map(figure).collect(),
    }
}

fn of_group(group: &Group) -> Option<Price> {
    price(&group.spec.optimizer.name)
}

/// What each rule gives, and what it costs.
fn prices(lineups: &[Lineup]) -> Table {
    let columns = ["benchmark", "optimizer", "lr", "gradients", "copies", "oracle", "seeds", DECIDES];
    let caption = "What each rule gives and costs: the learning rate, gradients per step, copies of the weights beside those that are \
                   trained; mean over seeds [Student's 95 % interval]; sorted by the gap.";
    let mut table = Table::new("prices", caption, columns.into_iter().chain(SHOWN));
    for lineup in lineups {
        let gap = |group: &Group| group.interval(&Measure::named(DECIDES));
        let mut groups: Vec<&Group> = lineup.finished().collect();
        let mean = |group: &Group| gap(group).map_or(f64::INFINITY, |gap| gap.mean);
        groups.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
        for group in groups {
            let price = of_group(group);
            let count =
                |of: fn(&Price) -> u8| price.as_ref().map_or(Cell::Empty, |p| Cell::number(of(p).into(), 0));
            let oracle = price.is_some_and(|price| price.oracle);
            let mut row = vec![
                Cell::text(&lineup.label),
                Cell::text(&group.name),
                group.spec.optimizer.number("lr").map_or(Cell::Empty, |lr| Cell::text(lr.to_string())),
                count(|price| price.gradients),
                count(|price| price.copies),
                if oracle { Cell::text("yes") } else { Cell::Empty },
                Cell::number(group.seeds() as f64, 0),
                tables::interval(gap(group), 3),
            ];
            row.extend(SHOWN.iter().map(|name| {
                let measure = Measure::named(name);
                let digits = measure.digits;
                tables::interval(group.interval(&measure), digits)
            }));
            table.rows.push(row);
        }
    }
    table
}

/// All rules in one plane; those on the front are named in the caption.
fn figure(lineup: &Lineup) -> Figure {
    let points: Vec<(&Group, ErrorPoint)> =
        lineup.finished().filter_map(|group| Some((group, priced(group)?))).collect();
    let on_front = |point: &ErrorPoint| {
        points.iter().all(|(_, other)| {
            other.x > point.x || other.y < point.y || (other.x >= point.x && other.y <= point.y)
        })
    };
    let front: Vec<&str> =
        points.iter().filter(|(_, point)| on_front(point)).map(|(group, _)| group.name.as_str()).collect();
    let mut figure =
        Figure::new(format!("pareto {}", lineup.label), format!("Gap against accuracy, {}", lineup.label), 1);
    figure.caption = format!(
        "Gap of each seed's own curve against accuracy on all tasks at the end; mean and Student's 95 % interval. Good is top left. \
         (×2): gradients per step; *: oracle. Nobody is better in both than {}.",
        front.join(", ")
    );
    let series = points.into_iter().map(|(group, point)| series(group, point));
    let plot = Scatter { series: series.collect(), ..Scatter::default() };
    let (x, y) = (Axis::new(format!("stability gap, {DECIDES}")), Axis::new(format!("{ALL_SEEN}, %")));
    figure.panels.push(Panel::new(lineup.label.clone(), x, y, plot));
    figure
}

/// The point of a rule, its price beside its name.
fn priced(group: &Group) -> Option<ErrorPoint> {
    let mut point = point(group)?;
    if let Some(Price { gradients, oracle, .. }) = of_group(group) {
        let cost = if gradients > 1 { format!(" (×{gradients})") } else { String::new() };
        let oracle = if oracle { "*" } else { "" };
        point.label = format!("{}{oracle}{cost}", point.label);
    }
    Some(point)
}
