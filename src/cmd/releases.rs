//! `gosurvey releases`: what the proxy offers.

use super::{Env, Outcome, Stop};
use crate::release::Release;
use std::io::Write;

/// List the releases a proxy offers for this platform: the latest patch of each minor
///
/// A list is no proof: a proxy may hide releases or name some it does not have.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Every release: all patches, betas and release candidates
    #[arg(long)]
    all: bool,
}

pub fn run(args: &Args, env: &mut Env) -> Result<Outcome, Stop> {
    let listing = env.listing()?;
    let releases: Vec<&Release> = match args.all {
        true => listing.all().iter().collect(),
        false => listing.latest_patches(),
    };
    for release in releases {
        writeln!(env.out, "{release}")?;
    }
    Ok(Outcome::Done)
}
