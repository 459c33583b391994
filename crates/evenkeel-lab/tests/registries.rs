//! One file and one line: what is registered is named in its own file and in its registry, and nowhere else.

use std::path::{Path, PathBuf};

use evenkeel_data::{StreamSpec, formats, sets};
use evenkeel_lab::reproduce::RESULTS;
use evenkeel_lab::run::probes::ProbeSpecs;
use evenkeel_lab::spec::optimizers;
use evenkeel_metrics::QUANTITIES;
use evenkeel_models::ModelSpec;

/// Where names may stand beside their registry: the named benchmarks and oracles choose by name, and a result of the paper is about
/// the optimizers and benchmarks of the paper. `evenkeel bench` times two named workloads.
const MAY_NAME: [&str; 5] = [
    "spec/benchmarks.rs",
    "spec/optimizers.rs",
    "lab/src/reproduce/",
    "lab/src/bench.rs",
    "lab/src/cli/bench.rs",
];

fn sources() -> Vec<(PathBuf, String)> {
    fn visit(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("tests") {
                visit(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && !path.ends_with("tests.rs")
            {
                found.push((path.clone(), code(&std::fs::read_to_string(&path).unwrap())));
            }
        }
    }
    let mut found = Vec::new();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for entry in std::fs::read_dir(crates).unwrap() {
        let source = entry.unwrap().path().join("src");
        if source.is_dir() {
            visit(&source, &mut found);
        }
    }
    assert!(found.len() > 150, "only {} files", found.len());
    found
}

/// The code without comments, documentation and tests.
fn code(text: &str) -> String {
    let text = text.split("mod tests {").next().unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines
        .filter(|line| !line.contains("after_help") && !line.contains("evenkeel run"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Files that hold a name as a string, or as an arm of a `match`.
fn naming<'a>(sources: &'a [(PathBuf, String)], name: &str) -> Vec<&'a Path> {
    let quoted = format!("\"{name}\"");
    sources.iter().filter(|(_, code)| code.contains(&quoted)).map(|(path, _)| path.as_path()).collect()
}

#[track_caller]
fn only_registered(kind: &str, names: impl IntoIterator<Item = String>, homes: &[&str], may: &[&str]) {
    let sources = sources();
    for name in names {
        for path in naming(&sources, &name) {
            let shown = path.to_string_lossy();
            let allowed = homes.iter().chain(may).any(|place| shown.contains(place));
            assert!(
                allowed,
                "the {kind} '{name}' is named in {shown}: let its registered entry say what is needed there"
            );
        }
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

#[test]
fn optimizers_are_named_in_their_files_only() {
    let names = optimizers::all().map(|(name, _)| name.to_string());
    only_registered("optimizer", names, &["evenkeel/src/optim"], &MAY_NAME);
}

#[test]
fn models_are_named_in_their_registry_only() {
    only_registered("model", owned(ModelSpec::NAMES), &["evenkeel-models/src/registry.rs"], &MAY_NAME);
}

#[test]
fn streams_data_sets_and_formats_are_named_in_their_registries_only() {
    // "split" is also the column of a user's table that says which rows test.
    let columns = ["evenkeel-data/src/table.rs", "evenkeel-data/src/features"];
    let may: Vec<&str> = MAY_NAME.into_iter().chain(columns).collect();
    only_registered("stream", owned(StreamSpec::NAMES), &["evenkeel-data/src/streams"], &may);
    let names = sets::ALL.iter().map(|set| set.name.to_string());
    only_registered(
        "data set",
        names,
        &["evenkeel-data/src/sets", "evenkeel-data/src/cifar.rs", "evenkeel-data/src/digits"],
        &MAY_NAME,
    );
    let usages = formats::ALL.iter().map(|format| format.usage.to_string());
    only_registered("format", usages, &["evenkeel-data/src/formats"], &MAY_NAME);
}

#[test]
fn probes_and_results_are_named_in_their_files_only() {
    only_registered("probe", owned(ProbeSpecs::NAMES), &["lab/src/run/probes"], &MAY_NAME);
    let names = RESULTS.iter().map(|result| result.name.to_string());
    // Such words have other meanings, too: "main" is an element of a page, "replay" a key of the settings.
    only_registered(
        "result",
        names,
        &["lab/src/reproduce/"],
        &["evenkeel-report/src/page", "lab/src/spec/check.rs"],
    );
}

#[test]
fn quantities_are_named_in_their_files_and_where_the_papers_four_stand() {
    let names = QUANTITIES.iter().map(|quantity| quantity.name.to_string());
    let analysis =
        ["lab/src/analysis/comparisons.rs", "lab/src/analysis/tables.rs", "lab/src/analysis/terminal.rs"];
    let may: Vec<&str> =
        MAY_NAME.into_iter().chain(analysis).chain(["lab/src/analysis/figures/gaps.rs"]).collect();
    only_registered("quantity", names, &["evenkeel-metrics/src/quantities"], &may);
}

#[test]
fn every_registered_entry_has_its_words() {
    for (name, summary) in optimizers::all() {
        assert!(!summary.is_empty() && !optimizers::shown(name).is_empty(), "{name}");
    }
    for name in ModelSpec::NAMES {
        let model = ModelSpec::named(name).unwrap();
        assert!(!model.summary().is_empty() && !model.shown().is_empty(), "{name}");
        model.check().unwrap();
    }
    for name in StreamSpec::NAMES {
        let stream = StreamSpec::named(name).unwrap();
        assert!(!stream.summary().is_empty(), "{name}");
        stream.check().unwrap();
    }
    assert!(sets::ALL.iter().all(|set| !set.summary.is_empty()));
    assert!(QUANTITIES.iter().all(|quantity| quantity.definition.ends_with('.')));
    assert!(RESULTS.iter().all(|result| !result.summary.is_empty() && !result.place.is_empty()));
}
