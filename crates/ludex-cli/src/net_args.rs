//! What can be said to the verbs that speak the General Game Playing protocol.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::args::{EngineArgs, Rules, parse_clock, parse_count, parse_memory};

/// How to answer game managers.
#[derive(Clone, Debug, Args)]
pub struct PlayerArgs {
    /// The port to listen at; 0 takes any that is free
    #[arg(long, value_name = "P", default_value_t = ludex_net::client::DEFAULT_PORT)]
    pub port: u16,
    /// The address to listen at; 0.0.0.0 lets everybody in who can reach this machine
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub listen: String,
    /// Who plays, with options where wanted; `ludex players` lists them
    #[arg(long, value_name = "P", default_value = ludex_player::FLAGSHIP)]
    pub player: String,
    /// The name to give to managers, one word [default: Ludex]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// How many matches to play at a time; they share the machine
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse_matches)]
    pub matches: usize,
    /// Keep every message of a match in a file of this folder
    #[arg(long, value_name = "FOLDER")]
    pub log_dir: Option<PathBuf>,
    /// What the way back to the manager takes, in seconds; a quarter of the clock at most
    #[arg(long, value_name = "SECONDS", default_value = "0.3", value_parser = parse_reserve)]
    pub reserve: Duration,
    /// How much memory the trees and tables of a match may use, in MB or with a unit
    #[arg(long, value_name = "SIZE", default_value = "512MB", value_parser = parse_memory)]
    pub search_memory: u64,
    /// Most iterations of each search
    #[arg(long, value_name = "N")]
    pub iterations: Option<u64>,
    /// Think while it is not its turn
    #[arg(long)]
    pub ponder: bool,
}

/// Which matches to manage.
#[derive(Clone, Debug, Args)]
pub struct RefereeArgs {
    /// Which rulesheet.
    #[command(flatten)]
    pub rules: Rules,
    /// Who sits where: addresses such as http://host:9147, names that `ludex players` lists, or
    /// `person` for whoever sits at this terminal
    #[arg(long, value_name = "A,B")]
    pub players: String,
    /// How many matches, one after the other; seats rotate
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse_count)]
    pub count: usize,
    /// Time before the first move, in seconds; whole ones when a seat is an address
    #[arg(long, value_name = "S", default_value = "30", value_parser = parse_clock)]
    pub start_clock: Duration,
    /// Time for each move, in seconds; whole ones when a seat is an address
    #[arg(long, value_name = "S", default_value = "15", value_parser = parse_clock)]
    pub play_clock: Duration,
    /// Show the rules to players elsewhere before the match, for so many seconds
    #[arg(long, value_name = "S", value_parser = parse_clock)]
    pub preview_clock: Option<Duration>,
    /// Replace every name of the rules by another word, so that nobody knows the game
    #[arg(long)]
    pub scramble: bool,
    /// Write the record of each match to a file of this folder
    #[arg(long, value_name = "FOLDER")]
    pub record_dir: Option<PathBuf>,
    /// The tournament to name in the records
    #[arg(long, value_name = "NAME")]
    pub tournament: Option<String>,
    /// Most iterations of each search of players in this process
    #[arg(long, value_name = "N")]
    pub iterations: Option<u64>,
    /// Which engine.
    #[command(flatten)]
    pub engine: EngineArgs,
}

fn parse_matches(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n_matches @ 1..=1000) => Ok(n_matches),
        _ => Err("a number of matches is 1 to 1000".into()),
    }
}

fn parse_reserve(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "a time is a number of seconds".to_string())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "a reserve is 0 seconds or more".into())
}
