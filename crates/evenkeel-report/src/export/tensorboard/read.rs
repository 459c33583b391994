//! The scalars of an event file, whoever wrote it.

use prost::Message;
use thiserror::Error;

use super::event::Event;
use super::record::{self, Next};

/// One number of an event file.
#[derive(Debug, Clone, PartialEq)]
pub struct Scalar {
    /// Its name.
    pub tag: String,
    /// Its iteration.
    pub step: i64,
    /// Its value.
    pub value: f64,
}

/// What an event file holds.
#[derive(Debug, Default, PartialEq)]
pub struct Scalars {
    /// The numbers in the order in which they were written.
    pub scalars: Vec<Scalar>,
    /// Whether the last record was never written to its end, as after a kill; what comes before it counts.
    pub cut_off: bool,
}

/// Why bytes are no event file.
#[derive(Debug, Error, PartialEq)]
pub enum EventsError {
    /// A checksum does not match.
    #[error("damaged at byte {0}: a checksum does not match")]
    Damaged(usize),
    /// A record is not what it should be.
    #[error("the record at byte {0} is no event")]
    NoEvent(usize),
}

/// Whether bytes begin as an event file does.
pub fn is_event_file(bytes: &[u8]) -> bool {
    // The checksum of the first length is there however short the beginning is that was read.
    bytes.len() >= 12 && record::next(bytes) != Next::Damaged
}

/// Reads every scalar; other kinds of values are passed over.
pub fn read_scalars(bytes: &[u8]) -> Result<Scalars, EventsError> {
    let mut found = Scalars::default();
    let mut rest = bytes;
    loop {
        let at = bytes.len() - rest.len();
        match record::next(rest) {
            Next::Record(data, after) => {
                let event = Event::decode(data).map_err(|_| EventsError::NoEvent(at))?;
                for value in event.summary.into_iter().flat_map(|summary| summary.value) {
                    if let Some(number) = value.scalar() {
                        found.scalars.push(Scalar { tag: value.tag, step: event.step, value: number });
                    }
                }
                rest = after;
            }
            // Not even the first record is there.
            Next::End if at == 0 && !bytes.is_empty() => return Err(EventsError::NoEvent(0)),
            Next::End => {
                found.cut_off = !rest.is_empty();
                return Ok(found);
            }
            Next::Damaged => return Err(EventsError::Damaged(at)),
        }
    }
}

#[cfg(test)]
mod tests {
    use evenkeel_metrics::{Curve, Point};

    use super::*;
    use crate::export::tensorboard::write_events;

    #[test]
    fn our_own_files_are_read_to_where_they_end() {
        let points = [98.5, 60.25].into_iter().zip(1..).map(|(accuracy, i)| Point::new(i, 1, accuracy));
        let mut bytes = Vec::new();
        write_events(&mut bytes, &Curve::new(points.collect()).unwrap(), 100.0, 10.0).unwrap();
        assert!(is_event_file(&bytes) && !is_event_file(b"iteration,task,task1_acc\n"));
        let found = read_scalars(&bytes).unwrap();
        assert_eq!((found.scalars.len(), found.cut_off), (4, false));
        let expected = Scalar { tag: "task1/accuracy".into(), step: 2, value: 60.25 };
        assert_eq!(found.scalars[2], expected);

        let short = read_scalars(&bytes[..bytes.len() - 1]).unwrap();
        assert_eq!((short.scalars.len(), short.cut_off), (2, true));
        assert_eq!(read_scalars(b"words"), Err(EventsError::NoEvent(0)));
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        assert!(matches!(read_scalars(&bytes), Err(EventsError::Damaged(at)) if at > 0));
    }
}
