//! Curves for other tools: Parquet for data frames, event files for TensorBoard (which are read, too).

pub mod parquet;
pub mod tensorboard;
