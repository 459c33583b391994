//! The appendix on gain dynamics: moving averages, entropy against η, continuous time.

use evenkeel::gain::{GainConfig, GainDynamics};
use evenkeel_metrics::{Curve, Interval, Side};
use evenkeel_report::figure::{ErrorPoint, Scatter, ScatterSeries};
use evenkeel_report::{Axis, Cell, Figure, Panel, Table};

use super::{Page, Result};
use crate::analysis::claims::{Basis, Claim};
use crate::analysis::mean_curves::{BAND, band, over_training, tidy};
use crate::analysis::{Group, Lineup, Measure, Runs, tables};

pub(super) const RESULT: Result = Result::of_runs(
    "gain-ema",
    "appendix on gain dynamics",
    "the gain against a moving average, entropy against η, discrete against continuous time",
    include_str!("gain_ema.rs"),
    page,
    r#"
# The appendix on gain dynamics: NGM-SGD beside the special case η = 1−γ, in which the gain is an exponential moving
# average. On Domain CIFAR-100 and Split mini-ImageNet the paper's η is that case.
optimizers = ["ngm-sgd", "ema"]
seeds = 5

[optimizer]
ema = { base = "ngm-sgd", gamma = 0.9, eta = 0.1 }

[[part]]
benchmarks = ["split-mnist", "rotated-mnist", "split-cifar10"]

[[part]]
benchmarks = ["domain-cifar100", "split-mini-imagenet"]
optimizers = ["ngm-sgd"]
"#,
);

fn page(runs: &Runs) -> Page {
    let sets: Vec<Set<'_>> = runs.lineups.iter().filter_map(Set::new).collect();
    Page {
        paragraphs: vec![
            "The gain g ← γ g + (1−γ) g₀ + η H is a moving average of g₀ + H where η = 1−γ. Trajectories here: NGM-SGD's own gain, \
             the moving average with the same γ and the one with α = η, both driven by the entropy that the same run recorded. \
             In continuous time τ dg/dt = g₀ − g + κ H with τ = 1/(1−γ) and κ = η/(1−γ); its exact solution under entropy that is \
             constant within an iteration is compared with the update. NGM-SGD is also trained with η = 1−γ = 0.1 (\"ema\"). What the \
             paper says of the equation itself is true by construction and stands in a table of its own."
                .to_string(),
        ],
        claims: sets.iter().flat_map(claims).collect(),
        tables: [table(&sets)].into_iter().chain(tables::beside_claims(&runs.lineups)).collect(),
        figures: vec![entropy_figure(&sets), trajectories(&sets)],
    }
}

/// A benchmark with the gain that NGM-SGD has there.
struct Set<'a> {
    lineup: &'a Lineup,
    ngm: &'a Group,
    gain: GainDynamics,
}

impl<'a> Set<'a> {
    fn new(lineup: &'a Lineup) -> Option<Self> {
        let ngm = lineup.find("ngm-sgd").filter(|group| !group.finished.is_empty())?;
        let number = |key: &str| ngm.spec.optimizer.number(key);
        let config = GainConfig { gamma: number("gamma")?, eta: number("eta")?, g0: number("g0")? };
        Some(Self { lineup, ngm, gain: config.check().ok()? })
    }

    fn eta(&self) -> f64 {
        self.gain.config().eta
    }

    /// Moving averages of `g0 + H` with γ of the gain, and with α = η.
    fn averages(&self) -> Vec<(String, GainDynamics)> {
        let alphas = [1.0 - self.gain.config().gamma, self.eta()];
        let named = alphas.iter().filter_map(|alpha| {
            let config = GainConfig { gamma: 1.0 - alpha, eta: *alpha, g0: self.gain.g0() };
            Some((format!("EMA, α = {}", tidy(*alpha)), config.check().ok()?))
        });
        let mut named: Vec<_> = named.collect();
        named.dedup_by(|a, b| a.0 == b.0);
        named
    }
}

/// Entropies of one seed, iteration by iteration; `None` if it was not evaluated at each.
fn entropies(curve: &Curve) -> Option<Vec<f64>> {
    (curve.interval() == 1).then(|| curve.points().iter().map(|point| point.entropy).collect())?
}

/// Mean output entropy over training.
fn mean_entropy(group: &Group) -> Option<Interval> {
    let measure = Measure::new("mean entropy", 3, |seed| {
        entropies(&seed.curve).map(|values| evenkeel_metrics::stats::mean(&values))
    });
    group.interval(&measure)
}

