//! A curve of anybody's, and every number that is made of it; what is read can be written and read again.
#![no_main]

use std::cell::LazyCell;

use evenkeel_fuzz_parsers::Scratch;
use evenkeel_metrics::{
    AllTask, Curve, Metrics, PaperReading, Plasticity, QUANTITIES, RECOVERED_FRACTION, gaps,
};
use evenkeel_metrics::{read_curve, read_growing_curve, write_header, write_point};

thread_local!(static FILE: LazyCell<Scratch> = LazyCell::new(|| Scratch::new("curve.csv")));

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    FILE.with(|file| {
        let _ = read_growing_curve(file.holding(data));
        let Ok(curve) = read_curve(&file.path) else { return };
        measure(&curve);
        let tasks = curve.points().iter().map(|point| point.task_acc.len() + 1).max().unwrap_or(1);
        let mut text = Vec::new();
        write_header(&mut text, tasks).unwrap();
        curve.points().iter().for_each(|point| write_point(&mut text, &point, tasks).unwrap());
        let again = read_curve(file.holding(&text)).expect("what was written is read");
        assert_eq!(again.points().len(), curve.points().len());
    });
});

fn measure(curve: &Curve) {
    let Ok(metrics) = Metrics::of(curve) else { return };
    assert!(metrics.avg_acc.is_finite() && metrics.avg_min_acc.is_finite() && metrics.wc_acc.is_finite());
    let _ = (gaps(curve, RECOVERED_FRACTION), AllTask::of(curve), Plasticity::of(curve));
    for quantity in QUANTITIES {
        assert!((quantity.of)(curve).is_none_or(f64::is_finite), "{}", quantity.name);
    }
    let reading = PaperReading::of(&[curve, curve]).expect("they share all");
    let defined = reading.avg_sg.into_iter().chain(reading.sg_per_transition.into_iter().flatten());
    assert!(defined.into_iter().all(|sg| sg.mean.is_finite() && sg.pm.is_finite()));
}
