//! The environment variable decides the instruction set, once per process: each case runs this test in a new one.

use evenkeel_kernels::InstructionSet;
use evenkeel_kernels::instruction_set::VARIABLE;
use std::process::Command;

/// Prints the instruction set of this process; run by the tests below in a process of its own.
#[test]
#[ignore = "a helper of the other tests"]
fn print_the_active_set() {
    println!("active instruction set: {}", InstructionSet::active().name());
}

fn active_with(value: Option<&str>) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "print_the_active_set", "--nocapture"]).env_remove(VARIABLE);
    if let Some(value) = value {
        command.env(VARIABLE, value);
    }
    let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
    text.split("active instruction set: ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned()
}

#[test]
fn portable_can_be_forced() {
    assert_eq!(active_with(Some("portable")), "portable");
}

#[test]
fn every_available_set_can_be_forced() {
    for set in InstructionSet::available() {
        assert_eq!(active_with(Some(set.name())), set.name());
    }
}

#[test]
fn a_set_that_does_not_exist_means_portable() {
    assert_eq!(active_with(Some("altivec")), "portable");
}

#[test]
fn without_the_variable_the_widest_set_runs() {
    assert_eq!(active_with(None), InstructionSet::available().last().unwrap().name());
}
