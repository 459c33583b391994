use std::fs;

use image::{Rgb, RgbImage};
use tempfile::TempDir;

use super::*;

/// Saves a flat `width × height` picture whose red value is `red`.
fn save(root: &TempDir, path: &str, (width, height): (u32, u32), red: u8) {
    let path = root.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    RgbImage::from_pixel(width, height, Rgb([red, 10, 20])).save(path).unwrap();
}

fn message(root: &TempDir, options: FolderOptions) -> String {
    let text = load(root.path(), options).unwrap_err().to_string();
    assert!(!text.contains('\n'), "{text}");
    text
}

const TWO_AND_ONE: FolderOptions =
    FolderOptions { size: None, channels: 3, test_fraction: None, train: 2, test: 1, classes: None };

#[test]
fn one_folder_per_class_is_split_by_sorted_file_name() {
    let root = TempDir::new().unwrap();
    for (i, name) in ["d.png", "a.png", "c.PNG", "b.png"].iter().enumerate() {
        save(&root, &format!("n02/{name}"), (3, 2), 100 + i as u8);
        save(&root, &format!("n01/{name}"), (3, 2), i as u8);
    }
    fs::write(root.path().join("n01/notes.txt"), "not an image").unwrap();
    fs::create_dir(root.path().join(".hidden")).unwrap();
    let data = load(root.path(), TWO_AND_ONE).unwrap();
    assert_eq!(data.shape(), ImageShape::new(3, 2, 3));
    assert_eq!((data.train().labels(), data.test().labels()), (&[0, 0, 1, 1][..], &[0, 1][..]));
    let red = |set: &Labelled| (0..set.len()).map(|i| set.image(i)[0]).collect::<Vec<_>>();
    assert_eq!((red(data.train()), red(data.test())), (vec![1, 3, 101, 103], vec![0, 100]));
    assert_eq!(data.train().image(0)[6..12], [10; 6]);
}

#[test]
fn train_and_val_folders_are_taken_whole() {
    let root = TempDir::new().unwrap();
    for class in ["x", "y", "z"] {
        save(&root, &format!("train/{class}/1.png"), (2, 2), 1);
        save(&root, &format!("train/{class}/2.jpg"), (2, 2), 2);
        save(&root, &format!("val/{class}/1.jpeg"), (2, 2), 3);
    }
    let data = load(root.path(), FolderOptions::default()).unwrap();
    assert_eq!((data.train().len(), data.test().len(), data.classes()), (6, 3, 3));
    let two = load(root.path(), FolderOptions { classes: Some(2), ..FolderOptions::default() }).unwrap();
    assert_eq!((two.train().len(), two.classes()), (4, 2));
    fs::remove_dir_all(root.path().join("val/z")).unwrap();
    assert!(message(&root, FolderOptions::default()).contains("class z is not in both"));
    fs::remove_dir_all(root.path().join("val")).unwrap();
    assert!(message(&root, FolderOptions::default()).contains("neither val/ nor test/"));
}

#[test]
fn other_sizes_are_an_error_unless_a_target_is_given() {
    let root = TempDir::new().unwrap();
    save(&root, "n01/a.png", (4, 4), 1);
    save(&root, "n01/b.png", (6, 5), 1);
    save(&root, "n01/c.png", (4, 4), 1);
    let text = message(&root, TWO_AND_ONE);
    assert!(text.contains("b.png: is 5×6 (height × width), but 4×4 is expected; hint"), "{text}");
    let data = load(root.path(), FolderOptions { size: Some((2, 3)), ..TWO_AND_ONE }).unwrap();
    assert_eq!(data.shape(), ImageShape::new(3, 2, 3));
    assert!(data.train().image(1)[6..12].iter().all(|&green| green == 10));
}

#[test]
fn missing_and_broken_images_are_named() {
    let root = TempDir::new().unwrap();
    assert!(message(&root, TWO_AND_ONE).contains("holds no folders"));
    save(&root, "n01/a.png", (4, 4), 1);
    let text = message(&root, TWO_AND_ONE);
    assert!(text.contains("n01: has 1 images (JPEG, PNG, WebP), but 3 are needed"), "{text}");
    fs::write(root.path().join("n01/b.png"), "no picture").unwrap();
    save(&root, "n01/c.png", (4, 4), 1);
    assert!(message(&root, TWO_AND_ONE).contains("b.png: cannot be decoded"));
    let wanted = FolderOptions { classes: Some(2), ..TWO_AND_ONE };
    assert!(message(&root, wanted).contains("has 1 classes, but 2 are asked for"));
    let gone = load(&root.path().join("gone"), TWO_AND_ONE).unwrap_err().to_string();
    assert!(gone.contains("gone: cannot be read"), "{gone}");
}

