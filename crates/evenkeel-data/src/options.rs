//! What a user can say about how data of their own is read.

use serde::{Deserialize, Serialize};

use crate::text::TextOptions;

/// How files of the user's are read. Each field is a key of an experiment file; which of them a format knows, its
/// [`Format`](crate::formats::Format) says.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DataOptions {
    /// Height and width that images are resized to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resize: Option<Size>,
    /// 1 for grey images, 3 for colours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<usize>,
    /// The share of examples that test, where the files do not say which.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_fraction: Option<f64>,
    /// Columns that text is hashed into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dimension: Option<usize>,
    /// The shortest and the longest n-gram of text, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ngrams: Option<[usize; 2]>,
}

/// The size of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a number of pixels, or [height, width]")]
pub enum Size {
    /// A square.
    Square(u32),
    /// Height and width.
    Sides([u32; 2]),
}

impl Size {
    /// Height and width.
    pub fn sides(self) -> (u32, u32) {
        match self {
            Self::Square(side) => (side, side),
            Self::Sides([height, width]) => (height, width),
        }
    }
}

/// The share of examples that test where nothing else is said.
pub const TEST_FRACTION: f64 = 0.2;

impl DataOptions {
    /// Every key with its meaning.
    pub const KEYS: &'static [(&'static str, &'static str)] = &[
        ("resize", "size that images are resized to: a number of pixels, or [height, width]"),
        ("channels", "1 for grey images, 3 for colours"),
        ("test_fraction", "share of examples that test, where the files do not say which; 0.2 if absent"),
        ("dimension", "columns that text is hashed into; 4096 if absent"),
        ("ngrams", "shortest and longest n-gram of text in characters; [2, 4] if absent"),
    ];

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The keys that are set.
    pub fn set_keys(&self) -> Vec<String> {
        match serde_json::to_value(self) {
            Ok(serde_json::Value::Object(map)) => map.keys().cloned().collect(),
            _ => Vec::new(),
        }
    }

    /// What is wrong with the values, as key and reason.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        if let Some((height, width)) = self.resize.map(Size::sides)
            && !((1..=4096).contains(&height) && (1..=4096).contains(&width))
        {
            return Err(("resize", "each side must be from 1 to 4096 pixels".to_owned()));
        }
        if self.channels.is_some_and(|channels| channels != 1 && channels != 3) {
            return Err(("channels", "must be 1 (grey) or 3 (colours)".to_owned()));
        }
        if self.test_fraction.is_some_and(|share| !(share > 0.0 && share < 1.0)) {
            return Err(("test_fraction", "must lie between 0 and 1".to_owned()));
        }
        self.text().check()
    }

    /// The share of examples that test.
    pub fn test_fraction(&self) -> f64 {
        self.test_fraction.unwrap_or(TEST_FRACTION)
    }

    /// How text becomes numbers.
    pub fn text(&self) -> TextOptions {
        let usual = TextOptions::default();
        TextOptions {
            dimension: self.dimension.unwrap_or(usual.dimension),
            ngrams: self.ngrams.unwrap_or(usual.ngrams),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> DataOptions {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn values_are_checked_and_keys_are_described() {
        assert_eq!(read(r#"{"resize": 84}"#).resize.unwrap().sides(), (84, 84));
        assert_eq!(read(r#"{"resize": [3, 4]}"#).resize.unwrap().sides(), (3, 4));
        assert!(read("{}").is_empty() && read("{}").check().is_ok());
        for (text, key) in [
            (r#"{"resize": 0}"#, "resize"),
            (r#"{"resize": [3, 5000]}"#, "resize"),
            (r#"{"channels": 2}"#, "channels"),
            (r#"{"test_fraction": 1.0}"#, "test_fraction"),
            (r#"{"dimension": 1}"#, "dimension"),
            (r#"{"ngrams": [4, 2]}"#, "ngrams"),
        ] {
            assert_eq!(read(text).check().unwrap_err().0, key);
            assert_eq!(read(text).set_keys(), [key]);
            assert!(DataOptions::KEYS.iter().any(|(known, _)| *known == key));
        }
    }
}
