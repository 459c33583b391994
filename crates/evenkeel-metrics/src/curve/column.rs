//! A column of measurements that need not be there.

/// What stands for a value that was not measured: a NaN that no computation yields, as its payload is not zero.
const MISSING: u64 = 0x7ff8_0000_6d69_7373;

/// Values by index; those behind the last one are not measured.
#[derive(Debug, Clone, Default)]
pub(super) struct Column(Vec<f64>);

impl Column {
    /// Sets the value of an index behind all that are set.
    pub(super) fn push(&mut self, index: usize, value: Option<f64>) {
        let Some(value) = value else { return };
        self.0.resize(index, f64::from_bits(MISSING));
        self.0.push(if value.to_bits() == MISSING { f64::NAN } else { value });
    }

    pub(super) fn get(&self, index: usize) -> Option<f64> {
        self.0.get(index).copied().filter(|value| value.to_bits() != MISSING)
    }

    pub(super) fn scale(&mut self, factor: f64) {
        for value in self.0.iter_mut().filter(|value| value.to_bits() != MISSING) {
            *value *= factor;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_survives_and_gaps_stay_gaps() {
        let mut column = Column::default();
        column.push(0, None);
        column.push(2, Some(f64::INFINITY));
        column.push(3, Some(f64::from_bits(MISSING)));
        assert_eq!([column.get(0), column.get(1), column.get(2)], [None, None, Some(f64::INFINITY)]);
        assert!(column.get(3).is_some_and(f64::is_nan) && column.get(4).is_none());
    }
}
