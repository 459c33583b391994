//! A report of folders: one section per protocol, then the outcomes of experiments.

use std::collections::BTreeSet;

use evenkeel_report::{Document, Section};

use super::figures::{self, Drawn, MOST_CURVES, Unfinished};
use super::folders::Folders;
use super::glossary::glossary;
use super::groups::Lineup;
use super::left_out::LeftOut;
use super::own_curves::OwnCurves;
use super::ranking::Ranking;
use super::runs::Runs;
use super::{progress, run_again, tables, terminal};
use crate::store::{Status, StoredRun};

/// The report of all that lies in some folders.
pub fn document(title: &str, folders: Folders, against: Option<&str>) -> Document {
    let mut document = Document { title: title.to_string(), sections: Vec::new(), glossary: glossary() };
    let mut problems = Section::new("left-out", "Left out");
    problems.warnings = folders.problems;
    if folders.runs.is_empty() && folders.outcomes.is_empty() && folders.own.is_empty() {
        problems.heading = "Nothing to show".to_string();
        problems
            .paragraphs
            .push("These folders hold no runs and no outcomes of experiments yet.".to_string());
    }
    if !problems.warnings.is_empty() || !problems.paragraphs.is_empty() {
        document.sections.push(problems);
    }
    let mut rest = folders.runs;
    // Beside the runs if they are of one protocol, else by themselves.
    let one = rest.first().is_some_and(|first| {
        rest.iter().all(|run| run.record.spec.protocol() == first.record.spec.protocol())
    });
    let mut own = folders.own;
    if !one && !own.is_empty() {
        document.sections.push(own_section(std::mem::take(&mut own), against));
    }
    while let Some(first) = rest.first() {
        let first = first.record.spec.clone();
        let (these, others): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|run| run.record.spec.protocol() == first.protocol());
        document.sections.push(section(&these, std::mem::take(&mut own), against));
        rest = others;
    }
    document.sections.extend(folders.outcomes);
    document
}

/// A section of curves of other programs alone.
fn own_section(own: Vec<OwnCurves>, against: Option<&str>) -> Section {
    let grouped = Runs::of_own(own);
    let mut section = Section::new("your-curves", "Your curves");
    left_out(&grouped, &mut section);
    if let Some(lineup) = grouped.lineups.first() {
        answer("your-curves", lineup, &mut section);
        section.tables = tables::all(std::slice::from_ref(lineup), against);
        section.figures = figures::all(&Drawn { id: "your-curves", lineup, unfinished: &[] });
    }
    section
}

/// What does not count: damage is a warning, a run that goes on is not.
fn left_out(runs: &Runs, section: &mut Section) {
    let (unfinished, damaged): (Vec<&LeftOut>, Vec<&LeftOut>) =
        runs.left_out.iter().partition(|out| out.is_unfinished());
    section.warnings = LeftOut::sentences(damaged);
    section.warnings.extend(terminal::mixed(runs));
    section.notes = LeftOut::sentences(unfinished);
}

/// The verdict, and the table that it rests on.
fn answer(id: &str, lineup: &Lineup, section: &mut Section) {
    let Some(ranking) = Ranking::of(lineup) else { return };
    let mut table = ranking.table();
    table.id = format!("{id}-ranking");
    section.ranking = Some(table);
    section.verdict = Some(ranking.verdict);
    section.cautions = ranking.cautions;
}

fn section(runs: &[StoredRun], own: Vec<OwnCurves>, against: Option<&str>) -> Section {
    // A control has the settings of its run, and one more.
    let spec = &runs[0].record.spec.without_hold();
    let id = evenkeel_report::document::slug(&spec.benchmark);
    let changes = run_again::changes(spec);
    let heading = if changes.is_empty() {
        spec.benchmark.clone()
    } else {
        format!("{} ({})", spec.benchmark, changes.join(", "))
    };
    let mut section = Section::new(&id, heading);
    let grouped = Runs::load(runs).beside(own);
    left_out(&grouped, &mut section);
    section.progress = progress::of(runs);
    let unfinished = unfinished(runs, &mut section);
    section.paragraphs = what_was_run(runs, grouped.lineups.first());
    let specs: Vec<_> = runs.iter().map(|run| &run.record.spec).collect();
    section.commands = run_again::commands(&specs);
    if let Some(lineup) = grouped.lineups.first() {
        answer(&id, lineup, &mut section);
        if lineup.groups.len() > MOST_CURVES {
            section.notes.push(format!(
                "The figures show the first {MOST_CURVES} of {} configurations; the tables have all.",
                lineup.groups.len()
            ));
        }
        section.tables = tables::all(std::slice::from_ref(lineup), against);
        for table in &mut section.tables {
            table.id = format!("{id}-{}", table.id);
        }
    }
    section.tables.push(tables::runs(&id, runs));
    let empty = Lineup {
        benchmark: spec.benchmark.clone(),
        label: String::new(),
        settings: spec.settings.clone(),
        groups: Vec::new(),
    };
    let lineup = grouped.lineups.first().unwrap_or(&empty);
    section.figures = figures::all(&Drawn { id: &id, lineup, unfinished: &unfinished });
    section
}

