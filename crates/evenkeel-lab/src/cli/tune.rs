//! `evenkeel tune`: a search for good parameters, on seeds of its own.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use evenkeel_data::files;
use evenkeel_report::Document;

use super::error::BadInput;
use super::execute::{Ended, Processes, Work, begun, execute};
use super::output::print;
use super::rehearsal;
use super::selection::Changed;
use crate::analysis::Runs;
use crate::analysis::glossary::glossary;
use crate::columns::{self, WIDTH, wrapped};
use crate::say::say;
use crate::spec::{CheckedExperiment, ExperimentError};
use crate::store::{Store, write_json};
use crate::tune::outcome::shared_seeds;
use crate::tune::trials::trials;
use crate::tune::{
    Axis, FIRST_SEED, Outcome, Rounds, SEEDS, Score, Scored, Search, Searched, Trial, file, page,
};
use crate::words::ranges;

/// Search for good parameters of one or several optimizers.
///
/// Every optimizer gets the same number of trials: seven half decades of its learning rate, or what --over says. The trials run on seeds
/// of their own, from 1000 on, which are never among those that `evenkeel run` takes by default; compare on others. All seen tasks are
/// evaluated throughout. A trial's score is the mean over its runs of the accuracy on all seen tasks at the end, in percent, less 100
/// times the stability gap (avg-SG); a run that diverged counts as accuracy 0 and gap 1.
///
/// Trials are ordinary runs in DIR: the same command again does only what is missing. DIR also gets tune.json (everything that was
/// tried), tune.html (response curves) and tuned.toml, which `evenkeel run` takes.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    evenkeel tune split-mnist --eval-samples 1000\n  \
    evenkeel tune split-mnist --optimizers ngm-sgd,sgd --seeds 2\n  \
    evenkeel tune split-mnist --over lr=0.001..1:7log\n  \
    evenkeel tune split-mnist --optimizers ngm-sgd --over lr=~5 --over eta=0.1,0.4\n  \
    evenkeel tune split-mnist --search random --trials 20 --halving\n  \
    evenkeel run runs/split-mnist-tune/tuned.toml   the comparison, other seeds\n\n\
    Values of --over:\n  \
    A,B,C           these (lists in brackets: hidden=[400],[100,100])\n  \
    LOW..HIGH:N     N at equal distances, whole numbers if both ends are\n  \
    LOW..HIGH:Nlog  N at equal ratios; without N for a random search\n  \
    ~N              N half decades around what the optimizer has")]
pub(super) struct Args {
    #[command(flatten)]
    changed: Changed,
    /// What to search over, as `--set` names it: `lr=…` for every optimizer that has it, `ngm-sgd.eta=…` for one, or a setting; several
    /// multiply [default: lr=~7].
    #[arg(long, value_name = "KEY=VALUES")]
    over: Vec<String>,
    /// How values are chosen.
    #[arg(long, value_enum, default_value_t = Kind::Grid)]
    search: Kind,
    /// Trials of each optimizer in a random search.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
    trials: u16,
    /// Decides the values of a random search.
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    search_seed: u64,
    /// Successive halving: all trials on one seed, the best third of each optimizer on three times as many, and so on.
    #[arg(long)]
    halving: bool,
    /// What a gap of 0.01 weighs in percents of accuracy.
    #[arg(long, value_name = "W", default_value_t = 1.0, value_parser = weight, allow_negative_numbers = true)]
    gap_weight: f64,
    /// Allow optimizers to have different numbers of trials; everything that is written then says so.
    #[arg(long)]
    unequal: bool,
    /// Seeds of each trial: a number of them (counted from 1000), a range A..B or a list A,B,C [default: 3].
    #[arg(long, value_name = "N|A..B|A,B,C")]
    seeds: Option<String>,
    /// Folder for the trials and what they come to [default: runs/BENCHMARK-tune].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print tune.json instead of the table.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    processes: Processes,
}

/// The experiment with the chosen values.
const TUNED: &str = "tuned.toml";

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// Every combination.
    Grid,
    /// Combinations at random.
    Random,
}

