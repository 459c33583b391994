//! The environment variable decides the path, once per process: each case runs this test in a new one.

use evenkeel_kernels::Path;
use evenkeel_kernels::path::PATH_VARIABLE;
use std::process::Command;

/// Prints the path of this process; run by the tests below in a process of its own.
#[test]
#[ignore = "a helper of the other tests"]
fn print_the_active_path() {
    println!("active path: {}", Path::active().name());
}

fn active_with(value: Option<&str>) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "print_the_active_path", "--nocapture"]).env_remove(PATH_VARIABLE);
    if let Some(value) = value {
        command.env(PATH_VARIABLE, value);
    }
    let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
    text.split("active path: ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned()
}

#[test]
fn portable_can_be_forced() {
    assert_eq!(active_with(Some("portable")), "portable");
}

#[test]
fn every_available_path_can_be_forced() {
    for path in Path::available() {
        assert_eq!(active_with(Some(path.name())), path.name());
    }
}

#[test]
fn a_path_that_does_not_exist_means_portable() {
    assert_eq!(active_with(Some("altivec")), "portable");
}

#[test]
fn without_the_variable_the_widest_path_runs() {
    assert_eq!(active_with(None), Path::available().last().unwrap().name());
}
