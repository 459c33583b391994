//! Event files as TensorBoard reads them: records of protocol buffers, each with two checksums.

use std::io::{self, Write};

use evenkeel_metrics::{Curve, Point};
use prost::Message;

/// The parts of `tensorflow.Event` that scalars need.
#[derive(Clone, PartialEq, Message)]
struct Event {
    #[prost(double, tag = "1")]
    wall_time: f64,
    #[prost(int64, tag = "2")]
    step: i64,
    #[prost(string, optional, tag = "3")]
    file_version: Option<String>,
    #[prost(message, optional, tag = "5")]
    summary: Option<Summary>,
}

#[derive(Clone, PartialEq, Message)]
struct Summary {
    #[prost(message, repeated, tag = "1")]
    value: Vec<Value>,
}

#[derive(Clone, PartialEq, Message)]
struct Value {
    #[prost(string, tag = "1")]
    tag: String,
    #[prost(float, optional, tag = "2")]
    simple_value: Option<f32>,
}

/// Writes a curve. `start` is the time of its first iteration in seconds since 1970, `seconds` how long it took.
pub fn write_events(mut file: impl Write, curve: &Curve, start: f64, seconds: f64) -> io::Result<()> {
    let version = Event { wall_time: start, file_version: Some("brain.Event:2".into()), ..Event::default() };
    record(&mut file, &version)?;
    let last = curve.points().last().map_or(1, |point| point.iteration) as f64;
    for point in curve.points() {
        let wall_time = start + seconds * point.iteration as f64 / last;
        let value = scalars(point);
        let summary = Some(Summary { value });
        record(&mut file, &Event { wall_time, step: point.iteration as i64, summary, file_version: None })?;
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
    present.map(|(tag, value)| Value { tag, simple_value: Some(value as f32) }).collect()
}

/// Length, its checksum, the event, its checksum.
fn record(file: &mut impl Write, event: &Event) -> io::Result<()> {
    let data = event.encode_to_vec();
    let length = (data.len() as u64).to_le_bytes();
    file.write_all(&length)?;
    file.write_all(&masked(&length).to_le_bytes())?;
    file.write_all(&data)?;
    file.write_all(&masked(&data).to_le_bytes())
}

/// The format's own twist of CRC-32C.
fn masked(data: &[u8]) -> u32 {
    crc32c::crc32c(data).rotate_right(15).wrapping_add(0xa282_ead8)
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
        while !rest.is_empty() {
            let length = u64::from_le_bytes(rest[..8].try_into().unwrap()) as usize;
            assert_eq!(masked(&rest[..8]).to_le_bytes(), rest[8..12]);
            let data = &rest[12..12 + length];
            assert_eq!(masked(data).to_le_bytes(), rest[12 + length..16 + length]);
            events.push(Event::decode(data).unwrap());
            rest = &rest[16 + length..];
        }
        assert_eq!(events[0].file_version.as_deref(), Some("brain.Event:2"));
        let values = &events[1].summary.as_ref().unwrap().value;
        assert_eq!((events[1].step, events[1].wall_time, values.len()), (1, 110.0, 2));
        assert_eq!((values[0].tag.as_str(), values[0].simple_value), ("task1/accuracy", Some(98.5)));
    }
}
