//! A report of folders: one section a protocol, then the outcomes of experiments.

use std::collections::BTreeSet;

use evenkeel_metrics::read_growing_curve;
use evenkeel_report::{Document, Section};

use super::curves::MeanCurves;
use super::figures::{self, Group, MOST_CURVES, Unfinished};
use super::folder::Folders;
use super::summary::Summary;
use super::tables;
use crate::spec::RunSpec;
use crate::store::{Status, StoredRun};

/// The report of all that lies in some folders.
pub fn document(title: &str, folders: Folders) -> Document {
    let mut document = Document { title: title.to_string(), sections: Vec::new() };
    let mut problems = Section::new("left-out", "Left out");
    problems.warnings = folders.problems;
    if folders.runs.is_empty() && folders.outcomes.is_empty() {
        problems.heading = "Nothing to show".to_string();
        problems
            .paragraphs
            .push("These folders hold no runs and no outcomes of experiments yet.".to_string());
    }
    if !problems.warnings.is_empty() || !problems.paragraphs.is_empty() {
        document.sections.push(problems);
    }
    let mut rest = folders.runs;
    while let Some(first) = rest.first() {
        let key = protocol(&first.record.spec);
        let (these, others): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|run| protocol(&run.record.spec) == key);
        document.sections.push(section(&these));
        rest = others;
    }
    document.sections.extend(folders.outcomes);
    document
}

/// What the runs of a section have in common.
fn protocol(spec: &RunSpec) -> RunSpec {
    let mut key = spec.without_seed();
    key.optimizer.name = String::new();
    key.optimizer.reset = false;
    key.optimizer.rule =
        crate::spec::Rule::Sgd { lr: 0.0, momentum: 0.0, dampening: 0.0, nesterov: false, weight_decay: 0.0 };
    key
}

fn section(runs: &[StoredRun]) -> Section {
    let spec = &runs[0].record.spec;
    let id = evenkeel_report::document::slug(&spec.benchmark);
    let changes = super::again::changes(spec);
    let heading = if changes.is_empty() {
        spec.benchmark.clone()
    } else {
        format!("{} ({})", spec.benchmark, changes.join(", "))
    };
    let mut section = Section::new(&id, heading);
    let mut groups: Vec<Group> = Vec::new();
    let summary = Summary::of_runs_with(runs, |spec, row, curves| {
        let name = spec.optimizer.name.clone();
        groups.push(Group { name, row: row.clone(), curves: MeanCurves::of(curves) });
    });
    tell_apart(&mut groups);
    for left_out in &summary.left_out {
        let warning =
            format!("{} seed {} is not counted: {}", left_out.optimizer, left_out.seed, left_out.reason);
        section.warnings.push(warning);
    }
    if groups.len() > MOST_CURVES {
        section.warnings.push(format!(
            "The figures show the first {MOST_CURVES} of {} configurations; the tables have all.",
            groups.len()
        ));
    }
    let unfinished = unfinished(runs, &mut section);
    section.paragraphs = what_was_run(runs, &groups);
    section.commands = super::again::commands(&runs.iter().map(|run| &run.record.spec).collect::<Vec<_>>());
    section.tables = tables::all(&id, &groups, &summary);
    section.tables.push(tables::runs(&id, runs));
    section.figures = figures::all(&id, &groups, &unfinished);
    section
}

/// Configurations of one optimizer get their parameters into their names.
fn tell_apart(groups: &mut [Group]) {
    let names: Vec<String> = groups.iter().map(|group| group.name.clone()).collect();
    for (group, name) in groups.iter_mut().zip(&names) {
        if names.iter().filter(|other| *other == name).count() > 1 {
            group.name = format!("{name} {}", group.row.parameters);
        }
    }
}

/// The curves of runs that are not finished, as far as they are.
fn unfinished(runs: &[StoredRun], section: &mut Section) -> Vec<Unfinished> {
    let mut curves = Vec::new();
    let mut more = 0;
    for run in runs.iter().filter(|run| run.record.status != Status::Done && run.curve_path().exists()) {
        if curves.len() == MOST_CURVES {
            more += 1;
            continue;
        }
        let spec = &run.record.spec;
        let word = tables::status(run);
        let word = word.split(' ').next().unwrap_or_default();
        match read_growing_curve(&run.curve_path()) {
            Ok(curve) => curves.push(Unfinished {
                name: format!("{} seed {} ({word})", spec.optimizer.name, spec.seed),
                optimizer: spec.optimizer.name.clone(),
                curve,
            }),
            // A run that has only just begun has no point yet; anything else is worth a word.
            Err(error) if error.line.is_none() => {}
            Err(error) => section.warnings.push(error.to_string()),
        }
    }
    if more > 0 {
        section.warnings.push(format!("The curves of {more} more unfinished runs are not drawn."));
    }
    curves
}

fn what_was_run(runs: &[StoredRun], groups: &[Group]) -> Vec<String> {
    let record = &runs[0].record;
    let settings = &record.spec.settings;
    let model = serde_json::to_value(settings.model).ok();
    let model = model.as_ref().and_then(|name| name.as_str()).unwrap_or("a network").to_string();
    let optimizers: BTreeSet<&str> = runs.iter().map(|run| run.record.spec.optimizer.name.as_str()).collect();
    let seeds: BTreeSet<u64> = runs.iter().map(|run| run.record.spec.seed).collect();
    let done = runs.iter().filter(|run| run.record.status == Status::Done).count();
    let tasks = groups
        .first()
        .map_or(String::new(), |group| format!("{} tasks of ", group.curves.switches.len() + 1));
    let data = match settings.replay {
        Some(capacity) => format!("replay from a buffer of {capacity}"),
        None => "joint training on all data seen so far".to_string(),
    };
    let images = settings.eval_samples.map_or("all test images".to_string(), |n| format!("{n} test images"));
    let every = if settings.eval_every == 1 {
        "every iteration".into()
    } else {
        format!("every {} iterations", settings.eval_every)
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
    let versions: BTreeSet<&str> = runs.iter().map(|run| run.record.version.as_str()).collect();
    let seconds: f64 = runs.iter().map(|run| run.record.seconds).sum();
    vec![
        format!(
            "{done} of {} runs are done: {} optimizers, {} seeds; {} ({}), {tasks}{} iterations, batches of {}, {model}, {data}; \
             evaluated on {images} of task 1 after {every}.",
            runs.len(),
            optimizers.len(),
            seeds.len(),
            record.spec.benchmark,
            settings.data,
            settings.iterations,
            settings.batch,
        ),
        format!(
            "Made with evenkeel {} on {}; {seconds:.0} s of training in all. Run it again:",
            versions.into_iter().collect::<Vec<_>>().join(", "),
            machines.into_iter().collect::<Vec<_>>().join("; "),
        ),
    ]
}
