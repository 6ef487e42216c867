//! The writing side: a checksum database of one's own, as static files.

use std::collections::BTreeSet;

use super::key::SignerKey;
use super::note::sign;
use super::record::{ModuleRecord, lookup_path};
use super::tile::{Tile, WIDTH, root_of};
use super::tree::{Hash, TreeHead, leaf_hash, root_over};
use crate::module::EscapeError;

/// Records that cannot be published together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PublishError {
    #[error(transparent)]
    Name(#[from] EscapeError),
    #[error("two records for {path} {version}")]
    Duplicate { path: String, version: String },
    #[error("no records to publish, and an empty log proves nothing")]
    Empty,
}

/// Lays out a checksum database of `records`, numbered in the order given, signed by `signer`.
///
/// Returns its files as (path, content), the path relative to the database's own folder:
/// `supported`, `latest`, and one for each lookup and each tile. Served as they are, they answer
/// the go command and [`Client`](super::Client).
///
/// A log only ever grows: who publishes again under the same key must give the earlier records
/// first and unchanged, or clients that remember the earlier head will call it a fork.
///
/// # Errors
///
/// [`PublishError`] if there is no record, if two are about one module version, or if one cannot
/// be looked up by its name.
pub fn publish(
    records: &[ModuleRecord],
    signer: &SignerKey,
) -> Result<Vec<(String, Vec<u8>)>, PublishError> {
    if records.is_empty() {
        return Err(PublishError::Empty);
    }
    let mut log = Log::default();
    let mut lookups = BTreeSet::new();
    for record in records {
        if !lookups.insert(lookup_path(&record.path, &record.version)?) {
            let (path, version) = (record.path.clone(), record.version.clone());
            return Err(PublishError::Duplicate { path, version });
        }
        log.append(&record.text());
    }
    let size = log.size();
    let head = sign(&log.head_at(size).text(), signer);

    let mut files = vec![
        ("supported".to_owned(), Vec::new()),
        ("latest".to_owned(), head.clone().into_bytes()),
    ];
    for (id, record) in records.iter().enumerate() {
        let answer = format!("{id}\n{}\n{head}", record.text());
        files.push((lookup_path(&record.path, &record.version)?, answer.into_bytes()));
    }
    for tile in Tile::all(size) {
        files.extend(log.tile(tile).map(|file| (tile.to_string(), file)));
    }
    for tile in Tile::all(size).filter(|tile| tile.level() == 0) {
        let first = (tile.index() * WIDTH) as usize;
        let texts = records[first..first + tile.width()].iter().map(ModuleRecord::text);
        files.push((
            tile.data_path(),
            texts.map(|text| text + "\n").collect::<String>().into_bytes(),
        ));
    }
    Ok(files)
}

/// A log of records, by the hashes its tiles are made of.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    /// The hashes of each tile level: of records, of 256 records, of 65,536, …
    levels: Vec<Vec<Hash>>,
}

impl Log {
    /// Adds a record at the end.
    pub(super) fn append(&mut self, record_text: &str) {
        let mut hash = leaf_hash(record_text.as_bytes());
        for level in 0.. {
            if self.levels.len() == level {
                self.levels.push(Vec::new());
            }
            let hashes = &mut self.levels[level];
            hashes.push(hash);
            if !hashes.len().is_multiple_of(WIDTH as usize) {
                return;
            }
            hash = root_over(&hashes[hashes.len() - WIDTH as usize..]);
        }
    }

    /// The number of records.
    pub(super) fn size(&self) -> u64 {
        self.levels.first().map_or(0, |records| records.len() as u64)
    }

    /// The head the log had when it was of `size` records, which must not be more than it has.
    pub(super) fn head_at(&self, size: u64) -> TreeHead {
        let root = root_of(Tile::fringe(size).into_iter().filter_map(|tile| self.hashes(tile)));
        TreeHead { size, root }
    }

    /// The file of a tile, or `None` if the log is not that large yet.
    pub(super) fn tile(&self, tile: Tile) -> Option<Vec<u8>> {
        Some(self.hashes(tile)?.iter().flat_map(|hash| hash.0).collect())
    }

