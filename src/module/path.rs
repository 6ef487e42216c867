//! Names: what a module zip may hold, and how module paths and versions are written into URLs.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::rc::Rc;

/// A zip entry that must not be unpacked, and the rule it breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("zip entry {entry:?}: {rule}")]
pub struct EntryError {
    pub entry: String,
    pub rule: EntryRule,
}

/// A rule for the names of a module zip's entries.
///
/// The first four name a whole entry, the rest one element of its path or a pair of entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryRule {
    /// Every name starts with the module's own prefix.
    Prefix { prefix: String },
    /// Every entry is a file: no name ends in a slash.
    Folder,
    /// No empty element, so no `//` and no absolute name.
    EmptyElement,
    /// A toolchain's zip holds no `go.mod`, in whatever case.
    GoMod,
    /// No element consists of dots only, such as `..`.
    OnlyDots,
    /// No element ends in a dot, which Windows drops.
    TrailingDot,
    /// Elements are made of letters, digits, space and ``!#$%&()+,-.=@[]^_{}~``.
    Character { character: char },
    /// No element is a device of Windows, with or without an extension.
    Device { element: String },
    /// No name appears twice.
    Duplicate,
    /// No two names, nor the folders they are in, differ only in the case of letters.
    Case { other: String },
    /// No name is a file in one entry and a folder in another.
    FileAndFolder { other: String },
}

impl fmt::Display for EntryRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EntryRule::Prefix { prefix } => write!(f, "the name does not start with {prefix:?}"),
            EntryRule::Folder => write!(f, "a module zip holds files only, this names a folder"),
            EntryRule::EmptyElement => write!(f, "the path has an empty element"),
            EntryRule::GoMod => write!(f, "a toolchain's zip holds no go.mod"),
            EntryRule::OnlyDots => write!(f, "a path element consists of dots"),
            EntryRule::TrailingDot => write!(f, "a path element ends in a dot"),
            EntryRule::Character { character } => {
                write!(f, "the character {character:?} is not allowed")
            }
            EntryRule::Device { element } => {
                write!(f, "the path element {element:?} names a device on Windows")
            }
            EntryRule::Duplicate => write!(f, "there are two entries of this name"),
            EntryRule::Case { other } => {
                write!(f, "the name differs from {other:?} only in the case of letters")
            }
            EntryRule::FileAndFolder { other } => {
                write!(f, "the name is a file here and a folder in {other:?}, or the reverse")
            }
        }
    }
}

/// Checks the names of all entries of a module zip, before anything is written.
///
/// A list that passes can be unpacked into one fresh folder on any file system: every name stays
/// inside the folder and no entry touches another's file. Sizes, types and contents are not
/// looked at.
///
/// # Errors
///
/// [`EntryError`] with the first entry that breaks a rule, in the order given.
///
/// Source: the module zip rules of <https://go.dev/ref/mod#zip-path-size-constraints>, with the
/// stricter rules that folders and `go.mod` are refused, which no published toolchain needs.
pub fn check_entries<'a>(
    prefix: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<(), EntryError> {
    let mut taken = EntryNames::new(prefix);
    names.into_iter().try_for_each(|name| taken.add(name))
}

/// The names of a module zip's entries as they come, one after another, where not all of them are
/// known beforehand; see [`check_entries`].
#[derive(Debug)]
pub struct EntryNames {
    prefix: String,
    claims: Claims,
}

impl EntryNames {
    /// Begins with no entry; every name must begin with `prefix`.
    pub fn new(prefix: &str) -> Self {
        EntryNames { prefix: prefix.to_owned(), claims: Claims::default() }
    }

    /// Checks the name of one more entry, by itself and against those before it.
    ///
    /// # Errors
    ///
    /// [`EntryError`] with the first rule that it breaks.
    pub fn add(&mut self, name: &str) -> Result<(), EntryError> {
        check_entry(&self.prefix, name)
            .and_then(|()| self.claims.add(name, false))
            .map_err(|rule| EntryError { entry: name.to_owned(), rule })
    }

