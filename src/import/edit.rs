//! Edits: a token on a line, and what stands there instead.

use std::fmt;

/// A change within one line of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// From 0.
    place: usize,
    pub find: String,
    pub replace: String,
    /// What older releases lack.
    pub why: String,
}

/// An edit does not fit the text.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("line {line}: expected `{find}` once, found it {found} times{}", .elsewhere.iter().map(|line| format!("; it is on line {line}")).collect::<String>())]
    NotOnce {
        line: usize,
        find: String,
        found: usize,
        /// The first lines, from 1, that have it once.
        elsewhere: Vec<usize>,
    },
    #[error("line {line}: the text has only {lines} lines")]
    TooShort { line: usize, lines: usize },
}

impl Edit {
    /// `line` counts from 1. An edit adds and removes no lines, so that the lines of the edits after
    /// it are still those of the original.
    ///
    /// # Errors
    ///
    /// What is wrong, if there is no such line, nothing to find, or a control character in the text.
    pub fn new(line: usize, find: String, replace: String, why: String) -> Result<Self, String> {
        let Some(place) = line.checked_sub(1) else {
            return Err("line is 0; lines count from 1".to_owned());
        };
        if find.is_empty() || find == replace {
            return Err(format!("{find:?} becomes {replace:?}: nothing to find, or no change"));
        }
        if find.chars().chain(replace.chars()).any(char::is_control) {
            return Err(format!("{find:?} becomes {replace:?}: only text within a line"));
        }
        Ok(Edit { place, find, replace, why })
    }

    /// The line it changes, from 1.
    pub fn line(&self) -> usize {
        self.place + 1
    }
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: `{}` ", self.line(), self.find)?;
        match self.replace.as_str() {
            "" => write!(f, "is removed: {}", self.why),
            replace => write!(f, "becomes `{replace}`: {}", self.why),
        }
    }
}

/// Applies all edits, in their order, to a program's text.
///
/// What an edit finds must be on its line exactly once, as a whole: `sort.Slice` is not found in
/// `sort.SliceStable`. Everything else, line ends included, stays byte for byte.
///
/// # Errors
///
/// [`EditError`] for the first edit that does not fit, with its place in `edits`.
pub fn apply(text: &str, edits: &[Edit]) -> Result<String, (usize, EditError)> {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    for (index, edit) in edits.iter().enumerate() {
        apply_one(&mut lines, edit).map_err(|error| (index, error))?;
    }
    Ok(lines.concat())
}

fn apply_one(lines: &mut [String], edit: &Edit) -> Result<(), EditError> {
    let Some(line) = lines.get(edit.place) else {
        return Err(EditError::TooShort { line: edit.line(), lines: lines.len() });
    };
    let found = occurrences(line, &edit.find);
    let [at] = found[..] else {
        return Err(EditError::NotOnce {
            line: edit.line(),
            find: edit.find.clone(),
            found: found.len(),
            elsewhere: lines_with(lines, &edit.find),
        });
    };
    lines[edit.place].replace_range(at..at + edit.find.len(), &edit.replace);
    Ok(())
}

/// How many other lines an error names.
const NAMED_LINES: usize = 3;

fn lines_with(lines: &[String], find: &str) -> Vec<usize> {
    let numbered = lines.iter().enumerate();
    let with = numbered.filter(|(_, line)| occurrences(line, find).len() == 1);
    with.map(|(place, _)| place + 1).take(NAMED_LINES).collect()
}

/// Where `find` begins in `line`, not counting places where it is part of a longer word.
fn occurrences(line: &str, find: &str) -> Vec<usize> {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let is_part = |at: &usize| {
        let (before, after) = (&line[..*at], &line[at + find.len()..]);
        (is_word(before.chars().next_back()) && is_word(find.chars().next()))
            || (is_word(find.chars().next_back()) && is_word(after.chars().next()))
    };
    line.match_indices(find).map(|(at, _)| at).filter(|at| !is_part(at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn edit(line: usize, find: &str, replace: &str) -> Edit {
        Edit::new(line, find.to_owned(), replace.to_owned(), "for tests".to_owned()).unwrap()
    }

    fn refused(text: &str, edit: Edit) -> String {
        apply(text, &[edit]).unwrap_err().1.to_string()
    }

    #[test]
    fn a_token_is_replaced_on_its_line_and_nowhere_else() {
        let text = "a(x)\r\nfor range x {\n  a(x)\n}";
        let edits = [edit(3, "a", "b"), edit(2, "for range", "for _ = range"), edit(2, "x", "y")];
        assert_eq!(apply(text, &edits).unwrap(), "a(x)\r\nfor _ = range y {\n  b(x)\n}");
    }

    #[test]
    fn a_part_of_a_word_is_no_token() {
        assert_eq!(
            apply("sort.SliceStable sort.Slice(", &[edit(1, "sort.Slice", "s")]).unwrap(),
            "sort.SliceStable s("
        );
        assert!(refused("résort", edit(1, "sort", "x")).contains("found it 0 times"));
        assert_eq!(apply("<<(a", &[edit(1, "(", "x(")]).unwrap(), "<<x(a");
    }

    #[test]
    fn an_edit_that_does_not_fit_says_where_its_token_is() {
        insta::assert_snapshot!(refused("a\nb\nc b\n", edit(1, "b", "d")), @r#"line 1: expected `b` once, found it 0 times; it is on line 2; it is on line 3"#);
        insta::assert_snapshot!(refused("b b\n", edit(1, "b", "d")), @r#"line 1: expected `b` once, found it 2 times"#);
        insta::assert_snapshot!(refused("b\n", edit(7, "b", "d")), @"line 7: the text has only 1 lines");
    }

    #[test]
    fn an_edit_is_told_in_a_line() {
        assert_eq!(edit(3, "a", "b").to_string(), "line 3: `a` becomes `b`: for tests");
        assert_eq!(edit(3, "a", "").to_string(), "line 3: `a` is removed: for tests");
    }

    #[test]
    fn the_place_of_the_edit_that_does_not_fit_is_told() {
        let edits = [edit(1, "a", "b"), edit(1, "a", "c")];
        assert_eq!(apply("a", &edits).unwrap_err().0, 1);
    }

    proptest! {
        #[test]
        fn only_the_line_of_the_edit_changes(
            lines in prop::collection::vec("[ab_ ]{0,6}", 1..6),
            line in 1_usize..7,
            find in "[ab_]{1,2}",
        ) {
            let text = lines.join("\n");
            let Ok(edited) = apply(&text, &[edit(line, &find, "ccc")]) else { return Ok(()) };
            let edited: Vec<&str> = edited.split('\n').collect();
            prop_assert_eq!(edited.len(), lines.len());
            for (place, (old, new)) in lines.iter().zip(edited).enumerate() {
                let expected = if place + 1 == line { new.replacen("ccc", &find, 1) } else { new.to_owned() };
                prop_assert_eq!(old, &expected);
            }
        }

        #[test]
        fn any_text_and_edit_are_taken_or_refused(text in "\\PC{0,40}(\n\\PC{0,40}){0,3}", line in 1_usize..4, find in "\\PC{1,3}") {
            let _ = apply(&text, &[edit(line, &find, "a longer replacement")]);
        }
    }
}
