//! What is written comes back, and nothing else does.

use proptest::prelude::*;

use super::header::{Header, Kind};
use super::{DecodedError, MAGIC};
use crate::dataset::{DataSet, TaskColumn};
use crate::examples::Examples;
use crate::files::sha256;
use crate::images::{ImageShape, Images};
use crate::labelled::Labelled;
use crate::load::Loaded;
use crate::normalize::Normalization;
use crate::numbers::{Numbers, Place};
use crate::sparse::Sparse;

/// A data set of 2 × 1 × 3 images with coarse labels, and numbers that decimals cannot hold exactly.
fn loaded(with_coarse: bool) -> Loaded {
    let set = |n: u8| {
        let pixels = (0..6 * n).map(|p| p.wrapping_mul(37)).collect();
        let labels = (0..n).map(|i| u16::from(i) * 100).collect();
        Labelled::new(Images::new(ImageShape::new(2, 1, 3), pixels).unwrap(), labels, 700).unwrap()
    };
    let mut data = DataSet::new("a name\nwith “all” \\ kinds", set(7), set(3)).unwrap();
    if with_coarse {
        data = data.with_coarse(vec![0, 1, 2, 3, 4, 0, 1], vec![4, 3, 2], 5).unwrap();
    }
    let normalization = Normalization::new(vec![0.1, 1.0 / 3.0], vec![0.3081, f32::MIN_POSITIVE]).unwrap();
    Loaded { data, normalization, sha256: with_coarse.then(|| sha256(b"x")) }
}

fn same(a: &Labelled, b: &Labelled) -> bool {
    (a.shape(), a.classes(), a.labels()) == (b.shape(), b.classes(), b.labels())
        && (0..a.len()).all(|i| a.image(i) == b.image(i))
}

fn saved(loaded: &Loaded) -> Vec<u8> {
    let mut bytes = Vec::new();
    loaded.write(&mut bytes).unwrap();
    bytes
}

fn read(bytes: &[u8]) -> Result<Loaded, DecodedError> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    Loaded::read(file.path())
}

#[test]
fn what_is_read_is_what_was_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("decoded");
    for with_coarse in [false, true] {
        let before = loaded(with_coarse);
        before.save(&path).unwrap();
        let after = Loaded::read(&path).unwrap();
        assert_eq!(after.data.name(), before.data.name());
        assert!(same(after.data.train(), before.data.train()) && same(after.data.test(), before.data.test()));
        assert_eq!((after.normalization, &after.sha256), (before.normalization, &before.sha256));
        match (after.data.coarse(), before.data.coarse()) {
            (Some(a), Some(b)) => assert!(same(&a.train, &b.train) && same(&a.test, &b.test)),
            (a, b) => assert!(a.is_none() && b.is_none()),
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn rows_and_tasks_come_back_too() {
    let mut sparse = Sparse::new(9);
    for row in [&[(1, 0.5), (8, -2.0)][..], &[], &[(4, 1.5)]] {
        sparse.push(row);
    }
    let content: Vec<u8> = (0..12_u8).flat_map(|i| f32::from(i).to_le_bytes()).collect();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), content).unwrap();
    let number = crate::numbers::NumberType::F32;
    let place = Place { path: file.path().to_owned(), offset: 0, number, columns: 4, rows: 3 };
    let numbers = Numbers::open(place).unwrap();
    let scale = Normalization::of_columns(vec![0.1; 4], vec![1.0 / 3.0; 4]).unwrap();
    for (examples, normalization) in
        [(Examples::from(sparse), Normalization::none()), (numbers.into(), scale)]
    {
        let all = Labelled::new(examples, vec![0, 1, 0], 2).unwrap();
        let data = DataSet::new("rows", all.select(&[2, 0]), all.select(&[1])).unwrap();
        let column = TaskColumn { train: vec![1, 0], test: vec![1], tasks: 2 };
        let before =
            Loaded { data: data.with_tasks(column).unwrap(), normalization, sha256: Some("x".into()) };
        let after = read(&saved(&before)).unwrap();
        assert!(same(after.data.train(), before.data.train()) && same(after.data.test(), before.data.test()));
        assert_eq!((after.data.tasks(), &after.normalization), (before.data.tasks(), &before.normalization));
        let good = saved(&after);
        assert!(read(&good[..good.len() - 1]).is_err());
    }
}

#[test]
fn rows_of_two_matrices_are_not_mixed_up() {
    let set = |value: f32| {
        let mut sparse = Sparse::new(2);
        sparse.push(&[(1, value)]);
        Labelled::new(sparse, vec![0], 1).unwrap()
    };
    let data = DataSet::new("two", set(1.0), set(2.0)).unwrap();
    let two = Loaded { data, normalization: Normalization::none(), sha256: None };
    assert!(two.write(&mut Vec::new()).is_err());
}

