//! The files of a finished reproduction: `outcome.json`, `outcome.md`, `provenance.json`, `tables/*.csv`, `figures/*.svg`.

use std::fmt::Write as _;
use std::path::Path;

use evenkeel_report::document::slug;
use evenkeel_report::{Section, Theme};
use serde::Serialize;

use super::claim::Verdict;
use super::runs::Runs;
use super::{Page, Reproduction, claim};
use crate::spec::{OptimizerSpec, Settings};
use crate::store::{StoreError, write_json};

/// What made the numbers.
#[derive(Debug, Serialize)]
pub struct Provenance {
    /// Name of the reproduction.
    pub name: String,
    /// The command.
    pub command: String,
    /// Whether it is the scaled-down version.
    pub quick: bool,
    /// Version of evenkeel.
    pub version: String,
    /// The kernels, which decide the rounding.
    pub kernels: String,
    /// Benchmarks that were left out, and why.
    pub without: Vec<String>,
    /// The protocols.
    pub streams: Vec<ProvenanceStream>,
}

/// One protocol and what ran under it.
#[derive(Debug, Serialize)]
pub struct ProvenanceStream {
    /// Benchmark.
    pub benchmark: String,
    /// The protocol.
    pub settings: Settings,
    /// The optimizers.
    pub optimizers: Vec<ProvenanceOptimizer>,
}

/// One optimizer with its finished seeds.
#[derive(Debug, Serialize)]
pub struct ProvenanceOptimizer {
    /// Name and parameters.
    #[serde(flatten)]
    pub spec: OptimizerSpec,
    /// Finished seeds.
    pub seeds: Vec<u64>,
}

impl Provenance {
    /// Of these runs.
    pub fn new(name: &str, command: String, quick: bool, without: Vec<String>, runs: &Runs) -> Self {
        let streams = runs.streams();
        let streams = streams.iter().map(|stream| ProvenanceStream {
            benchmark: stream.benchmark.to_string(),
            settings: stream.settings.clone(),
            optimizers: stream
                .groups
                .iter()
                .map(|group| ProvenanceOptimizer {
                    spec: group.spec.optimizer.clone(),
                    seeds: group.seeds.clone(),
                })
                .collect(),
        });
        Self {
            name: name.to_string(),
            command,
            quick,
            version: env!("CARGO_PKG_VERSION").to_string(),
            kernels: evenkeel_kernels::Path::active().name().to_string(),
            without,
            streams: streams.collect(),
        }
    }
}

/// What the scaled-down version says on everything it prints.
pub const QUICK: &str = "Quick version: few seeds, a fraction of the iterations and of the test images, smaller batches for convolutional \
     networks. It shows that everything runs; its numbers are not the paper's protocol and decide no claim.";

/// The page as a section of a report.
pub fn section(
    reproduction: &Reproduction,
    mut page: Page,
    provenance: &Provenance,
    left_out: &[String],
) -> Section {
    let quick = if provenance.quick { " (quick)" } else { "" };
    let heading = format!("{}: {}{quick}", reproduction.place, reproduction.summary);
    let mut section = Section::new(reproduction.name, heading);
    if provenance.quick {
        section.warnings.push(QUICK.to_string());
        page.claims.iter_mut().for_each(|claim| claim.verdict = Verdict::Undecided);
    }
    section.warnings.extend(provenance.without.iter().map(|why| format!("Left out: {why}")));
    section.warnings.extend(left_out.iter().map(|why| format!("Not counted: {why}")));
    section.paragraphs = page.paragraphs;
    section.paragraphs.extend(claim::paragraphs(&page.claims));
    section.paragraphs.push(format!(
        "Made by evenkeel {} ({} kernels); settings, parameters and seeds are in provenance.json.",
        provenance.version, provenance.kernels
    ));
    section.commands.push(provenance.command.clone());
    if !page.claims.is_empty() {
        section.tables.push(claim::table(&page.claims));
    }
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
    section
}

/// Writes all files below `dir`, replacing those of an earlier outcome.
pub fn write(dir: &Path, section: &Section, provenance: &Provenance) -> Result<(), StoreError> {
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
        write(&dir.join("figures").join(format!("{}.svg", slug(&figure.id))), &figure.to_svg(Theme::Light))?;
    }
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
