use super::*;
use crate::digits;
use crate::images::Images;

/// `n` one-pixel examples whose fine label is `fine(i)` and coarse label `coarse(i)`.
fn with_coarse(n: usize, fine: fn(usize) -> u16, coarse: fn(usize) -> u16) -> DataSet {
    let images = Images::new(Shape::new(1, 1, 1), (0..n).map(|i| i as u8).collect()).unwrap();
    let set = Labelled::new(images, (0..n).map(fine).collect(), 6).unwrap();
    let coarse: Vec<u16> = (0..n).map(coarse).collect();
    DataSet::new("toy", set.clone(), set).unwrap().with_coarse(coarse.clone(), coarse, 2).unwrap()
}

#[test]
fn a_split_stream_deals_out_every_example_once() {
    let data = digits(100, 50, 0);
    let stream = Stream::split(&data, 2).unwrap();
    assert_eq!(stream.name(), "split-digits");
    assert_eq!(stream.tasks().iter().map(|task| task.train.len()).sum::<usize>(), 100);
    assert_eq!(stream.task(1).test.labels()[..4], [2, 3, 2, 3]);
    assert_eq!(stream.task(4).train.classes(), 10);
    assert_eq!(stream.task(1).train.image(0), data.train().image(2));
}

#[test]
fn classes_come_in_any_order_and_number() {
    let data = digits(100, 50, 0);
    let stream = Stream::split_classes(&data, &[vec![9], vec![0, 5, 4]]).unwrap();
    assert_eq!((stream.len(), stream.outputs()), (2, 10));
    assert_eq!(stream.task(1).test.len(), 15);
}

#[test]
fn classes_must_exist_and_not_repeat() {
    let data = digits(100, 50, 0);
    let error = Stream::split_classes(&data, &[vec![0, 1], vec![1]]).unwrap_err();
    assert_eq!(error.to_string(), "digits: class 1 is asked for twice");
    let error = Stream::split_classes(&data, &[vec![0], vec![10]]).unwrap_err();
    assert_eq!(error.to_string(), "digits: task 2 asks for class 10, but there are 10 classes");
    assert!(matches!(Stream::split(&data, 3), Err(StreamError::Indivisible { .. })));
    assert!(matches!(Stream::split(&data, 0), Err(StreamError::Indivisible { .. })));
    assert!(matches!(Stream::split_classes(&data, &[]), Err(StreamError::NoTasks { .. })));
    assert!(matches!(Stream::split_classes(&data, &[vec![]]), Err(StreamError::EmptyTask { .. })));
}

#[test]
fn rotated_tasks_keep_the_labels_and_share_the_upright_pixels() {
    let data = digits(20, 10, 0);
    let stream = Stream::rotated(&data, &[0.0, 80.0, 160.0]).unwrap();
    assert_eq!(stream.task(0).train.image(3).as_ptr(), data.train().image(3).as_ptr());
    assert_eq!(stream.task(2).test.labels(), data.test().labels());
    assert_ne!(stream.task(1).train.image(3), stream.task(0).train.image(3));
    assert!(matches!(Stream::rotated(&data, &[f64::NAN]), Err(StreamError::BadAngle { .. })));
    assert!(matches!(Stream::rotated(&data, &[]), Err(StreamError::NoTasks { .. })));
}

#[test]
fn a_domain_stream_takes_the_kth_fine_class_of_every_coarse_one() {
    // Coarse 0 holds the fine classes 0, 2, 4; coarse 1 holds 1, 3, 5.
    let data = with_coarse(12, |i| (i % 6) as u16, |i| (i % 2) as u16);
    let stream = Stream::domain(&data, 2).unwrap();
    assert_eq!((stream.len(), stream.outputs()), (2, 2));
    assert_eq!(stream.task(1).train.labels(), [0, 1, 0, 1]);
    let pixels: Vec<u8> = (0..4).map(|i| stream.task(1).train.image(i)[0]).collect();
    assert_eq!(pixels, [2, 3, 8, 9]);
    let error = Stream::domain(&data, 4).unwrap_err().to_string();
    assert_eq!(error, "toy: 4 tasks need 4 fine classes in every coarse class; class 0 has 3");
}

#[test]
fn a_domain_stream_needs_consistent_coarse_labels() {
    assert!(matches!(Stream::domain(&digits(20, 10, 0), 2), Err(StreamError::NoCoarseLabels { .. })));
    let data = with_coarse(12, |i| (i % 3) as u16, |i| (i % 2) as u16);
    assert!(matches!(Stream::domain(&data, 1), Err(StreamError::AmbiguousCoarse { .. })));
}

#[test]
fn augmented_batches_are_functions_of_the_generator() {
    let stream = Stream::split(&digits(100, 50, 0), 2).unwrap();
    let sampler = crate::Sampler::joint(1);
    let batch = sampler.batch(&stream, 1, 1, 8).unwrap();
    let gather = |padding, iteration| {
        let (mut images, mut labels) = (Vec::new(), Vec::new());
        let augment = CropFlip { padding, flip: false };
        let rng = &mut sampler.augmentation(iteration);
        stream.gather_augmented(&batch, (augment, rng), &Normalization::unit(1), &mut images, &mut labels);
        (images, labels)
    };
    assert_eq!(gather(4, 1), gather(4, 1));
    assert_ne!(gather(4, 1), gather(4, 2));
    let (mut images, mut labels) = (Vec::new(), Vec::new());
    stream.gather(&batch, &Normalization::unit(1), &mut images, &mut labels);
    assert_eq!(gather(0, 1), (images, labels));
}

#[test]
fn gathering_a_batch_replaces_the_buffers() {
    let stream = Stream::split(&digits(100, 50, 0), 2).unwrap();
    let (mut images, mut labels) = (vec![9.0; 3], vec![9; 3]);
    let batch = [ExampleId { task: 2, index: 1 }, ExampleId { task: 0, index: 0 }];
    stream.gather(&batch, &Normalization::unit(1), &mut images, &mut labels);
    assert_eq!(labels, [5, 0]);
    assert_eq!(images.len(), 2 * 784);
    assert!((images[400] * 255.0 - f32::from(stream.task(2).train.image(1)[400])).abs() < 1e-3);
}