    /// Checks the name of a folder, without a slash at its end, like that of a file in it: some
    /// archives list folders too, though a module zip may not.
    ///
    /// # Errors
    ///
    /// [`EntryError`] with the first rule that it breaks.
    pub fn add_folder(&mut self, name: &str) -> Result<(), EntryError> {
        check_entry(&self.prefix, name)
            .and_then(|()| self.claims.add(name, true))
            .map_err(|rule| EntryError { entry: name.to_owned(), rule })
    }
}

fn check_entry(prefix: &str, name: &str) -> Result<(), EntryRule> {
    let Some(path) = name.strip_prefix(prefix) else {
        return Err(EntryRule::Prefix { prefix: prefix.to_owned() });
    };
    if name.ends_with('/') {
        return Err(EntryRule::Folder);
    }
    for element in path.split('/') {
        check_element(element)?;
    }
    let file = path.rsplit('/').next().unwrap_or(path);
    if file.eq_ignore_ascii_case("go.mod") {
        return Err(EntryRule::GoMod);
    }
    Ok(())
}

fn check_element(element: &str) -> Result<(), EntryRule> {
    if element.is_empty() {
        return Err(EntryRule::EmptyElement);
    }
    if element.bytes().all(|byte| byte == b'.') {
        return Err(EntryRule::OnlyDots);
    }
    if element.ends_with('.') {
        return Err(EntryRule::TrailingDot);
    }
    if let Some(character) = element.chars().find(|&character| !is_allowed(character)) {
        return Err(EntryRule::Character { character });
    }
    if is_windows_device(element) {
        return Err(EntryRule::Device { element: element.to_owned() });
    }
    Ok(())
}

/// Whether a file name may hold `character`.
///
/// Beyond ASCII the rule says "Unicode letter". `char::is_alphabetic` also takes combining vowel
/// signs and letter-like numbers; none of them means anything to a file system.
fn is_allowed(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphanumeric() || "!#$%&()+,-.=@[]^_{}~ ".contains(character);
    }
    character.is_alphabetic()
}

fn is_windows_device(element: &str) -> bool {
    let stem = element.split('.').next().unwrap_or(element).to_ascii_uppercase();
    match stem.as_bytes() {
        b"CON" | b"PRN" | b"AUX" | b"NUL" => true,
        [b'C', b'O', b'M', digit] | [b'L', b'P', b'T', digit] => matches!(digit, b'1'..=b'9'),
        _ => false,
    }
}

/// The names taken so far, files and the folders above them, by their case-folded form.
#[derive(Debug, Default)]
struct Claims {
    by_fold: HashMap<String, Claim>,
}

#[derive(Debug)]
struct Claim {
    /// The entry that made the claim.
    entry: Rc<str>,
    /// How much of the entry's name is claimed: all of it, or a folder that it is in.
    length: usize,
    is_folder: bool,
}

impl Claims {
    /// Claims an entry and the folders above it, deepest first: one that was claimed before has had
    /// its own folders claimed with it.
    fn add(&mut self, entry: &str, is_folder: bool) -> Result<(), EntryRule> {
        let entry: Rc<str> = entry.into();
        self.claim(&entry, entry.len(), is_folder)?;
        for (end, _) in entry.rmatch_indices('/') {
            let is_new = self.claim(&entry, end, true)?;
            if !is_new {
                break;
            }
        }
        Ok(())
    }

    /// Returns whether the claim is new; another entry may have claimed the same folder before.
    fn claim(
        &mut self,
        entry: &Rc<str>,
        length: usize,
        is_folder: bool,
    ) -> Result<bool, EntryRule> {
        let name = &entry[..length];
        let earlier = match self.by_fold.entry(fold(name)) {
            Entry::Vacant(place) => {
                place.insert(Claim { entry: Rc::clone(entry), length, is_folder });
                return Ok(true);
            }
            Entry::Occupied(place) => place.into_mut(),
        };
        let other = || earlier.entry.to_string();
        if earlier.entry[..earlier.length] != *name {
            return Err(EntryRule::Case { other: other() });
        }
        if earlier.is_folder != is_folder {
            return Err(EntryRule::FileAndFolder { other: other() });
        }
        if !is_folder {
            return Err(EntryRule::Duplicate);
        }
        Ok(false)
    }
}

