//! All curves in one Parquet file: a row an evaluation, a row group a run.

use std::io::Write;
use std::sync::Arc;

use ::parquet::basic::Compression;
use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use evenkeel_metrics::{Curve, Point};

/// What a run is: the columns that are the same in all its rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunLabels {
    /// Benchmark.
    pub benchmark: String,
    /// Optimizer.
    pub optimizer: String,
    /// Its parameters.
    pub parameters: String,
    /// Name of the run's folder.
    pub run: String,
    /// Done, running, stopped or diverged.
    pub status: String,
    /// Seed.
    pub seed: u64,
}

/// Writes runs one after the other, so that only one is in memory.
pub struct CurveWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    tasks: usize,
}

impl<W: Write + Send> CurveWriter<W> {
    /// A file with columns for runs of up to `tasks` tasks.
    pub fn new(file: W, tasks: usize) -> Result<Self, ParquetError> {
        let text = ["benchmark", "optimizer", "parameters", "run", "status"];
        let text = text.map(|name| format!("required binary {name} (STRING);"));
        let whole = ["seed", "iteration", "task"].map(|name| format!("required int64 {name};"));
        let named = ["task1_loss", "gain", "entropy", "train_loss", "seen_acc"].map(String::from);
        let optional = named.into_iter().chain((2..=tasks).map(|task| format!("acc_{task}")));
        let optional: Vec<String> = optional.map(|name| format!("optional double {name};")).collect();
        let columns = [&text[..], &whole, &["required double task1_acc;".to_string()], &optional].concat();
        let schema = format!("message curves {{ {} }}", columns.join(" "));
        let schema = Arc::new(parse_message_type(&schema)?);
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        Ok(Self { file: SerializedFileWriter::new(file, schema, Arc::new(properties))?, tasks })
    }

    /// Appends a run.
    pub fn write(&mut self, labels: &RunLabels, curve: &Curve) -> Result<(), ParquetError> {
        let points = curve.points();
        let mut group = self.file.next_row_group()?;
        for text in [&labels.benchmark, &labels.optimizer, &labels.parameters, &labels.run, &labels.status] {
            let mut column = group.next_column()?.ok_or_else(missing)?;
            let values = vec![ByteArray::from(text.as_str()); points.len()];
            column.typed::<ByteArrayType>().write_batch(&values, None, None)?;
            column.close()?;
        }
        let whole: [&dyn Fn(&Point) -> i64; 3] =
            [&|_| labels.seed as i64, &|point| point.iteration as i64, &|point| point.task as i64];
        for value in whole {
            let mut column = group.next_column()?.ok_or_else(missing)?;
            let values: Vec<i64> = points.iter().map(|point| value(&point)).collect();
            column.typed::<Int64Type>().write_batch(&values, None, None)?;
            column.close()?;
        }
        let mut column = group.next_column()?.ok_or_else(missing)?;
        column.typed::<DoubleType>().write_batch(curve.task1_acc(), None, None)?;
        column.close()?;

        let named: [fn(&Point) -> Option<f64>; 5] =
            [|p| p.task1_loss, |p| p.gain, |p| p.entropy, |p| p.train_loss, |p| p.seen_acc];
        let named = named.into_iter().map(|value| points.iter().map(|point| value(&point)).collect());
        let others =
            (2..=self.tasks).map(|task| (0..points.len()).map(|index| curve.acc_of(task, index)).collect());
        for values in named.chain(others) {
            let values: Vec<Option<f64>> = values;
            let mut column = group.next_column()?.ok_or_else(missing)?;
            let present: Vec<f64> = values.iter().flatten().copied().collect();
            let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
            column.typed::<DoubleType>().write_batch(&present, Some(&levels), None)?;
            column.close()?;
        }
        group.close().map(drop)
    }

    /// Completes the file; without it nothing can be read.
    pub fn finish(self) -> Result<W, ParquetError> {
        self.file.into_inner()
    }
}

fn missing() -> ParquetError {
    ParquetError::General("fewer columns than in the schema".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::parquet::file::reader::{FileReader, SerializedFileReader};

    #[test]
    fn what_is_written_is_read() {
        let mut first = Point::new(1, 1, 98.5);
        first.gain = Some(1.25);
        let second = Point { task_acc: vec![Some(12.5)], ..Point::new(2, 2, 71.25) };
        let curve = Curve::new(vec![first, second]).unwrap();
        let labels = RunLabels { optimizer: "ngm-sgd".into(), seed: 7, ..RunLabels::default() };
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut writer = CurveWriter::new(file.reopen().unwrap(), 3).unwrap();
        writer.write(&labels, &curve).unwrap();
        writer.write(&labels, &curve).unwrap();
        writer.finish().unwrap();

        let reader = SerializedFileReader::new(file.reopen().unwrap()).unwrap();
        let rows: Vec<String> =
            reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
        assert_eq!(rows.len(), 4);
        assert!(rows[0].contains("optimizer: \"ngm-sgd\"") && rows[0].contains("seed: 7"), "{}", rows[0]);
        assert!(rows[0].contains("task1_acc: 98.5") && rows[0].contains("gain: 1.25"), "{}", rows[0]);
        assert!(
            rows[1].contains("gain: null") && rows[1].contains("acc_2: 12.5, acc_3: null"),
            "{}",
            rows[1]
        );
    }
}
