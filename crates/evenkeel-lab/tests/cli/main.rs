//! Tests of the `evenkeel` program as a process: real files, real signals, real kills.

mod bad_input;
mod common;
mod controls;
mod imports;
mod integrity;
mod kernels;
mod own_curves;
mod own_data;
mod report;
mod reproduce;
mod reproducible;
mod results;
mod runner;
mod streams;
mod terminal;
mod tune;
mod work;
