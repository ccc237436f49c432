//! Rows as a Parquet file: a column has whole numbers, numbers, yes or no, or texts; cells may be
//! empty.
//!
//! Built only with the feature `parquet`, which brings the crate of that name: with what it needs
//! it takes rustc more than 20 s of processor time in a release build. `tests/parquet/check` builds
//! and tests it.

#[cfg(feature = "parquet")]
use crate::cli::output::Rows;

/// Why this build writes no such file, if it does not.
pub(super) const REFUSED: Option<&str> = match cfg!(feature = "parquet") {
    true => None,
    false => Some(
        "--parquet: this build cannot write it; build with `cargo build --release --features \
         bellwether/parquet`, or convert rows.csv",
    ),
};

/// The bytes of the file.
#[cfg(not(feature = "parquet"))]
pub(super) fn bytes<R>(_rows: &R) -> Result<Vec<u8>, String> {
    Err(REFUSED.unwrap_or_default().to_owned())
}

/// The bytes of the file.
#[cfg(feature = "parquet")]
pub(super) fn bytes(rows: &Rows) -> Result<Vec<u8>, String> {
    writing::bytes(rows).map_err(|error| error.to_string())
}

#[cfg(feature = "parquet")]
mod writing {
    use crate::cli::output::Rows;
    use parquet::basic::{LogicalType, Repetition, Type as Kind};
    use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
    use parquet::errors::Result;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
    use parquet::schema::types::Type;
    use serde_json::Value;
    use std::sync::Arc;

    pub(super) fn bytes(rows: &Rows) -> Result<Vec<u8>> {
        let columns: Vec<(&str, Kind, Vec<&Value>)> = rows
            .columns()
            .map(|(name, cells)| {
                let cells: Vec<&Value> = cells.collect();
                (name, kind_of(name, &cells), cells)
            })
            .collect();
        let fields: Result<Vec<_>> =
            columns.iter().map(|(name, kind, _)| field(name, *kind).map(Arc::new)).collect();
        let schema = Type::group_type_builder("rows").with_fields(fields?).build()?;
        let by = concat!("bellwether ", env!("CARGO_PKG_VERSION")).to_owned();
        let properties = WriterProperties::builder().set_created_by(by).build();
        let mut file =
            SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
        let mut group = file.next_row_group()?;
        for (_, kind, cells) in &columns {
            if let Some(mut column) = group.next_column()? {
                write(&mut column, *kind, cells)?;
                column.close()?;
            }
        }
        group.close()?;
        file.into_inner()
    }

    /// The kind of a column of this name. Those that every sweep has keep their kinds, so that
    /// files of several sweeps have the same ones, whatever is empty.
    fn kind_of(name: &str, cells: &[&Value]) -> Kind {
        match name {
            "narrow" | "large_error" => Kind::BOOLEAN,
            "point" | "runs" | "count" | "unsettled" | "broke_first" => Kind::INT64,
            "mean" | "stderr" | "low" | "high" | "confidence" | "min" | "p50" | "p99" | "max" => {
                Kind::DOUBLE
            }
            _ => kind_of_cells(cells),
        }
    }

    /// The kind that all cells of a column have: texts, if they differ; numbers, if all are empty.
    fn kind_of_cells(cells: &[&Value]) -> Kind {
        let all = |is: fn(&Value) -> bool| cells.iter().all(|cell| cell.is_null() || is(cell));
        match cells.iter().any(|cell| !cell.is_null()) {
            true if all(Value::is_i64) => Kind::INT64,
            true if all(Value::is_boolean) => Kind::BOOLEAN,
            true if !all(Value::is_number) => Kind::BYTE_ARRAY,
            _ => Kind::DOUBLE,
        }
    }

    fn field(name: &str, kind: Kind) -> Result<Type> {
        let text = (kind == Kind::BYTE_ARRAY).then_some(LogicalType::String);
        let field = Type::primitive_type_builder(name, kind).with_repetition(Repetition::OPTIONAL);
        field.with_logical_type(text).build()
    }

    fn write(column: &mut SerializedColumnWriter<'_>, kind: Kind, cells: &[&Value]) -> Result<()> {
        // An empty cell has the level 0 and no value.
        let levels: Vec<i16> = cells.iter().map(|cell| i16::from(!cell.is_null())).collect();
        let there = cells.iter().filter(|cell| !cell.is_null());
        match kind {
            Kind::INT64 => {
                let values: Vec<i64> = there.filter_map(|cell| cell.as_i64()).collect();
                column.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
            }
            Kind::DOUBLE => {
                let values: Vec<f64> = there.filter_map(|cell| cell.as_f64()).collect();
                column.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
            }
            Kind::BOOLEAN => {
                let values: Vec<bool> = there.filter_map(|cell| cell.as_bool()).collect();
                column.typed::<BoolType>().write_batch(&values, Some(&levels), None)?;
            }
            _ => {
                let text = |cell: &&&Value| match cell {
                    Value::String(text) => ByteArray::from(text.as_str()),
                    other => ByteArray::from(other.to_string().as_str()),
                };
                let values: Vec<ByteArray> = there.map(|cell| text(&cell)).collect();
                column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
            }
        }
        Ok(())
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use parquet::file::reader::{FileReader, SerializedFileReader};
        use parquet::record::RowAccessor;
        use serde_json::json;

        #[test]
        fn what_is_written_is_read_again() {
            let mut rows = Rows::new(["point", "loss", "suppress", "narrow", "empty"]);
            rows.push([json!(0), json!(0.1), json!("1s"), Value::Null, Value::Null]);
            rows.push([json!(1), json!(1), json!(2), json!(true), Value::Null]);
            let bytes = bytes(&rows).expect("it can be written");
            assert_eq!(bytes, super::bytes(&rows).expect("again"), "the same bytes every time");
            let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).expect("a file");
            let read: Vec<_> =
                reader.get_row_iter(None).expect("rows").map(|row| row.expect("a row")).collect();
            assert_eq!(read.len(), 2);
            assert_eq!(
                (read[1].get_long(0).ok(), read[0].get_double(1).ok()),
                (Some(1), Some(0.1))
            );
            let texts = [&read[0], &read[1]].map(|row| row.get_string(2).ok().cloned());
            assert_eq!(texts, [Some("1s".to_owned()), Some("2".to_owned())]);
            assert_eq!((read[1].get_bool(3).ok(), read[0].get_bool(3).ok()), (Some(true), None));
        }

        #[test]
        fn a_column_of_every_sweep_has_one_kind_whatever_is_empty() {
            let mut rows = Rows::new(["point", "narrow", "max", "runs", "loss"]);
            rows.push([json!(0), Value::Null, json!(3), Value::Null, Value::Null]);
            let bytes = bytes(&rows).expect("it can be written");
            let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).expect("a file");
            let schema = reader.metadata().file_metadata().schema_descr_ptr();
            let kinds: Vec<Kind> = schema.columns().iter().map(|it| it.physical_type()).collect();
            let whole = Kind::INT64;
            assert_eq!(kinds, [whole, Kind::BOOLEAN, Kind::DOUBLE, whole, Kind::DOUBLE]);
        }
    }
}
