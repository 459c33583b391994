//! The parts of `tensorflow.Event` that scalars need.

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(super) struct Event {
    #[prost(double, tag = "1")]
    pub(super) wall_time: f64,
    #[prost(int64, tag = "2")]
    pub(super) step: i64,
    #[prost(string, optional, tag = "3")]
    pub(super) file_version: Option<String>,
    #[prost(message, optional, tag = "5")]
    pub(super) summary: Option<Summary>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Summary {
    #[prost(message, repeated, tag = "1")]
    pub(super) value: Vec<Value>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Value {
    #[prost(string, tag = "1")]
    pub(super) tag: String,
    /// `simple_value`.
    #[prost(float, optional, tag = "2")]
    pub(super) simple: Option<f32>,
    /// Where newer writers put what `simple_value` was for.
    #[prost(message, optional, tag = "8")]
    pub(super) tensor: Option<Tensor>,
    #[prost(message, optional, tag = "9")]
    pub(super) metadata: Option<Metadata>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Tensor {
    #[prost(int32, tag = "1")]
    pub(super) dtype: i32,
    /// The numbers as bytes, little-endian; or they stand in one of the lists.
    #[prost(bytes = "vec", tag = "4")]
    pub(super) content: Vec<u8>,
    #[prost(float, repeated, tag = "5")]
    pub(super) floats: Vec<f32>,
    #[prost(double, repeated, tag = "6")]
    pub(super) doubles: Vec<f64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Metadata {
    #[prost(message, optional, tag = "1")]
    pub(super) plugin: Option<Plugin>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Plugin {
    #[prost(string, tag = "1")]
    pub(super) name: String,
}

impl Value {
    /// The number, if it is one: in single precision, as nearly all writers have it, or in double.
    pub(super) fn scalar(&self) -> Option<f64> {
        if let Some(value) = self.simple {
            return Some(plain(value));
        }
        let plugin = self.metadata.as_ref().and_then(|metadata| metadata.plugin.as_ref());
        let tensor =
            self.tensor.as_ref().filter(|_| plugin.is_some_and(|plugin| plugin.name == "scalars"))?;
        match (tensor.dtype, &tensor.content[..], &tensor.floats[..], &tensor.doubles[..]) {
            (1, [], &[value], _) => Some(plain(value)),
            (1, bytes, _, _) => Some(plain(f32::from_le_bytes(bytes.try_into().ok()?))),
            (2, [], _, &[value]) => Some(value),
            (2, bytes, _, _) => Some(f64::from_le_bytes(bytes.try_into().ok()?)),
            _ => None,
        }
    }
}

/// The shortest decimal number with this single-precision value: 0.06, and not 0.059999998658895493.
fn plain(value: f32) -> f64 {
    value.to_string().parse().expect("a number is printed as one")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scalar_stands_in_one_of_five_places() {
        let scalars = Metadata { plugin: Some(Plugin { name: "scalars".into() }) };
        let tensor = |tensor: Tensor| Value {
            tensor: Some(tensor),
            metadata: Some(scalars.clone()),
            ..Value::default()
        };
        let one = Tensor { dtype: 1, ..Tensor::default() };
        let two = Tensor { dtype: 2, ..Tensor::default() };
        let cases = [
            Value { simple: Some(0.06), ..Value::default() },
            tensor(Tensor { floats: vec![0.06], ..one.clone() }),
            tensor(Tensor { content: 0.06_f32.to_le_bytes().to_vec(), ..one.clone() }),
            tensor(Tensor { doubles: vec![0.06], ..two.clone() }),
            tensor(Tensor { content: 0.06_f64.to_le_bytes().to_vec(), ..two }),
        ];
        for value in cases {
            assert_eq!(value.scalar(), Some(0.06), "{value:?}");
        }
        let histogram = Value { metadata: None, ..tensor(Tensor { floats: vec![1.0], ..one.clone() }) };
        assert_eq!(histogram.scalar(), None);
        assert_eq!(tensor(Tensor { floats: vec![1.0, 2.0], ..one }).scalar(), None);
    }

    #[test]
    fn what_is_not_finite_stays_so() {
        assert!(plain(f32::NAN).is_nan() && plain(f32::INFINITY) == f64::INFINITY);
    }
}