    fn hashes(&self, tile: Tile) -> Option<&[Hash]> {
        let first = usize::try_from(tile.index().checked_mul(WIDTH)?).ok()?;
        self.levels.get(tile.level() as usize)?.get(first..first.checked_add(tile.width())?)
    }
}

#[cfg(test)]
impl Log {
    /// The log as it was when it had `size` records.
    pub(super) fn first(&self, size: u64) -> Log {
        let shortened = |(level, hashes): (usize, &Vec<Hash>)| {
            hashes[..(size >> (8 * level)) as usize].to_vec()
        };
        Log { levels: self.levels.iter().enumerate().map(shortened).collect() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::fake::{Notebook, module, record, signer};
    use super::super::{Client, Database, ReadError, note};
    use super::*;

    /// Published files, as a static web server has them.
    struct Site(BTreeMap<String, Vec<u8>>);

    impl Site {
        fn of(size: u64) -> Self {
            let records: Vec<ModuleRecord> = (0..size).map(record).collect();
            let files = publish(&records, &signer()).unwrap();
            let count = files.len();
            let site = Site(files.into_iter().collect());
            assert_eq!(site.0.len(), count, "two files of one name");
            site
        }
    }

    impl Database for Site {
        fn read(&self, path: &str, _limit: u64) -> Result<Vec<u8>, ReadError> {
            self.0.get(path).cloned().ok_or(ReadError::NotFound)
        }
    }

    #[test]
    fn files_of_a_small_database() {
        let files: Vec<String> = Site::of(2).0.into_keys().collect();
        assert_eq!(
            files,
            [
                "latest",
                "lookup/example.test/m0@v1.0.0",
                "lookup/example.test/m1@v1.0.0",
                "supported",
                "tile/8/0/000.p/2",
                "tile/8/data/000.p/2",
            ]
        );
    }

    #[test]
    fn an_answer_is_record_and_head() {
        let site = Site::of(2);
        let answer = String::from_utf8(site.0["lookup/example.test/m1@v1.0.0"].clone()).unwrap();
        let latest = String::from_utf8(site.0["latest"].clone()).unwrap();
        assert_eq!(answer, format!("1\n{}\n{latest}", record(1).text()));
        assert!(note::open(latest.as_bytes(), signer().verifier()).is_ok());
        assert!(site.0["supported"].is_empty());
    }

    #[test]
    fn data_tiles_hold_the_records_each_with_a_blank_line() {
        let site = Site::of(258);
        assert_eq!(
            String::from_utf8_lossy(&site.0["tile/8/data/001.p/2"]),
            format!("{}\n{}\n", record(256).text(), record(257).text())
        );
    }

    #[test]
    fn every_record_of_a_published_database_is_proven() {
        for size in [1, 2, 255, 256, 257, 600] {
            let (site, memory) = (Site::of(size), Notebook::default());
            for id in [0, size / 2, size - 1] {
                let proof = Client::new(&site, &memory, signer().verifier())
                    .prove(&module(id), "v1.0.0")
                    .unwrap();
                assert_eq!((proof.h1, proof.record_id), (record(id).h1, id));
                assert_eq!(proof.tree_size, size);
            }
        }
    }

    #[test]
    fn a_grown_database_is_the_same_log() {
        let (memory, key) = (Notebook::default(), signer().verifier().clone());
        for size in [1, 200, 300, 600] {
            let site = Site::of(size);
            let client = Client::new(&site, &memory, &key);
            assert_eq!(client.prove(&module(size - 1), "v1.0.0").unwrap().tree_size, size);
        }
    }

    #[test]
    fn refuses_what_could_not_be_looked_up() {
        assert_eq!(publish(&[], &signer()), Err(PublishError::Empty));
        assert!(matches!(
            publish(&[record(1), record(2), record(1)], &signer()),
            Err(PublishError::Duplicate { path, .. }) if path == module(1)
        ));
        let nameless = ModuleRecord { version: "v1\nx".to_owned(), ..record(1) };
        assert!(matches!(publish(&[nameless], &signer()), Err(PublishError::Name(_))));
    }
}
