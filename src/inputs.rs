//! Generated inputs on disk: made once, known by their digest, verified again on every use.

use crate::digest::{Digest, Digester};
use crate::store::{Store, durable};
use crate::suite::{Input, fasta::write_fasta};
use anyhow::{Context, Result, ensure};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;

const FILE_MODE: u32 = 0o644;

/// Finds a fasta input in the store or makes it there, and returns its path.
///
/// A file that is not what the suite says (a torn disk, another hand) is told of in a warning and made
/// again. Reading it for the digest also brings it into the page cache.
///
/// # Errors
///
/// If the disk fails or has no room, or if the generator does not give the digest that the suite names:
/// then the suite is wrong.
pub fn fasta_input(store: &Store, input: &Input) -> Result<PathBuf> {
    let path = store.inputs().join(format!("fasta-{}.txt", input.fasta));
    match look(&path, input)? {
        State::Intact => return Ok(path),
        State::Missing => {}
        State::Wrong(found) => log::warn!(
            "{}: expected {}, found {found}; it is made again",
            path.display(),
            described(input)
        ),
    }
    make(store, input, &path).with_context(|| format!("cannot make {}", path.display()))?;
    Ok(path)
}

/// What is at the path of an input.
enum State {
    Missing,
    Intact,
    /// Something else, and what.
    Wrong(String),
}

fn look(path: &Path, input: &Input) -> Result<State> {
    let mut file = match fs_err::File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(State::Missing),
        opened => opened?,
    };
    let bytes = file.metadata()?.len();
    if bytes != input.bytes {
        return Ok(State::Wrong(format!("{bytes} bytes")));
    }
    let digest = Digest::of(&mut file)?;
    Ok(match is_described(input, &digest) {
        true => State::Intact,
        false => State::Wrong(digest.to_string()),
    })
}

fn make(store: &Store, input: &Input, path: &Path) -> Result<()> {
    let mut file = store.private_file(input.bytes)?;
    let digest = durable::while_flushing(&store.inputs(), || generate(input.fasta, &mut file))?;
    ensure!(
        is_described(input, &digest),
        "suite.toml says fasta {} has {}, but it has {digest}: correct suite.toml",
        input.fasta,
        described(input)
    );
    Ok(durable::persist(file, path, FILE_MODE)?)
}

/// Writes the text for `n` to `out`, and returns its digest.
///
/// Both take a thread of their own and a text of their own: generating it twice costs less than handing it
/// from one to the other.
fn generate(n: u64, out: &mut (impl Write + Send)) -> io::Result<Digest> {
    thread::scope(|scope| {
        let digest = scope.spawn(|| {
            let mut digester = Digester::default();
            write_fasta(n, &mut digester).map(|()| digester.finish())
        });
        write_fasta(n, out)?;
        digest.join().expect("digesting does not panic")
    })
}

fn is_described(input: &Input, digest: &Digest) -> bool {
    digest.sha256() == input.sha256 && digest.bytes() == input.bytes
}

fn described(input: &Input) -> String {
    format!("{} bytes with SHA-256 {}", input.bytes, input.sha256)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fasta_1000() -> Input {
        Input {
            fasta: 1000,
            sha256: "62d1e8d0df7938d2aefda9a37887e0389231ea72c099c29a51afb6edca1bdc73".to_owned(),
            bytes: 10_245,
        }
    }

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        (folder, store)
    }

    fn files_in(folder: &Path) -> usize {
        fs_err::read_dir(folder).unwrap().count()
    }

    #[test]
    fn an_input_is_made_once_and_found_again() {
        let (_folder, store) = store();
        let path = fasta_input(&store, &fasta_1000()).unwrap();
        let made = fs_err::metadata(&path).unwrap().modified().unwrap();
        assert_eq!(fasta_input(&store, &fasta_1000()).unwrap(), path);
        assert_eq!(fs_err::metadata(&path).unwrap().modified().unwrap(), made);
        assert_eq!(files_in(&store.inputs()), 1);
    }

    #[test]
    fn an_input_cut_short_or_changed_is_noticed_and_made_again() {
        let (_folder, store) = store();
        let path = fasta_input(&store, &fasta_1000()).unwrap();
        let right = fs_err::read(&path).unwrap();
        let found = |content: &[u8]| {
            fs_err::write(&path, content).unwrap();
            match look(&path, &fasta_1000()).unwrap() {
                State::Wrong(found) => found,
                _ => panic!("taken for the input"),
            }
        };
        assert_eq!(found(&right[1..]), "10244 bytes");
        fasta_input(&store, &fasta_1000()).unwrap();
        assert_eq!(fs_err::read(&path).unwrap(), right);
        let changed = [b"x", &right[1..]].concat();
        assert_eq!(found(&changed), Digest::of(&mut &changed[..]).unwrap().to_string());
        fasta_input(&store, &fasta_1000()).unwrap();
        assert_eq!(fs_err::read(&path).unwrap(), right);
    }

    #[test]
    fn a_wrong_digest_in_the_suite_leaves_nothing_behind() {
        let (_folder, store) = store();
        let wrong = Input { bytes: 10_244, ..fasta_1000() };
        let message = format!("{:#}", fasta_input(&store, &wrong).unwrap_err());
        assert!(message.contains("10244 bytes") && message.contains("10245 bytes"), "{message}");
        assert_eq!(files_in(&store.inputs()), 0);
    }

    #[test]
    fn what_the_disk_has_no_room_for_is_not_begun() {
        let (_folder, store) = store();
        let huge = Input { bytes: u64::MAX, ..fasta_1000() };
        let error = fasta_input(&store, &huge).unwrap_err();
        let cause = error.root_cause().downcast_ref::<io::Error>().unwrap();
        assert_eq!(cause.kind(), io::ErrorKind::StorageFull);
        let message = format!("{error:#}");
        assert!(
            message.contains("fasta-1000.txt: ") && message.contains("needs room"),
            "{message}"
        );
    }

    #[test]
    fn a_disk_that_fills_up_meanwhile_is_an_error() {
        let error = generate(1_000, &mut [0; 10_000].as_mut_slice()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WriteZero);
        let written = &mut [0; 10_245];
        assert_eq!(
            generate(1_000, &mut written.as_mut_slice()).unwrap().sha256(),
            fasta_1000().sha256
        );
    }
}