/// Maps names that differ only in case to one text.
///
/// Lower, upper, lower again, because no single mapping brings all variants of a letter together
/// (the Kelvin sign has no upper case but `k`'s lower case, the long s the reverse). It joins at
/// least what Unicode's simple case folding joins.
fn fold(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    name.chars()
        .flat_map(char::to_lowercase)
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect()
}

/// A module path or version that cannot be written into a URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a module {part}: {problem}")]
pub struct EscapeError {
    pub text: String,
    /// What the text should have been: `path` or `version`.
    pub part: &'static str,
    pub problem: String,
}

/// Writes a module path as proxies and checksum databases are asked for it: upper-case letters
/// become `!` and the lower-case letter, so that the names are safe on every file system.
///
/// # Errors
///
/// [`EscapeError`] if `path` is not a module path: elements of ASCII letters, digits and `-._~`
/// between single slashes, none of which starts or ends with a dot or names a Windows device.
///
/// Source: <https://go.dev/ref/mod#goproxy-protocol>.
pub fn escape_path(path: &str) -> Result<String, EscapeError> {
    let refused = |problem| EscapeError { text: path.to_owned(), part: "path", problem };
    for element in path.split('/') {
        check_element(element).map_err(|rule| refused(rule.to_string()))?;
        if element.starts_with('.') {
            return Err(refused("a path element starts with a dot".to_owned()));
        }
        if let Some(other) = other_than_plain(element, "-._~") {
            return Err(refused(EntryRule::Character { character: other }.to_string()));
        }
    }
    Ok(escape_capitals(path))
}

/// Writes a module version as proxies and checksum databases are asked for it.
///
/// # Errors
///
/// [`EscapeError`] if `version` is not one file name of ASCII letters, digits and `-._~+`.
///
/// Source: <https://go.dev/ref/mod#goproxy-protocol>.
pub fn escape_version(version: &str) -> Result<String, EscapeError> {
    let refused = |problem| EscapeError { text: version.to_owned(), part: "version", problem };
    check_element(version).map_err(|rule| refused(rule.to_string()))?;
    if let Some(other) = other_than_plain(version, "-._~+") {
        return Err(refused(EntryRule::Character { character: other }.to_string()));
    }
    Ok(escape_capitals(version))
}

fn other_than_plain(element: &str, punctuation: &str) -> Option<char> {
    element
        .chars()
        .find(|&character| !character.is_ascii_alphanumeric() && !punctuation.contains(character))
}

