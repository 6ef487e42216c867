//! What the integration tests share.

#![allow(dead_code, reason = "every test program uses some of it, none all of it")]

pub mod go;
pub mod server;
pub mod survey;
