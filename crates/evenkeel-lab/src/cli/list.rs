//! `evenkeel list`: what can be run.

use std::fmt::Write as _;
use std::process::ExitCode;

use evenkeel_data::{DataOptions, StreamSpec, formats, sets};
use evenkeel_metrics::QUANTITIES;
use evenkeel_models::ModelSpec;

use super::output::print;
use crate::spec::{BENCHMARKS, Benchmark, optimizers};

/// List what can be run: benchmarks, optimizers with their parameters, models, streams, data, and what is measured.
#[derive(clap::Args)]
pub(super) struct Args {}

pub(super) fn run() -> anyhow::Result<ExitCode> {
    let mut text = String::new();
    writeln!(text, "Benchmarks")?;
    for benchmark in BENCHMARKS {
        let settings = benchmark.settings();
        writeln!(
            text,
            "  {:19} {}; {} iterations per task, batch {}",
            benchmark.name, benchmark.summary, settings.iterations, settings.batch
        )?;
    }
    writeln!(text, "\nOptimizers")?;
    for (name, summary) in optimizers::all() {
        writeln!(text, "  {name:14} {summary}")?;
        let parameters = |benchmark: &Benchmark| optimizers::on(benchmark, name).map(|o| o.to_string());
        let usual = parameters(&BENCHMARKS[0]);
        writeln!(text, "  {:14}   {}", "", usual.as_deref().unwrap_or_default())?;
        for benchmark in &BENCHMARKS[1..] {
            let other = parameters(benchmark);
            if other != usual {
                writeln!(
                    text,
                    "  {:14}   {} on {}",
                    "",
                    other.as_deref().unwrap_or_default(),
                    benchmark.name
                )?;
            }
        }
    }
    writeln!(text, "\nModels (--set model=NAME)")?;
    for model in ModelSpec::NAMES.iter().filter_map(|name| ModelSpec::named(name)) {
        writeln!(text, "  {:14} {}", model.name(), model.summary())?;
    }
    writeln!(text, "\nStreams (--set scenario=NAME) and their keys")?;
    for stream in StreamSpec::NAMES.iter().filter_map(|name| StreamSpec::named(name)) {
        writeln!(text, "  {:14} {}", stream.name(), stream.summary())?;
        for (key, meaning) in stream.keys() {
            writeln!(text, "  {:14}   {key}: {meaning}", "")?;
        }
    }
    writeln!(text, "  {:14} with any of them: task_order, task_iterations, drift (docs/streams.md)", "")?;
    writeln!(text, "\nData (--set data=NAME)")?;
    for set in sets::ALL {
        writeln!(text, "  {:14} {}", set.name, set.summary)?;
    }
    for format in formats::ALL {
        writeln!(text, "  {:14} {}", format.usage, format.summary)?;
        for (key, meaning) in DataOptions::KEYS.iter().filter(|(key, _)| format.options.contains(key)) {
            writeln!(text, "  {:14}   {key}: {meaning}", "")?;
        }
    }
    writeln!(text, "\nWhat is measured of each seed")?;
    for quantity in QUANTITIES {
        writeln!(text, "  {:16} {}", quantity.name, quantity.definition)?;
    }
    writeln!(
        text,
        "\nParameters that are not shown are 0. Change any with --set, e.g. --set ngm-sgd.eta=0.3"
    )?;
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}
