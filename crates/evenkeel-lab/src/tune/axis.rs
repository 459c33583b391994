//! A parameter and the values to try: what `--over KEY=VALUES` means.

use rand::{Rng, RngExt as _};
use serde_json::Value;

use crate::spec::{ExperimentError, parse_value, plain};

/// A parameter with the values to try.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The key, as `--set` takes it.
    pub key: String,
    values: Values,
}

#[derive(Debug, Clone, PartialEq)]
enum Values {
    /// `0.1,0.2,0.4`
    List(Vec<Value>),
    /// `0.001..1:7log`
    Range { low: f64, high: f64, count: Option<usize>, log: bool, whole: bool },
    /// `~7`
    Around(usize),
}

/// More values than this on one axis are a slip of the finger.
const MOST: usize = 1000;

impl Axis {
    /// Half decades of the learning rate around what each optimizer has.
    pub fn usual() -> Self {
        Self { key: "lr".to_string(), values: Values::Around(7) }
    }

    /// `KEY=A,B,C`, `KEY=LOW..HIGH:N` (`:Nlog` for equal ratios) or `KEY=~N`.
    pub fn parse(text: &str) -> Result<Self, ExperimentError> {
        let (key, values) = text.split_once('=').ok_or_else(|| {
            bad(text, "expected KEY=VALUES, such as lr=0.001..1:7log, eta=0.1,0.2,0.4 or lr=~7")
        })?;
        let values = match (values.strip_prefix('~'), values.split_once("..")) {
            (Some(count), _) => Values::Around(number_of_values(key, count)?),
            (None, Some((low, rest))) => range(key, low, rest)?,
            (None, None) => Values::List(list(values)),
        };
        if values == Values::List(Vec::new()) {
            return Err(bad(key, "name at least one value"));
        }
        Ok(Self { key: key.to_string(), values })
    }

    /// The same values for a parameter that is named in another way.
    #[must_use]
    pub fn named(&self, key: &str) -> Self {
        Self { key: key.to_string(), values: self.values.clone() }
    }

    /// All values of a grid, `now` being what the parameter has without a search.
    pub fn grid(&self, now: Option<f64>) -> Result<Vec<Value>, ExperimentError> {
        match &self.values {
            Values::List(values) => Ok(values.clone()),
            Values::Around(count) => {
                let centre = self.centre(now)?;
                Ok(half_decades(centre, *count).into_iter().map(|value| tidy(value, false)).collect())
            }
            Values::Range { count: None, .. } => {
                Err(bad(&self.key, "say how many values a grid has: LOW..HIGH:7, or LOW..HIGH:7log"))
            }
            Values::Range { low, high, count: Some(count), log, whole } => {
                let last = count.saturating_sub(1).max(1) as f64;
                let values = (0..*count).map(|i| tidy(between(*low, *high, *log, i as f64 / last), *whole));
                let mut values: Vec<Value> = values.collect();
                values.dedup();
                Ok(values)
            }
        }
    }

    /// A random value: one of a list, or one between the ends of a range.
    pub fn draw(&self, now: Option<f64>, rng: &mut impl Rng) -> Result<Value, ExperimentError> {
        let share: f64 = rng.random();
        Ok(match &self.values {
            Values::List(values) => {
                values[((share * values.len() as f64) as usize).min(values.len() - 1)].clone()
            }
            Values::Around(count) => {
                let ends = half_decades(self.centre(now)?, *count);
                tidy(between(ends[0], ends[ends.len() - 1], true, share), false)
            }
            Values::Range { low, high, log, whole, .. } => tidy(between(*low, *high, *log, share), *whole),
        })
    }

    fn centre(&self, now: Option<f64>) -> Result<f64, ExperimentError> {
        now.filter(|now| *now > 0.0).ok_or_else(|| {
            bad(&self.key, "there is no positive number to search around; give a range such as 0.001..1:7log")
        })
    }
}

/// `count` values, half a decade apart, with `centre` in their middle.
fn half_decades(centre: f64, count: usize) -> Vec<f64> {
    let middle = (count / 2) as f64;
    (0..count).map(|i| centre * 10_f64.powf((i as f64 - middle) / 2.0)).collect()
}

fn between(low: f64, high: f64, log: bool, share: f64) -> f64 {
    if log { low * (high / low).powf(share) } else { low + (high - low) * share }
}

/// Three significant digits: nobody chooses a parameter more exactly, and the file stays readable.
fn tidy(value: f64, whole: bool) -> Value {
    if whole {
        return Value::from(value.round() as i64);
    }
    Value::from(format!("{value:.2e}").parse::<f64>().unwrap_or(value))
}

