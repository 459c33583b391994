//! Domain-incremental: the whole data set again and again, each time at another angle.

use serde::{Deserialize, Serialize};

use super::{ScenarioType, StreamError, StreamKind};
use crate::dataset::DataSet;
use crate::rotate::rotate;
use crate::task_stream::{Task, TaskStream};

/// One task per angle, counter-clockwise; see [`rotate`](crate::rotate) for the convention.
///
/// At 0° the pixels are shared, not copied.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Rotated {
    /// The angle of each task in degrees.
    pub degrees: Vec<f64>,
}

impl Default for Rotated {
    fn default() -> Self {
        Self::new([0.0, 80.0, 160.0])
    }
}

impl Rotated {
    /// One task per angle, in degrees.
    pub fn new(degrees: impl Into<Vec<f64>>) -> Self {
        Self { degrees: degrees.into() }
    }
}

impl StreamKind for Rotated {
    const SUMMARY: &'static str = "the same classes, rotated by another angle in each task";
    const SCENARIO: ScenarioType = ScenarioType::DomainIncremental;
    const KEYS: &'static [(&'static str, &'static str)] =
        &[("degrees", "counter-clockwise angle of each task in degrees")];

    fn check(&self) -> Result<(), (&'static str, String)> {
        if self.degrees.is_empty() {
            return Err(("degrees", "names no angle".to_owned()));
        }
        match self.degrees.iter().find(|degrees| !degrees.is_finite()) {
            Some(degrees) => Err(("degrees", format!("{degrees} is not an angle"))),
            None => Ok(()),
        }
    }

    fn tasks(&self, _classes: usize) -> usize {
        self.degrees.len()
    }

    fn cut(&self, data: &DataSet, _seed: u64) -> Result<TaskStream, StreamError> {
        if let Some(&degrees) = self.degrees.iter().find(|d| !d.is_finite()) {
            return Err(StreamError::BadAngle { data: data.name().to_owned(), degrees });
        }
        if !data.train().is_images() {
            return Err(StreamError::NotImages { data: data.name().to_owned() });
        }
        let task = |&d: &f64| Task { train: rotate(data.train(), d), test: rotate(data.test(), d) };
        TaskStream::new("rotated", data, self.degrees.iter().map(task).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digits;

    #[test]
    fn tasks_keep_the_labels_and_share_the_upright_pixels() {
        let data = digits(20, 10, 0);
        let stream = Rotated::default().cut(&data, 0).unwrap();
        assert_eq!(stream.task(0).train.image(3).as_ptr(), data.train().image(3).as_ptr());
        assert_eq!(stream.task(2).test.labels(), data.test().labels());
        assert_ne!(stream.task(1).train.image(3), stream.task(0).train.image(3));
    }

    #[test]
    fn angles_must_be_there_and_be_numbers() {
        let data = digits(20, 10, 0);
        assert!(matches!(Rotated::new([f64::NAN]).cut(&data, 0), Err(StreamError::BadAngle { .. })));
        assert!(matches!(Rotated::new([]).cut(&data, 0), Err(StreamError::NoTasks { .. })));
        assert_eq!(Rotated::new([1.0, f64::NAN]).check().unwrap_err().1, "NaN is not an angle");
        assert_eq!(Rotated::new([]).check().unwrap_err().1, "names no angle");
    }
}
