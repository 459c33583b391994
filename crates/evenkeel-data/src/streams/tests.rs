//! What every registered kind of stream keeps to.

use std::collections::BTreeSet;

use super::*;
use crate::images::{ImageShape, Images, Labelled};

/// 3 × 3 images of six fine classes in two coarse ones, all different, also when they are turned. The pixel in the
/// middle, which no rotation moves, is the number of the example: first those of the training set.
fn data() -> DataSet {
    let set = |from: u8, n: u8| {
        let image = |id: u8| [0, 200, 0, 0, id, 0, 0, 0, 90];
        let pixels = (from..from + n).flat_map(image).collect();
        let labels = (0..n).map(|i| u16::from(i % 6)).collect();
        Labelled::new(Images::new(ImageShape::new(1, 3, 3), pixels).unwrap(), labels, 6).unwrap()
    };
    let coarse = |n: u16| (0..n).map(|i| i % 2).collect();
    DataSet::new("toy", set(0, 60), set(60, 30)).unwrap().with_coarse(coarse(60), coarse(30), 2).unwrap()
}

fn every_kind() -> impl Iterator<Item = StreamSpec> {
    StreamSpec::NAMES.iter().map(|name| StreamSpec::named(name).unwrap())
}

fn images(set: &Labelled) -> impl Iterator<Item = (Vec<u8>, u16)> {
    (0..set.len()).map(|i| (set.image(i).to_vec(), set.label(i)))
}

#[test]
fn every_image_is_in_exactly_one_task_and_every_example_in_some() {
    for spec in every_kind() {
        let stream = spec.cut(&data()).unwrap();
        for (part, ids) in [(0, 0..60), (1, 60..90)] {
            let sets = stream.tasks().iter().map(|task| if part == 0 { &task.train } else { &task.test });
            let all: Vec<Vec<u8>> = sets.flat_map(|set| images(set).map(|(image, _)| image)).collect();
            let different: BTreeSet<&Vec<u8>> = all.iter().collect();
            assert_eq!(different.len(), all.len(), "{}: an image comes twice", spec.name());
            let seen: BTreeSet<u8> = all.iter().map(|image| image[4]).collect();
            assert!(seen.into_iter().eq(ids), "{}: examples are lost, or in the wrong part", spec.name());
        }
    }
}

#[test]
fn the_same_keys_give_the_same_stream_with_as_many_tasks_as_announced() {
    for spec in every_kind() {
        let (once, again) = (spec.cut(&data()).unwrap(), spec.cut(&data()).unwrap());
        assert_eq!(once.len(), spec.tasks(data().classes()), "{}", spec.name());
        assert_eq!(once.name(), format!("{}-toy", spec.name()));
        for (a, b) in once.tasks().iter().zip(again.tasks()) {
            assert!(images(&a.train).eq(images(&b.train)) && images(&a.test).eq(images(&b.test)));
            assert_eq!((a.train.shape(), a.train.classes()), (once.shape(), once.outputs()));
            assert_eq!((a.test.shape(), a.test.classes()), (once.shape(), once.outputs()));
        }
    }
}

#[test]
fn every_kind_describes_itself_and_survives_being_written_down() {
    for spec in every_kind() {
        assert_eq!(spec.check(), Ok(()), "the defaults of {} are valid", spec.name());
        assert!(!spec.summary().is_empty() && !spec.scenario().to_string().is_empty());
        let table = serde_json::to_value(&spec).unwrap();
        assert_eq!(table["scenario"], spec.name());
        for key in table.as_object().unwrap().keys().filter(|key| *key != "scenario") {
            assert!(spec.keys().iter().any(|(known, _)| known == key), "{key} is not described");
        }
        assert_eq!(serde_json::from_value::<StreamSpec>(table).unwrap(), spec);
        let bare = serde_json::json!({ "scenario": spec.name() });
        assert_eq!(serde_json::from_value::<StreamSpec>(bare).unwrap(), spec);
    }
    assert_eq!(StreamSpec::named("spilt"), None);
}

#[test]
fn keys_are_known_to_their_kind_alone() {
    for spec in every_kind() {
        let error = |key: &str| {
            let table = serde_json::json!({ "scenario": spec.name(), key: {} });
            serde_json::from_value::<StreamSpec>(table).unwrap_err().to_string()
        };
        for (key, meaning) in spec.keys() {
            assert!(!meaning.is_empty() && !error(key).contains("unknown field"), "{key}");
        }
        assert!(error("classes_per_tsak").contains("unknown field `classes_per_tsak`"));
    }
    let table = serde_json::json!({ "scenario": "spilt" });
    let error = serde_json::from_value::<StreamSpec>(table).unwrap_err().to_string();
    assert!(StreamSpec::NAMES.iter().all(|name| error.contains(name)), "{error}");
}
