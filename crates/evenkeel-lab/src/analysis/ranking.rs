//! Who has the smallest gap, how certain that is, and what it costs: what every page and every terminal begins with.

use evenkeel_metrics::{Interval, Side, Verdict, holm};
use evenkeel_report::{Cell, Table};
use serde::Serialize;

use super::comparisons::{DECIDES, evidence};
use super::groups::{Group, Lineup, Measure};
use super::tables;

/// An optimizer that stays so many percentage points below the best on new tasks learns less than others do: a gap is small, too, where
/// little is learnt. The mean over five seeds of Split MNIST is known to a tenth of this.
const LEARNS_LESS: f64 = 5.0;

/// More names than this are counted, not listed.
const MOST_NAMES: usize = 4;

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
        let newest = |group: &Group| group.interval(&Measure::named("newest task"));
        let most = groups.iter().filter_map(|(group, _)| newest(group)).map(|newest| newest.mean);
        let most = most.fold(f64::NEG_INFINITY, f64::max);
        let rows = groups.iter().zip(verdicts).map(|((group, gap), (verdict, adjusted_p))| Ranked {
            name: group.name.clone(),
            seeds: group.seeds(),
            gap: *gap,
            minimum: group.interval(&Measure::named("avg-min-ACC")),
            all_seen: group.interval(&Measure::named("all seen")),
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
            verdict: sentence(best, &rows[1..]),
            cautions: cautions(&rows),
            rows,
        })
    }

    /// As a table for every format.
    pub fn table(&self) -> Table {
        let caption = "Sorted by the stability gap of each seed's own curve: mean over seeds [Student's 95 % interval]. The third column says \
                       whether the gap is larger than the smallest one: a paired test, its p adjusted by Holm over all pairs of \
                       optimizers. Seconds: the median run; they depend on the machine and on what else ran on it.";
        let columns = [
            "optimizer",
            DECIDES,
            "against the best",
            "avg-min-ACC",
            "all seen",
            "newest task",
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
        let columns = ["optimizer", DECIDES, "avg-min-ACC", "all seen", "larger gap"];
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
            Some(Verdict::Holds) => "certainly larger",
            Some(Verdict::Contradicted) => "smaller on common seeds",
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

fn shown(interval: &Interval, digits: usize) -> String {
    Cell::interval(interval.mean, interval.ci95, digits).shown()
}

fn sentence(best: &Ranked, others: &[Ranked]) -> String {
    let seeds = if best.seeds == 1 { "1 seed".to_string() } else { format!("{} seeds", best.seeds) };
    let gap = format!("{DECIDES} {}, {seeds}", shown(&best.gap, 3));
    if others.is_empty() {
        return format!("{} has a stability gap of {gap}; nothing ran to compare it with.", best.name);
    }
    let start = format!("{} has the smallest stability gap ({gap})", best.name);
    let of = |verdict: Verdict| -> Vec<&str> {
        let those = others.iter().filter(|row| row.best_is_smaller == Some(verdict));
        those.map(|row| row.name.as_str()).collect()
    };
    let all = |names: &[&str]| names.len() == others.len() && names.len() > 1;
    let mut parts = Vec::new();
    for (verdict, words) in [
        (Verdict::Holds, "certainly smaller than that of"),
        (Verdict::Undecided, "undecided against"),
        (Verdict::Contradicted, "larger on the common seeds than that of"),
        (Verdict::NotTested, "not tested against"),
    ] {
        let names = of(verdict);
        if all(&names) {
            parts.push(format!("{words} all {} others", names.len()));
        } else if !names.is_empty() {
            parts.push(format!("{words} {}", listed(&names)));
        }
    }
    let why = if of(Verdict::NotTested).len() == others.len() {
        " (a test needs three seeds that both have)"
    } else {
        ""
    };
    format!("{start}: {}{why}.", parts.join("; "))
}

fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_string(),
        [first @ .., last] if names.len() <= MOST_NAMES => format!("{} and {last}", first.join(", ")),
        _ => format!("{} and {} more", names[..MOST_NAMES - 1].join(", "), names.len() + 1 - MOST_NAMES),
    }
}

fn cautions(rows: &[Ranked]) -> Vec<String> {
    let most = rows.iter().filter_map(|row| Some((row, row.newest?.mean)));
    let most = most.max_by(|a, b| a.1.total_cmp(&b.1));
    let (Some(best), Some((learner, most))) = (rows.first(), most) else { return Vec::new() };
    let (true, Some(newest)) = (best.learns_less, best.newest) else { return Vec::new() };
    let mut text = format!(
        "{} learns less: {:.1} % on the newest task, where {} reaches {most:.1} %. What changes little forgets little.",
        best.name, newest.mean, learner.name
    );
    if let Some(next) = rows.iter().find(|row| !row.learns_less) {
        text += &format!(
            " Of those within {LEARNS_LESS} points of {}, {} has the smallest gap ({DECIDES} {}).",
            learner.name,
            next.name,
            shown(&next.gap, 3)
        );
    }
    vec![text]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(name: &str, gap: f64, newest: f64, verdict: Option<Verdict>) -> Ranked {
        let interval = |value: f64| Interval::of(&[value, value, value]).unwrap();
        Ranked {
            name: name.to_string(),
            seeds: 3,
            gap: interval(gap),
            minimum: None,
            all_seen: None,
            newest: Some(interval(newest)),
            learns_less: newest < 90.0,
            seconds: None,
            best_is_smaller: verdict,
            adjusted_p: None,
        }
    }

    #[test]
    fn the_sentence_says_what_is_certain_and_what_is_not() {
        let best = ranked("a", 0.01, 95.0, None);
        let others = [
            ranked("b", 0.02, 95.0, Some(Verdict::Undecided)),
            ranked("c", 0.03, 95.0, Some(Verdict::Holds)),
            ranked("d", 0.04, 95.0, Some(Verdict::Holds)),
        ];
        let start = "a has the smallest stability gap (avg-SG 0.010 [0.010, 0.010], 3 seeds): ";
        assert_eq!(
            sentence(&best, &others),
            format!("{start}certainly smaller than that of c and d; undecided against b.")
        );
        assert_eq!(sentence(&best, &others[..1]), format!("{start}undecided against b."));
        assert_eq!(
            sentence(&best, &others[1..]),
            format!("{start}certainly smaller than that of all 2 others.")
        );
        assert!(sentence(&best, &[]).ends_with("nothing ran to compare it with."));
    }

    #[test]
    fn a_winner_that_hardly_learns_is_called_so() {
        let rows = [ranked("a", 0.01, 70.0, None), ranked("b", 0.02, 95.0, Some(Verdict::Holds))];
        let cautions = cautions(&rows);
        assert!(
            cautions[0].starts_with("a learns less: 70.0 % on the newest task, where b reaches 95.0 %."),
            "{cautions:?}"
        );
        assert!(
            cautions[0].ends_with("b has the smallest gap (avg-SG 0.020 [0.020, 0.020])."),
            "{cautions:?}"
        );
        assert_eq!(super::cautions(&rows[1..]), Vec::<String>::new());
    }
}
