//! The project's own tasks. `cargo xtask test` is the one command that says whether all is
//! well; the others make recordings and tables, or run in full what the tests sample.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::tools;

mod test;
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
    /// Write perft.txt and playthrough.txt of the games of the library anew
    Record {
        /// Only these games
        games: Vec<String>,
    },
    /// Draw the picture of the front page anew
    Picture,
    /// Play every recorded line of the public rulesheets, by both engines
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
    /// Measure a fixed list of games and print one table with a signature, then the public
    /// rulesheets with published speeds where they are there
    Bench {
        /// Seconds for each game
        #[arg(long, default_value_t = 2.0)]
        seconds: f64,
    },
}

fn main() -> ExitCode {
    let done = match Cli::parse().task {
        Task::Test => test::run(),
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
