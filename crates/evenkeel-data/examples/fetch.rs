//! Fetches, verifies and loads data sets: `cargo run --release --example fetch -- mnist cifar10`.
//!
//! `EVENKEEL_DATA` names the folder to use.

use std::process::ExitCode;

use evenkeel_data::sets;
use evenkeel_data::source::{self, Progress, SourceError};

/// Prints each download's name and what arrived.
#[derive(Default)]
struct Printed {
    bytes: u64,
}

impl Progress for Printed {
    fn start(&mut self, name: &str, total: Option<u64>) {
        self.bytes = 0;
        match total {
            Some(total) => eprintln!("fetching {name} ({total} bytes)"),
            None => eprintln!("fetching {name}"),
        }
    }

    fn advance(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    fn finish(&mut self) {
        eprintln!("  finished after {} bytes", self.bytes);
    }
}

fn main() -> ExitCode {
    match std::env::args().skip(1).try_for_each(|name| show(&name)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn show(name: &str) -> Result<(), SourceError> {
    let set = sets::find(name)?;
    source::fetch(set, &mut Printed::default())?;
    for file in source::verify(set)? {
        println!("{}: {}", file.path.display(), file.status);
    }
    let data = source::load(set, &mut Printed::default())?;
    println!("{set}: {} + {} examples of {} classes", data.train().len(), data.test().len(), data.classes());
    Ok(())
}
