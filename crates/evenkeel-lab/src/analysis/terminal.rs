//! A summary as text: a table for people, JSON, CSV and Markdown for programs and papers.

use std::fmt::Write as _;

use clap::ValueEnum;
use comfy_table::{CellAlignment, Table, TableStyle, presets};
use evenkeel_metrics::{Estimate, PairedDifference, Summary as Interval};

use super::summary::{Row, Summary};

/// Output format of `evenkeel metrics`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Aligned columns for a terminal.
    Table,
    /// The whole summary.
    Json,
    /// One line a row, both readings.
    Csv,
    /// Tables for a README or an issue.
    Markdown,
}

/// The summary in that format, with a final newline.
pub fn render(summary: &Summary, format: Format) -> String {
    match format {
        Format::Json => {
            let mut json = serde_json::to_string_pretty(summary).expect("a summary is plain data");
            json.push('\n');
            json
        }
        Format::Csv => csv(summary),
        Format::Table => tables(summary, presets::UTF8_HORIZONTAL_ONLY),
        Format::Markdown => tables(summary, presets::ASCII_MARKDOWN),
    }
}

const DASH: &str = "–";

fn plus_minus(estimate: Option<&Estimate>, digits: usize) -> String {
    estimate.map_or(DASH.into(), |e| format!("{:.digits$} ± {:.digits$}", e.mean, e.pm))
}

fn interval(summary: Option<&Interval>, digits: usize) -> String {
    summary.map_or(DASH.into(), |s| match s.ci95 {
        Some([low, high]) => format!("{:.digits$} [{low:.digits$}, {high:.digits$}]", s.mean),
        None => format!("{:.digits$}", s.mean),
    })
}

fn difference(difference: Option<&PairedDifference>, digits: usize) -> String {
    difference.map_or(DASH.into(), |d| {
        let [low, high] = d.ci95;
        format!("{:+.digits$} [{low:+.digits$}, {high:+.digits$}]", d.mean)
    })
}

fn new_table(preset: TableStyle, header: Vec<String>) -> Table {
    let mut table = Table::new();
    table.load_style(preset).set_header(header);
    table
}

/// Numbers to the right: their digits line up.
fn finish(mut table: Table, text_columns: usize) -> String {
    for column in table.column_iter_mut().skip(text_columns) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!("{table}\n")
}

fn tables(summary: &Summary, preset: TableStyle) -> String {
    let mut text = String::new();
    let mut benchmarks: Vec<&str> = summary.rows.iter().map(|row| row.benchmark.as_str()).collect();
    benchmarks.dedup();
    for benchmark in benchmarks {
        let rows: Vec<&Row> = summary.rows.iter().filter(|row| row.benchmark == benchmark).collect();
        let title = if benchmark.is_empty() { "curves" } else { benchmark };
        let _ = writeln!(
            text,
            "{title}: task-1 test accuracy, minimum on the mean curve over seeds, ± as in the paper\n"
        );
        text += &paper_reading(&rows, preset);
        let _ = writeln!(
            text,
            "\n{title}: minimum of each seed's own curve, mean and 95 % interval (Student's t)\n"
        );
        text += &per_seed_reading(&rows, preset);
        let _ = writeln!(text, "\n{title}: what else happened (means over seeds and transitions)\n");
        text += &beyond(&rows, preset);
        let comparisons: Vec<_> = summary.comparisons.iter().filter(|c| c.benchmark == benchmark).collect();
        if let Some(first) = comparisons.first() {
            let title =
                format!("{} minus the others on the same seeds, 95 % paired bootstrap", first.optimizer);
            let _ = writeln!(text, "\n{title}\n");
            let header = ["against", "seeds", "avg-ACC", "avg-min-ACC", "avg-SG"];
            let mut table = new_table(preset, header.map(String::from).to_vec());
            for c in comparisons {
                table.add_row([
                    c.against.clone(),
                    c.avg_acc.n.to_string(),
                    difference(Some(&c.avg_acc), 2),
                    difference(Some(&c.avg_min_acc), 2),
                    difference(c.avg_sg.as_ref(), 3),
                ]);
            }
            text += &finish(table, 1);
        }
        text.push('\n');
    }
    for left_out in &summary.left_out {
        let _ =
            writeln!(text, "not counted: {} seed {}: {}", left_out.optimizer, left_out.seed, left_out.reason);
    }
    text
}

fn transitions(rows: &[&Row]) -> usize {
    rows.iter().map(|row| row.sg_per_transition.len()).max().unwrap_or(0)
}

