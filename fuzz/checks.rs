//! What must hold of every parser of outside bytes, whatever the bytes are.
//!
//! Each function takes the input of one fuzz target and panics if a property does not hold. The
//! fuzz targets call them with bytes of their own making; `tests/fuzz_corpus.rs` of gosurvey calls
//! them with the corpus, on the ordinary compiler.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};
use std::sync::LazyLock;

use gosurvey::module::{ListLine, check_entries, escape_path, escape_version, limits};
use gosurvey::platform::Platform;
use gosurvey::proxy::{GoproxyList, ProxyBase, SumdbSetting};
use gosurvey::release::{Listing, Minor, Release, Selection, Variant};
use gosurvey::sumdb::{
    Answer, KeyError, SignerKey, Tile, TreeHead, VerifierKey, find_module, lookup_path, note,
};

mod proofs;
mod zips;

pub use proofs::proof;
pub use zips::zip;

/// Looks at one input and panics if a property does not hold.
pub type Check = fn(&[u8]);

/// Every target by its name, which is also that of its corpus folder.
pub const TARGETS: [(&str, Check); 12] = [
    ("list", list),
    ("lookup", lookup),
    ("names", names),
    ("note", note),
    ("proof", proof),
    ("release", release),
    ("selection", selection),
    ("settings", settings),
    ("sumdb_key", sumdb_key),
    ("tile", tile),
    ("tree_head", tree_head),
    ("zip", zip),
];

/// Go versions, one a line: what is read is written back, and the order is the go command's.
pub fn release(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let mut releases: Vec<(&str, Release)> = Vec::new();
    for line in text.split('\n').take(8) {
        if let Ok(release) = line.parse::<Release>() {
            check_release(line, &release);
            releases.push((line, release));
        }
    }
    for (a_text, a) in &releases {
        for (b_text, b) in &releases {
            assert_eq!(a.cmp(b), order_of_the_go_command(a_text, b_text), "{a_text} {b_text}");
            assert_eq!(a == b, a.to_string() == b.to_string());
        }
    }
}

fn check_release(text: &str, release: &Release) {
    let written = release.to_string();
    assert_eq!(written.parse().as_ref(), Ok(release));
    assert_eq!(release.version().parse().as_ref(), Ok(release));

    // Only patch 0 of the days before Go 1.21, and with it minor 0, may go without saying.
    let bare = text.strip_prefix("go").unwrap_or(text);
    let unsaid = bare.strip_prefix(&release.version());
    assert!(matches!(unsaid, Some("" | ".0" | ".0.0")), "{text:?} became {written:?}");
    assert!(unsaid == Some("") || release.minor().minor < 21);

    assert!(!release.is_stable() || release.kind().is_empty());
    let minor: Release = release.minor().to_string().parse().expect("a minor is a version");
    assert_eq!(minor.minor(), release.minor());
    assert!(bare.len() < 200 || release.kind().len() > 100, "numbers are bounded");
}

/// Compares two valid versions digit by digit, as the specification has it.
fn order_of_the_go_command(a: &str, b: &str) -> Ordering {
    /// A number of any length: longer is larger, none at all is the smallest.
    type Number<'a> = (usize, &'a str);

    fn parts(text: &str) -> (Number<'_>, Number<'_>, Number<'_>, &str, Number<'_>) {
        let number = |digits| (str::len(digits), digits);
        let text = text.strip_prefix("go").unwrap_or(text);
        let (major, rest) = text.split_once('.').unwrap_or((text, "0.0"));
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (minor, rest) = rest.split_at(digits);
        let (patch, kind, pre) = match rest.strip_prefix('.') {
            Some(patch) => (patch, "", ""),
            None if rest.is_empty() && number(minor) < number("21") => ("0", "", ""),
            None => {
                let digits = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
                let (kind, pre) = rest.split_at(digits);
                ("", kind, pre)
            }
        };
        (number(major), number(minor), number(patch), kind, number(pre))
    }
    parts(a).cmp(&parts(b))
}

