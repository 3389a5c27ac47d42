//! The `ludex` command.

use std::process::ExitCode;

use clap::Parser;
use ludex_base::memory::Counted;
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: Counted<MiMalloc> = Counted(MiMalloc);

fn main() -> ExitCode {
    ludex_cli::run(ludex_cli::args::Cli::parse())
}
