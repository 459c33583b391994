//! Curve files survive a round trip, and nothing in a file makes the reader panic.

use evenkeel_metrics::{Curve, Point, read_curve, write_header, write_point};
use proptest::option;
use proptest::prelude::*;

/// Any float at all, but the one NaN that text can tell.
fn any_float() -> impl Strategy<Value = f64> {
    proptest::num::f64::ANY.prop_map(|value| if value.is_nan() { f64::NAN } else { value })
}

fn percent() -> impl Strategy<Value = f64> {
    prop_oneof![0.0..=100.0, Just(0.0), Just(-0.0), Just(100.0), Just(f64::MIN_POSITIVE)]
}

prop_compose! {
    fn points(tasks: usize, length: usize)(
        rows in proptest::collection::vec(
            (
                percent(),
                option::of(any_float()),
                option::of(any_float()),
                option::of(any_float()),
                option::of(any_float()),
                option::of(percent()),
                proptest::collection::vec(option::of(percent()), tasks - 1),
            ),
            tasks * length,
        ),
        interval in 1_u64..1000,
    ) -> Vec<Point> {
        let point = |(index, row)| {
            let (task1_acc, task1_loss, gain, entropy, train_loss, seen_acc, task_acc) = row;
            let (iteration, task) = (interval * (index as u64 + 1), index / length + 1);
            Point { iteration, task, task1_acc, task1_loss, gain, entropy, train_loss, seen_acc, task_acc }
        };
        rows.into_iter().enumerate().map(point).collect()
    }
}

/// All fields with floats as bits, so that zeros and NaNs are told apart as well.
fn bits(curve: &Curve) -> Vec<Vec<Option<u64>>> {
    let row = |point: Point| {
        let named = [point.task1_loss, point.gain, point.entropy, point.train_loss, point.seen_acc];
        let floats = std::iter::once(Some(point.task1_acc)).chain(named).chain(point.task_acc);
        let whole = [Some(point.iteration), Some(point.task as u64)];
        whole.into_iter().chain(floats.map(|float| float.map(f64::to_bits))).collect()
    };
    curve.points().iter().map(row).collect()
}

fn read(bytes: &[u8]) -> Result<Curve, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("curve.csv");
    std::fs::write(&path, bytes).unwrap();
    read_curve(&path).map_err(|error| error.to_string())
}

proptest! {
    #[test]
    fn a_written_curve_reads_back_bit_for_bit(
        (tasks, points) in (1_usize..5, 1_usize..6).prop_flat_map(|(k, n)| (Just(k), points(k, n)))
    ) {
        let mut file = Vec::new();
        write_header(&mut file, tasks).unwrap();
        for point in &points {
            write_point(&mut file, point, tasks).unwrap();
        }
        let curve = Curve::new(points).unwrap();
        prop_assert_eq!(bits(&read(&file).unwrap()), bits(&curve));
        let crlf = String::from_utf8(file).unwrap().replace('\n', " \r\n");
        prop_assert_eq!(bits(&read(crlf.as_bytes()).unwrap()), bits(&curve));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Err(shown) = read(&bytes) {
            prop_assert_eq!(shown.lines().count(), 1, "{}", shown);
        }
    }

    #[test]
    fn arbitrary_rows_never_panic(rows in "[0-9eE+.,\"\r\n aNinf-]{0,200}") {
        let file = format!("iteration,task,task1_acc,gain,seen_acc,acc_2\n{rows}");
        if let Err(shown) = read(file.as_bytes()) {
            prop_assert_eq!(shown.lines().count(), 1, "{}", shown);
        }
    }
}