fn linux() -> Platform {
    Platform { os: "linux".to_owned(), arch: "amd64".to_owned() }
}

/// A proxy's list: sorted, without duplicates, everything that is listed and nothing else.
pub fn list(bytes: &[u8]) {
    let body = String::from_utf8_lossy(bytes);
    let lines: Vec<ListLine<'_>> = body.lines().filter_map(ListLine::parse).collect();
    let listing = match Listing::parse(&body, &linux()) {
        Ok(listing) => listing,
        Err(error) => {
            assert!(lines.is_empty(), "an error although there are toolchains");
            assert!(error.first.chars().count() <= 80);
            return;
        }
    };
    let all = listing.all();
    assert!(all.is_sorted_by(|a, b| a < b));

    let is_ours = |line: &&ListLine<'_>| line.os == "linux" && line.arch == "amd64";
    let named: BTreeSet<Release> =
        lines.iter().filter(is_ours).filter_map(|line| line.version.parse().ok()).collect();
    assert!(all.iter().eq(&named), "{all:?} is not {named:?}");

    let written: String =
        all.iter().rev().map(|release| format!("v0.0.1-{release}.linux-amd64\n")).collect();
    match Listing::parse(&written, &linux()) {
        Ok(again) => assert_eq!(again, listing),
        Err(_) => assert!(all.is_empty()),
    }
    check_latest_patches(&listing);
}

fn check_latest_patches(listing: &Listing) {
    let latest = listing.latest_patches();
    let minors: BTreeSet<Minor> = listing.stable().map(Release::minor).collect();
    assert!(latest.iter().map(|release| release.minor()).eq(minors));
    for release in latest {
        assert_eq!(listing.latest_patch(release.minor()), Some(release));
        let is_later = |other: &Release| other.minor() == release.minor() && other > release;
        assert!(!listing.stable().any(is_later));
    }
}

/// The `--go` language: one canonical spelling, no variant twice.
pub fn selection(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Ok(variant) = text.parse::<Variant>() {
        assert_eq!(variant.to_string().parse().as_ref(), Ok(&variant), "{text:?}");
    }
    let Ok(selection) = text.parse::<Selection>() else { return };
    let written = selection.to_string();
    assert_eq!(written.parse().as_ref(), Ok(&selection), "{text:?} became {written:?}");
    assert_eq!(written.parse::<Selection>().map(|again| again.to_string()), Ok(written));

    if text.len() > 256 {
        return; // Ranges multiply; what follows compares all with all.
    }
    let body =
        "v0.0.1-go1.20.linux-amd64\nv0.0.1-go1.21.3.linux-amd64\nv0.0.1-go1.22.0.linux-amd64";
    let listing = Listing::parse(body, &linux()).expect("a list");
    let wanted = selection.resolve(&listing);
    for (place, variant) in wanted.variants.iter().enumerate() {
        assert!(!wanted.variants[..place].contains(variant), "{variant} twice");
        assert_eq!(variant.to_string().parse().as_ref(), Ok(variant));
    }
    if !selection.needs_listing() {
        assert_eq!(selection.resolve(&Listing::default()), wanted);
        assert_eq!(wanted.missing, []);
    }
}

/// The name that the owner of every key here has.
const SIGNER: &str = "sum.example.test";

static ALICE: LazyLock<SignerKey> =
    LazyLock::new(|| SignerKey::from_seed(SIGNER, &[3; 32]).expect("a name"));