fn paper_reading(rows: &[&Row], preset: TableStyle) -> String {
    let mut header: Vec<String> =
        ["optimizer", "", "avg-ACC", "avg-min-ACC", "WC-ACC", "avg-SG"].map(String::from).to_vec();
    let transitions = transitions(rows);
    header.extend((1..=transitions).map(|k| format!("SG {k}→{}", k + 1)));
    let mut table = new_table(preset, header);
    for row in rows {
        let seeds = if row.seeds == 1 { "1 seed".to_string() } else { format!("{} seeds", row.seeds) };
        let mut ours = vec![
            row.optimizer.clone(),
            seeds,
            plus_minus(Some(&row.avg_acc), 2),
            plus_minus(Some(&row.avg_min_acc), 2),
            plus_minus(Some(&row.wc_acc), 2),
            plus_minus(row.avg_sg.as_ref(), 3),
        ];
        ours.extend(row.sg_per_transition.iter().map(|sg| plus_minus(sg.as_ref(), 3)));
        table.add_row(ours);
        if let Some(paper) = &row.paper {
            let mut published = vec![
                String::new(),
                "paper".to_string(),
                plus_minus(Some(&paper.avg_acc), 2),
                plus_minus(Some(&paper.avg_min_acc), 2),
                plus_minus(Some(&paper.wc_acc), 2),
                plus_minus(Some(&paper.avg_sg), 3),
            ];
            published.extend((0..transitions).map(|k| plus_minus(paper.sg_per_transition.get(k), 3)));
            table.add_row(published);
        }
    }
    finish(table, 2)
}

fn per_seed_reading(rows: &[&Row], preset: TableStyle) -> String {
    let header = ["optimizer", "avg-ACC", "avg-min-ACC", "WC-ACC", "avg-SG"];
    let mut table = new_table(preset, header.map(String::from).to_vec());
    for row in rows {
        let p = &row.per_seed;
        table.add_row([
            row.optimizer.clone(),
            interval(Some(&p.avg_acc), 2),
            interval(Some(&p.avg_min_acc), 2),
            interval(Some(&p.wc_acc), 2),
            interval(p.avg_sg.as_ref(), 3),
        ]);
    }
    finish(table, 1)
}

fn beyond(rows: &[&Row], preset: TableStyle) -> String {
    let all_task = rows.iter().any(|row| row.all_task.is_some());
    let mut header: Vec<String> =
        ["optimizer", "new-task ACC", "all-seen ACC", "gap width", "recovery", "recovered", "loss spike"]
            .map(String::from)
            .to_vec();
    if all_task {
        header.extend(["all-task min-ACC", "all-task WC-ACC"].map(String::from));
    }
    let mut table = new_table(preset, header);
    for row in rows {
        let recovery = &row.gap.recovery;
        let mut cells = vec![
            row.optimizer.clone(),
            interval(row.new_task_acc.as_ref(), 2),
            interval(row.seen_acc.as_ref(), 2),
            format!("{:.1}", row.gap.width.mean),
            recovery.mean.map_or(DASH.into(), |mean| format!("{mean:.1}")),
            format!("{}/{}", recovery.recovered, recovery.of),
            row.gap.loss_spike.as_ref().map_or(DASH.into(), |spike| format!("{:.3}", spike.mean)),
        ];
        if all_task {
            cells.push(interval(row.all_task.as_ref().map(|a| &a.min_acc), 2));
            cells.push(interval(row.all_task.as_ref().map(|a| &a.wc_acc), 2));
        }
        table.add_row(cells);
    }
    finish(table, 1)
}

fn csv(summary: &Summary) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut header = vec!["benchmark".to_string(), "optimizer".into(), "parameters".into(), "seeds".into()];
    for metric in ["avg_acc", "avg_min_acc", "wc_acc", "avg_sg"] {
        header.push(metric.into());
        header.push(format!("{metric}_pm"));
        header.push(format!("per_seed_{metric}"));
        header.push(format!("per_seed_{metric}_low"));
        header.push(format!("per_seed_{metric}_high"));
    }
    header.extend(["new_task_acc".into(), "seen_acc".into()]);
    let number = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
    let mut write = |record: &[String]| writer.write_record(record).expect("memory does not fail");
    write(&header);
    for row in &summary.rows {
        let mut record =
            vec![row.benchmark.clone(), row.optimizer.clone(), row.parameters.clone(), row.seeds.to_string()];
        let p = &row.per_seed;
        let metrics = [
            (Some(&row.avg_acc), Some(&p.avg_acc)),
            (Some(&row.avg_min_acc), Some(&p.avg_min_acc)),
            (Some(&row.wc_acc), Some(&p.wc_acc)),
            (row.avg_sg.as_ref(), p.avg_sg.as_ref()),
        ];
        for (paper, seed) in metrics {
            let ci = seed.and_then(|s| s.ci95);
            record.push(number(paper.map(|e| e.mean)));
            record.push(number(paper.map(|e| e.pm)));
            record.push(number(seed.map(|s| s.mean)));
            record.push(number(ci.map(|[low, _]| low)));
            record.push(number(ci.map(|[_, high]| high)));
        }
        record.push(number(row.new_task_acc.as_ref().map(|s| s.mean)));
        record.push(number(row.seen_acc.as_ref().map(|s| s.mean)));
        write(&record);
    }
    String::from_utf8(writer.into_inner().expect("memory does not fail")).expect("text in, text out")
}
