//! A loaded data set as one file, so that decoding and hashing happen once and many processes read the result.
//!
//! The file begins with three lines of text: what it is, a header in JSON, and the checksum of that header. After them
//! come the bytes as they are in memory, all numbers little-endian: the examples, then the labels of all training and of all
//! test examples as 16-bit numbers, then the coarse labels and the tasks, each if there are any. The length of the file
//! follows from the header.
//!
//! Examples are the pixels of all training images and of all test images; or the entries of all sparse rows and where they
//! begin; or nothing, where rows of numbers stay in a file of their own, which the header names. Rows that are no images are
//! shared by both parts: the numbers of the training and of the test rows follow, and then the means and deviations of the
//! columns.

mod error;
mod header;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use self::error::DecodedError;

const MAGIC: &str = "evenkeel decoded data set 2";
