//! Which files of an archive the rows mean.

use super::rows::{Row, Rows};

/// A row and its file in the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen<'a> {
    pub row: &'a Row,
    pub file: String,
    /// Whether it is measured beside the rows: it was asked for as a stand-in although the row it
    /// stands in for is there.
    pub extra: bool,
}

/// A row that is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub program: String,
    pub reason: Reason,
}

/// Why a row is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The list says that it cannot be.
    #[error("{0}")]
    Known(String),
    /// A row that stands in for it is taken.
    #[error("not in this archive; {0} stands in for it")]
    StoodInFor(String),
    #[error("not in this archive (expected {expected}; beside it are {}){}", listed(.nearby), offered(.stand_ins))]
    Missing {
        expected: String,
        /// Files of the folder where it was expected.
        nearby: Vec<String>,
        /// Rows that can be asked for instead.
        stand_ins: Vec<String>,
    },
    #[error("found more than once: {}; give the folder with the right one instead of the archive", .0.join(", "))]
    Ambiguous(Vec<String>),
    /// Something is wrong with the file itself.
    #[error("{0}")]
    Unfit(String),
}

impl Reason {
    /// Whether the user has got less than the list promises.
    pub fn is_shortfall(&self) -> bool {
        !matches!(self, Reason::Known(_) | Reason::StoodInFor(_))
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "no such files".to_owned() } else { names.join(", ") }
}

fn offered(stand_ins: &[String]) -> String {
    if stand_ins.is_empty() {
        return String::new();
    }
    let options: Vec<String> = stand_ins.iter().map(|row| format!("--with {row}")).collect();
    format!("; to take another in its place, add {}", options.join(" or "))
}

/// Finds each row's file among the `names` of an archive.
///
/// Rows that stand in for others are taken only if they are in `with`.
pub fn choose<'a>(
    rows: &'a Rows,
    with: &[String],
    names: &[&str],
) -> (Vec<Chosen<'a>>, Vec<LeftOut>) {
    let mut chosen = Vec::new();
    let mut left_out = Vec::new();
    for row in &rows.rows {
        if row.stands_in_for.is_some() && !with.contains(&row.program) {
            continue;
        }
        let found = match &row.left_out {
            Some(why) => Err(Reason::Known(why.clone())),
            None => find(row, names),
        };
        match found {
            Ok(file) => chosen.push(Chosen { row, file: file.to_owned(), extra: false }),
            Err(reason) => left_out.push(LeftOut { program: row.program.clone(), reason }),
        }
    }
    let is_chosen = |name: &str| chosen.iter().any(|chosen| chosen.row.program == name);
    let extras: Vec<bool> = chosen
        .iter()
        .map(|chosen| chosen.row.stands_in_for.as_deref().is_some_and(is_chosen))
        .collect();
    for left_out in &mut left_out {
        settle(left_out, rows, &chosen, names);
    }
    for (chosen, extra) in chosen.iter_mut().zip(extras) {
        chosen.extra = extra;
    }
    (chosen, left_out)
}

/// Tells of a missing row what stands in for it, or could.
fn settle(left_out: &mut LeftOut, rows: &Rows, chosen: &[Chosen<'_>], names: &[&str]) {
    let Reason::Missing { stand_ins, .. } = &mut left_out.reason else { return };
    let stands_in = |row: &Row| row.stands_in_for.as_deref() == Some(&left_out.program);
    if let Some(stand_in) = chosen.iter().find(|chosen| stands_in(chosen.row)) {
        left_out.reason = Reason::StoodInFor(stand_in.row.program.clone());
        return;
    }
    let there = rows.rows.iter().filter(|row| stands_in(row) && find(row, names).is_ok());
    *stand_ins = there.map(|row| row.program.clone()).collect();
}

fn find<'a>(row: &Row, names: &[&'a str]) -> Result<&'a str, Reason> {
    let is_it = |name: &&str| row.files.iter().any(|file| ends_with_path(name, file));
    let found: Vec<&str> = names.iter().copied().filter(is_it).collect();
    match found[..] {
        [file] => Ok(file),
        [] => Err(Reason::Missing {
            expected: row.files.join(" or "),
            nearby: nearby(row, names),
            stand_ins: Vec::new(),
        }),
        _ => Err(Reason::Ambiguous(found.into_iter().map(str::to_owned).collect())),
    }
}

/// How many files an error names.
const NAMED_FILES: usize = 12;

/// Go files in the folders where a row's file was expected.
fn nearby(row: &Row, names: &[&str]) -> Vec<String> {
    let folders: Vec<&str> =
        row.files.iter().filter_map(|file| Some(file.rsplit_once('/')?.0)).collect();
    let mut files: Vec<String> = names
        .iter()
        .filter_map(|name| {
            let (folder, file) = name.rsplit_once('/')?;
            let is_beside = folders.iter().any(|expected| ends_with_path(folder, expected));
            (is_beside && file.ends_with(".go")).then(|| file.to_owned())
        })
        .collect();
    files.sort();
    files.truncate(NAMED_FILES);
    files
}

