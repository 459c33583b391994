//! What `fuzz/run` reaches of the reader of images: a file in memory.

use std::io::Cursor;

use super::{FolderError, FolderOptions, append};
use crate::images::{ImageShape, Images};

/// The image of a file whose name says that it is one of JPEG, whatever it is.
pub fn image(bytes: &[u8], options: &FolderOptions) -> Result<Images, FolderError> {
    let (mut size, mut pixels) = (options.size, Vec::new());
    append("image.jpg".as_ref(), Ok(Cursor::new(bytes)), &mut size, options, &mut pixels)?;
    let (height, width) = size.unwrap_or((1, 1));
    Ok(Images::new(ImageShape::new(options.channels, height as usize, width as usize), pixels)?)
}
