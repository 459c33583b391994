//! Curves for other tools: Parquet for data frames, event files for TensorBoard.

pub mod parquet;
pub mod tensorboard;
