//! Figure 3: what happens around the first task switch.

use evenkeel::curvature::geometric_mean;
use evenkeel_metrics::{Interval, Side};
use evenkeel_report::figure::{Band, BarSeries, Bars, Lines, Mark, Series};
use evenkeel_report::{Axis, Cell, Figure, Panel, Table};

use super::measures::{all_sg, loss_spike, sg};
use super::{Page, Result};
use crate::analysis::claims::{Basis, Claim};
use crate::analysis::groups::Finished;
use crate::analysis::mean_curves::{BAND, band, mean_series, tidy};
use crate::analysis::{Group, Lineup, Measure, Runs, tables};
use crate::run::probes::curvature::{CURVATURE_EFFECTIVE, CURVATURE_RESIDUAL, CurvatureWindow};

pub(super) const RESULT: Result = Result::of_runs(
    "mechanism",
    "Figure 3",
    "accuracy, gain, loss and curvature around the first switch of Split MNIST",
    include_str!("mechanism.rs"),
    page,
    r#"
# Figure 3: what happens around the first task switch of Split MNIST, with the curvature of the task-1 loss.
benchmark = "split-mnist"
optimizers = ["ngm-sgd", "msgd", "adam", "sgd"]
seeds = 5

[curvature]      # after the switch 1→2: iterations 0 to 10, then every 10th until 100
switch = 1
dense = 10
every = 10
after = 100
steps = 25       # of the power iteration
batches = 5      # fixed ones of the task-1 test set
batch = 128
"#,
);

/// Iterations shown before the switch.
const BEFORE: f64 = 20.0;

/// A gap that is larger by no more than this is "close to": half of SGD's own in the paper.
const CLOSE: f64 = 0.05;

fn page(runs: &Runs) -> Page {
    let lineups = &runs.lineups;
    Page {
        paragraphs: vec![
            "Around the switch 1→2, every iteration: task-1 test accuracy, gain, and increase of the task-1 test loss. The curvature is \
             the dominant |eigenvalue| of the Hessian of the task-1 loss with respect to the effective weights W = g·w, by power \
             iteration in f64 on fixed test batches (one mean loss over all of them). The paper shows its ratio to the value at the \
             switch, R(t); a ratio hides where it starts from, so the absolute values stand beside it. It is measured less often than \
             the rest, since one measurement costs as much as hundreds of iterations; the times are in the table."
                .to_string(),
        ],
        claims: lineups.iter().flat_map(claims).collect(),
        tables: lineups.iter().flat_map(|lineup| [transitions(lineup), curvature_table(lineup)]).collect(),
        figures: lineups.iter().map(figure).collect(),
    }
}

fn window(lineup: &Lineup) -> CurvatureWindow {
    lineup.settings.probes.curvature.unwrap_or_default()
}

/// The iteration of the switch.
fn switch(lineup: &Lineup) -> u64 {
    lineup.settings.end_of(window(lineup).switch)
}

/// ln |λ| of a seed at the switch and after it.
fn logs(seed: &Finished) -> Option<Vec<f64>> {
    let logs: Vec<f64> = seed.recorded(CURVATURE_EFFECTIVE).iter().map(|(.., value)| value.ln()).collect();
    (logs.len() > 1 && logs.iter().all(|log| log.is_finite())).then_some(logs)
}

/// ln R of a seed: its curvature after the switch relative to that at the switch.
fn log_ratios(seed: &Finished) -> Option<Vec<f64>> {
    let logs = logs(seed)?;
    Some(logs[1..].iter().map(|log| log - logs[0]).collect())
}

/// Times after the switch at which the curvature was measured.
fn times(lineup: &Lineup, group: &Group) -> Vec<u64> {
    let measured = group.recorded(CURVATURE_EFFECTIVE);
    measured
        .first()
        .map_or(Vec::new(), |rows| rows.iter().map(|(iteration, ..)| iteration - switch(lineup)).collect())
}

