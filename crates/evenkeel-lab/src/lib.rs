//! Continual-learning experiments with evaluation after every iteration: the library behind the `evenkeel` command.
//!
//! One run, as data flows: [`experiment`] (TOML or command line) is checked and expanded into [`spec`]s; the
//! [`runner`] starts a [`worker`] process for each that the [`store`] lacks; the worker makes the [`stream`] of tasks and
//! calls [`train::run`], the loop, which appends rows to the store and saves [`checkpoint`]s. Afterwards [`report`] turns
//! the rows into tables beside the [`paper`]'s.

mod atomic_file;
pub mod batches;
pub mod bench;
pub mod benchmark;
pub mod checkpoint;
pub mod cli;
pub mod curvature;
pub mod evaluate;
pub mod experiment;
pub mod extra;
mod hash;
pub mod learner;
pub mod machine;
pub mod network;
pub mod paper;
mod pending;
pub mod progress;
pub mod report;
pub mod reproduce;
pub mod runner;
pub mod serve;
pub mod spec;
pub mod store;
pub mod stream;
pub mod train;
pub mod weights;
pub mod worker;
