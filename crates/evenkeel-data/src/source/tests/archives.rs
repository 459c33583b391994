use std::fs;

use super::super::progress::Quiet;
use super::toy::{ONE, TWO, cache, download, entry, gzip, names, server, tar};
use crate::sets::{Entry, Origin, Packing};

const ARCHIVE: Packing = Packing::TarGzip("toy.tar.gz");

#[test]
fn an_archive_gives_all_its_files() {
    let archive = tar(&[("toy-bin/readme", b"hello"), ("toy-bin/one", ONE), ("toy-bin/two", TWO)]);
    let (folder, cache) = cache(&[&server(&[("toy.tar.gz", &archive)])]);
    cache.fetch(&entry(ARCHIVE), &mut Quiet).unwrap();
    assert_eq!(names(&folder), ["one", "two"]);
}

#[test]
fn an_incomplete_or_corrupt_archive_leaves_only_what_is_right() {
    let half = tar(&[("one", ONE)]);
    let (folder, cache) = cache(&[&server(&[("toy.tar.gz", &half)])]);
    let error = cache.fetch(&entry(ARCHIVE), &mut Quiet).unwrap_err().to_string();
    assert!(error.contains("toy.tar.gz (does not hold two)"), "{error}");
    assert!(
        error.starts_with("toy: missing or corrupt in ") && error.contains("/toy: two; tried"),
        "{error}"
    );
    assert!(error.contains("hint: put these files (or toy.tar.gz) into that folder"), "{error}");
    assert_eq!(names(&folder), ["one"]);

    fs::write(folder.path().join("toy/toy.tar.gz"), tar(&[("two", b"not the second")])).unwrap();
    let error = cache.fetch(&entry(ARCHIVE), &mut Quiet).unwrap_err().to_string();
    assert!(error.contains("toy/toy.tar.gz (two is corrupt"), "{error}");
    assert_eq!(names(&folder), ["one", "toy.tar.gz"]);
}

#[test]
fn packed_files_that_the_user_supplies_come_first() {
    let (folder, cache) = cache(&[]);
    fs::create_dir(folder.path().join("toy")).unwrap();
    fs::write(folder.path().join("toy/one.gz"), gzip(ONE)).unwrap();
    fs::write(folder.path().join("toy/two.gz"), gzip(TWO)).unwrap();
    cache.fetch(&entry(Packing::Gzip), &mut Quiet).unwrap();
    assert_eq!(names(&folder), ["one", "one.gz", "two", "two.gz"]);
}

#[test]
fn a_system_folder_is_read_but_not_changed() {
    let (system, _) = cache(&[]);
    fs::write(system.path().join("one.gz"), gzip(ONE)).unwrap();
    fs::write(system.path().join("two.gz"), gzip(TWO)).unwrap();
    let (folder, cache) = cache(&[]);
    let mut download = download(Packing::Gzip);
    download.system_folder = Some(system.path().to_str().unwrap().to_owned().leak());
    let toy = Entry { origin: Origin::Download(download), ..entry(Packing::Gzip) };
    cache.fetch(&toy, &mut Quiet).unwrap();
    assert_eq!(names(&folder), ["one", "two"]);
}

/// A stand-in for the npm client: copies an archive to where `npm pack` would leave it.
#[cfg(unix)]
#[test]
fn the_npm_client_is_the_last_resort() {
    let (folder, mut cache) = cache(&[&server(&[])]);
    let place = folder.path();
    fs::write(place.join("package"), tar(&[("package/data/one", ONE), ("package/data/two", TWO)])).unwrap();
    // Written by another process: a script that this one has open for writing could not be run.
    let script = format!(
        "#!/bin/sh\ntest \"$1 $2\" = 'pack toy@1.0.0' && cp {}/package toy-1.0.0.tgz\n",
        place.display()
    );
    let make = "printf '%s' \"$0\" > \"$1\" && chmod +x \"$1\"";
    let npm = place.join("npm");
    let made = std::process::Command::new("sh").args(["-c", make, &script]).arg(&npm).status().unwrap();
    assert!(made.success());
    cache.sources.npm = Some(npm);
    cache.fetch(&entry(Packing::Gzip), &mut Quiet).unwrap();
    assert_eq!(names(&folder), ["one", "two"]);
}
