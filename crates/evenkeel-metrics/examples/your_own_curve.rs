//! The stability gap of a curve of your own: any program that evaluates task 1 while it trains can use this.
//!
//!     cargo run --release -p evenkeel-metrics --example your_own_curve
//!
//! From files instead: `evenkeel metrics seed0.csv seed1.csv`, with the columns `iteration,task,task1_acc`.

use evenkeel_metrics::{Curve, Interval, Metrics, PaperReading, Point, RECOVERED_FRACTION, gaps, quantity};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Two seeds of a model that learns task 1 for four iterations and then meets task 2.
    let accuracies =
        [[60.0, 90.0, 97.0, 98.0, 55.0, 80.0, 94.0, 97.0], [58.0, 91.0, 96.0, 99.0, 92.0, 61.0, 93.0, 98.0]];
    let curves = accuracies
        .iter()
        .map(|accuracies| {
            let points = accuracies.iter().zip(1..).map(|(&accuracy, iteration)| {
                let task = if iteration <= 4 { 1 } else { 2 };
                Point::new(iteration, task, accuracy)
            });
            Curve::new(points.collect())
        })
        .collect::<Result<Vec<_>, _>>()?;

    let first = Metrics::of(&curves[0])?;
    println!(
        "seed 0: E_k = {:?}, minimum {} at iteration {}",
        first.ends, first.minima[0], first.minimum_iterations[0]
    );
    for gap in gaps(&curves[0], RECOVERED_FRACTION) {
        println!("seed 0: gap of {} iterations, recovered after {:?}", gap.width, gap.recovery);
    }

    // The two seeds have their minimum at different iterations: the two readings differ.
    let paper = PaperReading::of(&curves)?;
    let minimum = quantity("avg-min-ACC").expect("it is registered");
    let minima: Vec<f64> = curves.iter().filter_map(|curve| (minimum.of)(curve)).collect();
    let per_seed = Interval::of(&minima).expect("there are two seeds");
    println!(
        "avg-min-ACC, minimum on the mean curve: {:.2} ± {:.2}",
        paper.avg_min_acc.mean, paper.avg_min_acc.pm
    );
    println!("avg-min-ACC, minimum of each seed:      {:.2}", per_seed.mean);
    Ok(())
}