/// A weight: finite, not negative.
fn weight(text: &str) -> Result<f64, String> {
    let weight: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    if weight.is_finite() && weight >= 0.0 { Ok(weight) } else { Err("must be at least 0".to_string()) }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let parts = args.parts()?;
    let search = match args.search {
        Kind::Grid => Search::Grid,
        Kind::Random => Search::Random { trials: usize::from(args.trials), seed: args.search_seed },
    };
    let trials = trials(&parts, &args.axes()?, search)?;
    let optimizers: Vec<&[Trial]> = trials.chunk_by(|a, b| a.optimizer == b.optimizer).collect();
    args.check_equal(&optimizers)?;
    let seeds = &parts[0].seeds;
    let rounds = if args.halving {
        let few = || BadInput("--halving needs at least two seeds: --seeds 9 has three rounds".to_string());
        Rounds::halving(seeds.len()).ok_or_else(few)?
    } else {
        Rounds::one(seeds.len())
    };
    let title = format!("tune {}", args.changed.name());
    let out =
        args.out.clone().unwrap_or_else(|| Path::new("runs").join(format!("{}-tune", args.changed.name())));
    let store = Store::new(&out).with_kernels(args.processes.kernels.clone());
    if args.processes.dry_run() {
        let experiments: Vec<CheckedExperiment> =
            trials.iter().flat_map(|trial| trial.experiments.clone()).collect();
        print(&rehearsal::plan(&title, &store, &experiments, &args.processes)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    store.create().context("cannot use the folder for the trials (--out)")?;
    note_seeds(seeds);

    let score = Score { gap_weight: args.gap_weight };
    let mut work = Work::default();
    let mut results: Vec<(usize, Option<Scored>)> = trials.iter().map(|_| (0, None)).collect();
    let mut ended: Option<Ended> = None;
    for (round, &seeds) in rounds.seeds.iter().enumerate() {
        let alive = rounds.survivors(&optimizers, &results, round);
        work.clear();
        let mut ends = Vec::new();
        for &index in &alive {
            for experiment in &trials[index].experiments {
                work.add(&on_seeds(experiment, seeds)?)?;
            }
            ends.push(work.specs.len());
        }
        let now = execute(&title, &store, &work, &args.processes)?;
        if now.stopped() {
            return Ok(ExitCode::from(130));
        }
        let starts = std::iter::once(&0).chain(&ends);
        for (&index, (&start, &end)) in alive.iter().zip(starts.zip(&ends)) {
            let runs = Runs::load(&begun(&store, &work.specs[start..end])?);
            results[index] = (round, score.of_runs(&runs, end - start));
        }
        let failed = now.failed();
        ended = Some(now);
        if failed {
            break;
        }
    }

    let searched = Searched::all(&optimizers, &results, &rounds);
    let outcome =
        Outcome::new((&args.changed.experiment, command()), (search, rounds, score), seeds, searched);
    write(&out, &outcome, &trials)?;
    print(&if args.json {
        format!("{}\n", serde_json::to_string_pretty(&outcome)?)
    } else {
        page::text(&outcome, columns::width())
    })?;
    if outcome.optimizers.iter().any(|searched| searched.chosen.is_some()) {
        let next = format!(
            "{} has the response curves; `evenkeel run {}` compares what was chosen on other seeds",
            out.join("tune.html").display(),
            out.join(TUNED).display()
        );
        say!("{}", wrapped(&next, WIDTH, 2));
    }
    ended.map_or(Ok(ExitCode::SUCCESS), |ended| ended.into_result(false))
}

impl Args {
    /// The parts of the experiment, on the seeds of the search and with every seen task evaluated.
    fn parts(&self) -> anyhow::Result<Vec<CheckedExperiment>> {
        let seeds = self.seeds.clone().unwrap_or_else(|| SEEDS.to_string());
        let seeds = match seeds.parse::<u64>() {
            Ok(count @ 1..) => format!("{FIRST_SEED}..{}", FIRST_SEED.saturating_add(count)),
            _ => seeds,
        };
        let mut parts = Vec::new();
        for part in self.changed.experiments(Some(&seeds))? {
            let mut part = (*part).clone();
            part.settings.eval_all_tasks = true;
            parts.push(part.check()?);
        }
        Ok(parts)
    }

    fn axes(&self) -> Result<Vec<Axis>, ExperimentError> {
        if self.over.is_empty() {
            return Ok(vec![Axis::usual()]);
        }
        self.over.iter().map(|text| Axis::parse(text)).collect()
    }

    /// A method with more trials has a better chance to be lucky.
    fn check_equal(&self, optimizers: &[&[Trial]]) -> Result<(), BadInput> {
        let equal = optimizers.windows(2).all(|pair| pair[0].len() == pair[1].len());
        if equal || self.unequal {
            return Ok(());
        }
        let counts: Vec<String> =
            optimizers.iter().map(|own| format!("{} of {}", own.len(), own[0].optimizer)).collect();
        Err(BadInput(format!(
            "the numbers of trials differ ({}), which favours those that have more; give each as many values, use --search random, \
             or allow it with --unequal",
            counts.join(", ")
        )))
    }
}

/// The command line, for the record.
fn command() -> String {
    let words: Vec<String> = std::env::args().skip(1).collect();
    format!("evenkeel {}", words.join(" "))
}

/// Says which seeds are used, and that a comparison should have others.
fn note_seeds(seeds: &[u64]) {
    let shared = shared_seeds(seeds);
    let warning = if shared.is_empty() {
        "a comparison begins at seed 0 and shares none of them".to_string()
    } else {
        format!(
            "note: {} would be among those of a comparison; compare on others, or what was chosen by looking seems better than it is",
            ranges(&shared)
        )
    };
    say!("{}", wrapped(&format!("tuning seeds {}; {warning}", ranges(seeds)), WIDTH, 2));
}

/// The experiment on its first so many seeds.
fn on_seeds(experiment: &CheckedExperiment, seeds: usize) -> Result<CheckedExperiment, ExperimentError> {
    let mut fewer = (**experiment).clone();
    fewer.seeds.truncate(seeds);
    fewer.check()
}

/// Writes the result, its page, and the experiment with what was chosen.
fn write(out: &Path, outcome: &Outcome, trials: &[Trial]) -> anyhow::Result<()> {
    let section = page::section(outcome);
    let write = |name: &str, text: &str| {
        let path = out.join(name);
        files::write(&path, text.as_bytes()).with_context(|| path.display().to_string())
    };
    write_json(&out.join("tune.json"), outcome)?;
    // `evenkeel report` and `serve` show it beside the trials.
    write_json(&out.join("outcome.json"), &section)?;
    let document = Document { title: section.heading.clone(), sections: vec![section], glossary: glossary() };
    write("tune.html", &document.to_html())?;
    if outcome.optimizers.iter().any(|searched| searched.chosen.is_some()) {
        write(TUNED, &file::text(outcome, trials)?)?;
    }
    Ok(())
}