/// A number of each finished seed's curve, the largest of them; `None` if one has none.
fn largest(group: &Group, of: impl Fn(&Curve) -> Option<f64>) -> Option<f64> {
    let values: Option<Vec<f64>> = group.finished.iter().map(|seed| of(&seed.curve)).collect();
    values.map(|values| values.into_iter().fold(0.0, f64::max))
}

/// A gain driven by recorded entropies, after each iteration.
fn driven(entropies: &[f64], g0: f64, next: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let mut g = g0;
    let mut step = |h: &f64| {
        g = next(g, *h);
        g
    };
    entropies.iter().map(&mut step).collect()
}

/// Largest |difference| between two ways to drive the gain by the entropies of each seed.
fn largest_difference(
    set: &Set<'_>,
    a: impl Fn(f64, f64) -> f64,
    b: impl Fn(f64, f64) -> f64,
) -> Option<f64> {
    let of = |curve: &Curve| {
        let entropies = entropies(curve)?;
        let g0 = set.gain.g0();
        let pairs = driven(&entropies, g0, &a).into_iter().zip(driven(&entropies, g0, &b));
        Some(pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max))
    };
    largest(set.ngm, of)
}

fn ema(set: &Set<'_>) -> impl Fn(f64, f64) -> f64 {
    let average = GainConfig::ema(set.gain.config().gamma).check().expect("γ was checked");
    move |g, h| average.next(g, h)
}

fn exact(set: &Set<'_>) -> impl Fn(f64, f64) -> f64 {
    let gain = set.gain;
    move |g, h| gain.continuous(g, h, 1.0, 1.0)
}

/// Largest |difference| between the recorded gain and the equation driven by the recorded entropies.
fn against_record(set: &Set<'_>) -> Option<f64> {
    let of = |curve: &Curve| {
        let computed = driven(&entropies(curve)?, set.gain.g0(), |g, h| set.gain.next(g, h));
        let recorded: Option<Vec<f64>> = curve.points().iter().map(|point| point.gain).collect();
        Some(computed.iter().zip(recorded?).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max))
    };
    largest(set.ngm, of)
}

fn claims(set: &Set<'_>) -> Vec<Claim> {
    let (lineup, config) = (set.lineup, set.gain.config());
    let special = (config.eta - (1.0 - config.gamma)).abs() < 1e-12;
    let mut claims = Vec::new();
    let mut identity = |id: &str, text: String, holds: bool, number: f64, digits: usize| {
        let basis = Basis::Identity(holds, Cell::number(number, digits));
        claims.push(Claim::new(id, lineup, text, basis));
    };
    if let Some(difference) = against_record(set) {
        let text = "the recorded gain follows the gain equation (largest difference)".to_string();
        identity("continuous-time-gain", text, difference < 1e-5, difference, 9);
    }
    if let Some(difference) = largest_difference(set, |g, h| set.gain.next(g, h), ema(set)) {
        let word = if special { "coincides with" } else { "differs from" };
        let id = if special { "ema-on-two-benchmarks" } else { "gain-differs-from-ema" };
        let text = format!("with η = {} the gain {word} a moving average (largest difference)", config.eta);
        identity(id, text, (difference < 1e-9) == special, difference, 4);
        let text = format!("η = 1−γ, and only that, makes a moving average of it (here η = {})", config.eta);
        identity("ema-iff", text, (difference < 1e-9) == special, config.eta, 2);
    }
    if let Some(highest) = highest_gain(set) {
        let classes = evenkeel_data::classes(&lineup.settings.data).unwrap_or(2) as f64;
        let bound = set.gain.g0() + set.gain.kappa() * classes.ln();
        let text = format!("the gain stays below g₀ + η ln C/(1−γ) = {bound:.2} (highest)");
        identity("gain-decay-bounded", text, highest <= bound, highest, 2);
    }
    if let Some((fast, slow)) = roughness(set, 0.2).zip(roughness(set, 0.1)) {
        let text =
            "on the same entropies a moving average with α = 0.2 moves more per step than with 0.1 (ratio)"
                .to_string();
        identity("ema-reactive-against-smooth", text, fast > slow, fast / slow, 2);
    }
    if let Some(average) = lineup.find("ema") {
        let text = "a larger η than 1−γ gives a smaller gap than the moving average";
        let mut claim = Claim::compare(
            "low-entropy-needs-large-eta",
            lineup,
            text,
            (set.ngm, average),
            Side::Less,
            &Measure::named("avg-SG"),
        );
        claim.place = format!("{}; appendix C.2", claim.place);
        claims.push(claim);
    }
    claims
}