/// Signed notes: what opens is a text that the key has signed, to the letter.
///
/// The input is looked at as a note, and, cut at its zero bytes, as a text with lines that somebody
/// has put before and after the honest signature.
pub fn note(bytes: &[u8]) {
    check_opened(bytes);
    let mut parts = bytes.splitn(3, |byte| *byte == 0);
    let [text, before, after] = [(); 3].map(|()| parts.next().unwrap_or_default());
    let Ok(text) = str::from_utf8(text) else { return };
    let is_note_text = |text: &str| text.bytes().all(|byte| byte >= b' ' || byte == b'\n');
    if !text.ends_with('\n') || !is_note_text(text) {
        return;
    }
    let signed = note::sign(text, &ALICE);
    assert_eq!(note::open(signed.as_bytes(), ALICE.verifier()), Ok(text));
    let (shown, signature) = signed.split_at(text.len() + 1);
    let forged = [shown.as_bytes(), before, signature.as_bytes(), after].concat();
    if let Some(opened) = check_opened(&forged) {
        assert_eq!(opened, text);
    }
}

fn check_opened(bytes: &[u8]) -> Option<&str> {
    let text = note::open(bytes, ALICE.verifier()).ok()?;
    assert!(text.ends_with('\n') && bytes.starts_with(text.as_bytes()));
    let signatures = &bytes[text.len()..];
    assert!(signatures.iter().filter(|byte| **byte == b'\n').count() <= 101);
    // There is one signature of a text by a key, so what was signed can be signed again.
    let again = note::sign(text, &ALICE);
    let line = &again.as_bytes()[text.len()..];
    assert!(signatures.windows(line.len()).any(|window| window.ends_with(&line[1..])));
    Some(text)
}

/// Tree heads: canonical, and of a tree whose right end has a place for every record.
pub fn tree_head(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Ok(head) = TreeHead::parse(text) else { return };
    assert!((1..=i64::MAX as u64).contains(&head.size));
    assert!(text.starts_with(&head.text()));
    assert_eq!(TreeHead::parse(&head.text()), Ok(head));

    let fringe = Tile::fringe(head.size);
    let below = |tile: &Tile| (tile.width() as u64) << (8 * tile.level());
    assert_eq!(fringe.iter().map(below).sum::<u64>(), head.size);
    for tile in fringe {
        assert!(!tile.is_full());
        check_tile(tile);
        assert_eq!(Tile::in_tree(tile.level(), tile.index(), head.size), Some(tile));
    }
}

/// Keys: one spelling but for the case of the hash, and secrets that stay secret.
pub fn sumdb_key(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Some(key) = with_hash_mended(text, VerifierKey::parse) {
        assert!(key.to_string().eq_ignore_ascii_case(&mended(text, key.hash())));
        assert_eq!(VerifierKey::parse(&key.to_string()).as_ref(), Ok(&key));
        assert!(!key.name().is_empty() && !key.name().contains(['+', ' ', '\n', '\t']));
    }
    let private = format!("PRIVATE+KEY+{text}");
    let signer = with_hash_mended(text, |text| SignerKey::parse(&format!("PRIVATE+KEY+{text}")));
    if let Some(signer) = signer {
        let secret = signer.private_text();
        let hash = signer.verifier().hash();
        assert!(secret.eq_ignore_ascii_case(&format!("PRIVATE+KEY+{}", mended(text, hash))));
        // The last of five parts: base64 may hold plus signs itself.
        let encoded = secret.splitn(5, '+').nth(4).expect("a secret has five parts");
        assert!(!format!("{signer:?}").contains(encoded));
        let signed = note::sign("text\n", &signer);
        assert_eq!(note::open(signed.as_bytes(), signer.verifier()), Ok("text\n"));
    } else if let Err(error) = SignerKey::parse(&private) {
        assert!(error.to_string().len() < 200, "an error that may repeat the secret");
    }
}

/// Parses, and if only the hash is wrong, once more with the right one: no fuzzer guesses it.
fn with_hash_mended<K>(text: &str, parse: impl Fn(&str) -> Result<K, KeyError>) -> Option<K> {
    match parse(text) {
        Err(KeyError::Hash { expected, .. }) => {
            let key = parse(&mended(text, expected));
            Some(key.unwrap_or_else(|error| panic!("{text:?} with the right hash: {error}")))
        }
        parsed => parsed.ok(),
    }
}

