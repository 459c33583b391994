//! Progress on stderr: on a terminal a bar and a small curve for each worker, plain lines elsewhere.

mod sparkline;

use std::collections::HashMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use evenkeel_data::source;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::runner::Event;
use super::worker::Progress;
use crate::say::{is_quiet, say};
use crate::spec::RunSpec;
use crate::store::Status;
use sparkline::Sparkline;

/// Between two plain lines, so that a log file stays short.
const PLAIN_EVERY: Duration = Duration::from_secs(20);

/// Characters of a run's name beside its bar.
const NAME: usize = 18;

/// Shows how a list of runs goes.
pub struct RunProgress<'a> {
    specs: &'a [RunSpec],
    /// Iterations of each run that still has something to do.
    totals: HashMap<usize, u64>,
    done: HashMap<usize, u64>,
    /// Iterations that were done before: a continued run does not begin at none.
    before: HashMap<usize, u64>,
    ended: usize,
    start: Instant,
    view: View,
}

enum View {
    Bars { all: MultiProgress, overall: ProgressBar, workers: HashMap<usize, WorkerBar> },
    Lines { last: Instant },
}

/// What is shown of one worker.
struct WorkerBar {
    bar: ProgressBar,
    curve: Sparkline,
    /// When it began, and at which iteration: a continued run does not begin at none.
    begun: Option<(Instant, u64)>,
}

impl WorkerBar {
    fn show(&mut self, report: &Progress) {
        let (start, first) = *self.begun.get_or_insert((Instant::now(), report.iteration));
        self.curve.push(report.task1_acc);
        self.bar.set_position(report.iteration);
        let left = time_left(start.elapsed(), report.iteration - first, report.total - report.iteration);
        self.bar.set_message(describe(report, &self.curve, left));
    }
}

/// Time that the rest takes at the speed so far; unknown at the first report.
fn time_left(elapsed: Duration, done: u64, rest: u64) -> Option<Duration> {
    (done > 0).then(|| elapsed.mul_f64(rest as f64 / done as f64))
}

/// One line: the curve, then the task, task-1 accuracy now and its minimum in this task, gain and
/// time left, in fixed places so that nothing jumps.
fn describe(report: &Progress, curve: &Sparkline, left: Option<Duration>) -> String {
    let minimum = report.minimum.map_or("     ".to_string(), |minimum| format!("{minimum:5.1}"));
    let gain = report.gain.map_or(String::new(), |gain| format!(" gain {gain:.2}"));
    let left = left.map_or(String::new(), |left| format!(" {}", short(left)));
    format!("{curve} task {}: {:5.1} % min {minimum}{gain}{left}", report.task, report.task1_acc)
}

/// A time in four or five characters.
fn short(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..100 => format!("{seconds:3}s"),
        100..6000 => format!("{:3}m", (seconds + 30) / 60),
        _ => format!("{:3}h", (seconds + 1800) / 3600),
    }
}

/// A name in so many characters: its end, which tells it from others, stays.
fn fitted(name: &str, width: usize) -> String {
    let length = name.chars().count();
    if length <= width {
        return format!("{name:width$}");
    }
    let (start, end): (String, String) = (
        name.chars().take(width / 3).collect(),
        name.chars().skip(length - (width - width / 3 - 1)).collect(),
    );
    format!("{start}…{end}")
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .expect("the templates are part of the program")
        .progress_chars("━╸─")
}

impl<'a> RunProgress<'a> {
    /// `pending`: indices of the runs to do and their number of iterations.
    pub fn new(specs: &'a [RunSpec], pending: HashMap<usize, u64>) -> Self {
        let view = if std::io::stderr().is_terminal() && !is_quiet() {
            let all = MultiProgress::new();
            let overall = all.add(ProgressBar::new(pending.values().sum()));
            overall.set_style(style("{prefix:14} {wide_bar} {percent:>3} %  {elapsed} elapsed{msg}"));
            overall.enable_steady_tick(Duration::from_millis(500));
            View::Bars { all, overall, workers: HashMap::new() }
        } else {
            View::Lines { last: Instant::now() }
        };
        let (done, before) = (HashMap::new(), HashMap::new());
        let mut progress =
            Self { specs, totals: pending, done, before, ended: 0, start: Instant::now(), view };
        progress.show_overall();
        progress
    }

