//! `gosurvey toolchains`: what is installed.

use super::{Env, Outcome, Stop, fetch};
use crate::store::Store;
use anyhow::Context;
use std::io::Write;

/// List the toolchains in the store, with the proof each was installed on
#[derive(clap::Args, Debug)]
pub struct Args {}

pub fn run(_args: &Args, env: &mut Env) -> Result<Outcome, Stop> {
    let store = Store::open(&env.store).context("cannot open the store")?;
    let toolchains = store.installed().context("cannot read the store")?;
    for toolchain in &toolchains {
        writeln!(env.out, "{}", fetch::described(toolchain))?;
    }
    if toolchains.is_empty() {
        let root = store.root().display();
        writeln!(env.out, "no toolchain is installed in {root}; see gosurvey fetch --help")?;
    }
    Ok(Outcome::Done)
}