fn mended(text: &str, hash: u32) -> String {
    let mut parts: Vec<&str> = text.splitn(3, '+').collect();
    let hash = format!("{hash:08x}");
    if let [_, found, _] = &mut parts[..] {
        *found = &hash;
    }
    parts.join("+")
}

/// Paths of tiles: one spelling, and no tile larger than its file may be.
pub fn tile(bytes: &[u8]) {
    if let Ok(path) = str::from_utf8(bytes)
        && let Ok(tile) = path.parse::<Tile>()
    {
        assert_eq!(tile.to_string(), path);
        check_tile(tile);
    }
    let mut numbers = bytes.chunks_exact(8).map(|eight| {
        u64::from_le_bytes(eight.try_into().expect("chunks are as long as asked for"))
    });
    let [level, index, size] = [(); 3].map(|()| numbers.next().unwrap_or_default());
    // No larger tree than that has a head.
    let size = size & i64::MAX as u64;
    if let Some(tile) = Tile::in_tree((level % 10) as u32, index, size) {
        check_tile(tile);
        assert!(tile.index() * 256 + tile.width() as u64 <= size >> (8 * tile.level()));
    }
}

fn check_tile(tile: Tile) {
    assert_eq!(tile.to_string().parse(), Ok(tile));
    assert!((1..=256).contains(&tile.width()));
    assert_eq!(tile.bytes(), 32 * tile.width());
    assert!(tile.bytes() as u64 <= limits::TILE_BYTES);
    assert_eq!(tile.full().to_string().parse(), Ok(tile.full()));
    assert!(tile.full().is_full());
}

/// Answers to lookups: taken apart without loss, and a record is believed only if it says one thing.
pub fn lookup(bytes: &[u8]) {
    const MODULE: (&str, &str) = ("golang.org/toolchain", "v0.0.1-go1.27.1.linux-amd64");
    let Ok(answer) = Answer::parse(bytes) else { return };
    let Answer { id, record, note } = answer;
    assert!(id <= i64::MAX as u64);
    assert_eq!(format!("{id}\n{record}\n{note}").as_bytes(), bytes);
    assert!(record.ends_with('\n') && !record.starts_with('\n') && !record.contains("\n\n"));
    assert!(!record.bytes().any(|byte| byte < b' ' && byte != b'\n'));

    let Ok(module) = find_module(record, MODULE.0, MODULE.1) else { return };
    assert_eq!((module.path.as_str(), module.version.as_str()), MODULE);
    for (version, digest) in
        [(MODULE.1.to_owned(), module.h1), (format!("{}/go.mod", MODULE.1), module.go_mod_h1)]
    {
        let start = format!("{} {version} h1:", MODULE.0);
        let lines: Vec<&str> = record.lines().filter(|line| line.starts_with(&start)).collect();
        assert_eq!(lines, [format!("{} {version} {digest}", MODULE.0)]);
    }
}

/// Names that go into URLs and onto disk: `path@version` in the first line, then zip entries.
pub fn names(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let (module, entries) = text.split_once('\n').unwrap_or((text, ""));
    if let Some((path, version)) = module.split_once('@')
        && let Ok(lookup) = lookup_path(path, version)
    {
        assert_eq!(unescaped(&lookup), format!("lookup/{module}"));
        assert_eq!(escape_path(path).map(|escaped| unescaped(&escaped)).as_deref(), Ok(path));
        assert_eq!(escape_version(version).map(|e| unescaped(&e)).as_deref(), Ok(version));
        assert!(lookup.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' '));
        assert!(!lookup.bytes().any(|byte| byte.is_ascii_uppercase() || b"\\?#%".contains(&byte)));
        assert!(stays_inside(&lookup));
    }
    let prefix = format!("{module}/");
    let names: Vec<&str> = entries.split('\n').collect();
    if check_entries(&prefix, names.iter().copied()).is_ok() {
        check_entry_names(&prefix, &names);
    }
}

