//! Event files as TensorBoard reads them: records of protocol buffers, each with two checksums.

mod event;
mod read;
mod record;

use std::io::{self, Write};

use evenkeel_metrics::{Curve, Point};
use prost::Message;

use self::event::{Event, Summary, Value};
pub use self::read::{EventsError, Scalar, Scalars, is_event_file, read_scalars};

/// Writes a curve. `start` is the time of its first iteration in seconds since 1970, `seconds` how long it took.
pub fn write_events(mut file: impl Write, curve: &Curve, start: f64, seconds: f64) -> io::Result<()> {
    let version = Event { wall_time: start, file_version: Some("brain.Event:2".into()), ..Event::default() };
    record::write(&mut file, &version.encode_to_vec())?;
    let last = curve.points().last().map_or(1, |point| point.iteration) as f64;
    for point in curve.points().iter() {
        let wall_time = start + seconds * point.iteration as f64 / last;
        let value = scalars(&point);
        let summary = Some(Summary { value });
        let event = Event { wall_time, step: point.iteration as i64, summary, file_version: None };
        record::write(&mut file, &event.encode_to_vec())?;
    }
    file.flush()
}

/// Names with a slash are grouped by TensorBoard.
fn scalars(point: &Point) -> Vec<Value> {
    let named = [
        ("task1/accuracy", Some(point.task1_acc)),
        ("task1/loss", point.task1_loss),
        ("gain/g", point.gain),
        ("gain/entropy", point.entropy),
        ("train/loss", point.train_loss),
        ("train/task", Some(point.task as f64)),
        ("seen/accuracy", point.seen_acc),
    ];
    let named = named.into_iter().map(|(tag, value)| (tag.to_string(), value));
    let others = (2..).zip(&point.task_acc).map(|(task, value)| (format!("task{task}/accuracy"), *value));
    let present = named.chain(others).filter_map(|(tag, value)| Some((tag, value?)));
    present.map(|(tag, value)| Value { tag, simple: Some(value as f32), ..Value::default() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_have_the_documented_layout() {
        let curve = Curve::new(vec![Point::new(1, 1, 98.5)]).unwrap();
        let mut bytes = Vec::new();
        write_events(&mut bytes, &curve, 100.0, 10.0).unwrap();
        let mut rest = &bytes[..];
        let mut events = Vec::new();
        while let record::Next::Record(data, after) = record::next(rest) {
            events.push(Event::decode(data).unwrap());
            rest = after;
        }
        assert!(rest.is_empty());
        assert_eq!(events[0].file_version.as_deref(), Some("brain.Event:2"));
        let values = &events[1].summary.as_ref().unwrap().value;
        assert_eq!((events[1].step, events[1].wall_time, values.len()), (1, 110.0, 2));
        assert_eq!((values[0].tag.as_str(), values[0].simple), ("task1/accuracy", Some(98.5)));
    }
}