/// The highest recorded gain.
fn highest_gain(set: &Set<'_>) -> Option<f64> {
    largest(set.ngm, |curve| {
        curve.points().iter().map(|point| point.gain).try_fold(0.0, |high: f64, gain| Some(high.max(gain?)))
    })
}

/// Deviation of the one-step changes of a moving average of the recorded entropies in task 1.
fn roughness(set: &Set<'_>, alpha: f64) -> Option<f64> {
    let average = GainConfig { gamma: 1.0 - alpha, eta: alpha, g0: set.gain.g0() }.check().ok()?;
    largest(set.ngm, |curve| {
        let entropies = entropies(curve)?;
        let gains = driven(entropies.get(curve.task_range(1))?, set.gain.g0(), |g, h| average.next(g, h));
        let steps: Vec<f64> = gains.windows(2).map(|pair| pair[1] - pair[0]).collect();
        evenkeel_metrics::stats::sample_sd(&steps)
    })
}

fn table(sets: &[Set<'_>]) -> Table {
    let mut table = Table::new(
        "dynamics",
        "Mean output entropy over training (Student's 95 % interval), the constants of the gain, and the largest difference \
         over training between the gain and: the gain equation driven by the recorded entropy, the moving average with the same γ, \
         the exact solution in continuous time.",
        [
            "benchmark",
            "η",
            "γ",
            "τ",
            "κ",
            "mean entropy (nats)",
            "recorded − equation",
            "− EMA",
            "− continuous",
        ],
    );
    for set in sets {
        let config = set.gain.config();
        let number =
            |value: Option<f64>, digits| value.map_or(Cell::Empty, |value| Cell::number(value, digits));
        let next = |g, h| set.gain.next(g, h);
        table.rows.push(vec![
            Cell::text(&set.lineup.label),
            Cell::number(config.eta, 1),
            Cell::number(config.gamma, 2),
            Cell::number(set.gain.tau(1.0), 1),
            Cell::number(set.gain.kappa(), 1),
            tables::interval(mean_entropy(set.ngm), 3),
            number(against_record(set), 9),
            number(largest_difference(set, next, ema(set)), 4),
            number(largest_difference(set, next, exact(set)), 4),
        ]);
    }
    table
}

fn entropy_figure(sets: &[Set<'_>]) -> Figure {
    let mut figure = Figure::new("entropy", "Entropy of each data set and its gain scale", 1);
    figure.caption = format!("Mean output entropy of NGM-SGD over training; {BAND}.");
    let mut scatter = Scatter::default();
    for set in sets {
        let Some(entropy) = mean_entropy(set.ngm) else { continue };
        let (x, x_error) = (tidy(entropy.mean), entropy.standard_error().map(tidy));
        scatter.series.push(ScatterSeries {
            name: set.lineup.label.clone(),
            points: vec![ErrorPoint { x, y: set.eta(), x_error, ..ErrorPoint::default() }],
            ..ScatterSeries::default()
        });
    }
    figure.panels.push(Panel::new("", Axis::new("mean entropy (nats)"), Axis::new("η"), scatter));
    figure
}

fn trajectories(sets: &[Set<'_>]) -> Figure {
    let mut figure =
        Figure::new("trajectories", "Gain in task 1, beside moving averages of the same entropy", 2);
    figure.caption =
        format!("Line and band: {BAND}. \"continuous\": the exact solution of the differential equation.");
    for set in sets {
        let in_task_1 = |point: &evenkeel_metrics::Point| (point.task == 1).then_some(point.gain)?;
        let mut lines = over_training(std::iter::once(set.ngm), in_task_1);
        lines.marks.clear();
        let first = &set.ngm.finished[0].curve;
        let x: Vec<f64> =
            first.iterations()[first.task_range(1)].iter().map(|&iteration| iteration as f64).collect();
        let mut add = |name: String, next: &dyn Fn(f64, f64) -> f64| {
            let seeds: Option<Vec<Vec<f64>>> = set
                .ngm
                .finished
                .iter()
                .map(|seed| Some(driven(&entropies(&seed.curve)?, set.gain.g0(), next)))
                .collect();
            if let Some(seeds) = seeds {
                let values: Vec<Vec<f64>> =
                    (0..x.len()).map(|i| seeds.iter().map(|seed| seed[i]).collect()).collect();
                lines.series.push(band(name, x.clone(), &values));
            }
        };
        for (name, average) in set.averages() {
            add(name, &|g, h| average.next(g, h));
        }
        add("continuous".to_string(), &exact(set));
        let title = format!("{}, η = {}", set.lineup.label, set.eta());
        figure.panels.push(Panel::new(title, Axis::new("iteration"), Axis::new("gain"), lines));
    }
    figure
}
