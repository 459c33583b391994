//! Laws that the metrics obey on any curve.

use evenkeel_metrics::{
    Curve, Interval, MeanCurve, Metrics, PaperReading, Point, QUANTITIES, RECOVERED_FRACTION, gaps, quantity,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Whole numbers, so that ties are common; within 20..=80 to leave room for shifts.
fn accuracy() -> impl Strategy<Value = f64> {
    prop_oneof![20.0..80.0_f64, (20..=80_u8).prop_map(f64::from)]
}

fn curve(accuracies: &[f64], length: usize, interval: u64) -> Curve {
    let point =
        |(index, &acc): (usize, &f64)| Point::new(interval * (index as u64 + 1), index / length + 1, acc);
    Curve::new(accuracies.iter().enumerate().map(point).collect()).unwrap()
}

prop_compose! {
    /// One to six seeds of one experiment with two to five tasks.
    fn experiment()(tasks in 2_usize..6, length in 1_usize..8, interval in 1_u64..20)(
        seeds in vec(vec(accuracy(), tasks * length), 1..7),
        length in Just(length),
        interval in Just(interval),
    ) -> Vec<Curve> {
        seeds.iter().map(|seed| curve(seed, length, interval)).collect()
    }
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-9 * (1.0 + left.abs())
}

/// A quantity over seeds.
fn over(seeds: &[Curve], name: &str) -> Interval {
    let quantity = quantity(name).unwrap();
    Interval::of(&seeds.iter().map(|seed| (quantity.of)(seed).unwrap()).collect::<Vec<_>>()).unwrap()
}

fn shifted(curve: &Curve, by: f64) -> Curve {
    let points = curve.points().iter().map(|point| Point { task1_acc: point.task1_acc + by, ..point });
    Curve::new(points.collect()).unwrap()
}

proptest! {
    #[test]
    fn minima_bound_the_ends(seeds in experiment()) {
        let metrics = Metrics::of(&seeds[0]).unwrap();
        for (minimum, end) in metrics.minima.iter().zip(&metrics.ends[1..]) {
            prop_assert!(minimum <= end);
        }
        let later_ends = metrics.ends[1..].iter().sum::<f64>() / metrics.minima.len() as f64;
        prop_assert!(metrics.avg_min_acc <= later_ends + 1e-9);
        let last = metrics.ends[metrics.ends.len() - 1];
        prop_assert!(metrics.wc_acc <= last.max(metrics.avg_min_acc) + 1e-9);
        prop_assert!(metrics.wc_acc >= last.min(metrics.avg_min_acc) - 1e-9);
        prop_assert!(metrics.sg.iter().all(|sg| sg.is_some_and(|sg| sg <= 1.0)));
    }

    #[test]
    fn a_shift_moves_accuracies_and_leaves_spreads(seeds in experiment(), by in -20.0..20.0_f64) {
        let moved: Vec<Curve> = seeds.iter().map(|seed| shifted(seed, by)).collect();
        for name in ["avg-ACC", "avg-min-ACC", "WC-ACC"] {
            let (before, after) = (over(&seeds, name), over(&moved, name));
            prop_assert!(close(after.mean, before.mean + by));
            prop_assert!(close(after.sd.unwrap_or(0.0), before.sd.unwrap_or(0.0)));
        }
        let (before, after) = (PaperReading::of(&seeds).unwrap(), PaperReading::of(&moved).unwrap());
        prop_assert!(close(after.avg_min_acc.mean, before.avg_min_acc.mean + by));
        prop_assert!(close(after.avg_acc.pm, before.avg_acc.pm));
    }

    #[test]
    fn the_order_of_seeds_does_not_matter(
        (seeds, shuffled) in experiment().prop_flat_map(|seeds| (Just(seeds.clone()), Just(seeds).prop_shuffle()))
    ) {
        prop_assert_eq!(MeanCurve::of(&seeds).unwrap(), MeanCurve::of(&shuffled).unwrap());
        prop_assert_eq!(PaperReading::of(&seeds).unwrap(), PaperReading::of(&shuffled).unwrap());
        for quantity in QUANTITIES.iter().filter(|quantity| (quantity.of)(&seeds[0]).is_some()) {
            prop_assert!(close(over(&seeds, quantity.name).mean, over(&shuffled, quantity.name).mean));
        }
    }

    #[test]
    fn one_seed_reads_the_same_either_way(seeds in experiment()) {
        let paper = PaperReading::of(&seeds[..1]).unwrap();
        let means = [paper.avg_acc, paper.avg_min_acc, paper.wc_acc].map(|estimate| estimate.mean.to_bits());
        let usual = ["avg-ACC", "avg-min-ACC", "WC-ACC"].map(|name| over(&seeds[..1], name));
        prop_assert_eq!(means, usual.map(|interval| interval.mean.to_bits()));
        prop_assert_eq!(paper.avg_sg.map(|sg| sg.mean), Some(over(&seeds[..1], "avg-SG").mean));
        prop_assert_eq!((paper.wc_acc.pm, usual[2].sd, usual[2].ci95), (0.0, None, None));
    }

    #[test]
    fn the_mean_curve_dips_no_deeper_than_its_seeds(seeds in experiment()) {
        let paper = PaperReading::of(&seeds).unwrap();
        prop_assert!(paper.avg_min_acc.mean >= over(&seeds, "avg-min-ACC").mean - 1e-9);
        prop_assert!(close(paper.avg_acc.mean, over(&seeds, "avg-ACC").mean));
    }

    #[test]
    fn a_gap_fits_into_its_task(seeds in experiment(), fraction in 0.0..1.5_f64) {
        let curve = &seeds[0];
        for (k, gap) in (2..).zip(gaps(curve, fraction)) {
            let length = curve.task_range(k).len() as u64 * curve.interval();
            prop_assert!(gap.width <= length);
            prop_assert!(gap.recovery.is_none_or(|recovery| recovery <= length));
            prop_assert_eq!(gap.width == 0, gap.recovery == Some(0));
        }
        let usual = gaps(curve, RECOVERED_FRACTION);
        let stricter = gaps(curve, 1.0);
        prop_assert!(usual.iter().zip(&stricter).all(|(usual, strict)| usual.width <= strict.width));
    }
}