#[test]
fn a_selection_is_saved_as_it_is_seen() {
    let data = loaded(false).data;
    let data = DataSet::new("some", data.train().select(&[5, 2]), data.test().select(&[1])).unwrap();
    let after = read(&saved(&Loaded { data: data.clone(), ..loaded(false) })).unwrap();
    assert!(same(after.data.train(), data.train()) && same(after.data.test(), data.test()));
}

#[test]
fn other_files_are_refused_by_kind() {
    let good = saved(&loaded(true));
    assert!(matches!(read(b"").unwrap_err(), DecodedError::Foreign { .. }));
    assert!(matches!(read(&vec![b'x'; 200_000]).unwrap_err(), DecodedError::Foreign { .. }));
    let cut = read(&good[..good.len() - 1]).unwrap_err().to_string();
    assert!(cut.ends_with(&format!("has {} bytes instead of {}", good.len() - 1, good.len())), "{cut}");
    let longer = [&good[..], b"x"].concat();
    assert!(matches!(read(&longer).unwrap_err(), DecodedError::Length { .. }));
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(Loaded::read(&folder.path().join("gone")).unwrap_err(), DecodedError::Io { .. }));
    assert!(loaded(true).save(&folder.path().join("no/folder")).is_err());
}

/// A file whose header is consistent with its checksum, whatever it says.
fn with_header(change: impl FnOnce(&mut Header)) -> Result<Loaded, DecodedError> {
    let mut header = Header::of(&loaded(true));
    change(&mut header);
    let header = serde_json::to_string(&header).unwrap();
    let good = saved(&loaded(true));
    let end = good.iter().enumerate().filter(|(_, b)| **b == b'\n').nth(2).unwrap().0;
    let lines = format!("{MAGIC}\n{header}\n{}\n", sha256(header.as_bytes()));
    read(&[lines.as_bytes(), &good[end + 1..]].concat())
}

#[test]
fn a_header_that_lies_is_refused_before_anything_is_allocated() {
    assert!(with_header(|_| {}).is_ok());
    let images = |header: &mut Header, shape: [usize; 3], scale: [Vec<f64>; 2]| {
        let ([channels, height, width], [mean, std]) = (shape, scale);
        header.kind = Kind::Images { channels, height, width, mean, std };
    };
    assert!(with_header(|header| images(header, [2, 1, 3], [vec![0.1, 0.2], vec![0.5, 1.0]])).is_ok());
    let changes: [&dyn Fn(&mut Header); 11] = [
        &|header| header.train = u32::MAX,
        &|header| images(header, [2, usize::MAX, 3], [vec![0.1, 0.2], vec![0.5, 1.0]]),
        &|header| images(header, [2, 1, 0], [vec![0.1, 0.2], vec![0.5, 1.0]]),
        &|header| images(header, [0, 1, 3], [vec![], vec![]]),
        &|header| header.classes = 600,
        &|header| header.classes = usize::MAX,
        &|header| header.coarse_classes = Some(2),
        &|header| images(header, [2, 1, 3], [vec![0.5], vec![0.5, 1.0]]),
        &|header| images(header, [2, 1, 3], [vec![0.1, 0.2], vec![0.5, -1.0]]),
        &|header| header.kind = Kind::Sparse { columns: 3, rows: u32::MAX, entries: u64::MAX },
        &|header| header.tasks = Some(3),
    ];
    for (i, change) in changes.into_iter().enumerate() {
        assert!(with_header(change).is_err(), "change {i}");
    }
}

proptest! {
    #[test]
    fn cut_files_are_always_refused(cut: prop::sample::Index, with_coarse: bool) {
        let good = saved(&loaded(with_coarse));
        prop_assert!(read(&good[..cut.index(good.len())]).is_err());
    }

    #[test]
    fn a_flipped_bit_in_the_header_is_always_seen(at: prop::sample::Index, bit in 0u8..8) {
        let mut bytes = saved(&loaded(true));
        let start = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').nth(2).unwrap().0;
        bytes[at.index(start)] ^= 1 << bit;
        prop_assert!(read(&bytes).is_err());
    }

    #[test]
    fn a_flipped_bit_anywhere_never_panics(at: prop::sample::Index, bit in 0u8..8) {
        let mut bytes = saved(&loaded(true));
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        if let Ok(Loaded { data, .. }) = read(&bytes) {
            prop_assert_eq!(data.train().len() + data.test().len(), 10);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), lines: bool) {
        let bytes = if lines { [MAGIC.as_bytes(), b"\n", &bytes].concat() } else { bytes };
        prop_assert!(read(&bytes).is_err());
    }
}
