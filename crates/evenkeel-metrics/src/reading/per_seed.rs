//! The usual reading: metrics of every seed, then their mean.

use serde::{Deserialize, Serialize};

use super::ReadingError;
use crate::all_task::AllTask;
use crate::curve::Curve;
use crate::gap::{Gap, RECOVERED_FRACTION, gaps};
use crate::mean_curve::same_schedule;
use crate::metrics::Metrics;
use crate::plasticity::Plasticity;
use crate::stats::{Summary, mean};

/// How many gaps closed within their task, and how fast those did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Recovery {
    /// Gaps that closed.
    pub recovered: usize,
    /// Gaps looked at.
    pub of: usize,
    /// Mean [`Gap::recovery`] of those that closed, in iterations.
    ///
    /// Too kind unless all did: a gap that is still open at the end of its task would have taken longer than
    /// the task. Always quote it with the two counts.
    pub mean: Option<f64>,
}

/// One transition's [`Gap`] over seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GapSummary {
    /// [`Gap::width`], in iterations.
    pub width: Summary,
    /// [`Gap::recovery`].
    pub recovery: Recovery,
    /// [`Gap::loss_spike`]; `None` unless every seed has one.
    pub loss_spike: Option<Summary>,
}

/// Metrics of every seed and their mean with a Student-t interval, see [`Summary`].
///
/// A metric that some seed lacks is `None` as a whole, so that no method gains by a seed that failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PerSeed {
    /// The metrics of each seed, in the order given.
    pub metrics: Vec<Metrics>,
    /// avg-ACC.
    pub avg_acc: Summary,
    /// avg-min-ACC.
    pub avg_min_acc: Summary,
    /// WC-ACC.
    pub wc_acc: Summary,
    /// avg-SG; `None` if it is undefined for a seed.
    pub avg_sg: Option<Summary>,
    /// `SG_k` for `k = 2..K`; `None` if it is undefined for a seed.
    pub sg_per_transition: Vec<Option<Summary>>,
    /// Shape of the gap at each transition, `k = 2..K`, at [`RECOVERED_FRACTION`].
    pub gap_per_transition: Vec<GapSummary>,
    /// Gap shape over all transitions: each seed's mean width and mean loss spike, and all recoveries together.
    pub gap: GapSummary,
    /// [`Plasticity::new_task_acc`].
    pub new_task_acc: Option<Summary>,
    /// [`Plasticity::seen_acc`].
    pub seen_acc: Option<Summary>,
    /// Last [`AllTask::min_acc`], at the end of task `K`.
    pub all_task_min_acc: Option<Summary>,
    /// Last [`AllTask::wc_acc`], at the end of task `K`.
    pub all_task_wc_acc: Option<Summary>,
}

impl PerSeed {
    /// Measures curves that share their iterations and tasks, one per seed.
    pub fn of(seeds: &[Curve]) -> Result<Self, ReadingError> {
        let transitions = same_schedule(seeds)?.tasks() - 1;
        let metrics = seeds.iter().map(Metrics::of).collect::<Result<Vec<_>, _>>()?;
        let gaps: Vec<Vec<Gap>> = seeds.iter().map(|seed| gaps(seed, RECOVERED_FRACTION)).collect();
        let plasticity: Vec<Plasticity> = seeds.iter().map(Plasticity::of).collect();
        let all_task: Vec<Option<AllTask>> = seeds.iter().map(AllTask::of).collect();
        let last_of = |values: fn(&AllTask) -> &Vec<f64>| {
            Summary::of_all(
                all_task.iter().map(|seed| seed.as_ref().and_then(|seed| values(seed).last().copied())),
            )
        };
        Ok(Self {
            avg_acc: summary(metrics.iter().map(|seed| seed.avg_acc)),
            avg_min_acc: summary(metrics.iter().map(|seed| seed.avg_min_acc)),
            wc_acc: summary(metrics.iter().map(|seed| seed.wc_acc)),
            avg_sg: Summary::of_all(metrics.iter().map(|seed| seed.avg_sg)),
            sg_per_transition: (0..transitions)
                .map(|transition| Summary::of_all(metrics.iter().map(|seed| seed.sg[transition])))
                .collect(),
            gap_per_transition: (0..transitions)
                .map(|transition| GapSummary::of(gaps.iter().map(|seed| &seed[transition..=transition])))
                .collect(),
            gap: GapSummary::of(gaps.iter().map(Vec::as_slice)),
            new_task_acc: Summary::of_all(plasticity.iter().map(|seed| seed.new_task_acc)),
            seen_acc: Summary::of_all(plasticity.iter().map(|seed| seed.seen_acc)),
            all_task_min_acc: last_of(|seed| &seed.min_acc),
            all_task_wc_acc: last_of(|seed| &seed.wc_acc),
            metrics,
        })
    }
}

