//! The `ludex` command.

use std::process::ExitCode;

use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ludex_cli::run(ludex_cli::args::Cli::parse())
}