fn claims(lineup: &Lineup) -> Vec<Claim> {
    let Some(ngm) = lineup.find("ngm-sgd") else { return Vec::new() };
    let mut claims = Vec::new();
    for other in ["msgd", "adam"] {
        let Some(group) = lineup.find(other) else { continue };
        claims.extend(against(lineup, ngm, group));
        if let Some(sgd) = lineup.find("sgd") {
            let text = format!("at 1→2 SGD loses less task-1 accuracy than {}", group.name);
            claims.push(Claim::compare(
                "first-switch-sgd-degrades-less",
                lineup,
                text,
                (sgd, group),
                Side::Less,
                &sg(1),
            ));
        }
    }
    if let Some(sgd) = lineup.find("sgd") {
        let text = "at 1→2 NGM-SGD remains close to SGD or improves upon it";
        claims.push(Claim::compare(
            "ngm-near-sgd-first-switch",
            lineup,
            text,
            (ngm, sgd),
            Side::Below(CLOSE),
            &sg(1),
        ));
    }
    for group in lineup.finished() {
        let text = format!("the switch raises the curvature of {} (mean over the window)", group.name);
        let mean = Measure::new("mean ln R", 2, |seed| {
            log_ratios(seed).map(|logs| evenkeel_metrics::stats::mean(&logs))
        });
        claims.push(Claim::of_group("curvature-rises-for-all", lineup, text, group, Side::More, &mean));
    }
    let text = "the number of classes grows by the largest factor at the first switch";
    claims.push(Claim::new(
        "first-switch-largest-shift",
        lineup,
        text,
        Basis::Identity(true, Cell::number(2.0, 0)),
    ));
    claims
}

/// What is said of NGM-SGD against one optimizer with memory.
fn against(lineup: &Lineup, ngm: &Group, group: &Group) -> Vec<Claim> {
    let (pair, name) = ((ngm, group), &group.name);
    let compare = |id: &str, text: String, measure: &Measure<'_>| {
        Claim::compare(id, lineup, text, pair, Side::Less, measure)
    };
    let mut claims = Vec::new();
    for k in 1..lineup.tasks() {
        // The first switch is a claim of its own in the paper, on the same curve: it is judged once.
        let id = if k == 1 { "first-switch-old-task-kept" } else { "small-gaps-all-switches" };
        let text = format!("at {k}→{} NGM-SGD loses less task-1 accuracy than {name}", k + 1);
        let row = |group: &Group| crate::paper::published(&lineup.benchmark, &group.spec.optimizer.name);
        let at = |row: crate::paper::PaperRow| row.sg_per_transition.get(k - 1).map(|sg| sg.mean);
        let table = row(ngm).and_then(at).zip(row(group).and_then(at)).map(|(a, b)| a < b);
        claims.push(compare(id, text, &sg(k)).with_table(table));
    }
    let text = format!("at 1→2 the task-1 loss of NGM-SGD rises less than {name}'s");
    claims.push(compare("first-switch-loss-spike-small", text, &loss_spike(1)));
    let separation = Measure::new("SG 1→2 − the largest later SG", 3, |seed| {
        let sg = all_sg(&seed.curve)?;
        Some(sg[0] - sg[1..].iter().copied().reduce(f64::max)?)
    });
    let text = format!("the separation between NGM-SGD and {name} is largest at 1→2");
    claims.push(compare("largest-separation-first-switch", text, &separation));
    let peak = Measure::new("highest ln R", 2, |seed| log_ratios(seed)?.into_iter().reduce(f64::max));
    let text = format!("the curvature of NGM-SGD is amplified less than that of {name}");
    claims.push(compare("curvature-amplified-less", text, &peak));
    claims.extend(throughout(lineup, pair));
    let absolute = Measure::new("mean ln |λ|", 2, |seed| {
        logs(seed).map(|logs| evenkeel_metrics::stats::mean(&logs[1..]))
    });
    let text = format!(
        "after the switch the task-1 loss is flatter under NGM-SGD than under {name}, in absolute curvature"
    );
    claims.push(compare("landscape-flatter-absolute", text, &absolute));
    claims
}

/// Lower at every time: the time at which it is least so is the test, since all have to hold.
fn throughout(lineup: &Lineup, pair: (&Group, &Group)) -> Option<Claim> {
    let count = times(lineup, pair.0).len().min(times(lineup, pair.1).len()).checked_sub(1)?;
    let at = |i: usize| {
        let time = times(lineup, pair.0)[i + 1];
        let measure = Measure::new(format!("ln R at iteration {time} after the switch"), 2, move |seed| {
            log_ratios(seed)?.get(i).copied()
        });
        let text =
            format!("NGM-SGD keeps a lower curvature ratio than {} throughout (the worst time)", pair.1.name);
        Claim::compare("curvature-ratio-lower-throughout", lineup, text, pair, Side::Less, &measure)
    };
    let t = |claim: &Claim| {
        let Basis::Seeds(test) = &claim.basis else { return f64::NEG_INFINITY };
        let values: Vec<f64> = test.values.iter().map(|value| value.difference()).collect();
        let interval = Interval::of(&values);
        interval.map_or(f64::NEG_INFINITY, |i| i.mean / i.standard_error().unwrap_or(f64::INFINITY))
    };
    (0..count).map(at).max_by(|a, b| t(a).total_cmp(&t(b)))
}

