//! The appendix on gain dynamics: moving averages, entropy against η, continuous time.

use evenkeel::gain::{GainConfig, GainDynamics};
use evenkeel_metrics::Curve;
use evenkeel_report::figure::{ErrorPoint, Scatter, ScatterSeries};
use evenkeel_report::{Axis, Cell, Figure, Panel, Table};

use super::claim::{Claim, Side};
use super::curves::{Spread, band, over_training, tidy};
use super::runs::{Group, Runs, Stream, avg_sg, estimate};
use super::{Page, metrics_table};
use crate::spec::Rule;

const PLACE: &str = "appendix on gain dynamics";
/// Rank correlations of fewer data sets say nothing.
const FEWEST_DATA_SETS: usize = 3;

pub(super) fn page(runs: &Runs) -> Page {
    let streams = runs.streams();
    let sets: Vec<Set<'_>> = streams.iter().filter_map(Set::new).collect();
    Page {
        paragraphs: vec![
            "The gain g ← γ g + (1−γ) g₀ + η H is a moving average of g₀ + H where η = 1−γ. Trajectories here: NGM-SGD's own gain, \
             the moving average with the same γ and the one with α = η, both driven by the entropy that the same run recorded. \
             In continuous time τ dg/dt = g₀ − g + κ H with τ = 1/(1−γ) and κ = η/(1−γ); its exact solution under entropy that is \
             constant within an iteration is compared with the update. NGM-SGD is also trained with η = 1−γ = 0.1 (\"EMA\")."
                .to_string(),
        ],
        claims: claims(&sets),
        tables: vec![table(&sets), metrics_table::per_seed(&streams)],
        figures: vec![entropy_figure(&sets), trajectories(&sets)],
    }
}

/// A benchmark with the gain that NGM-SGD has there.
struct Set<'a> {
    stream: &'a Stream<'a>,
    ngm: &'a Group,
    gain: GainDynamics,
}