    /// Takes note of an event and shows it.
    pub fn on(&mut self, event: &Event) {
        match event {
            Event::Started(index) => self.start_worker(*index),
            Event::Progress(index, report) => {
                self.before.entry(*index).or_insert(report.iteration);
                self.done.insert(*index, report.iteration);
                if let View::Bars { workers, .. } = &mut self.view
                    && let Some(worker) = workers.get_mut(index)
                {
                    worker.show(report);
                }
            }
            Event::Elsewhere(index) => {
                self.say(&format!("{}: another process works on it", self.name(*index)));
            }
            Event::Ended(index, status) => {
                if let Some(total) = self.totals.get(index) {
                    self.done.insert(*index, *total);
                    // Done elsewhere, if it never reported here.
                    self.before.entry(*index).or_insert(*total);
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
        let spec = &self.specs[index];
        let name = fitted(&format!("{} seed {}", spec.optimizer.name, spec.seed), NAME);
        let total = self.totals.get(&index).copied().unwrap_or(0);
        if let View::Lines { .. } = self.view {
            self.say(&format!("{name}: begun"));
        }
        if let View::Bars { all, workers, .. } = &mut self.view {
            let bar = all.add(ProgressBar::new(total));
            bar.set_style(style("{prefix} {percent:>3}% {wide_msg}"));
            bar.set_prefix(name);
            workers.insert(index, WorkerBar { bar, curve: Sparkline::new(), begun: None });
        }
    }

    fn end_worker(&mut self, index: usize) {
        if let View::Bars { workers, .. } = &mut self.view
            && let Some(worker) = workers.remove(&index)
        {
            worker.bar.finish_and_clear();
        }
    }

    fn say(&self, line: &str) {
        match &self.view {
            View::Bars { all, .. } => drop(all.println(line)),
            View::Lines { .. } => say!("{line}"),
        }
    }

    fn show_overall(&mut self) {
        let (done, total): (u64, u64) = (self.done.values().sum(), self.totals.values().sum());
        let before: u64 = self.before.values().sum();
        let runs = format!("{}/{} runs", self.ended, self.totals.len());
        let elapsed = self.start.elapsed();
        let left = time_left(elapsed, done - before, total - done);
        let finished = self.ended == self.totals.len();
        match &mut self.view {
            View::Bars { overall, .. } => {
                overall.set_prefix(runs);
                let left = left.map(|left| format!(", {} left", indicatif::FormattedDuration(left)));
                overall.set_message(left.unwrap_or_default());
                overall.set_position(done);
                if finished {
                    overall.finish_and_clear();
                }
            }
            View::Lines { last } if last.elapsed() >= PLAIN_EVERY || (finished && total > 0) => {
                *last = Instant::now();
                let left = left.map(|left| format!(", {:.0} s left", left.as_secs_f64()));
                say!(
                    "{runs}, {:.0} %, {:.0} s elapsed{}",
                    100.0 * done as f64 / total.max(1) as f64,
                    elapsed.as_secs_f64(),
                    left.unwrap_or_default()
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
        if !std::io::stderr().is_terminal() || is_quiet() {
            say!("fetching {name}");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_described_in_one_line() {
        let mut report = Progress {
            iteration: 300,
            total: 1000,
            task: 2,
            task1_acc: 97.26,
            minimum: Some(3.5),
            gain: Some(2.1),
        };
        let mut curve = Sparkline::new();
        curve.push(0.0);
        curve.push(97.26);
        let line = describe(&report, &curve, time_left(Duration::from_secs(30), 300, 700));
        assert_eq!(line.trim_start(), "▁█ task 2:  97.3 % min   3.5 gain 2.10  70s");
        // Beside the name and the percentage it fits into a terminal of 80 columns, at its longest.
        let longest =
            Progress { task: 10, task1_acc: 100.0, minimum: Some(100.0), gain: Some(12.5), ..report.clone() };
        let longest = describe(&longest, &curve, Some(Duration::from_hours(200)));
        assert!(NAME + 1 + 4 + 1 + longest.chars().count() <= 80, "{longest}");
        assert_eq!(fitted("a-rather-long-variant-of-ngm-sgd seed 12", NAME), "a-rath…sgd seed 12");
        (report.minimum, report.gain) = (None, None);
        assert!(describe(&report, &curve, time_left(Duration::from_secs(1), 0, 700)).ends_with(" min      "));
    }
}
