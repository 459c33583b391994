use std::fs;
use std::time::{Duration, Instant};

use super::super::cache::{Cache, Presence, Status};
use super::super::error::SourceError;
use super::super::progress::{Progress, Quiet};
use super::super::sources::Sources;
use super::toy::{ONE, TWO, cache, entry, gzip, names, raw_server, server};
use crate::sets::{self, Packing};

#[derive(Default)]
struct Recorded(Vec<String>, u64);

impl Progress for Recorded {
    fn start(&mut self, name: &str, total: Option<u64>) {
        self.0.push(format!("start {name} {total:?}"));
    }

    fn advance(&mut self, bytes: u64) {
        self.1 += bytes;
    }

    fn finish(&mut self) {
        self.0.push("finish".to_owned());
    }
}

fn failure(cache: &Cache) -> String {
    let error = cache.fetch(&entry(Packing::Gzip), &mut Quiet).unwrap_err().to_string();
    assert!(!error.contains('\n'), "{error}");
    error
}

#[test]
fn good_files_are_fetched_verified_and_reported() {
    let (one, two) = (gzip(ONE), gzip(TWO));
    let (folder, cache) = cache(&[&server(&[("one.gz", &one), ("two.gz", &two)])]);
    let mut progress = Recorded::default();
    cache.fetch(&entry(Packing::Gzip), &mut progress).unwrap();
    assert_eq!(names(&folder), ["one", "two"]);
    assert_eq!(fs::read(folder.path().join("toy/one")).unwrap(), ONE);
    let started = format!("start one.gz {:?}", Some(one.len() as u64));
    assert_eq!(progress.0[..2], [started, "finish".to_owned()]);
    assert_eq!(progress.1, (one.len() + two.len()) as u64);
    let ok = Status::Ok { variant: "original" };
    assert!(cache.verify(&entry(Packing::Gzip)).unwrap().iter().all(|file| file.status == ok));
}

#[test]
fn a_corrupt_file_is_refused_and_not_left_behind() {
    let (folder, cache) = cache(&[&server(&[("one.gz", &gzip(b"the wrong file")), ("two.gz", &gzip(TWO))])]);
    let error = failure(&cache);
    assert!(error.contains("one.gz (one is corrupt: sha256 "), "{error}");
    assert_eq!(names(&folder), [""; 0]);
}

#[test]
fn a_body_that_breaks_off_is_refused() {
    let content = gzip(ONE);
    let mut answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", content.len()).into_bytes();
    answer.extend(&content[..content.len() - 5]);
    let (folder, cache) = cache(&[&raw_server(answer, false)]);
    failure(&cache);
    assert_eq!(names(&folder), [""; 0]);
}

#[test]
fn after_a_404_the_next_mirror_is_asked() {
    let good = server(&[("one.gz", &gzip(ONE)), ("two.gz", &gzip(TWO))]);
    let half = server(&[("one.gz", &gzip(ONE))]);
    let (folder, cache) = cache(&[&server(&[]), &half, &good]);
    cache.fetch(&entry(Packing::Gzip), &mut Quiet).unwrap();
    assert_eq!(names(&folder), ["one", "two"]);
}

#[test]
fn silent_servers_time_out() {
    let silent = raw_server(Vec::new(), true);
    let stalling = raw_server(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n\x1f\x8b".to_vec(), true);
    let (_folder, cache) = cache(&[&silent, &stalling]);
    let start = Instant::now();
    let error = failure(&cache);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert_eq!(error.matches("timeout").count(), 2, "{error}");
}

#[test]
fn with_nothing_reachable_one_line_says_what_was_tried_and_what_to_do() {
    let (folder, cache) = cache(&["http://127.0.0.1:9/", &server(&[])]);
    let error = failure(&cache);
    let place = folder.path().join("toy").display().to_string() + ": one, two";
    assert!(
        error.starts_with(&format!("toy: missing or corrupt in {place}; tried http://127.0.0.1:9/one.gz ("))
    );
    assert!(error.contains("404"), "{error}");
    assert!(
        error.contains("hint: put these files (or each with .gz) into that folder, or set EVENKEEL_DATA")
    );
    let quiet = failure(&cache.with_sources(Sources::offline()));
    assert!(quiet.contains("tried nothing (every source is switched off)"), "{quiet}");
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let (folder, _) = cache(&[]);
    let file = folder.path().join("file");
    fs::write(&file, "in the way").unwrap();
    let error = Cache::at(&file).fetch(&entry(Packing::Gzip), &mut Quiet).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, SourceError::Io { .. }), "{text}");
    assert!(text.contains("file/toy: cannot be created: "), "{text}");
    assert!(text.ends_with("; hint: set EVENKEEL_DATA to a folder that can be written"), "{text}");
}

