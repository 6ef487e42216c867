//! Attacks on `gosurvey fetch`, through the real program: proxies and checksum databases that lie,
//! break or contradict themselves, and stores that were tampered with.
//!
//! Every case starts from a store that has one toolchain and remembers one signed head, changes an
//! honest world in one place, asks for a second toolchain, and checks: the exit code, the message
//! (listed in `messages.txt`), that nothing was installed or left lying about, that toolchain and
//! head are as they were to the byte, and that the same command succeeds once the attack is over.
//!
//! `world` is the honest world, `scene` one attack on it, `case` what all attacks must end in; `log`
//! and `zip` are the forger's tools. The other files are the attacks.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod case;
mod flood;
mod golden;
mod log;
mod scene;
#[path = "../common/server.rs"]
mod server;
mod snapshot;
mod world;
mod zip;

mod archives;
mod heads;
mod lookups;
mod memory;
mod notes;
mod proxies;
mod stores;
mod switches;
mod tiles;
