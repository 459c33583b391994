//! One run: batches, learner, the loop, evaluation, probes and checkpoints; and many of them in worker processes.

pub mod batches;
pub mod checkpoint;
pub mod device;
pub mod evaluate;
mod feedback;
pub mod learner;
pub mod machine;
mod memory;
mod pending;
pub mod prepare;
pub mod probes;
pub mod progress;
pub mod runner;
pub mod train;
pub mod weights;
pub mod worker;