impl GapSummary {
    /// Summarises each seed's gaps at the transitions of interest.
    fn of<'a>(seeds: impl Iterator<Item = &'a [Gap]> + Clone) -> Self {
        let gaps = seeds.clone().flatten();
        let closed: Vec<f64> =
            gaps.clone().filter_map(|gap| gap.recovery).map(|iterations| iterations as f64).collect();
        let recovery = Recovery {
            recovered: closed.len(),
            of: gaps.count(),
            mean: (!closed.is_empty()).then(|| mean(&closed)),
        };
        let width = |gaps: &[Gap]| mean(&gaps.iter().map(|gap| gap.width as f64).collect::<Vec<_>>());
        let loss_spike = |gaps: &[Gap]| {
            let spikes: Option<Vec<f64>> = gaps.iter().map(|gap| gap.loss_spike).collect();
            spikes.map(|spikes| mean(&spikes))
        };
        Self {
            width: summary(seeds.clone().map(width)),
            recovery,
            loss_spike: Summary::of_all(seeds.map(loss_spike)),
        }
    }
}

/// Summary of a metric that every seed has.
fn summary(values: impl Iterator<Item = f64>) -> Summary {
    // Accuracies and widths are finite and there is a seed, both checked before; NaN would show a mistake here.
    Summary::of_all(values.map(Some)).unwrap_or(Summary { mean: f64::NAN, sd: None, ci95: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, curve, points};

    #[test]
    fn a_hand_computed_pair_of_seeds() {
        let seeds = [curve(&[&[80.0], &[20.0, 78.0], &[78.0]]), curve(&[&[100.0], &[50.0, 60.0], &[30.0]])];
        let reading = PerSeed::of(&seeds).unwrap();
        assert_eq!(reading.metrics[1], Metrics::of(&seeds[1]).unwrap());
        assert_close(reading.avg_min_acc.mean, f64::midpoint(49.0, 40.0));
        assert_close(reading.avg_min_acc.sd.unwrap(), 40.5_f64.sqrt());
        assert_close(reading.sg_per_transition[0].unwrap().mean, 0.625);
        assert_close(reading.sg_per_transition[1].unwrap().mean, 0.25);

        let first = reading.gap_per_transition[0];
        assert_close(first.width.mean, 1.5);
        assert_eq!(first.recovery, Recovery { recovered: 1, of: 2, mean: Some(2.0) });
        assert_close(reading.gap_per_transition[1].width.mean, 0.5);
        assert_close(reading.gap.width.mean, 1.0);
        assert_eq!(reading.gap.recovery, Recovery { recovered: 2, of: 4, mean: Some(1.0) });
        assert_eq!(
            (reading.gap.loss_spike, reading.new_task_acc, reading.all_task_wc_acc),
            (None, None, None)
        );
    }

    #[test]
    fn optional_columns_are_summarised_where_every_seed_has_them() {
        let seed = |newest: f64, loss: f64| {
            let mut points = points(&[&[80.0], &[40.0]]);
            (points[0].task1_loss, points[1].task1_loss) = (Some(0.5), Some(loss));
            (points[1].seen_acc, points[1].task_acc) = (Some(newest - 10.0), vec![Some(newest)]);
            Curve::new(points).unwrap()
        };
        let reading = PerSeed::of(&[seed(60.0, 1.5), seed(80.0, 2.5)]).unwrap();
        assert_close(reading.new_task_acc.unwrap().mean, 75.0);
        assert_close(reading.seen_acc.unwrap().mean, 60.0);
        assert_close(reading.gap.loss_spike.unwrap().mean, 1.5);
        assert_close(reading.all_task_min_acc.unwrap().mean, 40.0);
        assert_close(reading.all_task_wc_acc.unwrap().mean, 55.0);

        let partial = PerSeed::of(&[seed(60.0, f64::NAN), curve(&[&[80.0], &[40.0]])]).unwrap();
        assert_eq!((partial.new_task_acc, partial.seen_acc, partial.gap.loss_spike), (None, None, None));
    }

    #[test]
    fn a_gap_undefined_for_one_seed_has_no_summary() {
        let seeds = [curve(&[&[0.0], &[40.0]]), curve(&[&[80.0], &[40.0]])];
        let reading = PerSeed::of(&seeds).unwrap();
        assert_eq!((reading.avg_sg, reading.sg_per_transition), (None, vec![None]));
    }

    #[test]
    fn seeds_must_belong_together() {
        assert!(matches!(PerSeed::of(&[]), Err(ReadingError::Seeds(_))));
        assert!(matches!(PerSeed::of(&[curve(&[&[1.0]])]), Err(ReadingError::Metrics(_))));
    }
}
