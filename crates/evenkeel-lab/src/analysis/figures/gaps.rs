//! Stability gap and loss spike at each switch.

use evenkeel_metrics::{Estimate, RECOVERED_FRACTION, gaps};
use evenkeel_report::figure::{BarSeries, Bars};
use evenkeel_report::{Axis, Figure, Panel};

use super::{Drawn, MOST_CURVES};
use crate::analysis::{Group, Measure};

pub(super) fn figure(drawn: &Drawn<'_>) -> Option<Figure> {
    let groups: Vec<&Group> = drawn.lineup.finished().take(MOST_CURVES).collect();
    let transitions = drawn.lineup.tasks().checked_sub(1).filter(|n| *n > 0)?;
    let names: Vec<String> = (1..=transitions).map(|k| format!("{k}→{}", k + 1)).collect();
    let mut figure =
        Figure::new(format!("{}-gaps", drawn.id), "Stability gap and loss spike at each switch", 2);
    let published = groups.iter().any(|group| group.published().is_some());
    let lines = if published { "; lines are the paper's values" } else { "" };
    figure.caption = format!(
        "a: stability gap of each transition, the paper's reading (minimum on the mean curve, ± as in the paper){lines}. b: highest \
         task-1 loss after a switch minus the loss before it, mean ± standard error over seeds (sample deviation)."
    );
    let transition = || Axis::new("transition");
    let gap = groups.iter().map(|group| gap_bars(group)).collect();
    let plot = Bars { groups: names.clone(), series: gap };
    figure.panels.push(Panel::new("Stability gap", transition(), Axis::new("SG"), plot));
    let spikes: Vec<BarSeries> = groups.iter().map(|group| spike_bars(group, transitions)).collect();
    if spikes.iter().any(|series| series.values.iter().any(|value| value.is_finite())) {
        let plot = Bars { groups: names, series: spikes };
        let y = Axis::new("loss increase, nats");
        figure.panels.push(Panel::new("Task-1 loss spike", transition(), y, plot));
    }
    Some(figure)
}

fn gap_bars(group: &Group) -> BarSeries {
    let gaps = group.paper_reading().map(|reading| reading.sg_per_transition).unwrap_or_default();
    let pick = |of: fn(&Estimate) -> f64| gaps.iter().map(|gap| gap.as_ref().map_or(f64::NAN, of)).collect();
    let paper = group.published().map(|paper| paper.sg_per_transition).filter(|gaps| !gaps.is_empty());
    BarSeries {
        name: group.name.clone(),
        style: group.style(),
        values: pick(|estimate| estimate.mean),
        errors: Some(pick(|estimate| estimate.pm)),
        reference: paper.map(|gaps| gaps.iter().map(|gap| gap.mean).collect()),
    }
}

fn spike_bars(group: &Group, transitions: usize) -> BarSeries {
    let spike = |k: usize| {
        let measure = Measure::new("loss spike", 3, move |seed| {
            gaps(&seed.curve, RECOVERED_FRACTION).get(k - 1).and_then(|gap| gap.loss_spike)
        });
        group.interval(&measure)
    };
    let all: Vec<_> = (1..=transitions).map(spike).collect();
    BarSeries {
        name: group.name.clone(),
        style: group.style(),
        values: all.iter().map(|one| one.map_or(f64::NAN, |one| one.mean)).collect(),
        errors: Some(
            all.iter().map(|one| one.and_then(|one| one.standard_error()).unwrap_or(f64::NAN)).collect(),
        ),
        ..BarSeries::default()
    }
}
