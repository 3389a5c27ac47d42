//! The options of the verbs that use the General Game Playing protocol.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::args::{EngineArgs, Rules, parse_clock, parse_count, parse_memory};

/// The options of `ludex player`.
#[derive(Clone, Debug, Args)]
pub struct PlayerArgs {
    /// Listen on this port; 0 picks a free one
    #[arg(long, value_name = "P", default_value_t = ludex_net::client::DEFAULT_PORT)]
    pub port: u16,
    /// Listen at this address; 0.0.0.0 accepts connections from all machines
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub listen: String,
    /// Serve this player, with options if needed; `ludex players` lists the players
    #[arg(long, value_name = "P", default_value = ludex_player::FLAGSHIP)]
    pub player: String,
    /// Give managers this name, a single word [default: Ludex]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Play up to N matches at once; they share the machine
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse_matches)]
    pub matches: usize,
    /// Log every message to this folder, one file per match
    #[arg(long, value_name = "FOLDER")]
    pub log_dir: Option<PathBuf>,
    /// Answer this long before the deadline, in seconds, to allow for the network; at most a
    /// quarter of the clock
    #[arg(long, value_name = "SECONDS", default_value = "0.3", value_parser = parse_reserve)]
    pub reserve: Duration,
    /// Limit the memory of the search in each match, in MB or with a unit
    #[arg(long, value_name = "SIZE", default_value = "512MB", value_parser = parse_memory)]
    pub search_memory: u64,
    /// Limit each search to N iterations
    #[arg(long, value_name = "N")]
    pub iterations: Option<u64>,
    /// Think during the turns of others
    #[arg(long)]
    pub ponder: bool,
}

/// The file of a series.
#[derive(Clone, Debug, Args)]
pub struct FileArgs {
    /// Write each match to this file as soon as it ends
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Go on with the series in the file of --output, and play only the matches that are missing;
    /// the other options must be the same, except --count
    #[arg(long, requires = "output")]
    pub resume: bool,
}

/// The options of `ludex referee`.
#[derive(Clone, Debug, Args)]
pub struct RefereeArgs {
    /// The rulesheet.
    #[command(flatten)]
    pub rules: Rules,
    /// Seat these players: addresses such as http://host:9147, names that `ludex players` lists, or
    /// `person` for a person at this terminal
    #[arg(long, value_name = "A,B")]
    pub players: String,
    /// Play N matches, one after the other; seats rotate
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse_count)]
    pub count: usize,
    /// Give players this long before the first move, in seconds; remote players need whole seconds
    #[arg(long, value_name = "S", default_value = "30", value_parser = parse_clock)]
    pub start_clock: Duration,
    /// Give players this long for each move, in seconds; remote players need whole seconds
    #[arg(long, value_name = "S", default_value = "15", value_parser = parse_clock)]
    pub play_clock: Duration,
    /// Send the rules to remote players before the match, and give them this many seconds
    #[arg(long, value_name = "S", value_parser = parse_clock)]
    pub preview_clock: Option<Duration>,
    /// Replace every name in the rules, so that players cannot recognize the game
    #[arg(long)]
    pub scramble: bool,
    /// Write the record of each match to a file in this folder
    #[arg(long, value_name = "FOLDER")]
    pub record_dir: Option<PathBuf>,
    /// The file.
    #[command(flatten)]
    pub file: FileArgs,
    /// Show the matches while they are played on the page of a running `ludex serve`, by its link
    #[arg(long, value_name = "LINK")]
    pub page: Option<String>,
    /// Name this tournament in the records
    #[arg(long, value_name = "NAME")]
    pub tournament: Option<String>,
    /// Limit each search of local players to N iterations
    #[arg(long, value_name = "N")]
    pub iterations: Option<u64>,
    /// The engine.
    #[command(flatten)]
    pub engine: EngineArgs,
}

fn parse_matches(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n_matches @ 1..=1000) => Ok(n_matches),
        _ => Err("use a number from 1 to 1000".into()),
    }
}

fn parse_reserve(text: &str) -> Result<Duration, String> {
    let seconds: f64 =
        text.parse().map_err(|_| "use a number of seconds, such as 0.5".to_string())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "use 0 seconds or more".into())
}