impl<'a> Set<'a> {
    fn new(stream: &'a Stream<'a>) -> Option<Self> {
        let ngm = stream.find("ngm-sgd")?;
        let Rule::NgmSgd { gamma, eta, g0, .. } = ngm.spec.optimizer.rule else { return None };
        Some(Self { stream, ngm, gain: GainConfig { gamma, eta, g0 }.check().ok()? })
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

fn mean_entropy(curve: &Curve) -> Option<f64> {
    entropies(curve).map(|values| evenkeel_metrics::stats::mean(&values))
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
    Some(set.ngm.each(of)?.into_iter().fold(0.0, f64::max))
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
    Some(set.ngm.each(of)?.into_iter().fold(0.0, f64::max))
}

fn claims(sets: &[Set<'_>]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for set in sets {
        let label = &set.stream.label;
        let config = set.gain.config();
        if let Some(difference) = against_record(set) {
            let text = format!("{label}: the recorded gain follows the gain equation");
            let evidence = Cell::number(difference, 9);
            claims.push(Claim::fact((PLACE, text), difference < 1e-5, ("largest difference", evidence)));
        }
        if let Some(difference) = largest_difference(set, |g, h| set.gain.next(g, h), ema(set)) {
            let special = (config.eta - (1.0 - config.gamma)).abs() < 1e-12;
            let word = if special { "coincides with" } else { "differs from" };
            let text = format!("{label}: with η = {} the gain {word} a moving average", config.eta);
            let holds = (difference < 1e-9) == special;
            claims.push(Claim::fact(
                (PLACE, text),
                holds,
                ("largest difference", Cell::number(difference, 4)),
            ));
        }
        if let Some(average) = set.stream.find("ema") {
            let text = format!(
                "{label}: a larger η than 1−γ attenuates the stability gap better than the moving average"
            );
            claims.push(Claim::compare((PLACE, text), (set.ngm, average), Side::Less, ("avg-SG", 3), avg_sg));
        }
    }
    claims.push(entropy_claim(sets));
    claims
}

/// Lower entropy goes with larger η, by the pairs of data sets with different η.
fn entropy_claim(sets: &[Set<'_>]) -> Claim {
    let text = "data sets with lower entropy have the larger η".to_string();
    let known: Vec<(f64, Vec<f64>)> =
        sets.iter().filter_map(|set| Some((set.eta(), set.ngm.each(mean_entropy)?))).collect();
    if known.len() < FEWEST_DATA_SETS {
        return Claim::undecided((PLACE, text), "fewer than three data sets");
    }
    let mean = |values: &[f64]| evenkeel_metrics::stats::mean(values);
    let (mut concordant, mut pairs) = (0, 0);
    for (i, a) in known.iter().enumerate() {
        for b in known[..i].iter().filter(|b| b.0 != a.0) {
            pairs += 1;
            concordant += usize::from((a.0 > b.0) == (mean(&a.1) < mean(&b.1)));
        }
    }
    let measure = format!("pairs of data sets for which it is so, of {pairs}");
    Claim::fact((PLACE, text), concordant == pairs, (&measure, Cell::number(f64::from(concordant as u32), 0)))
}

fn table(sets: &[Set<'_>]) -> Table {
    let mut table = Table::new(
        "dynamics",
        "Mean output entropy over training (± standard deviation over seeds), the constants of the gain, and the largest difference \
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
            Cell::text(&set.stream.label),
            Cell::number(config.eta, 1),
            Cell::number(config.gamma, 2),
            Cell::number(set.gain.tau(1.0), 1),
            Cell::number(set.gain.kappa(), 1),
            metrics_table::estimate(set.ngm.each(mean_entropy).and_then(|values| estimate(&values)), 3),
            number(against_record(set), 9),
            number(largest_difference(set, next, ema(set)), 4),
            number(largest_difference(set, next, exact(set)), 4),
        ]);
    }
    table
}

fn entropy_figure(sets: &[Set<'_>]) -> Figure {
    let mut figure = Figure::new("entropy", "Entropy of each data set and its gain scale", 1);
    figure.caption =
        "Mean output entropy of NGM-SGD over training, ± standard deviation over seeds.".to_string();
    let mut scatter = Scatter::default();
    for set in sets {
        let Some(entropy) = set.ngm.each(mean_entropy).and_then(|values| estimate(&values)) else { continue };
        let (x, x_error) = (tidy(entropy.mean), Some(tidy(entropy.pm)));
        scatter.series.push(ScatterSeries {
            name: set.stream.label.clone(),
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
    figure.caption = "Mean ± standard deviation over seeds. \"continuous\": the exact solution of the differential equation.".to_string();
    for set in sets {
        let in_task_1 = |point: &evenkeel_metrics::Point| (point.task == 1).then_some(point.gain)?;
        let mut lines = over_training(std::iter::once(set.ngm), Spread::Deviation, in_task_1);
        lines.marks.clear();
        let first = &set.ngm.curves[0];
        let x: Vec<f64> =
            first.points()[first.task_range(1)].iter().map(|point| point.iteration as f64).collect();
        let mut add = |name: String, next: &dyn Fn(f64, f64) -> f64| {
            let seeds: Option<Vec<Vec<f64>>> = set
                .ngm
                .curves
                .iter()
                .map(|curve| Some(driven(&entropies(curve)?, set.gain.g0(), next)))
                .collect();
            if let Some(seeds) = seeds {
                let values: Vec<Vec<f64>> =
                    (0..x.len()).map(|i| seeds.iter().map(|seed| seed[i]).collect()).collect();
                lines.series.push(band(name, x.clone(), &values, Spread::Deviation));
            }
        };
        for (name, average) in set.averages() {
            add(name, &|g, h| average.next(g, h));
        }
        add("continuous".to_string(), &exact(set));
        let title = format!("{}, η = {}", set.stream.label, set.eta());
        figure.panels.push(Panel::new(title, Axis::new("iteration"), Axis::new("gain"), lines));
    }
    figure
}
