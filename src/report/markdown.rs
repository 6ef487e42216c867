//! Markdown that also reads well as plain text: padded tables, fenced and quoted foreign text.

/// A table whose columns are padded to their widest cell.
///
/// The first column is flush left and every other one flush right, as the first names and the
/// others count. Widths are numbers of characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    align_right: bool,
}

impl Table {
    /// A table of numbers: every column but the first is flush right.
    pub fn of_numbers(header: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Table { header: texts(header), rows: Vec::new(), align_right: true }
    }

    /// A table of texts: every column is flush left.
    pub fn of_texts(header: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Table { header: texts(header), rows: Vec::new(), align_right: false }
    }

    /// Adds a row; what it lacks in cells is left blank and what it has too many is dropped.
    pub fn push(&mut self, row: impl IntoIterator<Item = impl Into<String>>) {
        let mut row = texts(row);
        row.resize(self.header.len(), String::new());
        self.rows.push(row);
    }

    /// Writes the table with its borders, ending in a line feed.
    pub fn markdown(&self) -> String {
        let escaped = self.map(escaped);
        let widths = escaped.widths();
        let ruler = widths.iter().enumerate().map(|(column, &width)| {
            let dashes = "-".repeat(width.max(MIN_RULER) - 1);
            if escaped.is_right(column) { format!("{dashes}:") } else { format!("{dashes}-") }
        });
        let mut lines = vec![escaped.line(&escaped.header, &widths)];
        lines.push(ruler.collect());
        lines.extend(escaped.rows.iter().map(|row| escaped.line(row, &widths)));
        lines.iter().map(|cells| format!("| {} |\n", cells.join(" | "))).collect()
    }

    /// Writes the table without borders, for a terminal.
    pub fn plain(&self) -> String {
        let clean = self.map(one_line);
        let widths = clean.widths();
        let lines = std::iter::once(&clean.header).chain(&clean.rows);
        lines.map(|row| format!("{}\n", clean.line(row, &widths).join("  ").trim_end())).collect()
    }

    /// Cuts the table into several of about as many columns, each no wider than `width` where a
    /// single column allows it. The first column is repeated.
    pub fn split(&self, width: usize) -> Vec<Table> {
        let widths = self.map(escaped).widths();
        let columns = widths.len().saturating_sub(1);
        let fits = |first: usize, count: usize| {
            let inner: usize = widths[first..first + count].iter().map(|w| w + " | ".len()).sum();
            "|  |".len() + widths[0] + inner <= width
        };
        let widest = (1..=columns).find(|&per_table| {
            let per_table = columns.div_ceil(columns.div_ceil(per_table));
            !(1..=columns).step_by(per_table).all(|at| fits(at, per_table.min(columns + 1 - at)))
        });
        let most = widest.map_or(columns, |too_wide| too_wide - 1).max(1);
        let per_table = columns.div_ceil(columns.div_ceil(most).max(1)).max(1);
        let firsts = (1..=columns).step_by(per_table);
        firsts.map(|at| self.only(at, per_table.min(columns + 1 - at))).collect()
    }

    /// The table with its first column and `count` columns from `first` on.
    fn only(&self, first: usize, count: usize) -> Table {
        let pick = |row: &Vec<String>| [&row[..1], &row[first..first + count]].concat();
        Table {
            header: pick(&self.header),
            rows: self.rows.iter().map(pick).collect(),
            align_right: self.align_right,
        }
    }

    fn map(&self, change: impl Fn(&str) -> String) -> Table {
        let row = |row: &Vec<String>| row.iter().map(|cell| change(cell)).collect();
        Table {
            header: row(&self.header),
            rows: self.rows.iter().map(row).collect(),
            align_right: self.align_right,
        }
    }

    fn widths(&self) -> Vec<usize> {
        let width = |column: usize| {
            let cells = std::iter::once(&self.header).chain(&self.rows);
            cells.map(|row| row[column].chars().count()).max().unwrap_or(0).max(MIN_RULER)
        };
        (0..self.header.len()).map(width).collect()
    }

    fn is_right(&self, column: usize) -> bool {
        self.align_right && column > 0
    }

    fn line(&self, row: &[String], widths: &[usize]) -> Vec<String> {
        let pad = |(column, (cell, &width)): (usize, (&String, &usize))| {
            if self.is_right(column) {
                format!("{cell:>width$}")
            } else {
                format!("{cell:<width$}")
            }
        };
        row.iter().zip(widths).enumerate().map(pad).collect()
    }
}

/// The shortest ruler under a heading that every reader of Markdown takes for one.
const MIN_RULER: usize = 3;

/// Puts text into one line: line feeds, tabs and other control characters become blanks, and runs
/// of blanks one.
pub fn one_line(text: &str) -> String {
    let blanked = |c: char| if c.is_control() { ' ' } else { c };
    let mut line = String::with_capacity(text.len());
    for c in text.chars().map(blanked) {
        if c != ' ' || !line.ends_with(' ') {
            line.push(c);
        }
    }
    line.trim().to_owned()
}

/// Puts text of foreign origin into one line of at most so many characters.
pub fn shortened(text: &str, characters: usize) -> String {
    let line = one_line(text);
    if line.chars().count() <= characters {
        return line;
    }
    let kept: String = line.chars().take(characters.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Writes text of foreign origin as ordinary words within a line.
pub fn prose(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        if "\\`*<[".contains(c) {
            line.push('\\');
        }
        line.push(c);
    }
    line
}

/// Writes text as code within a line, whatever it holds.
pub fn code(text: &str) -> String {
    let line = one_line(text);
    let ticks = "`".repeat(longest_run_of_backticks(&line) + 1);
    // A blank keeps a backtick at either end apart from the fence; Markdown takes it away again.
    let blank =
        if line.is_empty() || line.starts_with('`') || line.ends_with('`') { " " } else { "" };
    format!("{ticks}{blank}{line}{blank}{ticks}")
}

/// Writes text as a block of code, whatever it holds, ending in a line feed.
pub fn code_block(text: &str) -> String {
    let fence = "`".repeat(longest_run_of_backticks(text).max(2) + 1);
    format!("{fence}\n{}\n{fence}\n", text.trim_end())
}

fn longest_run_of_backticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Breaks a paragraph into lines of at most `width` characters, ending in a line feed; all but the
/// first start with `indent`. A longer word stands alone on its line.
pub fn wrapped(text: &str, width: usize, indent: &str) -> String {
    let mut lines = String::new();
    let mut used = 0;
    for word in one_line(text).split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width && !begins_block(word) {
            lines.push('\n');
            lines.push_str(indent);
            used = indent.chars().count();
        } else if used > 0 {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += length;
    }
    lines.push('\n');
    lines
}

/// Whether a line that begins with this word would be taken for a list, a heading, a table or such.
fn begins_block(word: &str) -> bool {
    let number = word.trim_start_matches(|c: char| c.is_ascii_digit());
    word.starts_with(['-', '+', '*', '#', '>', '=', '~', '|', '<'])
        || word.starts_with("```")
        || (number.len() < word.len() && matches!(number, "." | ")"))
}

/// Writes a cell so that nothing in it ends the cell.
fn escaped(cell: &str) -> String {
    one_line(cell).replace('|', "\\|")
}

fn texts(cells: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
    cells.into_iter().map(Into::into).collect()
}
