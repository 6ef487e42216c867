//! Rows to lines of CSV and back.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A row type that has a file of its own in a survey.
pub trait Table: Serialize + DeserializeOwned {
    /// The file's name in the results directory.
    const FILE: &'static str;
    /// The header line, in the order in which the fields are declared.
    const COLUMNS: &'static [&'static str];
    /// Those of [`Table::COLUMNS`] that files of earlier versions lack; their fields have a default.
    const LATER: &'static [&'static str] = &[];
}

/// A file does not hold the rows it should.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    #[error("{file}: no column {column:?} in the header line ({found}); is this a survey's file?")]
    Column { file: &'static str, column: &'static str, found: String },
    #[error("{file}, line {line}: {reason}")]
    Row { file: &'static str, line: u64, reason: String },
}

/// The header line, with its line feed.
pub fn header<T: Table>() -> String {
    format!("{}\n", T::COLUMNS.join(","))
}

/// One row as a line of CSV, with its line feed.
pub fn line<T: Table>(row: &T) -> String {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    writer.serialize(row).expect("a row holds only numbers and texts");
    let bytes = writer.into_inner().expect("writing to memory does not fail");
    String::from_utf8(bytes).expect("a row is made of text")
}

/// Reads the rows of a whole file.
///
/// Unknown columns are passed over, so that files of later versions can be read; those that came
/// later than the file are taken for empty.
///
/// # Errors
///
/// [`TableError`] with the file's name and the line, if a column is missing or a row cannot be
/// read.
pub fn parse<T: Table>(bytes: &[u8]) -> Result<Vec<T>, TableError> {
    let mut reader = csv::ReaderBuilder::new().from_reader(bytes);
    let unreadable = |error: csv::Error| TableError::Row {
        file: T::FILE,
        line: error.position().map_or(1, csv::Position::line),
        reason: error.to_string(),
    };
    let headers = reader.headers().map_err(unreadable)?.clone();
    let is_missing = |column: &&&str| !headers.iter().any(|header| header == **column);
    let needed = T::COLUMNS.iter().filter(|column| !T::LATER.contains(column));
    if let Some(column) = needed.into_iter().find(is_missing) {
        let found = headers.iter().collect::<Vec<_>>().join(",");
        return Err(TableError::Column { file: T::FILE, column, found });
    }
    let rows = reader.records().map(|record| {
        let record = record.map_err(unreadable)?;
        let line = record.position().map_or(0, csv::Position::line);
        record.deserialize(Some(&headers)).map_err(|error| TableError::Row {
            file: T::FILE,
            line,
            reason: reason(&error),
        })
    });
    rows.collect()
}

/// The part of a CSV error that says what is wrong, without the place, which the caller names.
fn reason(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => err.to_string(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
