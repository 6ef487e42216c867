//! A suite on disk: `programs/`, `patches/` and `reference-output/` under one folder.

mod references;

pub use references::{ExpectedOutput, ReferenceText};

use crate::suite::{Program, Reference, SourceTree, Suite, tree_sha256};
use anyhow::{Context, Result, bail, ensure};
use references::References;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A source file, a patch or a manifest larger than this is not one of ours.
const LARGEST_FILE_BYTES: u64 = 4 << 20;

/// A suite with the text of everything its manifest names.
#[derive(Debug)]
pub struct SuiteFolder {
    pub suite: Suite,
    /// Digest over the manifest, every source and every patch: what a survey's plan records.
    pub sha256: String,
    references: References,
    sources: BTreeMap<String, SourceTree>,
    /// By program and file.
    patches: BTreeMap<(String, String), String>,
}

impl SuiteFolder {
    /// Reads `<root>/programs/suite.toml` and all it names, except the references, which are read
    /// when they are needed.
    ///
    /// # Errors
    ///
    /// If a file is missing, is larger than 4 MiB, or does not say what it should.
    pub fn load(root: &Path) -> Result<Self> {
        let manifest_path = root.join("programs/suite.toml");
        let manifest = read_text(&manifest_path).context(
            "no suite here: run gosurvey in a clone of its repository or give --suite FOLDER",
        )?;
        let suite = Suite::parse(&manifest)
            .with_context(|| format!("{} is not a suite", manifest_path.display()))?;
        let mut files = BTreeMap::from([("programs/suite.toml".to_owned(), manifest.into_bytes())]);
        let mut sources = BTreeMap::new();
        let mut patches = BTreeMap::new();
        for program in &suite.programs {
            let source = read_sources(&root.join("programs").join(&program.name))?;
            for (name, content) in &source.files {
                files.insert(format!("programs/{}/{name}", program.name), content.clone());
            }
            sources.insert(program.name.clone(), source);
            for patch in &program.patches {
                let path = format!("patches/{}/{}", program.name, patch.file);
                let text = read_text(&root.join(&path))?;
                files.insert(path, text.clone().into_bytes());
                patches.insert((program.name.clone(), patch.file.clone()), text);
            }
        }
        let sha256 =
            tree_sha256(files.iter().map(|(name, content)| (name.as_str(), content.as_slice())));
        let references = References::new(root.join("reference-output"));
        Ok(SuiteFolder { suite, sha256, references, sources, patches })
    }

    /// The source of a program of this suite, without any patch.
    pub fn source(&self, program: &Program) -> &SourceTree {
        &self.sources[&program.name]
    }

    /// The text of a patch of this suite.
    pub fn patch(&self, program: &Program, file: &str) -> &str {
        &self.patches[&(program.name.clone(), file.to_owned())]
    }

    /// The output a reference stands for, from its file or its generator.
    ///
    /// Digesting it, and drawing a picture, is done for its first use and takes up to a second or two.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or file or generator do not give what the manifest says.
    pub fn expected_output(&self, reference: &Reference) -> Result<Arc<ExpectedOutput>> {
        self.references.get(reference)
    }
}

fn read_sources(folder: &Path) -> Result<SourceTree> {
    let mut files = BTreeMap::new();
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".go") && entry.file_type()?.is_file() {
            files.insert(name, read_text(&entry.path())?.into_bytes());
        }
    }
    if files.is_empty() {
        bail!("{} holds no Go source", folder.display());
    }
    Ok(SourceTree { files })
}

fn read_text(path: &Path) -> Result<String> {
    let bytes = fs_err::metadata(path)?.len();
    ensure!(
        bytes <= LARGEST_FILE_BYTES,
        "{}: {bytes} bytes, expected at most {LARGEST_FILE_BYTES}",
        path.display()
    );
    match fs_err::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            bail!("{}: is not UTF-8 text", path.display())
        }
        read => Ok(read?),
    }
}
