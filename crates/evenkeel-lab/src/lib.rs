//! Continual-learning experiments with evaluation after every iteration: the library behind the `evenkeel` command.
//!
//! One run, as data flows: an experiment (TOML or command line) is checked and expanded into [`spec`]s; [`run::runner`] starts a
//! worker process for each that the [`store`] lacks; the worker makes the stream of tasks and calls [`run::train`], the loop, which
//! appends rows to the store and saves checkpoints. Afterwards [`analysis`] turns the rows into groups, comparisons, tables and
//! figures, the same for every command; [`reproduce`] adds the [`paper`]'s results and its claims.

// stdout and stderr may be closed or full: `cli::output` and `say!` cope with that, `println!` and `eprintln!` panic.
#![warn(clippy::print_stderr, clippy::print_stdout)]

pub mod analysis;
pub mod bench;
pub mod cli;
mod columns;
pub mod import;
pub mod paper;
pub mod program;
pub mod reproduce;
pub mod run;
mod say;
pub mod serve;
pub mod slurm;
pub mod spec;
pub mod store;
pub mod tune;
mod words;