#[test]
fn a_share_of_any_number_tests_and_files_are_known_by_their_content() {
    let root = TempDir::new().unwrap();
    for i in 0..5 {
        save(&root, &format!("a/{i}.png"), (2, 2), i);
        save(&root, &format!("b/{i}.webp"), (2, 2), 50);
    }
    // Names that say nothing, or something else.
    fs::rename(root.path().join("a/0.png"), root.path().join("a/0")).unwrap();
    fs::rename(root.path().join("a/1.png"), root.path().join("a/1.jpg")).unwrap();
    let grey = FolderOptions { channels: 1, test_fraction: Some(0.2), ..FolderOptions::default() };
    let data = load(root.path(), grey).unwrap();
    assert_eq!((data.train().len(), data.test().len()), (8, 2));
    assert_eq!(data.shape(), ImageShape::new(1, 2, 2));
    let most = FolderOptions { test_fraction: Some(0.99), ..grey };
    assert_eq!(load(root.path(), most).unwrap().train().len(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn names_need_not_be_unicode() {
    use std::os::unix::ffi::OsStrExt;

    let root = TempDir::new().unwrap();
    for class in [b"a\xff".as_slice(), b"a\xfe"] {
        for part in ["train", "test"] {
            let folder = root.path().join(part).join(std::ffi::OsStr::from_bytes(class));
            fs::create_dir_all(&folder).unwrap();
            let image = RgbImage::from_pixel(2, 2, Rgb([class[1], 10, 20]));
            image.save(folder.join("x.png")).unwrap();
        }
    }
    let data = load(root.path(), FolderOptions::default()).unwrap();
    assert_eq!((data.classes(), data.train().image(0)[0]), (2, 0xfe));
}

#[test]
fn decoded_images_are_kept_under_the_checksum_of_their_files_and_damage_is_noticed() {
    let (root, kept) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    for i in 0..3 {
        save(&root, &format!("a/{i}.png"), (3, 2), i);
    }
    let place = |options: &FolderOptions| {
        let listing = scan::list(root.path(), options).unwrap();
        cache::place(kept.path(), root.path(), &listing, options).unwrap()
    };
    let data = load(root.path(), TWO_AND_ONE).unwrap();
    let first = place(&TWO_AND_ONE);
    cache::write(&first, &data);
    let again = cache::read(&first, "other name").unwrap();
    assert_eq!((again.name(), again.train().labels()), ("other name", data.train().labels()));
    assert!((0..2).all(|i| again.train().image(i) == data.train().image(i)));

    let whole = fs::read(&first).unwrap();
    for at in [0, whole.len() / 2, whole.len() - 1] {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        fs::write(&first, damaged).unwrap();
        assert!(cache::read(&first, "x").is_none(), "byte {at}");
    }
    assert_ne!(place(&FolderOptions { channels: 1, ..TWO_AND_ONE }), first);
    assert_ne!(place(&FolderOptions { size: Some((3, 3)), ..TWO_AND_ONE }), first);
    fs::rename(root.path().join("a/2.png"), root.path().join("a/3.png")).unwrap();
    assert_ne!(place(&TWO_AND_ONE), first);
    fs::rename(root.path().join("a/3.png"), root.path().join("a/2.png")).unwrap();
    assert_eq!(place(&TWO_AND_ONE), first);
    save(&root, "a/1.png", (3, 2), 77);
    assert_ne!(place(&TWO_AND_ONE), first);
}

#[test]
fn a_second_load_takes_what_the_first_has_kept_and_mends_it() {
    let root = TempDir::new().unwrap();
    // Colours that no other test has: all tests share a folder.
    for i in 0..3 {
        save(&root, &format!("a/{i}.png"), (5, 4), 201 + i);
    }
    let data = load(root.path(), TWO_AND_ONE).unwrap();
    let listing = scan::list(root.path(), &TWO_AND_ONE).unwrap();
    let place = cache::place(&cache::folder().unwrap(), root.path(), &listing, &TWO_AND_ONE).unwrap();
    let whole = fs::read(&place).unwrap();
    let mut damaged = whole.clone();
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(&place, damaged).unwrap();
    let again = load(root.path(), TWO_AND_ONE).unwrap();
    assert!((0..2).all(|i| again.train().image(i) == data.train().image(i)));
    assert_eq!(fs::read(&place).unwrap(), whole);
    fs::remove_file(place).unwrap();
}

#[test]
fn what_a_decoder_says_is_one_line() {
    let root = TempDir::new().unwrap();
    for name in ["a", "b", "c"] {
        save(&root, &format!("x/{name}.png"), (2, 2), 1);
    }
    fs::write(root.path().join("x/b.jpg"), "").unwrap();
    assert!(message(&root, TWO_AND_ONE).contains("b.jpg: cannot be decoded: "));
}

#[test]
fn a_small_file_that_announces_millions_of_pixels_is_refused_before_they_are_filled_in() {
    let root = TempDir::new().unwrap();
    for name in ["a", "b", "c"] {
        save(&root, &format!("x/{name}.jpg"), (16, 8), 1);
    }
    let place = root.path().join("x/b.jpg");
    let mut bytes = fs::read(&place).unwrap();
    // The frame header: marker, length, precision, height, width.
    let frame = bytes.windows(2).position(|pair| pair == [0xff, 0xc0]).expect("a baseline JPEG has one");
    assert_eq!(bytes[frame + 5..frame + 9], [0, 8, 0, 16]);
    bytes[frame + 5..frame + 9].copy_from_slice(&[0xff, 0xf6, 0x02, 0xff]);
    fs::write(&place, bytes).unwrap();
    let said = message(&root, FolderOptions { size: Some((8, 8)), ..TWO_AND_ONE });
    assert!(said.contains("b.jpg: cannot be decoded: Memory limit exceeded"), "{said}");
}
