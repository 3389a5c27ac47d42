//! The `ludex` command.

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};
use ludex_base::memory::Counted;
use ludex_cli::args::Cli;
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: Counted<MiMalloc> = Counted(MiMalloc);

fn main() -> ExitCode {
    let given = Cli::command().get_matches();
    let cli = Cli::from_arg_matches(&given).unwrap_or_else(|error| error.exit());
    ludex_cli::run(cli, given.subcommand_name().unwrap_or_default())
}