fn transitions(lineup: &Lineup) -> Table {
    let mut table = Table::new(
        "switches",
        "Stability gap (with the minimum of each seed, and in the paper's reading beside the paper's) and task-1 loss spike at each \
         switch; Student's 95 % intervals over seeds, ± as in the paper for the mean curve.",
        ["optimizer", "switch", "SG (per seed)", "SG (mean curve)", "SG (paper)", "loss spike"],
    );
    for group in lineup.finished() {
        let reading = group.paper_reading();
        let paper = crate::paper::published(&lineup.benchmark, &group.spec.optimizer.name);
        for k in 1..lineup.tasks() {
            let ours = reading.as_ref().and_then(|reading| reading.sg_per_transition[k - 1]);
            let paper = paper.as_ref().and_then(|row| row.sg_per_transition.get(k - 1)).copied();
            table.rows.push(vec![
                Cell::text(&group.name),
                Cell::text(format!("{k}→{}", k + 1)),
                tables::interval(group.interval(&sg(k)), 3),
                tables::estimate(ours, 3),
                tables::estimate(paper, 3),
                tables::interval(group.interval(&loss_spike(k)), 3),
            ]);
        }
    }
    table
}

fn curvature_table(lineup: &Lineup) -> Table {
    let mut table = Table::new(
        "curvature",
        "Curvature in effective coordinates: |λ(t)|, and the ratio R(t) = |λ(t)| / |λ(0)|; geometric means over seeds, for R with one \
         standard deviation in log space. The residual (largest over seeds) says how far the power iteration was from its end.",
        ["optimizer", "iterations after the switch", "|λ|", "R", "R low", "R high", "largest residual"],
    );
    for group in lineup.finished() {
        let (values, residuals) = (group.recorded(CURVATURE_EFFECTIVE), group.recorded(CURVATURE_RESIDUAL));
        for (i, time) in times(lineup, group).iter().enumerate() {
            let at =
                |i: usize| -> Option<Vec<f64>> { values.iter().map(|seed| Some(seed.get(i)?.2)).collect() };
            let (Some(now), Some(before)) = (at(i), at(0)) else { continue };
            let ratio: Vec<f64> = now.iter().zip(&before).map(|(now, before)| now / before).collect();
            let Some((ratio, eigenvalue)) = geometric_mean(&ratio).zip(geometric_mean(&now)) else {
                continue;
            };
            let residual =
                residuals.iter().filter_map(|seed| seed.get(i)).map(|row| row.2).fold(0.0, f64::max);
            table.rows.push(vec![
                Cell::text(&group.name),
                Cell::number(*time as f64, 0),
                Cell::number(eigenvalue.mean, 3),
                Cell::number(ratio.mean, 3),
                Cell::number(ratio.lower(), 3),
                Cell::number(ratio.upper(), 3),
                Cell::number(residual, 5),
            ]);
        }
    }
    table
}

