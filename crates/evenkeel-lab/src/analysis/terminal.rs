//! The analysis as text: tables for people, JSON, CSV and Markdown for programs and papers.

use std::fmt::Write as _;

use clap::ValueEnum;
use comfy_table::{CellAlignment, TableStyle, presets};
use evenkeel_metrics::QUANTITIES;
use evenkeel_report::Table;

use super::left_out::LeftOut;
use super::noise_floor;
use super::own_curves;
use super::ranking::Ranking;
use super::runs::Runs;
use super::summary::Summary;
use super::tables;
use crate::columns::{self, wrapped};

/// Output format of `evenkeel metrics`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Aligned columns for a terminal.
    Table,
    /// The whole summary.
    Json,
    /// One line per optimizer, both readings.
    Csv,
    /// Tables for a README or an issue.
    Markdown,
}

/// The analysis of some runs in that format, with a final newline.
pub fn render(runs: &Runs, against: Option<&str>, format: Format) -> String {
    match format {
        Format::Json => {
            let summary = Summary::of(runs, against);
            let mut json = serde_json::to_string_pretty(&summary).expect("a summary is plain data");
            json.push('\n');
            json
        }
        Format::Csv => csv(runs),
        Format::Table => text(runs, against, columns::width()),
        Format::Markdown => tables(runs, against, presets::ASCII_MARKDOWN),
    }
}

/// For people: the answer of each lineup, then the tables that it rests on, no line longer than the terminal.
fn text(runs: &Runs, against: Option<&str>, width: usize) -> String {
    let mut text = String::new();
    for lineup in &runs.lineups {
        for table in tables::all(std::slice::from_ref(lineup), against) {
            let caption = wrapped(&format!("{}: {}", lineup.label, table.caption), width, 0);
            let _ = writeln!(text, "{caption}\n\n{}", columns::table(&table, width));
        }
    }
    // Last, where it stays on the screen.
    for ranking in runs.lineups.iter().filter_map(Ranking::of) {
        let _ = writeln!(text, "{}", columns::table(&ranking.short_table(), width));
        let answer = format!("{}: {}", ranking.protocol, ranking.verdict);
        for sentence in std::iter::once(&answer).chain(&ranking.cautions) {
            let _ = writeln!(text, "{}", wrapped(sentence, width, 0));
        }
    }
    for warning in notes(runs) {
        let _ = writeln!(text, "{}", wrapped(&warning, width, 2));
    }
    text
}

fn tables(runs: &Runs, against: Option<&str>, style: TableStyle) -> String {
    let mut text = String::new();
    for lineup in &runs.lineups {
        for table in tables::all(std::slice::from_ref(lineup), against) {
            let _ = writeln!(text, "{}: {}\n\n{}", lineup.label, table.caption, aligned(&table, style));
        }
    }
    for warning in notes(runs) {
        let _ = writeln!(text, "{warning}");
    }
    text
}

/// What a reader must know beside the numbers: runs that are not counted, and programs that are mixed.
pub fn notes(runs: &Runs) -> Vec<String> {
    let mut notes = LeftOut::sentences(&runs.left_out);
    notes.extend(mixed(runs));
    notes
}

/// What is odd about the runs that are counted.
pub fn mixed(runs: &Runs) -> Vec<String> {
    let mut notes = Vec::new();
    for lineup in &runs.lineups {
        notes.extend(lineup.groups.iter().filter_map(own_curves::sparse_note));
        let programs: std::collections::BTreeSet<_> =
            lineup.groups.iter().flat_map(|group| &group.programs).collect();
        if programs.len() > 1 {
            let names: Vec<String> = programs
                .iter()
                .map(|program| format!("{} kernels of commit {}", program.kernels, program.commit))
                .collect();
            notes.push(format!(
                "{}: runs of {} programs in one table: {}",
                lineup.label,
                programs.len(),
                names.join("; ")
            ));
        }
    }
    notes
}

/// Columns aligned, numbers to the right: their digits line up.
fn aligned(table: &Table, style: TableStyle) -> String {
    let mut text = comfy_table::Table::new();
    text.load_style(style).set_header(table.columns.clone());
    for row in &table.rows {
        let cells = row.iter().map(evenkeel_report::Cell::shown);
        let filled = cells.chain(std::iter::repeat("–".to_string())).take(table.columns.len());
        text.add_row(filled.collect::<Vec<_>>());
    }
    let numeric: Vec<bool> = (0..table.columns.len()).map(|column| table.is_numeric(column)).collect();
    for (column, numeric) in text.column_iter_mut().zip(numeric) {
        if numeric {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!("{text}\n")
}

fn csv(runs: &Runs) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |record: Vec<String>| writer.write_record(record).expect("memory does not fail");
    let mut header: Vec<String> =
        ["benchmark", "optimizer", "parameters", "seeds", "diverged"].map(String::from).to_vec();
    for metric in ["avg-ACC", "avg-min-ACC", "WC-ACC", "avg-SG"] {
        header.extend([format!("mean-curve {metric}"), format!("mean-curve {metric} ±")]);
    }
    for quantity in QUANTITIES {
        header.extend(["", " low", " high"].map(|end| format!("{}{end}", quantity.name)));
    }
    for reading in ["SG", "control SG", "excess SG"] {
        header.extend(["", " low", " high"].map(|end| format!("{reading} {}{end}", noise_floor::ALL)));
    }
    write(header);
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    for (lineup, group) in
        runs.lineups.iter().flat_map(|lineup| lineup.groups.iter().map(move |g| (lineup, g)))
    {
        let optimizer = &group.spec.optimizer;
        let mut record = vec![lineup.label.clone(), optimizer.name.clone(), optimizer.to_string()];
        record.extend([group.seeds(), group.diverged.len()].map(|n| n.to_string()));
        let reading = group.paper_reading();
        let estimates = [
            reading.as_ref().map(|r| r.avg_acc),
            reading.as_ref().map(|r| r.avg_min_acc),
            reading.as_ref().map(|r| r.wc_acc),
            reading.as_ref().and_then(|r| r.avg_sg),
        ];
        for estimate in estimates {
            record.extend([number(estimate.map(|e| e.mean)), number(estimate.map(|e| e.pm))]);
        }
        for quantity in QUANTITIES {
            let interval = group.interval(&quantity.into());
            let ci = interval.and_then(|interval| interval.ci95);
            record.push(number(interval.map(|interval| interval.mean)));
            record.extend([0, 1].map(|i| number(ci.map(|ci| ci[i]))));
        }
        let floor = noise_floor::floors(group).into_iter().find(|floor| floor.switch == noise_floor::ALL);
        for interval in [
            floor.as_ref().map(|floor| floor.sg),
            floor.as_ref().map(|floor| floor.control),
            floor.as_ref().map(|floor| floor.excess.interval),
        ] {
            let ci = interval.and_then(|interval| interval.ci95);
            record.push(number(interval.map(|interval| interval.mean)));
            record.extend([0, 1].map(|i| number(ci.map(|ci| ci[i]))));
        }
        write(record);
    }
    String::from_utf8(writer.into_inner().expect("memory does not fail")).expect("text in, text out")
}