/// Whether the last elements of `path` are those of `end`.
fn ends_with_path(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// The licences that files are under, of all `names`: those in their folders and the folders above.
pub fn licences<'a>(files: &[&str], names: &[&'a str]) -> Vec<&'a str> {
    let covers = |name: &&str| {
        let (folder, file) =
            name.rsplit_once('/').map_or(("", *name), |(folder, file)| (folder, file));
        is_licence(file)
            && files.iter().any(|other| {
                folder.is_empty()
                    || other.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
            })
    };
    names.iter().copied().filter(covers).collect()
}

fn is_licence(file: &str) -> bool {
    let file = file.to_ascii_lowercase();
    let stem = file.strip_suffix(".txt").or(file.strip_suffix(".md")).unwrap_or(&file);
    ["license", "licence", "copying"].contains(&stem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows() -> Rows {
        let row = |program: &str, number: u32, more: &str| {
            format!(
                "[[row]]\nprogram = \"{program}\"\nabout = \"\"\nlike = \"pidigits\"\n{more}\n\
                 files = [\"pidigits/pidigits.go-{number}.go\", \
                 \"problem/pidigits/solution/go/{number}.go\"]\n"
            )
        };
        let text = "about = \"\"\n".to_owned()
            + &row("pidigits-6", 6, "")
            + &row("pidigits-7", 7, "stands_in_for = \"pidigits-6\"")
            + &row("pidigits-5", 5, "left_out = \"it needs more\"");
        Rows::parse(&text).unwrap()
    }

    fn told(with: &[&str], names: &[&str]) -> String {
        let rows = rows();
        let with: Vec<String> = with.iter().map(|&row| row.to_owned()).collect();
        let (chosen, left_out) = choose(&rows, &with, names);
        let chosen = chosen.iter().map(|chosen| {
            format!(
                "{} {}{}\n",
                chosen.row.program,
                chosen.file,
                if chosen.extra { " extra" } else { "" }
            )
        });
        let left_out = left_out.iter().map(|row| format!("{}: {}\n", row.program, row.reason));
        chosen.chain(left_out).collect()
    }

    #[test]
    fn rows_are_found_in_either_layout_and_below_any_folder() {
        assert!(told(&[], &["pidigits/pidigits.go-6.go"]).starts_with("pidigits-6 pidigits/"));
        assert!(told(&[], &["top/x/pidigits/pidigits.go-6.go"]).starts_with("pidigits-6 top/x/"));
        assert!(told(&[], &["m/problem/pidigits/solution/go/6.go"]).starts_with("pidigits-6 m/"));
        assert!(!told(&[], &["unpidigits/pidigits.go-6.go"]).starts_with("pidigits-6 "));
    }

    #[test]
    fn a_missing_row_comes_with_what_is_there_instead() {
        let names = ["pidigits/pidigits.go-7.go", "pidigits/pidigits.go", "pidigits/LICENSE"];
        insta::assert_snapshot!(told(&[], &names), @"
        pidigits-6: not in this archive (expected pidigits/pidigits.go-6.go or problem/pidigits/solution/go/6.go; beside it are pidigits.go, pidigits.go-7.go); to take another in its place, add --with pidigits-7
        pidigits-5: it needs more
        ");
        insta::assert_snapshot!(told(&["pidigits-7"], &names), @"
        pidigits-7 pidigits/pidigits.go-7.go
        pidigits-6: not in this archive; pidigits-7 stands in for it
        pidigits-5: it needs more
        ");
    }

    #[test]
    fn a_stand_in_beside_its_original_is_an_extra() {
        let names = ["pidigits/pidigits.go-7.go", "pidigits/pidigits.go-6.go"];
        insta::assert_snapshot!(told(&["pidigits-7"], &names), @"
        pidigits-6 pidigits/pidigits.go-6.go
        pidigits-7 pidigits/pidigits.go-7.go extra
        pidigits-5: it needs more
        ");
    }

    #[test]
    fn a_row_found_twice_is_not_guessed() {
        let names = ["a/pidigits/pidigits.go-6.go", "b/pidigits/pidigits.go-6.go"];
        assert!(told(&[], &names).contains("found more than once: a/pidigits"));
    }

    #[test]
    fn licences_are_those_at_or_above_the_files() {
        let names = [
            "LICENSE",
            "nbody/LICENSE",
            "nbody/nbody.go",
            "nb/COPYING",
            "nbody/x/LICENCE.txt",
            "LICENSE-other",
        ];
        assert_eq!(licences(&["nbody/nbody.go"], &names), ["LICENSE", "nbody/LICENSE"]);
    }

    proptest! {
        #[test]
        fn every_row_is_chosen_or_left_out(
            names in prop::collection::vec("(a/)?(pidigits|p)/pidigits\\.go(-[5-7]\\.go)?", 0..5),
            with in any::<bool>(),
        ) {
            let rows = rows();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let with = if with { vec!["pidigits-7".to_owned()] } else { Vec::new() };
            let (chosen, left_out) = choose(&rows, &with, &names);
            prop_assert_eq!(chosen.len() + left_out.len(), 2 + with.len());
            for chosen in chosen {
                prop_assert!(names.contains(&&*chosen.file));
            }
        }
    }
}
