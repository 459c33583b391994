//! Columns in Arrow's memory layout, which pandas, polars and pyarrow take over without a copy.

use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator};
use arrow_schema::ArrowError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// Named columns of one length.
#[pyclass(module = "evenkeel._evenkeel", frozen)]
pub(crate) struct Frame {
    batch: RecordBatch,
}

/// A column in the making.
pub(crate) enum Column {
    /// Words that repeat themselves.
    Words(Vec<String>),
    /// Whole numbers.
    Whole(Vec<i64>),
    /// Numbers, where they were measured.
    Numbers(Vec<Option<f64>>),
}

impl Column {
    fn into_array(self) -> ArrayRef {
        match self {
            Self::Words(words) => {
                Arc::new(words.iter().map(String::as_str).collect::<DictionaryArray<Int32Type>>())
            }
            Self::Whole(numbers) => Arc::new(Int64Array::from(numbers)),
            Self::Numbers(numbers) => Arc::new(Float64Array::from(numbers)),
        }
    }
}

impl Frame {
    pub(crate) fn new(columns: Vec<(String, Column)>) -> PyResult<Self> {
        let columns = columns.into_iter().map(|(name, column)| (name, column.into_array(), true));
        let batch = RecordBatch::try_from_iter_with_nullable(columns).map_err(bad)?;
        Ok(Self { batch })
    }
}

#[pymethods]
impl Frame {
    /// Arrow's stream of record batches (the PyCapsule protocol).
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The protocol lets a producer ignore what a consumer would like.
        drop(requested_schema);
        let (batch, schema) = (self.batch.clone(), self.batch.schema());
        let reader = RecordBatchIterator::new([Ok::<_, ArrowError>(batch)], schema);
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The values of a column as Python objects; `None` where nothing was measured.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let column = self.batch.column_by_name(name);
        let column = column.ok_or_else(|| PyValueError::new_err(format!("there is no column '{name}'")))?;
        let any = column.as_any();
        if let Some(words) = any.downcast_ref::<DictionaryArray<Int32Type>>() {
            let words = words.downcast_dict::<arrow_array::StringArray>().expect("it is made of strings");
            return words.into_iter().collect::<Vec<Option<&str>>>().into_pyobject(py);
        }
        if let Some(numbers) = any.downcast_ref::<Int64Array>() {
            return numbers.iter().collect::<Vec<Option<i64>>>().into_pyobject(py);
        }
        let numbers = any.downcast_ref::<Float64Array>().expect("there is no other kind of column");
        numbers.iter().collect::<Vec<Option<f64>>>().into_pyobject(py)
    }
}

fn bad(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
