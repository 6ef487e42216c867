//! `gosurvey mirror`: a module proxy and checksum database as a folder.

use super::{Env, Outcome, Stop};
use crate::mirror::{self, MirrorOptions, MirrorSummary};
use std::io::{self, Write};
use std::path::PathBuf;

/// Lay out a Go module proxy and checksum database on disk, from toolchains at hand
///
/// The folder serves air-gapped clusters, over file:// or any static web server, to gosurvey and to
/// the go command alike. Its database has a key of its own, which only its maker holds.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Make a mirror, or add toolchains to one
    Create {
        /// Folder of the mirror
        dir: PathBuf,
        /// A GOROOT, or an official release archive (.tar.gz); may be repeated
        #[arg(long = "goroot", value_name = "PATH", required = true, num_args = 1..)]
        goroots: Vec<PathBuf>,
        /// Name of the checksum database, a host name; it need not exist
        #[arg(long, value_name = "NAME")]
        database: Option<String>,
    },
}

pub fn run(args: &Args, env: &mut Env) -> Result<Outcome, Stop> {
    let Command::Create { dir, goroots, database } = &args.command;
    let options = MirrorOptions { database: database.clone() };
    let progress = &mut env.progress;
    let summary = mirror::create(dir, goroots, &options, &mut |module| {
        progress.message(&format!("packing {module}"));
    })?;
    tell(&summary, &mut env.out)?;
    Ok(Outcome::Done)
}

fn tell(summary: &MirrorSummary, out: &mut dyn Write) -> io::Result<()> {
    for link in &summary.links_out {
        writeln!(out, "followed {}, which leads out of its GOROOT", link.display())?;
    }
    for module in &summary.added {
        writeln!(out, "added {module}")?;
    }
    for module in &summary.unchanged {
        writeln!(out, "{module} was there already, with the same files")?;
    }
    writeln!(
        out,
        "\nTo use it from this disk:\nGOPROXY={}\nGOSUMDB={}\n\nThrough a web server that serves {}, \
         give its address as GOPROXY, with the same GOSUMDB.",
        summary.goproxy_file(),
        summary.gosumdb(),
        summary.www.display()
    )
}
