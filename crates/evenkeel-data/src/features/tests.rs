//! Files that the real tools wrote (`tests/fixtures/features/make.py`), and files that nobody should have written.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use crate::normalize::Normalization;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/features").join(name)
}

fn read(path: &Path) -> Result<DataSet, String> {
    load(path, &DataOptions::default()).map_err(|error| error.to_string())
}

fn values(set: &Labelled) -> Vec<f32> {
    let mut values = Vec::new();
    (0..set.len()).for_each(|i| set.append(i, &Normalization::none(), &mut values));
    values
}

#[test]
fn every_format_gives_the_same_examples() {
    let files = [
        "plain.npz",
        "packed.npz",
        "half.npy",
        "bytes.npy",
        "only.csv",
        "x.safetensors",
        "wide.parquet",
        "lists.parquet",
    ];
    for name in files {
        let data = read(&fixture(name)).unwrap();
        assert_eq!(
            (data.train().labels(), data.test().labels()),
            (&[0, 1, 0, 1][..], &[0, 1, 0, 1][..]),
            "{name}"
        );
        assert_eq!(data.tasks().unwrap().train, [0, 0, 1, 1], "{name}");
        let scale = if name == "bytes.npy" { 2.0 } else { 1.0 };
        let expected: Vec<f32> = (0..6).chain(12..18).map(|i| scale * i as f32 / 2.0).collect();
        assert_eq!(values(data.train()), expected, "{name}");
        let expected: Vec<f32> = (6..12).chain(18..24).map(|i| scale * i as f32 / 2.0).collect();
        assert_eq!(values(data.test()), expected, "{name}");
    }
}

#[test]
fn columns_are_standardised_on_the_training_rows_alone() {
    let data = read(&fixture("plain.npz")).unwrap();
    let normalization = Normalization::measure(data.train()).unwrap();
    // Training rows of column 0: 0, 1.5, 6, 7.5.
    assert_eq!(normalization.mean()[0], 3.75);
    assert!((normalization.std()[0] - (9.5625_f32).sqrt()).abs() < 1e-6);
    let mut row = Vec::new();
    data.test().append(0, &normalization, &mut row);
    assert!((row[0] - (3.0 - 3.75) / 9.5625_f32.sqrt()).abs() < 1e-6);
}

#[test]
fn files_that_cannot_be_used_are_named_with_what_to_do() {
    let cases = [
        ("nan.npz", "row 6: column 2 is NaN; hint: remove or replace"),
        ("fortran.npz", "columns are stored one after the other; hint: save np.ascontiguousarray(x)"),
        ("complex.npz", "numbers of type <c8; hint: convert them"),
        ("cube.npz", "3 dimensions instead of 2; hint: one row per example"),
        ("floats.npz", "label: an array of type <f4; hint: labels, tasks and splits"),
        ("unlabelled.npz", "no labels among its arrays (features); hint: call the array of labels label"),
        ("short.npz", "8 rows of numbers but 7 labels; hint: give every row one label"),
        ("gone.npz", "is not there; hint: features: takes"),
        ("make.py", "'.py' is not a known format; hint: features: takes"),
    ];
    for (name, problem) in cases {
        let error = read(&fixture(name)).unwrap_err();
        assert!(error.contains(problem) && error.contains(name) && !error.contains('\n'), "{error}");
    }
}

/// A copy of a fixture under its name in a folder of its own, with other bytes.
fn changed(name: &str, change: impl FnOnce(Vec<u8>) -> Vec<u8>) -> Result<DataSet, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, change(std::fs::read(fixture(name)).unwrap())).unwrap();
    if name == "half.npy" {
        std::fs::copy(fixture("half.csv"), path.with_extension("csv")).unwrap();
    }
    read(&path)
}

#[test]
fn files_that_were_cut_short_are_refused() {
    for name in ["plain.npz", "packed.npz", "half.npy", "x.safetensors", "wide.parquet"] {
        for part in [0, 3, 40, 100] {
            let error = changed(name, |bytes| bytes[..bytes.len() * part / 101].to_vec()).unwrap_err();
            assert!(error.contains(name) && error.contains("; hint: ") && !error.contains('\n'), "{error}");
        }
    }
    let error = changed("half.npy", |bytes| bytes[..bytes.len() - 1].to_vec()).unwrap_err();
    assert!(error.contains("truncated: 176 bytes expected, 175 found"), "{error}");
}

#[test]
fn rows_of_a_csv_are_named() {
    let csv = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.csv");
        std::fs::write(&path, text).unwrap();
        read(&path).unwrap_err()
    };
    let cases = [
        ("label,a\nx,1\ny\n", "row 2: has 1 cells, but the header has 2"),
        ("label,a\nx,1\n,2\n", "row 2: its label is missing"),
        ("label,a\nx,1\ny,one\n", "row 2: 'one' in column 2 is no number"),
        ("label,a\nx,1\ny,\"o\nne\"\n", "row 2: 'o ne' in column 2 is no number"),
        ("label,a\nx,1\ny,nan\n", "row 2: column 1 is NaN"),
        ("label,a\n0,1\n-3,2\n", "row 2: label -3 is out of range"),
        ("a,b\n0,1\n", "has no column called label"),
        ("label,a\n", "0 rows of 1 numbers"),
    ];
    for (text, problem) in cases {
        let error = csv(text);
        assert!(error.contains(problem) && error.contains("; hint: ") && !error.contains('\n'), "{error}");
    }
    let header: Vec<String> = (0..1_000_000).map(|i| format!("f{i}")).collect();
    let error = csv(&format!("label,{}\n", header.join(",")));
    assert!(error.contains("1000000 columns"), "{error}");
}

proptest! {
    #[test]
    fn a_changed_byte_never_panics(at: prop::sample::Index, byte: u8, which in 0_usize..5) {
        let name = ["plain.npz", "packed.npz", "half.npy", "x.safetensors", "wide.parquet"][which];
        let _ = changed(name, |mut bytes| {
            let at = at.index(bytes.len());
            bytes[at] = byte;
            bytes
        });
    }
}
