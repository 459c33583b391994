//! Progress on stderr: bars on a terminal, plain lines elsewhere.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use evenkeel_data::source;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::runner::Event;
use crate::spec::RunSpec;
use crate::store::Status;

/// Between two plain lines, so that a log file stays short.
const PLAIN_EVERY: Duration = Duration::from_secs(20);

/// Shows how a list of runs goes.
pub struct RunProgress<'a> {
    specs: &'a [RunSpec],
    /// Iterations of each run that still has something to do.
    totals: HashMap<usize, u64>,
    done: HashMap<usize, u64>,
    ended: usize,
    start: Instant,
    view: View,
}

enum View {
    Bars { all: MultiProgress, overall: ProgressBar, workers: HashMap<usize, ProgressBar> },
    Lines { last: Instant },
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .expect("the templates are part of the program")
        .progress_chars("━╸─")
}

impl<'a> RunProgress<'a> {
    /// `pending`: indices of the runs to do and their number of iterations.
    pub fn new(specs: &'a [RunSpec], pending: HashMap<usize, u64>) -> Self {
        let view = if std::io::stderr().is_terminal() {
            let all = MultiProgress::new();
            let overall = all.add(ProgressBar::new(pending.values().sum()));
            overall.set_style(style("{msg:24} {wide_bar} {percent:>3} %  {elapsed} elapsed, {eta} left"));
            overall.enable_steady_tick(Duration::from_millis(500));
            View::Bars { all, overall, workers: HashMap::new() }
        } else {
            View::Lines { last: Instant::now() }
        };
        let mut progress =
            Self { specs, totals: pending, done: HashMap::new(), ended: 0, start: Instant::now(), view };
        progress.show_overall();
        progress
    }

    /// Takes note of an event and shows it.
    pub fn on(&mut self, event: &Event) {
        match event {
            Event::Started(index) => self.start_worker(*index),
            Event::Progress(index, report) => {
                self.done.insert(*index, report.iteration);
                let minimum = report.minimum.map(|m| format!(", minimum {m:5.1}")).unwrap_or_default();
                let gain = report.gain.map(|g| format!(", gain {g:.3}")).unwrap_or_default();
                let now = format!(
                    "task {}: task-1 accuracy {:5.1} %{minimum}{gain}",
                    report.task, report.task1_acc
                );
                if let View::Bars { workers, .. } = &self.view
                    && let Some(bar) = workers.get(index)
                {
                    bar.set_position(report.iteration);
                    bar.set_message(now);
                }
            }
            Event::Elsewhere(index) => {
                self.say(&format!("{}: another process works on it", self.name(*index)));
            }
            Event::Ended(index, status) => {
                if let Some(total) = self.totals.get(index) {
                    self.done.insert(*index, *total);
                }
                self.ended += 1;
                self.end_worker(*index);
                if let Status::Diverged { iteration, reason } = status {
                    self.say(&format!("{}: diverged at iteration {iteration}: {reason}", self.name(*index)));
                }
            }
            Event::Failed(index, failure) => {
                self.end_worker(*index);
                self.say(&format!("{}: {}", self.name(*index), failure.message));
            }
            Event::Stopped(index) => self.end_worker(*index),
        }
        self.show_overall();
    }

    fn name(&self, index: usize) -> String {
        let spec = &self.specs[index];
        format!("{} {} seed {}", spec.benchmark, spec.optimizer.name, spec.seed)
    }

    fn start_worker(&mut self, index: usize) {
        let name = format!("  {} seed {}", self.specs[index].optimizer.name, self.specs[index].seed);
        let total = self.totals.get(&index).copied().unwrap_or(0);
        if let View::Bars { all, workers, .. } = &mut self.view {
            let bar = all.add(ProgressBar::new(total));
            bar.set_style(style("{prefix:24} {bar:20} {pos:>4}/{len}  {msg}"));
            bar.set_prefix(name);
            workers.insert(index, bar);
        }
    }

    fn end_worker(&mut self, index: usize) {
        if let View::Bars { workers, .. } = &mut self.view
            && let Some(bar) = workers.remove(&index)
        {
            bar.finish_and_clear();
        }
    }

    fn say(&self, line: &str) {
        match &self.view {
            View::Bars { all, .. } => drop(all.println(line)),
            View::Lines { .. } => eprintln!("{line}"),
        }
    }

    fn show_overall(&mut self) {
        let (done, total): (u64, u64) = (self.done.values().sum(), self.totals.values().sum());
        let runs = format!("{}/{} runs", self.ended, self.totals.len());
        let elapsed = self.start.elapsed();
        let finished = self.ended == self.totals.len();
        match &mut self.view {
            View::Bars { overall, .. } => {
                overall.set_message(runs);
                overall.set_position(done);
                if finished {
                    overall.finish_and_clear();
                }
            }
            View::Lines { last } if last.elapsed() >= PLAIN_EVERY || (finished && total > 0) => {
                *last = Instant::now();
                let fraction = done as f64 / total.max(1) as f64;
                let left = if done == 0 { 0.0 } else { elapsed.as_secs_f64() * (1.0 / fraction - 1.0) };
                eprintln!(
                    "{runs}, {:.0} %, {:.0} s elapsed, {left:.0} s left",
                    100.0 * fraction,
                    elapsed.as_secs_f64()
                );
            }
            View::Lines { .. } => {}
        }
    }

    /// Takes the bars away.
    pub fn close(self) {
        if let View::Bars { all, .. } = self.view {
            let _ = all.clear();
        }
    }
}

/// Shows downloads.
#[derive(Default)]
pub struct FetchProgress {
    bar: Option<ProgressBar>,
}

impl source::Progress for FetchProgress {
    fn start(&mut self, name: &str, total: Option<u64>) {
        if !std::io::stderr().is_terminal() {
            eprintln!("fetching {name}");
            return;
        }
        let bar = match total {
            Some(total) => ProgressBar::new(total)
                .with_style(style("fetching {msg}  {wide_bar} {bytes}/{total_bytes}  {eta} left")),
            None => ProgressBar::new_spinner().with_style(style("fetching {msg}  {bytes}")),
        };
        bar.set_message(name.to_string());
        self.bar = Some(bar);
    }

    fn advance(&mut self, bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.inc(bytes);
        }
    }

    fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
