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

    /// Cuts the table into as few as are no wider than `width`, with columns spread evenly; a
    /// single column may be wider. The first column is repeated.
    pub fn split(&self, width: usize) -> Vec<Table> {
        let columns = self.header.len().saturating_sub(1);
        let fits = |per_table: &usize| self.parts(*per_table).iter().all(|t| t.width() <= width);
        let per_table = (1..=columns).map(|tables| columns.div_ceil(tables)).find(fits);
        match columns {
            0 => vec![self.clone()],
            _ => self.parts(per_table.unwrap_or(1)),
        }
    }

    /// Tables of the first column and so many others each.
    fn parts(&self, per_table: usize) -> Vec<Table> {
        let cut = |row: &Vec<String>| -> Vec<Vec<String>> {
            row[1..].chunks(per_table).map(|cells| [&row[..1], cells].concat()).collect()
        };
        let mut parts: Vec<Table> = cut(&self.header)
            .into_iter()
            .map(|header| Table { header, rows: Vec::new(), align_right: self.align_right })
            .collect();
        for row in &self.rows {
            for (part, cells) in parts.iter_mut().zip(cut(row)) {
                part.rows.push(cells);
            }
        }
        parts
    }

    /// The number of characters in each line of [`Table::markdown`].
    fn width(&self) -> usize {
        let cells = self.map(escaped).widths();
        cells.iter().map(|cell| cell + "|  ".len()).sum::<usize>() + "|".len()
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table() -> Table {
        let mut table = Table::of_numbers(["release", "n-body (s)", "fasta (s)"]);
        table.push(["go1.2", "2.11 ±0.1 %", "–"]);
        table.push(["a|b\nc", "≤ 1"]);
        table
    }

    #[test]
    fn columns_line_up_as_plain_text() {
        insta::assert_snapshot!(table().markdown(), @r"
        | release |  n-body (s) | fasta (s) |
        | ------- | ----------: | --------: |
        | go1.2   | 2.11 ±0.1 % |         – |
        | a\|b c  |         ≤ 1 |           |
        ");
        insta::assert_snapshot!(table().plain(), @r"
        release   n-body (s)  fasta (s)
        go1.2    2.11 ±0.1 %          –
        a|b c            ≤ 1
        ");
    }

    #[test]
    fn a_wide_table_becomes_several_of_like_width() {
        let mut table = Table::of_numbers(["r", "1", "2", "3", "4", "5"]);
        table.push(["x", "aaaa", "bbbb", "cccc", "dddd", "eeee"]);
        let columns = |width: usize| -> Vec<usize> {
            table.split(width).iter().map(|part| part.header.len() - 1).collect()
        };
        // "| x   |" is 7 wide, every further column 7 more.
        assert_eq!(columns(42), [5]);
        assert_eq!(columns(41), [3, 2]);
        assert_eq!(columns(28), [3, 2]);
        assert_eq!(columns(27), [2, 2, 1]);
        assert_eq!(columns(1), [1, 1, 1, 1, 1]);
        insta::assert_snapshot!(table.split(41)[1].markdown(), @"
        | r   |    4 |    5 |
        | --- | ---: | ---: |
        | x   | dddd | eeee |
        ");
    }

    #[test]
    fn a_table_without_numbers_stays_whole() {
        let table = Table::of_numbers(["release"]);
        assert_eq!(table.split(80), std::slice::from_ref(&table));
    }

    #[test]
    fn foreign_text_stays_what_it_is() {
        assert_eq!(code("a `b` c"), "``a `b` c``");
        assert_eq!(code("`a`\nb"), "`` `a` b ``");
        assert_eq!(code(""), "`  `");
        assert_eq!(prose("a *b* <c>\td"), r"a \*b\* \<c> d");
        assert_eq!(code_block("a\n```\nb"), "````\na\n```\nb\n````\n");
        assert_eq!(shortened("a  b\nc", 5), "a b c");
        assert_eq!(shortened("a b c d", 5), "a b…");
    }

    #[test]
    fn lines_break_between_words_and_not_before_what_begins_a_block() {
        assert_eq!(wrapped("aa bb cc", 5, ""), "aa bb\ncc\n");
        assert_eq!(wrapped("- aa bb cc", 7, "  "), "- aa bb\n  cc\n");
        assert_eq!(wrapped("aa bb - cc", 5, ""), "aa bb -\ncc\n");
        assert_eq!(wrapped("aa bb 1. cc", 5, ""), "aa bb 1.\ncc\n");
        assert_eq!(wrapped("aaaaaaaa b", 5, ""), "aaaaaaaa\nb\n");
    }

    proptest! {
        #[test]
        fn splitting_keeps_every_column_in_order(
            cells in proptest::collection::vec("[a-z]{0,30}", 1..20), width in 0..100_usize,
        ) {
            let mut table = Table::of_numbers(cells.clone());
            table.push(cells.clone());
            let parts = table.split(width);
            let headers: Vec<String> =
                parts.iter().flat_map(|part| part.header[1..].to_vec()).collect();
            prop_assert_eq!(&headers[..], &cells[1..]);
            for part in &parts {
                prop_assert!(part.markdown().lines().all(|line| line.len() == part.width()));
                prop_assert!(part.width() <= width || part.header.len() <= 2);
            }
        }

        #[test]
        fn a_code_span_is_closed_by_its_own_fence_only(text in "[`a \n]{0,12}") {
            let span = code(&text);
            let fence = span.len() - span.trim_start_matches('`').len();
            let inner = &span[fence..span.len() - fence];
            prop_assert!(inner.split(|c| c != '`').all(|run| run.len() != fence), "{}", span);
        }

        #[test]
        fn wrapping_keeps_the_words(text in "\\PC{0,200}", width in 1..100_usize) {
            let kept = wrapped(&text, width, "");
            prop_assert!(kept.split_whitespace().eq(one_line(&text).split_whitespace()));
        }
    }
}
