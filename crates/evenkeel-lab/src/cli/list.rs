//! `evenkeel list`: what can be run.

use std::fmt::Write as _;
use std::process::ExitCode;

use evenkeel_data::{DataOptions, StreamSpec, formats, sets};
use evenkeel_metrics::QUANTITIES;
use evenkeel_models::ModelSpec;
use serde_json::{Value, json};

use super::output::print;
use crate::columns::{self, wrapped};
use crate::spec::{BENCHMARKS, Benchmark, Experiment, OptimizerSpec, keys_of, optimizers};

/// List what can be run: benchmarks, optimizers, models, streams, data, metrics.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Where the words begin after a name.
const NAMES: usize = 22;

/// Entries under headings, wrapped beside their names.
struct Lines {
    text: String,
    width: usize,
}

impl Lines {
    fn heading(&mut self, name: &str) {
        let gap = if self.text.is_empty() { "" } else { "\n" };
        let _ = writeln!(self.text, "{gap}{name}");
    }

    fn entry(&mut self, name: &str, words: &str) {
        self.put(&format!("  {name:<width$}", width = NAMES - 2), words, NAMES);
    }

    fn more(&mut self, words: &str) {
        self.put(&" ".repeat(NAMES), words, NAMES + 2);
    }

    /// Words after what they begin with; their other lines are indented.
    fn put(&mut self, begin: &str, words: &str, indent: usize) {
        let words =
            wrapped(words, self.width - indent, 0).replace('\n', &format!("\n{}", " ".repeat(indent)));
        let _ = writeln!(self.text, "{begin}{words}");
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let text = if args.json { format!("{}\n", serde_json::to_string_pretty(&json())?) } else { text()? };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn text() -> anyhow::Result<String> {
    let mut lines = Lines { text: String::new(), width: columns::width() };
    lines.heading("Benchmarks");
    for benchmark in BENCHMARKS {
        let settings = benchmark.settings();
        let words = format!(
            "{}; {} iterations per task, batch {}",
            benchmark.summary, settings.iterations, settings.batch
        );
        lines.entry(benchmark.name, &words);
    }
    lines.heading("Optimizers");
    for (name, summary) in optimizers::all() {
        lines.entry(name, summary);
        let price = optimizers::price(name).map(|price| price.to_string()).unwrap_or_default();
        if !price.is_empty() {
            lines.more(&format!("costs {price}"));
        }
        let parameters = |benchmark: &Benchmark| optimizers::on(benchmark, name).map(|o| o.to_string());
        let usual = parameters(&BENCHMARKS[0]);
        lines.more(usual.as_deref().unwrap_or_default());
        for benchmark in &BENCHMARKS[1..] {
            let other = parameters(benchmark);
            if other != usual {
                lines.more(&format!("{} on {}", other.as_deref().unwrap_or_default(), benchmark.name));
            }
        }
    }
    lines.heading("Models (--set model=NAME)");
    for model in ModelSpec::NAMES.iter().filter_map(|name| ModelSpec::named(name)) {
        lines.entry(model.name(), model.summary());
    }
    lines.heading("Streams (--set scenario=NAME) and their keys");
    for stream in StreamSpec::NAMES.iter().filter_map(|name| StreamSpec::named(name)) {
        lines.entry(stream.name(), stream.summary());
        for (key, meaning) in stream.keys() {
            lines.more(&format!("{key}: {meaning}"));
        }
    }
    lines.more("with any of them: task_order, task_iterations, drift (docs/streams.md)");
    lines.heading("Data (--set data=NAME)");
    for set in sets::ALL {
        lines.entry(set.name, set.summary);
    }
    for format in formats::ALL {
        lines.entry(format.usage, format.summary);
        for (key, meaning) in DataOptions::KEYS.iter().filter(|(key, _)| format.options.contains(key)) {
            lines.more(&format!("{key}: {meaning}"));
        }
    }
    lines.heading("What is measured of each seed");
    for quantity in QUANTITIES {
        lines.entry(quantity.name, quantity.definition);
    }
    lines.heading("Keys of every experiment (docs/experiment-file.md)");
    let keys = keys_of(&Experiment::named(BENCHMARKS[0].name)?.settings);
    let _ = writeln!(lines.text, "{}", wrapped(&format!("  {}", keys.join(", ")), lines.width, 2));
    let note = "Parameters that are not shown are 0. Change any with --set, e.g. --set ngm-sgd.eta=0.3";
    let _ = writeln!(lines.text, "\n{}", wrapped(note, lines.width, 0));
    Ok(lines.text)
}

fn json() -> Value {
    let named = |name: &str, summary: &str| json!({ "name": name, "summary": summary });
    let benchmarks = BENCHMARKS.iter().map(|benchmark| {
        let settings = benchmark.settings();
        json!({
            "name": benchmark.name, "summary": benchmark.summary, "data": settings.data, "tasks": benchmark.tasks(),
            "iterations": settings.iterations, "batch": settings.batch,
        })
    });
    let optimizers = optimizers::all().map(|(name, summary)| {
        let parameters = optimizers::on(&BENCHMARKS[0], name).as_ref().map(OptimizerSpec::parameters);
        json!({ "name": name, "summary": summary, "parameters": parameters })
    });
    let models = ModelSpec::NAMES.iter().filter_map(|name| ModelSpec::named(name));
    let streams = StreamSpec::NAMES.iter().filter_map(|name| StreamSpec::named(name));
    json!({
        "benchmarks": benchmarks.collect::<Vec<_>>(),
        "optimizers": optimizers.collect::<Vec<_>>(),
        "models": models.map(|model| named(model.name(), model.summary())).collect::<Vec<_>>(),
        "streams": streams.map(|stream| named(stream.name(), stream.summary())).collect::<Vec<_>>(),
        "data": sets::ALL.iter().map(|set| named(set.name, set.summary)).collect::<Vec<_>>(),
        "formats": formats::ALL.iter().map(|format| named(format.usage, format.summary)).collect::<Vec<_>>(),
        "metrics": QUANTITIES.iter().map(|one| named(one.name, one.definition)).collect::<Vec<_>>(),
    })
}
