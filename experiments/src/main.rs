//! The experiments of the project and their reports.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::tools;

mod tables;
mod plot;
mod playouts;
mod endings;
mod search;
mod strength;
mod improvements;
mod series;
mod macucb;
mod matches;
mod hidden;
mod faults;
mod overhead;
mod translate_agree;
mod networks;
mod quantified;

#[derive(Parser)]
#[command(name = "cargo experiment", arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Compare the networks of games with their machines on random states of every rulesheet
    TranslateAgree {
        /// Only these games
        games: Vec<String>,
        /// States of each game
        #[arg(long, default_value_t = 100)]
        states: usize,
        /// Seconds for each game: for encoding, for posting and for comparing
        #[arg(long, default_value_t = 120)]
        seconds: u64,
    },
    /// Compare one rulesheet, for `translate-agree`
    #[command(hide = true)]
    TranslateAgreeOne {
        /// The rulesheet
        path: std::path::PathBuf,
        /// States
        #[arg(long)]
        states: usize,
        /// Seconds, grounding and encoding not included
        #[arg(long)]
        seconds: u64,
    },
    /// Translate the games of the published tables and write both side by side to benches/runs
    TranslateTable {
        /// Seconds after which a game is given up, for grounding and for translating
        #[arg(long, default_value_t = 60)]
        seconds: u64,
    },
    /// Measure how fast networks of states are solved, beside the machine
    SolveTable {
        /// Only these games; nothing is written then
        games: Vec<String>,
        /// Seconds for each game and way
        #[arg(long, default_value_t = 2.0)]
        seconds: f64,
    },
    /// Ground every public rulesheet and write the table to benches/runs
    GroundTable {
        /// Seconds after which a sheet is given up
        #[arg(long, default_value_t = 60)]
        seconds: u64,
    },
    /// Measure the reasoner beside the published speed of the reference prover
    ReasonerTable {
        /// Seconds for each game
        #[arg(long, default_value_t = 5.0)]
        seconds: f64,
    },
    /// Compare how random games end, in lanes, on the cursor and by the reasoner
    Endings {
        /// Only these games
        games: Vec<String>,
        /// Playouts of each game in lanes, and as many on the cursor
        #[arg(long, default_value_t = 100_000)]
        playouts: u64,
        /// Seconds for each game by the reasoner
        #[arg(long, default_value_t = 60)]
        reasoner_seconds: u64,
    },
    /// Measure load time and the cost of a step on every public rulesheet, and draw the latter
    CorpusTable {
        /// Seconds for each game and way of playing
        #[arg(long, default_value_t = 0.3)]
        seconds: f64,
    },
    /// Measure how fast search trees grow on public rulesheets and write the table to benches/runs
    SearchTable {
        /// Seconds for each search
        #[arg(long, default_value_t = 5.0)]
        seconds: f64,
        /// Only these games; nothing is written then
        #[arg(long)]
        games: Vec<String>,
        /// Only these searches; nothing is written then
        #[arg(long)]
        searches: Vec<String>,
    },
    /// Play `ludex` against other players and the former `ludex` on 31 games and more; goes on where it was
    /// stopped
    Strength {
        /// Only these games
        games: Vec<String>,
        /// Only against this player; may be given several times
        #[arg(long)]
        against: Vec<String>,
        /// Most matches of a pair
        #[arg(long, default_value_t = 20)]
        count: usize,
        /// Begin no more series after so many minutes; 0 only reports
        #[arg(long)]
        minutes: Option<f64>,
    },
    /// Play each policy of the Monte Carlo searches against the search it improves; goes on where it was
    /// stopped
    Improvements {
        /// Only these games
        games: Vec<String>,
        /// Only this improvement, by its name in the report; may be given several times
        #[arg(long)]
        pair: Vec<String>,
        /// Most matches of a pair on a game
        #[arg(long, default_value_t = 32)]
        count: usize,
        /// Begin no more rounds after so many minutes; 0 only reports
        #[arg(long)]
        minutes: Option<f64>,
    },
    /// The experiments on MAC-UCB: ratio, published, strength, clock, hidden; goes on where it was
    /// stopped
    Macucb {
        /// Only these experiments
        experiments: Vec<String>,
        /// Only these games
        #[arg(long, value_delimiter = ',')]
        games: Vec<String>,
        /// Most matches of a pair
        #[arg(long, default_value_t = 20)]
        count: usize,
        /// Begin no more series after so many minutes; 0 only reports
        #[arg(long)]
        minutes: Option<f64>,
    },
    /// Play the published puzzles; goes on where it was stopped
    Puzzles {
        /// Only these games
        games: Vec<String>,
    },
    /// Count beliefs, and play searches for hidden information; goes on where it was stopped
    Hidden {
        /// Only these games
        games: Vec<String>,
        /// Only these players
        #[arg(long, value_delimiter = ',')]
        players: Vec<String>,
        /// Milliseconds a move
        #[arg(long, default_value_t = 30)]
        clock: u64,
        /// Begin no more series after so many minutes; 0 only reports
        #[arg(long, default_value_t = 25.0)]
        minutes: f64,
    },
    /// Play with a short clock while every core is kept busy; goes on where it was stopped
    Loaded {
        /// Matches, all together
        #[arg(long, default_value_t = 300)]
        count: usize,
    },
    /// Play matches over HTTP with messages broken on the way
    Faults {
        /// Matches
        #[arg(long, default_value_t = 500)]
        count: usize,
        /// Matches at a time
        #[arg(long, default_value_t = 8)]
        parallel: usize,
        /// Broken messages of a hundred
        #[arg(long, default_value_t = 20)]
        percent: usize,
        /// Where the faults come from
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Measure matches over HTTP between players that do not think and write the times to benches/runs
    Overhead {
        /// Matches
        #[arg(long, default_value_t = 200)]
        count: usize,
    },
    /// Time the quantified models by the command, beside other solvers
    Quantified {
        /// Connect four on the usual board is asked for up to this depth
        #[arg(long, default_value_t = 25)]
        deepest: usize,
    },
    /// Keep a core busy, for `loaded`
    #[command(hide = true)]
    Burn,
    /// Measure the public rulesheets with published speeds
    Playouts {
        /// Seconds for each game
        #[arg(long, default_value_t = 2.0)]
        seconds: f64,
    },
}