fn range(key: &str, low: &str, rest: &str) -> Result<Values, ExperimentError> {
    let (high, how) = rest.split_once(':').map_or((rest, None), |(high, how)| (high, Some(how)));
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let (Some(from), Some(to)) = (number(low), number(high)) else {
        return Err(bad(key, format!("'{low}..{high}' is no range of numbers")));
    };
    let log = how.is_some_and(|how| how.ends_with("log"));
    let count = how.map(|how| how.trim_end_matches("log")).filter(|count| !count.is_empty());
    if from >= to || (log && from <= 0.0) {
        return Err(bad(key, "the range must rise, and begin above 0 if it is logarithmic"));
    }
    let whole = [low, high].iter().all(|text| text.trim().parse::<i64>().is_ok());
    let count = count.map(|count| number_of_values(key, count)).transpose()?;
    Ok(Values::Range { low: from, high: to, count, log, whole })
}

fn number_of_values(key: &str, text: &str) -> Result<usize, ExperimentError> {
    let count = text.parse().ok().filter(|count| (1..=MOST).contains(count));
    count.ok_or_else(|| bad(key, format!("'{text}' is no number of values from 1 to {MOST}")))
}

/// The values between the commas that stand in no bracket.
fn list(text: &str) -> Vec<Value> {
    let mut depth = 0;
    let outer = |c: char| {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    };
    let parts = text.split(outer).map(str::trim).filter(|part| !part.is_empty());
    let mut values: Vec<Value> = Vec::new();
    for value in parts.map(parse_value) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// Parameters and their values, as `key=value`.
pub fn shown<'a>(values: impl IntoIterator<Item = (&'a String, &'a Value)>) -> String {
    let shown = values.into_iter().map(|(key, value)| format!("{key}={}", plain(value)));
    shown.collect::<Vec<_>>().join(" ")
}

fn bad(key: &str, reason: impl Into<String>) -> ExperimentError {
    ExperimentError::Value { key: format!("--over {key}"), reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(text: &str) -> Vec<Value> {
        Axis::parse(text).unwrap().grid(Some(0.01)).unwrap()
    }

    #[test]
    fn lists_ranges_and_half_decades_have_their_values() {
        assert_eq!(grid("eta=0.1,0.2,0.4"), [0.1, 0.2, 0.4]);
        assert_eq!(grid("hidden=[24,16],[100]"), [serde_json::json!([24, 16]), serde_json::json!([100])]);
        assert_eq!(grid("lr=0.001..1:7log"), [0.001, 0.00316, 0.01, 0.0316, 0.1, 0.316, 1.0]);
        assert_eq!(grid("momentum=0.5..0.9:3"), [0.5, 0.7, 0.9]);
        assert_eq!(grid("batch=16..128:4log"), [16, 32, 64, 128]);
        assert_eq!(grid("lr=~3"), [0.00316, 0.01, 0.0316]);
        assert_eq!(Axis::usual().grid(Some(0.1)).unwrap().len(), 7);
    }

    #[test]
    fn random_values_lie_within_the_range_and_come_again_with_the_seed() {
        use rand_chacha::ChaCha8Rng;
        use rand_chacha::rand_core::SeedableRng as _;
        let axis = Axis::parse("lr=0.001..1:log").unwrap();
        let draw = |seed: u64| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            (0..50).map(|_| axis.draw(None, &mut rng).unwrap().as_f64().unwrap()).collect::<Vec<_>>()
        };
        let values = draw(3);
        assert!(values.iter().all(|value| (0.001..=1.0).contains(value)));
        // Half of them in the lower half of the decades.
        let low = values.iter().filter(|value| **value < 0.0316).count();
        assert!((15..=35).contains(&low), "{low}");
        assert_eq!(values, draw(3));
        assert_ne!(values, draw(4));
    }

    #[test]
    fn mistakes_say_what_is_expected() {
        let error = |text: &str| Axis::parse(text).unwrap_err().to_string();
        assert!(error("lr").starts_with("--over lr: expected KEY=VALUES"));
        assert_eq!(error("lr=a..b"), "--over lr: 'a..b' is no range of numbers");
        assert!(error("lr=1..0.1:3log").contains("must rise"));
        assert!(error("lr=0..1:3log").contains("above 0"));
        assert_eq!(error("lr=0.1..1:0"), "--over lr: '0' is no number of values from 1 to 1000");
        assert_eq!(error("lr="), "--over lr: name at least one value");
        let open = Axis::parse("lr=0.1..1").unwrap();
        assert!(open.grid(None).unwrap_err().to_string().contains("say how many"));
        assert!(Axis::usual().grid(None).unwrap_err().to_string().contains("no positive number"));
    }
}