/// The curves of runs that are not finished, as far as they are.
fn unfinished(runs: &[StoredRun], section: &mut Section) -> Vec<Unfinished> {
    let mut curves = Vec::new();
    let mut more = 0;
    let drawn = |run: &&StoredRun| {
        run.record.status != Status::Done
            && run.record.spec.settings.hold.is_none()
            && run.curve_path().exists()
    };
    for run in runs.iter().filter(drawn) {
        if curves.len() == MOST_CURVES {
            more += 1;
            continue;
        }
        let spec = &run.record.spec;
        let word = tables::status(run);
        let word = word.split(' ').next().unwrap_or_default();
        match run.growing_curve() {
            Ok(curve) => curves.push(Unfinished {
                name: format!("{} seed {} ({word})", spec.optimizer.shown(), spec.seed),
                curve,
            }),
            // A run that has only just begun has no point yet; anything else is worth a word.
            Err(error) if error.line.is_none() => {}
            Err(error) => section.warnings.push(error.to_string()),
        }
    }
    if more > 0 {
        section.notes.push(format!("The curves of {more} more unfinished runs are not drawn."));
    }
    curves
}

/// What is known of runs of another program.
fn recorded(runs: &[StoredRun], lineup: Option<&Lineup>) -> Vec<String> {
    let optimizers: BTreeSet<&str> = runs.iter().map(|run| run.record.spec.optimizer.name.as_str()).collect();
    let seeds: BTreeSet<u64> = runs.iter().map(|run| run.record.spec.seed).collect();
    let done = runs.iter().filter(|run| run.record.status == Status::Done).count();
    let tasks = lineup.map_or(String::new(), |lineup| format!("; {} tasks", lineup.tasks()));
    vec![format!(
        "{done} of {} runs are done, recorded by another program: {} optimizers, {} seeds{tasks}.",
        runs.len(),
        optimizers.len(),
        seeds.len()
    )]
}

fn what_was_run(runs: &[StoredRun], lineup: Option<&Lineup>) -> Vec<String> {
    let record = &runs[0].record;
    if record.spec.is_recorded() {
        return recorded(runs, lineup);
    }
    let settings = &record.spec.settings;
    let model = settings.model.shown();
    let optimizers: BTreeSet<&str> = runs.iter().map(|run| run.record.spec.optimizer.name.as_str()).collect();
    let seeds: BTreeSet<u64> = runs.iter().map(|run| run.record.spec.seed).collect();
    let done = runs.iter().filter(|run| run.record.status == Status::Done).count();
    let tasks = lineup.map_or(String::new(), |lineup| format!("{} tasks of ", lineup.tasks()));
    let length = match &settings.task_iterations {
        None => settings.iterations.to_string(),
        Some(listed) => listed.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
    };
    let drift = settings.drift.map_or(String::new(), |n| format!(", drifting over {n} iterations"));
    let data = match settings.replay {
        Some(capacity) => format!("replay from a buffer of {capacity}"),
        None => "joint training on all data seen so far".to_string(),
    };
    let images = settings.eval_samples.map_or("all test images".to_string(), |n| format!("{n} test images"));
    let every = match (settings.eval_schedule, settings.eval_every) {
        (Some([dense, every]), _) => {
            format!("each of the first {dense} iterations of a task, then every {every} iterations")
        }
        (None, 1) => "every iteration".into(),
        (None, every) => format!("every {every} iterations"),
    };
    let machines: BTreeSet<String> = runs
        .iter()
        .map(|run| {
            format!(
                "{} ({}, {} cores)",
                run.record.machine.cpu.as_deref().unwrap_or("an unknown processor"),
                run.record.machine.platform,
                run.record.machine.cores
            )
        })
        .collect();
    let programs: BTreeSet<String> = runs
        .iter()
        .map(|run| {
            let (record, unknown) = (&run.record, "an unknown commit");
            let commit = if record.commit.is_empty() { unknown } else { &record.commit };
            format!("{} ({commit}, {} kernels)", record.version, record.machine.kernels)
        })
        .collect();
    let controls = match runs.iter().filter(|run| run.record.spec.settings.hold.is_some()).count() {
        0 => String::new(),
        count => format!(" ({count} of them controls without a switch)"),
    };
    let seconds: f64 = runs.iter().map(|run| run.record.seconds).sum();
    vec![
        format!(
            "{done} of {} runs{controls} are done: {} optimizers, {} seeds; {} ({}), {tasks}{length} iterations{drift}, batches of {}, {model}, {data}; \
             evaluated on {images} of task 1 after {every}.",
            runs.len(),
            optimizers.len(),
            seeds.len(),
            record.spec.benchmark,
            settings.data,
            settings.batch,
        ),
        format!(
            "Made with evenkeel {} on {}; {seconds:.0} s of training in all. Run it again:",
            programs.into_iter().collect::<Vec<_>>().join(", "),
            machines.into_iter().collect::<Vec<_>>().join("; "),
        ),
    ]
}