#[test]
fn a_corrupt_cached_file_is_an_error_until_it_is_fetched_again() {
    let (folder, cache) = cache(&[&server(&[("one.gz", &gzip(ONE)), ("two.gz", &gzip(TWO))])]);
    let toy = entry(Packing::Gzip);
    cache.fetch(&toy, &mut Quiet).unwrap();
    fs::write(folder.path().join("toy/two"), "damaged").unwrap();
    let error = cache.read_verified(&toy, &toy.files()[1]).unwrap_err().to_string();
    assert!(
        error.contains("toy/two: corrupt: sha256 ") && error.contains("hint: delete it or fetch toy again")
    );
    assert!(matches!(cache.verify(&toy).unwrap()[1].status, Status::Corrupt { .. }));
    cache.fetch(&toy, &mut Quiet).unwrap();
    assert_eq!(cache.read_verified(&toy, &toy.files()[1]).unwrap().unwrap().0, TWO);
}

#[test]
fn fetching_at_the_same_time_does_no_harm() {
    let (folder, cache) = cache(&[&server(&[("one.gz", &gzip(ONE)), ("two.gz", &gzip(TWO))])]);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| cache.fetch(&entry(Packing::Gzip), &mut Quiet).unwrap());
        }
    });
    assert_eq!(names(&folder), ["one", "two"]);
    assert_eq!(fs::read(folder.path().join("toy/two")).unwrap(), TWO);
}

#[test]
fn digits_need_no_files() {
    let (_folder, cache) = cache(&[]);
    let digits = sets::find("digits").unwrap();
    assert_eq!(cache.load(digits, &mut Quiet).unwrap().train().len(), 10_000);
    assert!(cache.verify(digits).unwrap().is_empty());
    assert_eq!(cache.presence(digits).unwrap(), Presence::Drawn);
    cache.fetch(digits, &mut Quiet).unwrap();
}

#[test]
fn presence_says_what_to_do() {
    let (folder, cache) = cache(&[&server(&[("one.gz", &gzip(ONE)), ("two.gz", &gzip(TWO))])]);
    let toy = entry(Packing::Gzip);
    assert_eq!(cache.presence(&toy).unwrap(), Presence::Missing);
    cache.fetch(&toy, &mut Quiet).unwrap();
    assert_eq!(cache.presence(&toy).unwrap(), Presence::Here);
    fs::write(folder.path().join("toy/two"), "damaged").unwrap();
    assert_eq!(cache.presence(&toy).unwrap(), Presence::Corrupt);
}

#[test]
fn what_only_the_user_can_provide_is_asked_for() {
    let (folder, cache) = cache(&[]);
    let set = sets::find("mini-imagenet").unwrap();
    assert_eq!(cache.presence(set).unwrap(), Presence::NotProvided);
    let error = cache.load(set, &mut Quiet).unwrap_err();
    let place = folder.path().join("mini-imagenet").display().to_string();
    let rest = "no such folder; mini-ImageNet cannot be downloaded: put train/ and val/ there, each with one \
                folder of images per class (500 and 100), or one folder of 600 per class";
    assert_eq!(error.to_string(), format!("{place}: {rest}"));
    assert!(error.is_bad_input());
    assert!(matches!(cache.fetch(set, &mut Quiet), Err(SourceError::NotProvided { .. })));
    fs::create_dir(&place).unwrap();
    assert_eq!(cache.presence(set).unwrap(), Presence::NotProvided);
    fs::create_dir(folder.path().join("mini-imagenet/train")).unwrap();
    assert_eq!(cache.presence(set).unwrap(), Presence::Here);
    cache.fetch(set, &mut Quiet).unwrap();
    assert!(matches!(cache.load(set, &mut Quiet), Err(SourceError::Folder(_))));
}

#[test]
fn loading_refuses_a_corrupt_file_without_asking_anyone() {
    let (_folder, cache) = cache(&[]);
    let cifar100 = sets::find("cifar100").unwrap();
    let folder = cache.path(cifar100);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("train.bin"), "damaged").unwrap();
    fs::write(folder.join("test.bin"), "damaged").unwrap();
    let error = cache.load(cifar100, &mut Quiet).unwrap_err();
    assert!(matches!(error, SourceError::Corrupt { .. }), "{error}");
}
