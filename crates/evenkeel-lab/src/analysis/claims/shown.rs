//! Judged claims as a page shows them: tables, first paragraphs, and a file for other programs.

use evenkeel_metrics::{Side, Verdict};
use evenkeel_report::{Cell, Table};

use super::{Basis, Judged, count};
use crate::analysis::tables::p_value;

impl Judged {
    /// The number that decides, with its interval.
    pub fn number(&self) -> Cell {
        match (&self.claim.basis, self.evidence) {
            (Basis::Seeds(test), Some(evidence)) => {
                let (mean, digits) = (evidence.interval.mean, test.digits);
                match evidence.interval.ci95 {
                    Some([low, high]) => Cell::Interval { mean, low, high, digits, signed: true },
                    None => Cell::difference(mean, digits),
                }
            }
            (Basis::Exact(_, cell) | Basis::Identity(_, cell), _) => cell.clone(),
            _ => Cell::Empty,
        }
    }

    /// What is measured, in words.
    pub fn measured(&self) -> String {
        match &self.claim.basis {
            Basis::Seeds(test) => {
                let against = test.b.as_ref().map_or(String::new(), |b| format!(" − {b}"));
                let side = match test.side {
                    Side::Less => "less".to_string(),
                    Side::More => "more".to_string(),
                    Side::Below(threshold) => format!("below {threshold}"),
                    Side::Above(threshold) => format!("above {threshold}"),
                    Side::Within(margin) => format!("within ±{margin}"),
                    Side::NotBelow(margin) => format!("within ±{margin}, better allowed"),
                };
                let (n, quantity) = (test.values.len(), &test.quantity);
                format!("{quantity}: {}{against} ({side}; {n} seeds)", test.a)
            }
            Basis::Exact(..) => "computed, without chance".to_string(),
            Basis::Identity(holds, _) => {
                if *holds { "true by construction" } else { "BROKEN: the code disagrees with its equation" }
                    .to_string()
            }
            Basis::Nothing(why) => why.clone(),
        }
    }
}

/// The claims as a table; identities stand in one of their own.
pub fn tables(judged: &[Judged]) -> Vec<Table> {
    let caption = "What the paper says and what our numbers say. Differences are over the same seeds with Student's 95 % interval; p is \
                   that of the two-sided test, Holm's p is adjusted over the claims of this page, and below 0.05 it decides. \"ours\": \
                   the paper does not say it of this benchmark. The last column is what the paper's own table says, where it has one.";
    let columns = [
        "claim",
        "benchmark",
        "in the paper",
        "verdict",
        "evidence",
        "p",
        "Holm's p",
        "what is measured",
        "the paper's table",
    ];
    let mut tested = Table::new("claims", caption, columns);
    let mut identities = Table::new(
        "identities",
        "True by construction: code against its own equation, or algebra. They check the program, not the paper, and are not counted.",
        ["identity", "benchmark", "in the paper", "number", "check"],
    );
    for one in judged {
        let claim = &one.claim;
        let place = match (claim.of_paper, claim.place.as_str()) {
            (true, place) => place.to_string(),
            (false, "") => "ours".to_string(),
            (false, place) => format!("ours (the paper: {place})"),
        };
        if one.verdict == Verdict::Identity {
            let words = [&claim.text, &claim.lineup, &place].map(|text| Cell::text(text.as_str()));
            identities
                .rows
                .push(words.into_iter().chain([one.number(), Cell::text(one.measured())]).collect());
            continue;
        }
        let says = |says: bool| Cell::text(if says { "agrees" } else { "contradicts it" });
        tested.rows.push(vec![
            Cell::text(&claim.text),
            Cell::text(&claim.lineup),
            Cell::text(place),
            Cell::text(one.verdict.word()),
            one.number(),
            p_value(one.evidence.and_then(|evidence| evidence.p)),
            p_value(one.adjusted),
            Cell::text(one.measured()),
            claim.table.map_or(Cell::Empty, says),
        ]);
    }
    [tested, identities].into_iter().filter(|table| !table.rows.is_empty()).collect()
}

/// What the page says first: how many claims there are, and each that our numbers contradict.
pub fn paragraphs(judged: &[Judged]) -> Vec<String> {
    if judged.is_empty() {
        return Vec::new();
    }
    let identities = count(judged, Verdict::Identity);
    let counted = judged.len() - identities;
    let counts = Verdict::ALL.iter().filter(|verdict| **verdict != Verdict::Identity);
    let counts: Vec<String> =
        counts.map(|verdict| format!("{} {}", count(judged, *verdict), verdict.plural())).collect();
    let beside =
        if identities > 0 { format!(" ({identities} identities are not counted)") } else { String::new() };
    let mut paragraphs = vec![format!("Of {counted} claims: {}{beside}.", counts.join(", "))];
    for one in judged.iter().filter(|one| one.verdict == Verdict::Contradicted) {
        let whose =
            if one.claim.of_paper { one.claim.place.clone() } else { "ours, not the paper's".to_string() };
        paragraphs.push(format!(
            "Contradicted ({whose}): \"{}\" on {}. {} = {}.",
            one.claim.text,
            one.claim.lineup,
            one.measured(),
            one.number().shown()
        ));
    }
    for one in judged.iter().filter(|one| one.claim.table == Some(false)) {
        paragraphs.push(format!(
            "The paper's own table contradicts its text ({}): \"{}\" on {}.",
            one.claim.place, one.claim.text, one.claim.lineup
        ));
    }
    paragraphs
}

/// The claims with every digit, so that another program can judge them again from the values of the seeds.
pub fn to_csv(judged: &[Judged]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = [
        "claim", "of_paper", "place", "lineup", "quantity", "a", "b", "side", "margin", "seeds", "mean",
        "low", "high", "p", "holm_p", "verdict",
    ];
    let mut write = |record: Vec<String>| writer.write_record(record).expect("memory does not fail");
    write(header.map(String::from).to_vec());
    for one in judged {
        let claim = &one.claim;
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        let mut record =
            vec![claim.text.clone(), claim.of_paper.to_string(), claim.place.clone(), claim.lineup.clone()];
        match &claim.basis {
            Basis::Seeds(test) => {
                let (side, margin) = match test.side {
                    Side::Less => ("less", None),
                    Side::More => ("more", None),
                    Side::Below(threshold) => ("below", Some(threshold)),
                    Side::Above(threshold) => ("above", Some(threshold)),
                    Side::Within(margin) => ("within", Some(margin)),
                    Side::NotBelow(margin) => ("not-below", Some(margin)),
                };
                let seeds: Vec<String> = test.values.iter().map(|value| value.seed.to_string()).collect();
                record.extend([test.quantity.clone(), test.a.clone(), test.b.clone().unwrap_or_default()]);
                record.extend([side.to_string(), number(margin), seeds.join(" ")]);
            }
            _ => record.extend(vec![String::new(); 6]),
        }
        let interval = one.evidence.map(|evidence| evidence.interval);
        record.push(number(interval.map(|interval| interval.mean)));
        record.extend([0, 1].map(|i| number(interval.and_then(|interval| interval.ci95).map(|ci| ci[i]))));
        record.push(number(one.evidence.and_then(|evidence| evidence.p)));
        record.push(number(one.adjusted));
        record.push(one.verdict.word().to_string());
        write(record);
    }
    String::from_utf8(writer.into_inner().expect("memory does not fail")).expect("text in, text out")
}