fn main() -> ExitCode {
    let done = match Cli::parse().task {
        Task::TranslateAgree { games, states, seconds } => {
            translate_agree::agree(&games, states, seconds)
        }
        Task::TranslateAgreeOne { path, states, seconds } => {
            translate_agree::agree_one(&path, states, seconds)
        }
        Task::TranslateTable { seconds } => networks::table(seconds),
        Task::SolveTable { games, seconds } => networks::solving(&games, seconds),
        Task::GroundTable { seconds } => tables::ground(seconds),
        Task::ReasonerTable { seconds } => tables::reasoner(seconds),
        Task::Endings { games, playouts, reasoner_seconds } => {
            endings::run(&games, playouts, reasoner_seconds)
        }
        Task::CorpusTable { seconds } => playouts::corpus_table(seconds),
        Task::Playouts { seconds } => playouts::suite(seconds),
        Task::SearchTable { seconds, games, searches } => search::run(seconds, &games, &searches),
        Task::Strength { games, against, count, minutes } => strength::strength(&strength::Job {
            games,
            against,
            max_matches: count,
            time: minutes.map(|minutes| std::time::Duration::from_secs_f64(60.0 * minutes)),
        }),
        Task::Improvements { games, pair, count, minutes } => {
            improvements::improvements(&improvements::Job {
                games,
                pairs: pair,
                max_matches: count,
                time: minutes.map(|minutes| std::time::Duration::from_secs_f64(60.0 * minutes)),
            })
        }
        Task::Macucb { experiments, games, count, minutes } => macucb::macucb(&macucb::Job {
            experiments,
            games,
            max_matches: count,
            time: minutes.map(|minutes| std::time::Duration::from_secs_f64(60.0 * minutes)),
        }),
        Task::Puzzles { games } => matches::puzzles(&games),
        Task::Hidden { games, players, clock, minutes } => hidden::hidden(&hidden::Job {
            games,
            players,
            clock,
            time: Some(std::time::Duration::from_secs_f64(60.0 * minutes)),
        }),
        Task::Loaded { count } => matches::loaded(count),
        Task::Faults { count, parallel, percent, seed } => {
            faults::run(count, parallel, percent, seed)
        }
        Task::Overhead { count } => overhead::run(count),
        Task::Quantified { deepest } => quantified::run(deepest),
        Task::Burn => matches::burn_a_core(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("experiments: {error:#}");
            ExitCode::FAILURE
        }
    }
}