fn escape_capitals(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii_uppercase() {
            escaped.push('!');
        }
        escaped.push(character.to_ascii_lowercase());
    }
    escaped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PREFIX: &str = "m@v1/";

    fn rule_of(names: &[&str]) -> Option<EntryRule> {
        check_entries(PREFIX, names.iter().copied()).err().map(|error| error.rule)
    }

    fn rule_of_path(path: &str) -> Option<EntryRule> {
        rule_of(&[&format!("{PREFIX}{path}")])
    }

    #[test]
    fn accepts_what_toolchains_hold() {
        let names = [
            "m@v1/VERSION",
            "m@v1/bin/go",
            "m@v1/lib/wasm/go_js_wasm_exec",
            "m@v1/src/_go.mod",
            "m@v1/src/.x/testdata/a b+c,d=[e]{f}~^%&()$!#@.txt",
            "m@v1/src/console.go",
            "m@v1/src/com0.go",
            "m@v1/src/com10.go",
            "m@v1/test/Äfoo.go",
        ];
        assert_eq!(rule_of(&names), None);
    }

    #[test]
    fn refuses_names_outside_the_prefix() {
        let prefix = || Some(EntryRule::Prefix { prefix: PREFIX.to_owned() });
        for name in
            ["", "VERSION", "/m@v1/VERSION", "m@v2/VERSION", "M@v1/VERSION", "m@v1", "../m@v1/x"]
        {
            assert_eq!(rule_of(&[name]), prefix(), "{name}");
        }
    }

    #[test]
    fn refuses_paths_that_are_not_clean() {
        assert_eq!(rule_of_path(""), Some(EntryRule::Folder));
        assert_eq!(rule_of_path("src/"), Some(EntryRule::Folder));
        assert_eq!(rule_of_path("/etc/passwd"), Some(EntryRule::EmptyElement));
        assert_eq!(rule_of_path("src//x"), Some(EntryRule::EmptyElement));
        assert_eq!(rule_of_path("../x"), Some(EntryRule::OnlyDots));
        assert_eq!(rule_of_path("src/./x"), Some(EntryRule::OnlyDots));
        assert_eq!(rule_of_path("src/.../x"), Some(EntryRule::OnlyDots));
        assert_eq!(rule_of_path("src./x"), Some(EntryRule::TrailingDot));
        assert_eq!(rule_of_path("x."), Some(EntryRule::TrailingDot));
    }

    #[test]
    fn refuses_each_dangerous_character() {
        for character in "\\:*?\"<>|';`\0\n\t\x7f\u{200b}\u{202e}🦀".chars() {
            let rule = rule_of_path(&format!("a{character}b"));
            assert_eq!(rule, Some(EntryRule::Character { character }), "{character:?}");
        }
        assert_eq!(rule_of_path("C:/x"), Some(EntryRule::Character { character: ':' }));
    }

    #[test]
    fn refuses_windows_devices_in_any_case_and_with_extensions() {
        for element in ["con", "PRN", "Aux.go", "nul.tar.gz", "COM1", "com9.x", "lpt5"] {
            let rule = rule_of_path(&format!("src/{element}/x"));
            assert_eq!(rule, Some(EntryRule::Device { element: element.to_owned() }));
        }
    }

    #[test]
    fn refuses_go_mod_everywhere() {
        for path in ["go.mod", "src/go.mod", "src/cmd/GO.Mod"] {
            assert_eq!(rule_of_path(path), Some(EntryRule::GoMod), "{path}");
        }
        assert_eq!(rule_of_path("src/go.mod/x"), None);
    }

    #[test]
    fn refuses_entries_that_would_meet_on_disk() {
        assert_eq!(rule_of(&["m@v1/a", "m@v1/a"]), Some(EntryRule::Duplicate));
        assert_eq!(
            rule_of(&["m@v1/a/b", "m@v1/A/c"]),
            Some(EntryRule::Case { other: "m@v1/a/b".to_owned() })
        );
        assert_eq!(
            rule_of(&["m@v1/a/b/c/d", "m@v1/a/b/e/f", "m@v1/a/B/g/h"]),
            Some(EntryRule::Case { other: "m@v1/a/b/c/d".to_owned() })
        );
        assert_eq!(
            rule_of(&["m@v1/a", "m@v1/A"]),
            Some(EntryRule::Case { other: "m@v1/a".to_owned() })
        );
        assert_eq!(
            rule_of(&["m@v1/a/b", "m@v1/a"]),
            Some(EntryRule::FileAndFolder { other: "m@v1/a/b".to_owned() })
        );
        assert_eq!(
            rule_of(&["m@v1/a", "m@v1/a/b/c/d"]),
            Some(EntryRule::FileAndFolder { other: "m@v1/a".to_owned() })
        );
    }

    #[test]
    fn folds_letters_no_single_mapping_joins() {
        for variants in [["k", "\u{212a}"], ["s", "ſ"], ["ß", "ẞ"], ["σ", "ς"], ["å", "\u{212b}"]]
        {
            assert_eq!(fold(variants[0]), fold(variants[1]), "{variants:?}");
        }
        assert_ne!(fold("ä"), fold("a"));
    }

    #[test]
    fn messages_name_entry_and_rule() {
        let error = check_entries(PREFIX, ["m@v1/../x"]).unwrap_err();
        insta::assert_snapshot!(error, @r#"zip entry "m@v1/../x": a path element consists of dots"#);
        let error = check_entries(PREFIX, ["m@v1/src/a", "m@v1/Src/b"]).unwrap_err();
        insta::assert_snapshot!(error, @r#"zip entry "m@v1/Src/b": the name differs from "m@v1/src/a" only in the case of letters"#);
    }

    #[test]
    fn escapes_capitals_only() {
        assert_eq!(escape_path("golang.org/toolchain").unwrap(), "golang.org/toolchain");
        assert_eq!(
            escape_path("github.com/BurntSushi/toml").unwrap(),
            "github.com/!burnt!sushi/toml"
        );
        assert_eq!(escape_version("v1.0.0-RC1+incompatible").unwrap(), "v1.0.0-!r!c1+incompatible");
    }

    #[test]
    fn refuses_what_would_change_the_url() {
        for path in [
            "", "/a", "a/", "a//b", "a/../b", ".a/b", "a/b.", "a!b", "a b", "ä", "a@b", "a/nul",
            "a?b", "a\nb",
        ] {
            assert!(escape_path(path).is_err(), "{path:?}");
        }
        for version in ["", "..", "v1/2", "v1!", "v1 2", "v1\n", "v1@2", "v1?x"] {
            assert!(escape_version(version).is_err(), "{version:?}");
        }
        insta::assert_snapshot!(escape_path("a//b").unwrap_err(), @r#""a//b" is not a module path: the path has an empty element"#);
    }

    #[test]
    fn a_folder_that_is_listed_counts_like_one_that_a_file_is_in() {
        let rule = |names: &[&str]| {
            let mut taken = EntryNames::new("");
            let add = |name: &&str| match name.strip_suffix('/') {
                Some(folder) => taken.add_folder(folder),
                None => taken.add(name),
            };
            names.iter().try_for_each(add).err().map(|error| error.rule)
        };
        assert_eq!(rule(&["a/", "a/b/", "a/b/c", "a/", "a/d"]), None);
        let clash = |other: &str| Some(EntryRule::FileAndFolder { other: other.to_owned() });
        assert_eq!(rule(&["a/", "a"]), clash("a"));
        assert_eq!(rule(&["a/b", "a/b/"]), clash("a/b"));
        assert_eq!(rule(&["a/", "A/b"]), Some(EntryRule::Case { other: "a".to_owned() }));
        assert_eq!(rule(&["../"]), Some(EntryRule::OnlyDots));
    }

    proptest! {
        #[test]
        fn accepted_names_stay_inside_a_folder(names in prop::collection::vec("(m@v1/)?[aA./\\\\:]{0,6}", 1..5)) {
            if check_entries(PREFIX, names.iter().map(String::as_str)).is_ok() {
                for name in &names {
                    let path = std::path::Path::new(name);
                    let plain = |part| matches!(part, std::path::Component::Normal(_));
                    prop_assert!(path.components().all(plain), "{}", name);
                    prop_assert!(path.starts_with("m@v1"));
                }
            }
        }

        #[test]
        fn arbitrary_names_never_panic(prefix: String, names in prop::collection::vec(any::<String>(), 0..4)) {
            let _ = check_entries(&prefix, names.iter().map(String::as_str));
            for name in &names {
                let _ = (escape_path(name), escape_version(name));
            }
        }

        #[test]
        fn two_paths_never_share_an_escape(a in "[aAbB]{1,4}", b in "[aAbB]{1,4}") {
            prop_assert_eq!(escape_path(&a).unwrap() == escape_path(&b).unwrap(), a == b);
        }
    }
}
