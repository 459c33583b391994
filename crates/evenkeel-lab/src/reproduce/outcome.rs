//! The files of a finished reproduction: `outcome.json`, `outcome.md`, `provenance.json`, `per-seed.csv`, `claims.csv`, `tables/*.csv`, `figures/*.svg`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use evenkeel_metrics::Verdict;
use evenkeel_report::document::slug;
use evenkeel_report::{Section, Theme};
use serde::Serialize;

use super::{Page, Result};
use crate::analysis::claims::{self, Judged};
use crate::analysis::groups::Program;
use crate::analysis::{Runs, per_seed, terminal};
use crate::program;
use crate::spec::{OptimizerSpec, Settings};
use crate::store::{StoreError, write_json};

/// What made the numbers.
#[derive(Debug, Serialize)]
pub struct Provenance {
    /// Name of the result.
    pub name: String,
    /// The command.
    pub command: String,
    /// Whether it is the scaled-down version.
    pub quick: bool,
    /// Commit of the program that wrote the page.
    pub written_by: String,
    /// Benchmarks that were left out, and why.
    pub without: Vec<String>,
    /// The protocols.
    pub lineups: Vec<ProvenanceLineup>,
}

/// One protocol and what ran under it.
#[derive(Debug, Serialize)]
pub struct ProvenanceLineup {
    /// The benchmark.
    pub benchmark: String,
    /// The protocol.
    pub settings: Settings,
    /// The optimizers.
    pub optimizers: Vec<ProvenanceOptimizer>,
}

/// One optimizer with its seeds.
#[derive(Debug, Serialize)]
pub struct ProvenanceOptimizer {
    /// Name and parameters.
    #[serde(flatten)]
    pub spec: OptimizerSpec,
    /// The seeds that count.
    pub seeds: Vec<u64>,
    /// Those among them that diverged.
    pub diverged: Vec<u64>,
    /// The programs that made the runs.
    pub programs: BTreeSet<Program>,
}

impl Provenance {
    /// Of these runs.
    pub fn new(name: &str, command: String, quick: bool, without: Vec<String>, runs: &Runs) -> Self {
        let lineups = runs.lineups.iter().map(|lineup| ProvenanceLineup {
            benchmark: lineup.benchmark.clone(),
            settings: lineup.settings.clone(),
            optimizers: lineup
                .groups
                .iter()
                .map(|group| ProvenanceOptimizer {
                    spec: group.spec.optimizer.clone(),
                    seeds: group.seed_list(),
                    diverged: group.diverged.iter().map(|seed| seed.seed).collect(),
                    programs: group.programs.clone(),
                })
                .collect(),
        });
        Self {
            name: name.to_string(),
            command,
            quick,
            written_by: program::COMMIT.to_string(),
            without,
            lineups: lineups.collect(),
        }
    }
}

/// What the scaled-down version says on everything it prints.
pub const QUICK: &str = "Quick version: few seeds, a fraction of the iterations and of the test images, smaller batches for convolutional \
     networks. It shows that everything runs; its numbers are not the paper's protocol and decide no claim.";

/// A finished page: what is shown, and what it rests on.
pub struct Outcome {
    /// The page.
    pub section: Section,
    /// Its claims.
    pub judged: Vec<Judged>,
    /// The values of every seed.
    pub per_seed: String,
}

/// Judges the claims of a page and puts it together.
pub fn outcome(result: &Result, page: Page, provenance: &Provenance, runs: &Runs) -> Outcome {
    let quick = if provenance.quick { " (quick)" } else { "" };
    let mut section = Section::new(result.name, format!("{}: {}{quick}", result.place, result.summary));
    let mut judged = claims::judge(page.claims);
    if provenance.quick {
        section.warnings.push(QUICK.to_string());
        let tested = judged.iter_mut().filter(|one| one.verdict != Verdict::Identity);
        tested.for_each(|one| one.verdict = Verdict::NotTested);
    }
    section.warnings.extend(provenance.without.iter().map(|why| format!("Left out: {why}")));
    section.warnings.extend(terminal::notes(runs));
    section.paragraphs = page.paragraphs;
    section.paragraphs.extend(claims::paragraphs(&judged));
    section.paragraphs.extend(made_by(runs));
    section.commands.push(provenance.command.clone());
    section.tables = claims::tables(&judged);
    section.tables.extend(page.tables);
    section.figures = page.figures;
    if provenance.quick {
        section
            .tables
            .iter_mut()
            .for_each(|table| table.caption.insert_str(0, "QUICK, not the paper's protocol. "));
        // A figure of the paper's own numbers is not scaled down.
        let ours = section.figures.iter_mut().filter(|figure| !figure.id.ends_with(" paper"));
        ours.for_each(|figure| {
            figure.title.push_str(" (quick)");
            figure.caption.insert_str(0, "QUICK, not the paper's protocol. ");
        });
    }
    let per_seed = per_seed::to_csv(&runs.lineups, &judged);
    Outcome { section, judged, per_seed }
}

/// Which programs made the runs.
fn made_by(runs: &Runs) -> Option<String> {
    let programs: Vec<String> = runs
        .programs()
        .iter()
        .map(|program| format!("commit {} with {} kernels", program.commit, program.kernels))
        .collect();
    (!programs.is_empty()).then(|| {
        format!(
            "The runs were made by {}; settings, parameters and seeds are in provenance.json, the values of every seed in per-seed.csv.",
            programs.join(" and by ")
        )
    })
}

/// Writes all files below `dir`, replacing those of an earlier outcome.
pub fn write(dir: &Path, outcome: &Outcome, provenance: &Provenance) -> std::result::Result<(), StoreError> {
    let section = &outcome.section;
    let io = |path: &Path| {
        let path = path.display().to_string();
        move |error| StoreError::Io { path, error }
    };
    let write = |path: &Path, text: &str| std::fs::write(path, text).map_err(io(path));
    for folder in ["tables", "figures"] {
        let folder = dir.join(folder);
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(io(&folder)(error)),
            _ => std::fs::create_dir_all(&folder).map_err(io(&folder))?,
        }
    }
    for table in &section.tables {
        write(&dir.join("tables").join(format!("{}.csv", slug(&table.id))), &table.to_csv())?;
    }
    for figure in &section.figures {
        write(&dir.join("figures").join(format!("{}.svg", slug(&figure.id))), &figure.to_svg(Theme::Auto))?;
    }
    write(&dir.join("per-seed.csv"), &outcome.per_seed)?;
    write(&dir.join("claims.csv"), &claims::to_csv(&outcome.judged))?;
    write(&dir.join("outcome.md"), &markdown(section))?;
    write_json(&dir.join("provenance.json"), provenance)?;
    write_json(&dir.join("outcome.json"), section)
}

/// The page as Markdown, figures as links to their files.
pub fn markdown(section: &Section) -> String {
    let mut text = format!("# {}\n\n", section.heading);
    for warning in &section.warnings {
        let _ = writeln!(text, "> **{warning}**\n");
    }
    for command in &section.commands {
        let _ = writeln!(text, "```sh\n{command}\n```\n");
    }
    for paragraph in &section.paragraphs {
        let _ = writeln!(text, "{paragraph}\n");
    }
    for table in &section.tables {
        let _ = writeln!(text, "## {}\n\n{}\n\n{}", table.id, table.caption, table.to_markdown());
    }
    for figure in &section.figures {
        let (title, file) = (&figure.title, slug(&figure.id));
        let _ = writeln!(text, "## {title}\n\n![{title}](figures/{file}.svg)\n\n{}\n", figure.caption);
    }
    text
}