fn unescaped(text: &str) -> String {
    let mut parts = text.split('!');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let (letter, rest) = part.split_at(1);
        text + &letter.to_ascii_uppercase() + rest
    })
}

fn stays_inside(name: &str) -> bool {
    let is_plain = |part| matches!(part, Component::Normal(_));
    Path::new(name).components().all(is_plain) && !name.contains("//") && !name.ends_with('/')
}

/// Names that passed fit into one folder of any file system.
fn check_entry_names(prefix: &str, names: &[&str]) {
    let mut files = BTreeSet::new();
    let mut folders = BTreeMap::new();
    for name in names {
        let inside = name.strip_prefix(prefix).unwrap_or_else(|| panic!("{name:?} is outside"));
        assert!(stays_inside(inside), "{name:?}");
        let refused = |c: char| c.is_control() || "\\:*?\"<>|';`".contains(c);
        assert!(!inside.contains(refused), "{name:?}");
        let folded = inside.to_lowercase();
        assert!(folded.rsplit('/').next() != Some("go.mod"), "{name:?}");
        for (slash, _) in inside.match_indices('/') {
            let folder = folders.entry(inside[..slash].to_lowercase()).or_insert(&inside[..slash]);
            assert_eq!(*folder, &inside[..slash], "two folders that are one");
        }
        assert!(files.insert(folded), "two files that are one: {name:?}");
    }
    assert!(folders.keys().all(|folder| !files.contains(folder)), "a file that is a folder");
}

/// Stands for a password in settings.
const SECRET: &str = "hunter2-c0ffee";

/// GOPROXY and GOSUMDB: what is accepted is usable, what is refused does not give secrets away.
pub fn settings(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    check_goproxy(text);
    check_gosumdb(text);
    // The first $ stands for credentials.
    if let Some((before, after)) = text.split_once('$') {
        let value = format!("{before}https://user:{SECRET}@{after}");
        let errors = [
            GoproxyList::parse(&value).err().map(|error| error.to_string()),
            SumdbSetting::parse(&value).err().map(|error| error.to_string()),
        ];
        for error in errors.into_iter().flatten() {
            assert!(!error.contains(SECRET), "{error}");
        }
    }
}

fn check_goproxy(value: &str) {
    let Ok(list) = GoproxyList::parse(value) else { return };
    let (last, before) = list.entries().split_last().expect("a list has entries");
    let ends = |base: &ProxyBase| matches!(base, ProxyBase::Direct | ProxyBase::Off);
    assert!(!before.iter().any(|entry| ends(&entry.base)));
    for entry in before.iter().chain([last]) {
        match &entry.base {
            ProxyBase::Http(url) => {
                assert!(url.has_host() && ["http", "https"].contains(&url.scheme()));
                let has_credentials = !url.username().is_empty() || url.password().is_some();
                assert!(url.scheme() == "https" || !has_credentials);
                // A comma that came in escaped is none of the list's.
                if !url.as_str().contains(',') {
                    let again = GoproxyList::parse(url.as_str()).expect("a base stands for itself");
                    assert_eq!(again.entries().len(), 1);
                    assert_eq!(again.entries()[0].base, entry.base);
                }
            }
            ProxyBase::Directory(path) => assert!(path.is_absolute()),
            ProxyBase::Direct | ProxyBase::Off => {}
        }
    }
}

fn check_gosumdb(value: &str) {
    let Ok(setting) = SumdbSetting::parse(value) else { return };
    let key = setting.key().to_string();
    let again = SumdbSetting::parse(&key).expect("a key stands for itself");
    assert_eq!((again.name(), again.key()), (setting.name(), setting.key()));
    // The name becomes a folder and a part of URLs.
    let name = setting.name();
    assert!(stays_inside(name) && name.is_ascii(), "{name:?}");
    assert!(!name.contains(['\\', '%', '?', '#', '@', '!', ' ']), "{name:?}");
    if let Some(head) = setting.known_head() {
        note::open(head.as_bytes(), setting.key()).expect("a known head is signed");
    }
}
