//! Measures the time of a match over HTTP between players that do not search.

use std::collections::BTreeSet;
use std::io::Write;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ludex_base::{Deadline, Seed};
use ludex_game::Game;
use ludex_machine::Machine;
use ludex_net::{Address, RemoteMatch, RemoteSeat};
use ludex_pipeline::LoadedGame;
use ludex_protocol::Codebook;
use ludex_referee::{Clocks, Ending, MAX_STEPS, MatchConfig, MatchRecord, Seat, play_match};
use serde::{Deserialize, Serialize};

use crate::faults::{PlayerProcess, body, game, read_message};

/// The times of matches of tic-tac-toe between two `ludex player` processes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Overhead {
    /// The matches, from the first message to the last reply.
    pub matches: Vec<Duration>,
    /// The part of these matches until both players had answered `start`: loading the rules and
    /// measuring the machine.
    pub starts: Vec<Duration>,
    /// The times from the choice of a move until its reply was sent, as reported by these
    /// processes.
    pub replies: Vec<Duration>,
}

/// Plays `count` matches between players that answer at once, and returns their times: from the first message
/// to the last reply.
///
/// # Panics
/// Panics if a match goes wrong.
pub fn run_instant(count: usize) -> Vec<Duration> {
    let (machine, loaded) = game("tictactoe");
    let addresses = ["xplayer", "oplayer"].map(instant_player);
    (0..count).map(|number| play(&machine, &loaded, &addresses, number).time).collect()
}

/// Plays `count` matches between two `ludex player` processes that choose at random.
///
/// # Panics
/// Panics if the command is not built, or if a match goes wrong.
pub fn run(count: usize) -> Overhead {
    let (machine, loaded) = game("tictactoe");
    let mut overhead = Overhead::default();
    let replies = Arc::new(Mutex::new(Vec::new()));
    let players = [0, 1].map(|_| {
        let replies = Arc::clone(&replies);
        PlayerProcess::start_heard(&["--player", "random", "--threads", "1"], move |line| {
            if line.contains("\"event\":\"moved\"") {
                let seconds = line.split("\"seconds\":").nth(1).expect("the event has a time");
                let seconds = seconds.split([',', '}']).next().and_then(|text| text.parse().ok());
                let time = Duration::from_secs_f64(seconds.expect("a number"));
                replies.lock().unwrap_or_else(PoisonError::into_inner).push(time);
            }
        })
    });
    let addresses =
        [0, 1].map(|idx: usize| Address::parse(&players[idx].url()).expect("an address"));
    for number in 0..count {
        let record = play(&machine, &loaded, &addresses, number);
        overhead.matches.push(record.time);
        overhead.starts.extend(record.seats.iter().map(|seat| seat.start_time).max());
    }
    overhead.replies = replies.lock().unwrap_or_else(PoisonError::into_inner).clone();
    overhead
}

fn play(
    machine: &Machine,
    loaded: &LoadedGame,
    addresses: &[Address; 2],
    number: usize,
) -> MatchRecord {
    let clocks = Clocks { start: Duration::from_secs(10), play: Duration::from_secs(10) };
    let shared = Arc::new(RemoteMatch {
        match_id: format!("m.{number}"),
        codebook: Codebook::plain(&ludex_gdl::parse(&loaded.source).0),
        clocks,
        preview_clock: None,
        stop: Deadline::never(),
    });
    let mut seats: Vec<Option<Box<dyn Seat>>> = Vec::new();
    for address in addresses {
        let (address, shared) = (address.clone(), Arc::clone(&shared));
        let seat = RemoteSeat::new(machine.clone(), address, "Ludex".into(), shared);
        seats.push(Some(Box::new(seat)));
    }
    let (seed, stop) = (Seed(number as u64), Deadline::never());
    let config = MatchConfig { number, seed, clocks, max_steps: MAX_STEPS, stop, watcher: None };
    let record = play_match(machine, &mut seats, &config);
    let is_fine = machine.role_ids().all(|role| record.lapses(role).next().is_none());
    assert!(record.ending == Ending::Terminal && is_fine, "{record:?}");
    record
}

/// Starts a player that marks the first free cell on its turn.
fn instant_player(role: &'static str) -> Address {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let at = listener.local_addr().expect("it listens");
    std::thread::spawn(move || {
        let cells =
            || (1..=3).flat_map(|row| (1..=3).map(move |col| format!("( mark {row} {col} )")));
        let mut marked = BTreeSet::new();
        for mut stream in listener.incoming().flatten() {
            let message = read_message(&stream).map_or(String::new(), |bytes| body(&bytes));
            let reply = match message.split_whitespace().nth(1) {
                Some("PLAY") => {
                    marked.extend(cells().filter(|cell| message.contains(cell)));
                    let is_own = (marked.len() % 2 == 0) == (role == "xplayer");
                    let free = cells().find(|cell| !marked.contains(cell));
                    free.filter(|_| is_own).unwrap_or_else(|| "noop".into())
                }
                _ => {
                    marked.clear();
                    "ready".into()
                }
            };
            let length = reply.len();
            let reply = format!("HTTP/1.0 200 OK\r\nContent-length: {length}\r\n\r\n{reply}");
            // A referee that is gone misses the reply.
            let _ = stream.write_all(reply.as_bytes());
        }
    });
    Address::parse(&format!("http://{at}")).expect("an address")
}

/// Returns the median and the maximum of some times.
///
/// # Panics
/// Panics if there are none.
pub fn middle_and_longest(times: &[Duration]) -> [Duration; 2] {
    let mut times = times.to_vec();
    times.sort();
    [times[times.len() / 2], *times.last().expect("there are times")]
}
