//! A curve of anybody's, and every number that is made of it; what is read can be written and read again.
#![no_main]

use evenkeel_fuzz_parsers::{assert_one_line, one_of};
use evenkeel_metrics::csv::fuzzing::curve;
use evenkeel_metrics::{
    AllTask, Curve, Metrics, PaperReading, Plasticity, QUANTITIES, RECOVERED_FRACTION, gaps,
};
use evenkeel_metrics::{write_header, write_point};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let whole = match curve(data, false) {
        Ok(whole) => whole,
        Err(error) => {
            assert_one_line(&error);
            return;
        }
    };
    // All that can differ is a last line without an end.
    if data.last() != Some(&b'\n') {
        assert!(curve(data, true).map_or(0, |grown| grown.points().len()) <= whole.points().len());
    }
    measure(&whole);
    if !one_of(4, data) {
        return;
    }
    let tasks = whole.points().iter().map(|point| point.task_acc.len() + 1).max().unwrap_or(1);
    let mut text = Vec::new();
    write_header(&mut text, tasks).unwrap();
    whole.points().iter().for_each(|point| write_point(&mut text, &point, tasks).unwrap());
    let again = curve(&text, false).expect("what was written is read");
    assert_eq!(again.points().len(), whole.points().len());
    for (again, point) in again.points().iter().zip(whole.points().iter()) {
        assert_eq!(format!("{again:?}"), format!("{point:?}"));
    }
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
