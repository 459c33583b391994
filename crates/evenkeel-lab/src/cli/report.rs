//! `evenkeel report`: one HTML file, and the same figures and tables as files.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use evenkeel_data::files;
use evenkeel_report::document::slug;
use evenkeel_report::{Document, Theme};

use super::error::{BadInput, failure_if};
use super::groups::Groups;
use crate::analysis::{Folders, document};
use crate::columns::{WIDTH, wrapped};
use crate::say::say;
use crate::words::plural;

/// Pixels of a PNG per unit of the drawing: about 300 dpi in the column of a paper.
const PNG_SCALE: f32 = 3.0;

/// Points of a curve in a drawing; its CSV has all.
const POINTS: usize = 2400;

/// Make one self-contained HTML file of the runs and outcomes in some folders.
///
/// Tables beside the paper's, figures, what was run and how to run it again. It needs no network and opens from disk.
/// Folders are searched three levels deep; unfinished and unreadable runs are named in the report, not counted.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    evenkeel report runs/split-mnist\n  \
    evenkeel report runs -o everything.html\n  \
    evenkeel report runs/split-mnist --group mine='mine-*.csv'\n  \
    evenkeel report runs/split-mnist --figures figures --tables tables")]
pub(super) struct Args {
    /// Folders that `evenkeel run` or `evenkeel reproduce` wrote.
    #[arg(required_unless_present = "groups", value_name = "DIR")]
    dirs: Vec<PathBuf>,
    #[command(flatten)]
    groups: Groups,
    /// The file to write.
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,
    /// Also write every figure as SVG, PNG and CSV (its numbers) into this folder.
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// Also write every table as Markdown, CSV and LaTeX into this folder.
    #[arg(long, value_name = "DIR")]
    tables: Option<PathBuf>,
    /// Title of the page.
    #[arg(long, default_value = "evenkeel: the stability gap")]
    title: String,
    /// The optimizer that the others are compared with [default: the first of `evenkeel list` that ran].
    #[arg(long, value_name = "NAME")]
    against: Option<String>,
    /// Draw the files of --figures for a dark page; else SVG follows the reader's system, and PNG is light.
    #[arg(long)]
    dark: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    must_be_folders(&args.dirs)?;
    let sources = args.groups.sources();
    // A page says what it leaves out; a command line with a mistake is refused.
    sources.iter().try_for_each(|source| source.read().map(drop))?;
    let folders = Folders::read_with(&args.dirs, &sources);
    let damaged = !folders.problems.is_empty() || folders.runs.iter().any(|run| run.check_files().is_err());
    let empty = folders.runs.is_empty() && folders.outcomes.is_empty() && folders.own.is_empty();
    let document = document(&args.title, folders, args.against.as_deref());
    // What the page says prominently is said here, too.
    for section in &document.sections {
        for note in section.warnings.iter().chain(&section.notes) {
            say!("note: {note}");
        }
    }
    if empty {
        let dirs: Vec<String> = args.dirs.iter().map(|dir| dir.display().to_string()).collect();
        say!("note: no runs and no outcomes below {}: the page says so and nothing else", dirs.join(", "));
    }
    write(&args.output, document.to_html().as_bytes())?;
    say!("{}: {}", args.output.display(), plural(document.sections.len(), "section"));
    for section in &document.sections {
        if let Some(verdict) = &section.verdict {
            say!("{}", wrapped(&format!("{}: {verdict}", section.heading), WIDTH, 2));
        }
    }
    if let Some(dir) = &args.figures {
        let count = write_figures(&document, dir, if args.dark { Theme::Dark } else { Theme::Auto })?;
        say!("{}: {count} figures as SVG, PNG and CSV", dir.display());
    }
    if let Some(dir) = &args.tables {
        let count = write_tables(&document, dir)?;
        say!("{}: {count} tables as Markdown, CSV and LaTeX", dir.display());
    }
    Ok(failure_if(damaged))
}

/// A folder that does not exist is a slip of the pen; an empty one gives a report that says so.
pub(super) fn must_be_folders(dirs: &[PathBuf]) -> anyhow::Result<()> {
    match dirs.iter().find(|dir| !dir.is_dir()) {
        Some(dir) => Err(BadInput(format!("{}: no such folder", dir.display())).into()),
        None => Ok(()),
    }
}

fn write_figures(document: &Document, dir: &Path, theme: Theme) -> anyhow::Result<usize> {
    std::fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
    let mut names = HashSet::new();
    for figure in document.sections.iter().flat_map(|section| &section.figures) {
        let name = free(&figure.id, &mut names);
        let drawn = figure.thinned(POINTS);
        write(&dir.join(format!("{name}.svg")), drawn.to_svg(theme).as_bytes())?;
        write(&dir.join(format!("{name}.png")), &drawn.to_png(theme, PNG_SCALE)?)?;
        write(&dir.join(format!("{name}.csv")), figure.to_csv().as_bytes())?;
    }
    Ok(names.len())
}

fn write_tables(document: &Document, dir: &Path) -> anyhow::Result<usize> {
    std::fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
    let mut names = HashSet::new();
    for table in document.sections.iter().flat_map(|section| section.ranking.iter().chain(&section.tables)) {
        let name = free(&table.id, &mut names);
        write(&dir.join(format!("{name}.md")), table.to_markdown().as_bytes())?;
        write(&dir.join(format!("{name}.csv")), table.to_csv().as_bytes())?;
        write(&dir.join(format!("{name}.tex")), table.to_latex().as_bytes())?;
    }
    Ok(names.len())
}

/// A file name that no other figure or table of the document has.
fn free(id: &str, names: &mut HashSet<String>) -> String {
    let base = slug(id);
    let all = std::iter::once(base.clone()).chain((2..).map(|n| format!("{base}-{n}")));
    let name = all.into_iter().find(|name| !names.contains(name)).expect("numbers do not end");
    names.insert(name.clone());
    name
}

fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    files::write(path, bytes).with_context(|| path.display().to_string())
}
