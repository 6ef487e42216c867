//! The list of all attacks with what is said to each: `messages.txt` beside this file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// With this variable set, the list is rewritten instead of checked.
const UPDATE: &str = "GOSURVEY_UPDATE_MESSAGES";

static FILE: Mutex<()> = Mutex::new(());

pub fn line(case: &str, exit: i32, message: &str) -> String {
    format!("{case} | {exit} | {message}")
}

/// Holds a group's lines against those in the list.
#[track_caller]
pub fn check(group: &str, lines: &[String]) {
    let _lock = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut groups = read();
    let found = lines.join("\n") + "\n";
    if is_updating() {
        groups.insert(group.to_owned(), found);
        write(&groups);
        return;
    }
    let expected = groups.get(group).cloned().unwrap_or_default();
    if expected == found {
        return;
    }
    let not_in = |a: &str, b: &str| -> String {
        a.lines()
            .filter(|line| !b.lines().any(|other| other == *line))
            .collect::<Vec<_>>()
            .join("\n")
    };
    panic!(
        "{group}: other messages than in {}; if they are better, run this test with {UPDATE}=1\n\
         expected:\n{}\nfound:\n{}",
        path().display(),
        not_in(&expected, &found),
        not_in(&found, &expected)
    );
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks/messages.txt")
}

fn read() -> BTreeMap<String, String> {
    let text = fs_err::read_to_string(path()).unwrap_or_default();
    let groups = text.split("\n== ").skip(1);
    groups
        .map(|group| {
            let (name, lines) = group.split_once('\n').unwrap_or((group, ""));
            (name.to_owned(), format!("{}\n", lines.trim_end()))
        })
        .collect()
}

fn write(groups: &BTreeMap<String, String>) {
    let mut text = HEAD.to_owned();
    for (name, lines) in groups {
        text += &format!("\n== {name}\n{lines}");
    }
    fs_err::write(path(), text).unwrap();
}

const HEAD: &str = "\
# What `gosurvey fetch` says when somebody lies to it, one line a case: what is done to an honest
# proxy, checksum database or store | exit code | message. Nothing is installed in any of them but
# those with exit code 0. Checked by the test `attacks`, which also says how to rewrite this list.
#
# Exit codes: 0 done, 1 refused, 2 misused, 3 the environment failed, 4 not published.
";

#[expect(clippy::disallowed_methods, reason = "tests have no cmd::Env to ask")]
fn is_updating() -> bool {
    std::env::var_os(UPDATE).is_some_and(|value| value == "1")
}
