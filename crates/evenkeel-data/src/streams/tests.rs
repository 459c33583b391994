//! What every registered kind of stream keeps to.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::split::{ClassOrder, ClassesPerTask, DrawnOrder};
use super::*;
use crate::dataset::TaskColumn;
use crate::images::{ImageShape, Images};
use crate::labelled::Labelled;
use crate::task_stream::Task;

/// 3 × 3 images of six fine classes in two coarse ones and three tasks, all different, also when they are turned. One pixel of
/// 100 or more is the number of the example: first those of the training set.
fn data() -> DataSet {
    let set = |from: u8, n: u8| {
        let image = |id: u8| [1, 80, 3, 4, 100 + id, 6, 7, 8, 90];
        let pixels = (from..from + n).flat_map(image).collect();
        let labels = (0..n).map(|i| u16::from(i % 6)).collect();
        Labelled::new(Images::new(ImageShape::new(1, 3, 3), pixels).unwrap(), labels, 6).unwrap()
    };
    let coarse = |n: u16| (0..n).map(|i| i % 2).collect();
    let tasks = |n: u16| (0..n).map(|i| i % 3).collect();
    let data = DataSet::new("toy", set(0, 60), set(60, 30)).unwrap();
    let data = data.with_coarse(coarse(60), coarse(30), 2).unwrap();
    data.with_tasks(TaskColumn { train: tasks(60), test: tasks(30), tasks: 3 }).unwrap()
}

/// The number of an example, whatever was done to its image.
fn id(image: &[u8]) -> u8 {
    image.iter().copied().find(|pixel| *pixel >= 100).unwrap() - 100
}

fn every_kind() -> impl Iterator<Item = StreamSpec> {
    StreamSpec::NAMES.iter().map(|name| StreamSpec::named(name).unwrap())
}

fn images(set: &Labelled) -> impl Iterator<Item = (Vec<u8>, u16)> {
    (0..set.len()).map(|i| (set.image(i).to_vec(), set.label(i)))
}

/// Training images come once, all examples are somewhere, and none is both trained and tested on.
fn check_parts(name: &str, stream: &TaskStream) {
    let all = |pick: fn(&Task) -> &Labelled| -> Vec<Vec<u8>> {
        stream.tasks().iter().flat_map(|task| images(pick(task)).map(|(image, _)| image)).collect()
    };
    let (train, test) = (all(|task| &task.train), all(|task| &task.test));
    let different: BTreeSet<&Vec<u8>> = train.iter().collect();
    assert_eq!(different.len(), train.len(), "{name}: an image comes twice");
    let ids = |images: &[Vec<u8>]| images.iter().map(|image| id(image)).collect::<BTreeSet<u8>>();
    assert!(ids(&train).into_iter().eq(0..60), "{name}: training examples are lost, or tested on");
    assert!(ids(&test).into_iter().eq(60..90), "{name}: test examples are lost, or trained on");
}

#[test]
fn every_image_is_trained_on_in_exactly_one_task_and_no_test_image_in_any() {
    for spec in every_kind() {
        check_parts(spec.name(), &spec.cut(&data(), 0).unwrap());
    }
}

fn same(a: &TaskStream, b: &TaskStream) -> bool {
    a.tasks()
        .iter()
        .zip(b.tasks())
        .all(|(a, b)| images(&a.train).eq(images(&b.train)) && images(&a.test).eq(images(&b.test)))
}

proptest! {
    #[test]
    fn whatever_the_keys_the_seed_and_the_order_of_tasks_examples_stay_in_their_part(
        seed: u64,
        sizes in prop::sample::select(vec![vec![6], vec![1, 5], vec![2, 2, 2], vec![3, 1, 2]]),
        parts in prop::collection::vec(1.0_f64..3.0, 1..5),
        again in 0_usize..3,
    ) {
        let order = Some(ClassOrder::Drawn(DrawnOrder::Seed));
        let specs: [StreamSpec; 4] = [
            Split { classes_per_task: ClassesPerTask::Listed(sizes), class_order: order }.into(),
            DataIncremental { parts }.into(),
            TaskColumnStream {}.into(),
            Domain { domains: 3 }.into(),
        ];
        for spec in specs {
            let cut = |seed| {
                let stream = spec.cut(&data(), seed).unwrap();
                let all: Vec<usize> = (1..=stream.len()).chain((1..=stream.len()).cycle().take(again)).collect();
                stream.reordered(&all, seed).unwrap()
            };
            check_parts(spec.name(), &cut(seed));
            prop_assert!(same(&cut(seed), &cut(seed)));
        }
    }

    #[test]
    fn permutations_are_functions_of_the_seed_that_lose_no_pixel(seed: u64) {
        let spec = Permuted { permutations: 4 };
        let stream = spec.cut(&data(), seed).unwrap();
        prop_assert!(same(&stream, &spec.cut(&data(), seed).unwrap()));
        for task in stream.tasks() {
            for (i, (mut image, _)) in images(&task.test).enumerate() {
                image.sort_unstable();
                prop_assert_eq!(image, [1, 3, 4, 6, 7, 8, 80, 90, 160 + i as u8]);
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_stream_with_as_many_tasks_as_announced() {
    for spec in every_kind() {
        let (once, again) = (spec.cut(&data(), 7).unwrap(), spec.cut(&data(), 7).unwrap());
        let announced = spec.tasks(data().classes());
        assert!(announced == once.len() || announced == 0, "{}", spec.name());
        assert_eq!(once.name(), format!("{}-toy", spec.name()));
        assert!(same(&once, &again));
        for task in once.tasks() {
            assert_eq!((task.train.shape(), task.train.classes()), (once.shape(), once.outputs()));
            assert_eq!((task.test.shape(), task.test.classes()), (once.shape(), once.outputs()));
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
