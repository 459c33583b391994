//! JSON has no NaN: a gap in a list of numbers is `null` there.

/// Lists of numbers.
pub(super) mod numbers {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(in crate::figure) fn serialize<S: Serializer>(values: &[f64], s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(values.iter().map(|value| value.is_finite().then_some(value)))
    }

    pub(in crate::figure) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<f64>, D::Error> {
        let values = Vec::<Option<f64>>::deserialize(d)?;
        Ok(values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect())
    }
}

/// Lists of numbers that may be absent.
pub(super) mod option {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[allow(clippy::ref_option)] // the signature that serde asks for
    pub(in crate::figure) fn serialize<S: Serializer>(
        values: &Option<Vec<f64>>,
        s: S,
    ) -> Result<S::Ok, S::Error> {
        let gaps = |values: &Vec<f64>| -> Vec<Option<f64>> {
            values.iter().map(|value| value.is_finite().then_some(*value)).collect()
        };
        values.as_ref().map(gaps).serialize(s)
    }

    pub(in crate::figure) fn deserialize<'de, D: Deserializer<'de>>(
        d: D,
    ) -> Result<Option<Vec<f64>>, D::Error> {
        let values = Option::<Vec<Option<f64>>>::deserialize(d)?;
        Ok(values.map(|values| values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect()))
    }
}

/// Matrices.
pub(super) mod rows {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(in crate::figure) fn serialize<S: Serializer>(rows: &[Vec<f64>], s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(rows.iter().map(|row| -> Vec<Option<f64>> {
            row.iter().map(|value| value.is_finite().then_some(*value)).collect()
        }))
    }

    pub(in crate::figure) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<Vec<f64>>, D::Error> {
        let rows = Vec::<Vec<Option<f64>>>::deserialize(d)?;
        Ok(rows.into_iter().map(|row| row.into_iter().map(|v| v.unwrap_or(f64::NAN)).collect()).collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::figure::{BarSeries, Heatmap, Series};

    #[test]
    fn gaps_survive_a_round_trip() {
        let nan = f64::NAN;
        let series = Series { x: vec![1.0, 2.0], y: vec![nan, 0.5], ..Series::default() };
        let json = serde_json::to_string(&series).unwrap();
        assert!(json.contains(r#""y":[null,0.5]"#), "{json}");
        let back: Series = serde_json::from_str(&json).unwrap();
        assert!(back.y[0].is_nan() && back.y[1] == 0.5);

        let bars = BarSeries { values: vec![1.0], errors: Some(vec![nan]), ..BarSeries::default() };
        let back: BarSeries = serde_json::from_str(&serde_json::to_string(&bars).unwrap()).unwrap();
        assert!(back.errors.unwrap()[0].is_nan() && back.reference.is_none());

        let map = Heatmap { values: vec![vec![nan, 1.0]], ..Heatmap::default() };
        let back: Heatmap = serde_json::from_str(&serde_json::to_string(&map).unwrap()).unwrap();
        assert!(back.values[0][0].is_nan() && back.values[0][1] == 1.0);
    }
}
