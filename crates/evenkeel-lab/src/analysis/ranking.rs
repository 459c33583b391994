//! Who has the smallest gap, how certain that is, and what it costs: what every page and every terminal begins with.

mod sentences;

use evenkeel_metrics::{Interval, Side, Verdict, holm};
use evenkeel_report::{Cell, Table};
use serde::Serialize;

use super::comparisons::{ALL_SEEN, DECIDES, MINIMUM, NEWEST, evidence};
use super::groups::{Group, Lineup};
use super::measure::Measure;
use super::tables;

/// An optimizer that stays so many percentage points below the best on new tasks learns less than others do: a gap is small, too, where
/// little is learnt. The mean over five seeds of Split MNIST is known to a tenth of this.
const LEARNS_LESS: f64 = 5.0;

/// The optimizers of one protocol, the smallest gap first.
#[derive(Debug, Clone, Serialize)]
pub struct Ranking {
    /// The protocol.
    pub protocol: String,
    /// The answer in a sentence.
    pub verdict: String,
    /// What keeps it from being taken for more than it is.
    pub cautions: Vec<String>,
    /// The optimizers.
    pub rows: Vec<Ranked>,
}

/// One optimizer.
#[derive(Debug, Clone, Serialize)]
pub struct Ranked {
    /// Its name.
    pub name: String,
    /// How many seeds count.
    pub seeds: usize,
    /// Its gap.
    pub gap: Interval,
    /// Lowest accuracy on task 1 after the switches.
    pub minimum: Option<Interval>,
    /// Accuracy on all tasks at the end.
    pub all_seen: Option<Interval>,
    /// Accuracy on each new task at its end.
    pub newest: Option<Interval>,
    /// Whether others learn the new tasks much better.
    pub learns_less: bool,
    /// Seconds of the median run, where they are known.
    // Not in `summary.json`, which is the same for the same runs.
    #[serde(skip)]
    pub seconds: Option<f64>,
    /// Whether the best one's gap is smaller than this one's; nothing for the best.
    pub best_is_smaller: Option<Verdict>,
    /// Its p, adjusted by Holm over all pairs of the lineup: the best was chosen by looking at them.
    pub adjusted_p: Option<f64>,
}

impl Ranking {
    /// Of a lineup; `None` if no group has a gap.
    pub fn of(lineup: &Lineup) -> Option<Self> {
        let gap = Measure::named(DECIDES);
        let mut groups: Vec<(&Group, Interval)> =
            lineup.groups.iter().filter_map(|group| Some((group, group.interval(&gap)?))).collect();
        groups.sort_by(|a, b| a.1.mean.total_cmp(&b.1.mean));
        let verdicts = verdicts(&groups.iter().map(|(group, _)| *group).collect::<Vec<_>>(), &gap);
        let newest = |group: &Group| group.interval(&Measure::named(NEWEST));
        let most = groups.iter().filter_map(|(group, _)| newest(group)).map(|newest| newest.mean);
        let most = most.fold(f64::NEG_INFINITY, f64::max);
        let rows = groups.iter().zip(verdicts).map(|((group, gap), (verdict, adjusted_p))| Ranked {
            name: group.name.clone(),
            seeds: group.seeds(),
            gap: *gap,
            minimum: group.interval(&Measure::named(MINIMUM)),
            all_seen: group.interval(&Measure::named(ALL_SEEN)),
            newest: newest(group),
            learns_less: newest(group).is_some_and(|newest| newest.mean < most - LEARNS_LESS),
            seconds: group.seconds(),
            best_is_smaller: verdict,
            adjusted_p,
        });
        let rows: Vec<Ranked> = rows.collect();
        let best = rows.first()?;
        Some(Self {
            protocol: lineup.label.clone(),
            verdict: sentences::sentence(best, &rows[1..]),
            cautions: sentences::cautions(&rows).into_iter().chain(lineup.sampled()).collect(),
            rows,
        })
    }

    /// As a table for every format.
    pub fn table(&self) -> Table {
        let caption = "Sorted by the stability gap of each seed's own curve: mean over seeds [Student's 95 % interval]. The third column says \
                       whether the gap is certainly larger than the smallest one: a paired test, its p adjusted by Holm over all pairs of \
                       optimizers. Seconds: the median run; they depend on the machine and on what else ran on it.";
        let columns = [
            "optimizer",
            DECIDES,
            "against the best",
            MINIMUM,
            ALL_SEEN,
            NEWEST,
            "s per run",
            "Holm's p",
            "seeds",
        ];
        let mut table = Table::new("ranking", caption, columns);
        table.drawn = Some(1);
        for row in &self.rows {
            table.rows.push(vec![
                Cell::text(&row.name),
                tables::interval(Some(row.gap), 3),
                Cell::text(row.against_best()),
                tables::interval(row.minimum, 2),
                tables::interval(row.all_seen, 2),
                tables::interval(row.newest, 2),
                row.seconds.map_or(Cell::Empty, |seconds| Cell::number(seconds, 1)),
                tables::p_value(row.adjusted_p),
                Cell::number(row.seeds as f64, 0),
            ]);
        }
        table
    }
}

impl Ranking {
    /// As narrow as a terminal.
    pub fn short_table(&self) -> Table {
        let columns = ["optimizer", DECIDES, MINIMUM, ALL_SEEN, "larger gap"];
        let mut table = Table::new("ranking", "", columns);
        let mean = |interval: Option<Interval>| interval.map_or(Cell::Empty, |one| Cell::number(one.mean, 2));
        for row in &self.rows {
            let word = match row.best_is_smaller {
                None => "smallest",
                Some(Verdict::Holds) => "certain",
                Some(Verdict::Contradicted) => "no",
                Some(Verdict::Undecided) => "undecided",
                Some(Verdict::NotTested | Verdict::Identity) => "not tested",
            };
            table.rows.push(vec![
                Cell::text(&row.name),
                tables::interval(Some(row.gap), 3),
                mean(row.minimum),
                mean(row.all_seen),
                Cell::text(word),
            ]);
        }
        table
    }
}

impl Ranked {
    /// The verdict in words.
    fn against_best(&self) -> String {
        let word = match self.best_is_smaller {
            None => "smallest",
            Some(Verdict::Holds) => "larger",
            Some(Verdict::Contradicted) => "smaller",
            Some(Verdict::Undecided) => "undecided",
            Some(Verdict::NotTested | Verdict::Identity) => "not tested",
        };
        if self.learns_less { format!("{word} · learns less") } else { word.to_string() }
    }
}

/// The best against each, in their order, with p adjusted over all pairs.
fn verdicts(groups: &[&Group], gap: &Measure<'_>) -> Vec<(Option<Verdict>, Option<f64>)> {
    let values: Vec<_> = groups.iter().map(|group| group.values(gap).unwrap_or_default()).collect();
    let mut all = Vec::new();
    for (i, first) in groups.iter().enumerate() {
        for (j, second) in groups.iter().enumerate().skip(i + 1) {
            all.push(evidence(&values[i], &values[j], first.pairs_with(second), Side::Less));
        }
    }
    // The pairs of the first group come first.
    let adjusted = holm(&all.iter().map(|one| one.as_ref().and_then(|one| one.p)).collect::<Vec<_>>());
    let others = all.iter().zip(adjusted).take(groups.len().saturating_sub(1));
    let others = others.map(|(one, p)| (Some(Verdict::of(one.as_ref(), p)), p));
    std::iter::once((None, None)).chain(others).take(groups.len()).collect()
}