fn figure(lineup: &Lineup) -> Figure {
    let mut figure = Figure::new("mechanism", format!("{} around the switch 1→2", lineup.label), 2);
    figure.caption = format!(
        "Panels b to g of the paper's figure. Curvature: |λ| in effective coordinates, and its ratio to the value at the switch (dashed: 1), \
         geometric mean with one standard error in log space. The rest: {BAND}; bars: at each switch; short lines across them: the \
         paper's values."
    );
    let at = switch(lineup);
    let after = window(lineup).after.min(lineup.settings.iterations) as f64;
    let position = |iteration: u64| {
        let t = iteration as f64 - at as f64;
        (-BEFORE..=after).contains(&t).then_some(t)
    };
    let marked = |series: Vec<Series>| Lines {
        series: series.into_iter().filter(|series| !series.x.is_empty()).collect(),
        marks: vec![Mark { at: 0.0, label: "switch".to_string() }],
        ..Lines::default()
    };
    let column = |y: &dyn Fn(&evenkeel_metrics::Point) -> Option<f64>| {
        marked(
            lineup.finished().map(|group| mean_series(group, |point| position(point.iteration), y)).collect(),
        )
    };
    let increase = marked(lineup.finished().map(|group| loss_increase(group, at, position)).collect());
    let curvature = |relative: bool| {
        marked(lineup.finished().filter_map(|group| curvature_series(lineup, group, relative)).collect())
    };
    let mut ratio = curvature(true);
    ratio.rules.push(Mark { at: 1.0, label: String::new() });
    let x = || Axis::new("iterations after the switch");
    let accuracy = column(&|point| Some(point.task1_acc));
    figure.panels = vec![
        Panel::new("Task-1 accuracy", x(), Axis::new("task-1 accuracy (%)"), accuracy),
        Panel::new("Gain", x(), Axis::new("gain"), column(&|point| point.gain)),
        Panel::new("Task-1 loss", x(), Axis::new("increase of task-1 loss"), increase),
        Panel::new("Curvature", x(), Axis::new("|λ|").log(), curvature(false)),
        Panel::new("Curvature, relative to the switch", x(), Axis::new("curvature ratio R").log(), ratio),
        Panel::new("Stability gap", Axis::new("switch"), Axis::new("SG"), bars(lineup, true, sg)),
        Panel::new(
            "Loss spike",
            Axis::new("switch"),
            Axis::new("loss spike"),
            bars(lineup, false, loss_spike),
        ),
    ];
    figure
}

/// Task-1 loss of each seed minus its value at the switch.
fn loss_increase(group: &Group, at: u64, position: impl Fn(u64) -> Option<f64>) -> Series {
    let before = |seed: &Finished| seed.curve.points().iter().find(|point| point.iteration == at)?.task1_loss;
    let (mut x, mut values) = (Vec::new(), Vec::new());
    for (i, point) in group.finished[0].curve.points().iter().enumerate() {
        let Some(t) = position(point.iteration) else { continue };
        let increase = |seed: &Finished| Some(seed.curve.points().get(i)?.task1_loss? - before(seed)?);
        let seeds: Option<Vec<f64>> = group.finished.iter().map(increase).collect();
        if let Some(seeds) = seeds {
            x.push(t);
            values.push(seeds);
        }
    }
    Series { style: group.style(), ..band(group.name.clone(), x, &values) }
}

/// Geometric mean of the curvature with one standard error in log space, absolute or relative to the switch.
fn curvature_series(lineup: &Lineup, group: &Group, relative: bool) -> Option<Series> {
    let mut series = Series { name: group.name.clone(), style: group.style(), ..Series::default() };
    let mut edges = Band::default();
    let seeds: Vec<Vec<f64>> = group.finished.iter().map(logs).collect::<Option<_>>()?;
    for (i, time) in times(lineup, group).iter().enumerate() {
        let values: Option<Vec<f64>> =
            seeds.iter().map(|logs| Some(logs.get(i)? - if relative { logs[0] } else { 0.0 })).collect();
        let interval = Interval::of(&values?)?;
        let error = interval.standard_error().unwrap_or(0.0);
        series.x.push(*time as f64);
        series.y.push(tidy(interval.mean.exp()));
        edges.low.push(tidy((interval.mean - error).exp()));
        edges.high.push(tidy((interval.mean + error).exp()));
    }
    series.band = Some(edges);
    Some(series)
}

fn bars(lineup: &Lineup, with_paper: bool, of: fn(usize) -> Measure<'static>) -> Bars {
    let switches = 1..lineup.tasks();
    let mut bars =
        Bars { groups: switches.clone().map(|k| format!("{k}→{}", k + 1)).collect(), series: Vec::new() };
    for group in lineup.finished() {
        let found: Vec<Option<Interval>> = switches.clone().map(|k| group.interval(&of(k))).collect();
        let paper =
            crate::paper::published(&lineup.benchmark, &group.spec.optimizer.name).filter(|_| with_paper);
        let error = |one: &Option<Interval>| one.and_then(|one| one.standard_error());
        bars.series.push(BarSeries {
            name: group.name.clone(),
            style: group.style(),
            values: found.iter().map(|one| one.map_or(f64::NAN, |one| tidy(one.mean))).collect(),
            errors: Some(found.iter().map(|one| error(one).map_or(f64::NAN, tidy)).collect()),
            reference: paper.map(|row| row.sg_per_transition.iter().map(|sg| sg.mean).collect()),
        });
    }
    bars
}
