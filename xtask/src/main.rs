//! The project's own tasks. `cargo xtask test` runs every check of the project. The other tasks make recordings
//! and tables, or run in full what the tests only sample.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::tools;

mod test;
mod python;
mod browser;
mod record;
mod golden;
mod agree;
mod picture;
mod bench;

#[derive(Parser)]
#[command(name = "cargo xtask", arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check format and lints and run every test
    Test,
    /// Test the page in a browser, with the command that was built last
    Browser,
    /// Rewrite perft.txt and playthrough.txt of the games of the library
    Record {
        /// Only these games
        games: Vec<String>,
    },
    /// Redraw the picture of the front page
    Picture,
    /// Play every recorded line of the public rulesheets on both engines
    Golden {
        /// Only these games
        games: Vec<String>,
    },
    /// Compare machine and reasoner on random states of every rulesheet
    Agree {
        /// Only these games
        games: Vec<String>,
        /// States of each game
        #[arg(long, default_value_t = 200)]
        states: usize,
        /// Seconds for each game, grounding not included
        #[arg(long, default_value_t = 120)]
        seconds: u64,
    },
    /// Measure a fixed list of games and print a table with a signature, then compare the public
    /// rulesheets, if present, with published speeds
    Bench {
        /// Seconds for each game
        #[arg(long, default_value_t = 2.0)]
        seconds: f64,
    },
}

fn main() -> ExitCode {
    let done = match Cli::parse().task {
        Task::Test => test::run(),
        Task::Browser => browser::run(),
        Task::Record { games } => record::run(&games),
        Task::Picture => picture::run(),
        Task::Golden { games } => golden::run(&games),
        Task::Agree { games, states, seconds } => agree::run(&games, states, seconds),
        Task::Bench { seconds } => bench::run(seconds),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
