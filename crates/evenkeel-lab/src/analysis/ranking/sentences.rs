//! The ranking in words.

use std::fmt::Write as _;

use evenkeel_metrics::{Interval, Verdict};
use evenkeel_report::Cell;

use super::{DECIDES, LEARNS_LESS, Ranked};

/// More names than this are counted, not listed.
const MOST_NAMES: usize = 4;

fn shown(interval: &Interval, digits: usize) -> String {
    Cell::interval(interval.mean, interval.ci95, digits).shown()
}

pub(super) fn sentence(best: &Ranked, others: &[Ranked]) -> String {
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

pub(super) fn cautions(rows: &[Ranked]) -> Vec<String> {
    let most = rows.iter().filter_map(|row| Some((row, row.newest?.mean)));
    let most = most.max_by(|a, b| a.1.total_cmp(&b.1));
    let (Some(best), Some((learner, most))) = (rows.first(), most) else { return Vec::new() };
    let (true, Some(newest)) = (best.learns_less, best.newest) else { return Vec::new() };
    let mut text = format!(
        "{} learns less: {:.1} % on the newest task, where {} reaches {most:.1} %. What changes little forgets little.",
        best.name, newest.mean, learner.name
    );
    match rows.iter().find(|row| !row.learns_less) {
        Some(next) if next.name != learner.name => {
            let _ = write!(
                text,
                " Of those within {LEARNS_LESS} points of {}, {} has the smallest gap ({DECIDES} {}).",
                learner.name,
                next.name,
                shown(&next.gap, 3)
            );
        }
        Some(next) => {
            let _ = write!(text, " The gap of {} is larger ({DECIDES} {}).", next.name, shown(&next.gap, 3));
        }
        None => {}
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
            cautions[0].ends_with("The gap of b is larger (avg-SG 0.020 [0.020, 0.020])."),
            "{cautions:?}"
        );
        assert_eq!(super::cautions(&rows[1..]), Vec::<String>::new());
    }
}
