//! Go modules as far as toolchains need them: the module a toolchain is published as, the names
//! its zip may hold, and the `h1:` digest of its tree.
//!
//! Names and digests only. Nothing here opens a zip or a folder; whoever does asks here first.

mod h1;
pub mod limits;
mod path;
mod toolchain;

pub use h1::{DigestError, H1Error, ListingError, TreeDigest, TreeListing};
pub use path::{
    EntryError, EntryNames, EntryRule, EscapeError, check_entries, escape_path, escape_version,
};
pub use toolchain::{
    GO_MOD_H1, GO_MOD_TEXT, LIST_PATH, ListLine, ModuleFile, PATH, ToolchainModule,
    becomes_executable, go_mod_copies, module_files, module_name,
};
