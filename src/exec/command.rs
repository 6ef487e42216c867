//! What to run, completely.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

/// A program to run, with everything it will find around it. Nothing is inherited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The executable file. It is not looked up in `PATH`; a relative path starts at `cwd`.
    pub program: PathBuf,
    /// The arguments after the program's own name, which is `program`.
    pub args: Vec<OsString>,
    /// The whole environment, in this order.
    pub env: Vec<(String, String)>,
    /// The working directory.
    pub cwd: PathBuf,
    /// What the program reads on standard input.
    pub stdin: Stdin,
    /// When the program is killed with its process group. At least a microsecond; there is no
    /// "never", but [`Duration::MAX`] is long.
    pub time_limit: Duration,
    /// The most bytes the program may write to one file, its standard output being one. One that
    /// writes more gets `SIGXFSZ`, which ends it unless it handles that (a Go program exits with
    /// code 2 instead), and its output is then exactly this long.
    pub output_limit: u64,
}

/// What a program reads on standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: `/dev/null`.
    Null,
    /// This file, from its start. A relative path starts at gosurvey's own working directory.
    File(PathBuf),
}

impl Command {
    /// Writes the command as a line to paste into a shell (POSIX, but bash for names with control
    /// characters or broken UTF-8). The limits are not in it.
    pub fn shell_line(&self) -> String {
        let mut words = vec!["cd".to_owned(), quoted(self.cwd.as_os_str()), "&&".to_owned()];
        words.extend(["env".to_owned(), "-i".to_owned()]);
        words.extend(self.env.iter().map(|(name, value)| assignment(name, value)));
        words.push(quoted(self.program.as_os_str()));
        words.extend(self.args.iter().map(|argument| quoted(argument)));
        words.push(match &self.stdin {
            Stdin::Null => "</dev/null".to_owned(),
            Stdin::File(path) => format!("<{}", quoted(path.as_os_str())),
        });
        format!("({})", words.join(" "))
    }
}

fn assignment(name: &str, value: &str) -> String {
    if value.is_empty() {
        return format!("{}=", quoted(OsStr::new(name)));
    }
    format!("{}={}", quoted(OsStr::new(name)), quoted(OsStr::new(value)))
}

/// Quotes a word for the shell, if it needs that.
pub fn quoted(word: &OsStr) -> String {
    match word.to_str() {
        Some(text) if !text.is_empty() && text.chars().all(is_plain) => text.to_owned(),
        Some(text) if !text.chars().any(char::is_control) => {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
        _ => {
            format!("$'{}'", word.as_bytes().iter().map(|&byte| escaped(byte)).collect::<String>())
        }
    }
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || "_-./:@%+,".contains(character)
}

fn escaped(byte: u8) -> String {
    match byte {
        b'\'' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> Command {
        Command {
            program: "/bin/nbody".into(),
            args: vec!["50000000".into()],
            env: vec![("GOMAXPROCS".into(), "4".into()), ("HOME".into(), "/nowhere".into())],
            cwd: "/tmp".into(),
            stdin: Stdin::Null,
            time_limit: Duration::from_secs(1),
            output_limit: 1 << 20,
        }
    }

    #[test]
    fn a_plain_command_needs_no_quotes() {
        insta::assert_snapshot!(
            command().shell_line(),
            @"(cd /tmp && env -i GOMAXPROCS=4 HOME=/nowhere /bin/nbody 50000000 </dev/null)"
        );
    }

    #[test]
    fn what_a_shell_would_read_otherwise_is_quoted() {
        let mut command = command();
        command.args = ["", "it's", "a b", "$HOME", "=x", "~", "line\nfeed"].map(Into::into).into();
        command.args.push(OsStr::from_bytes(b"\xff'\\").to_owned());
        command.env = vec![("EMPTY".into(), String::new()), ("GODEBUG".into(), "a=1,b=2".into())];
        command.cwd = "/my results".into();
        command.stdin = Stdin::File("/in puts/fasta".into());
        insta::assert_snapshot!(
            command.shell_line(),
            @r"(cd '/my results' && env -i EMPTY= GODEBUG='a=1,b=2' /bin/nbody '' 'it'\''s' 'a b' '$HOME' '=x' '~' $'line\x0afeed' $'\xff\'\\' <'/in puts/fasta')"
        );
    }

    /// The real judge of quoting is a shell.
    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        let awkward = ["", "it's", "$(echo no)", "a\tb", "'\\''", "\"", "é", "\u{1}", "*", "x\\"];
        let line = awkward.map(|word| quoted(OsStr::new(word))).join(" ");
        let output = std::process::Command::new("bash")
            .args(["-c", &format!(r"printf '%s\0' {line}")])
            .output()
            .unwrap();
        let words: Vec<&str> = std::str::from_utf8(&output.stdout).unwrap().split('\0').collect();
        assert_eq!(words[..awkward.len()], awkward);
    }
}
