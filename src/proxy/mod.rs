//! Where toolchains come from: the Go module proxy protocol over a list of bases.
//!
//! A base is an `http(s)` URL or a directory (`file://`) with one tree below it, described at
//! <https://go.dev/ref/mod#goproxy-protocol>. Nothing read here is believed: the checksum database
//! decides, and everything is bounded in size.
//!
//! ```text
//! GOPROXY ─▶ GoproxyList ─▶ Proxies ──┬─▶ HttpSource ─▶ https://…
//! GOSUMDB ─▶ SumdbSetting ─▶ ChecksumDatabase ─▶ Proxies or the database's own address
//!                                     └─▶ DirectorySource ─▶ file://…
//! ```
//!
//! Small things are read into memory. A download goes to a place where it is kept ([`Kept`]), so
//! that what breaks off, here or at the other end, can be gone on with.

mod cause;
mod client;
mod database;
pub mod defaults;
mod directory;
mod http;
mod kept;
mod list;
mod retry;
mod settings;
mod source;
mod transfer;

pub use client::HttpClient;
pub use database::ChecksumDatabase;
pub use directory::DirectorySource;
pub use http::HttpSource;
pub use kept::Kept;
pub use list::{Proxies, Served};
pub use retry::RetryPolicy;
pub use settings::{FallThrough, GoproxyList, ProxyBase, ProxyEntry, SettingError, SumdbSetting};
pub use source::{FetchError, Obtained, Recipient, Source};
