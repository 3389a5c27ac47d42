//! Attacks a player with garbage, half messages and slow peers while it plays matches.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ludex_base::{Rng, Seed};
use ludex_testkit::command::binary;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::faults::{PlayerProcess, resident_mb};

/// How to attack.
#[derive(Clone, Debug)]
pub struct AttackConfig {
    /// Connections at a time.
    pub n_connections: usize,
    /// How long matches are played.
    pub time: Duration,
    /// The seed of the attack.
    pub seed: Seed,
}

/// What the attack did in some time.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct AttackReport {
    /// Connections that were opened.
    pub n_connections: usize,
    /// Bytes that were sent over them.
    pub n_bytes: usize,
    /// Matches that were played to their end.
    pub n_matches: usize,
    /// Moves of the player.
    pub n_moves: usize,
    /// Errors in the records of the matches: late, illegal and missing answers.
    pub errors: Vec<String>,
    /// The longest time for a move.
    pub longest: Duration,
    /// Resident megabytes of the player at the beginning, and every second.
    pub megabytes: Vec<f64>,
}

impl AttackReport {
    /// Adds what happened later.
    pub fn add(&mut self, later: AttackReport) {
        self.n_connections += later.n_connections;
        self.n_bytes += later.n_bytes;
        self.n_matches += later.n_matches;
        self.n_moves += later.n_moves;
        self.errors.extend(later.errors);
        self.longest = self.longest.max(later.longest);
        self.megabytes.extend(later.megabytes);
    }
}

/// Play clock of the matches, in seconds.
pub const PLAY_CLOCK: u64 = 5;

/// What an attacker does with a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Attack {
    /// Sends random bytes.
    Garbage,
    /// Announces a message and sends half of it.
    Half,
    /// Sends a byte now and then.
    Drip,
    /// Asks for the status page and never reads it.
    Unread,
    /// Sends a message of the largest size as fast as possible.
    Flood,
    /// Starts matches without rules.
    Start,
    /// Asks for moves in matches that do not exist.
    Play,
    /// Opens a connection and is silent.
    Silent,
}

const ATTACKS: [Attack; 8] = [
    Attack::Garbage,
    Attack::Half,
    Attack::Drip,
    Attack::Unread,
    Attack::Flood,
    Attack::Start,
    Attack::Play,
    Attack::Silent,
];

/// Time of a part of the attack.
const PART: Duration = Duration::from_secs(60);

/// Plays matches between an attacked player and `random`, and hands over the report of each minute, which
/// ends with a match.
///
/// # Panics
/// Panics if the command is not built.
pub fn run(config: &AttackConfig, mut on_minute: impl FnMut(AttackReport)) {
    let args = ["--player", "uct", "--iterations", "300", "--threads", "1"];
    let player = PlayerProcess::start(&[&args[..], &["--search-memory", "16MB"]].concat());
    let is_over = AtomicBool::new(false);
    let (n_connections, n_bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for idx in 0..config.n_connections {
            let mut rng = config.seed.child(idx as u64).rng();
            let attack = ATTACKS[idx % ATTACKS.len()];
            let (is_over, n_connections, n_bytes) = (&is_over, &n_connections, &n_bytes);
            let address = player.address;
            let work = move || {
                while !is_over.load(Ordering::Relaxed) {
                    n_connections.fetch_add(1, Ordering::Relaxed);
                    let n_sent = strike(attack, address, &mut rng, is_over).unwrap_or(0);
                    n_bytes.fetch_add(n_sent, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(20));
                }
            };
            let thread = std::thread::Builder::new().stack_size(256 << 10);
            thread.spawn_scoped(scope, work).expect("a thread for each attacker");
        }
        let begin = Instant::now();
        let mut n_minutes = 0;
        while n_minutes == 0 || begin.elapsed() < config.time {
            n_minutes += 1;
            let until = begin + config.time.min(n_minutes * PART);
            let mut report = play_until(until, &player);
            report.n_connections = n_connections.swap(0, Ordering::Relaxed);
            report.n_bytes = n_bytes.swap(0, Ordering::Relaxed);
            on_minute(report);
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

/// Plays matches until a moment, but at least one, and watches the memory of the player.
fn play_until(until: Instant, player: &PlayerProcess) -> AttackReport {
    let id = player.id();
    let mut report = AttackReport::default();
    std::thread::scope(|scope| {
        let watch = scope.spawn(move || {
            let mut megabytes = vec![resident_mb(id)];
            while Instant::now() < until {
                std::thread::sleep(Duration::from_secs(1));
                megabytes.push(resident_mb(id));
            }
            megabytes
        });
        while report.n_matches == 0 || Instant::now() < until {
            play(player, &mut report);
        }
        report.megabytes = watch.join().expect("the watch ends");
    });
    report
}

/// Plays one match and judges it by its record.
fn play(player: &PlayerProcess, report: &mut AttackReport) {
    let output = Command::new(binary())
        .args(["referee", "tictactoe", "--players", &format!("{},random", player.url())])
        .args(["--start-clock", "5", "--play-clock", &PLAY_CLOCK.to_string(), "--json"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .expect("the command starts");
    let record: Value = serde_json::from_slice(&output.stdout).expect("a record");
    report.n_matches += 1;
    for (step, errors) in record["errors"].as_array().expect("a list").iter().enumerate() {
        let error = errors[0].as_str().expect("a text");
        if !error.is_empty() {
            report.errors.push(format!("match {}, step {step}: {error}", report.n_matches));
        }
    }
    for times in record["ludex"]["moveTimes"].as_array().expect("a list") {
        report.n_moves += 1;
        let time = Duration::from_secs_f64(times[0].as_f64().expect("a time"));
        report.longest = report.longest.max(time);
    }
}

/// Opens one connection, does harm, and returns how many bytes were sent.
fn strike(
    attack: Attack,
    address: SocketAddr,
    rng: &mut Rng,
    is_over: &AtomicBool,
) -> std::io::Result<usize> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_write_timeout(Some(Duration::from_secs(2)))?;
    stream.set_read_timeout(Some(Duration::from_millis(500)))?;
    let post = |body: &str, length: usize| {
        format!("POST / HTTP/1.0\r\nContent-Length: {length}\r\n\r\n{body}")
    };
    let mut n_sent = 0;
    let mut send = |stream: &mut TcpStream, bytes: &[u8]| {
        n_sent += bytes.len();
        stream.write_all(bytes)
    };
    match attack {
        Attack::Garbage => {
            let bytes: Vec<u8> = (0..rng.below(20_000)).map(|_| rng.below(256) as u8).collect();
            send(&mut stream, &bytes)?;
            stream.shutdown(Shutdown::Write)?;
        }
        Attack::Half => {
            send(&mut stream, post("( PLAY m1 ( a", 1000 + rng.below(1000)).as_bytes())?;
            wait(Duration::from_secs(3), is_over);
        }
        Attack::Drip => {
            send(&mut stream, post("", 100_000).as_bytes())?;
            for _ in 0..100 {
                wait(Duration::from_millis(100), is_over);
                send(&mut stream, b"(")?;
            }
        }
        Attack::Unread => {
            send(&mut stream, b"GET / HTTP/1.0\r\n\r\n")?;
            wait(Duration::from_secs(3), is_over);
        }
        Attack::Flood => {
            let block = vec![b'('; 64 << 10];
            send(&mut stream, post("", 16 << 20).as_bytes())?;
            for _ in 0..255 {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                send(&mut stream, &block)?;
            }
            wait(Duration::from_secs(1), is_over);
        }
        Attack::Start => {
            let body = format!("( START x.{} )", rng.below(1_000_000));
            send(&mut stream, post(&body, body.len()).as_bytes())?;
        }
        Attack::Play => {
            let body = format!("( PLAY x.{} ( a b ) )", rng.below(1_000_000));
            send(&mut stream, post(&body, body.len()).as_bytes())?;
        }
        Attack::Silent => wait(Duration::from_secs(3), is_over),
    }
    if attack != Attack::Unread {
        let mut reply = [0; 1024];
        let _ = stream.read(&mut reply);
    }
    Ok(n_sent)
}

/// Waits, unless the attack is over.
fn wait(time: Duration, is_over: &AtomicBool) {
    let until = Instant::now() + time;
    while Instant::now() < until && !is_over.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(20));
    }
}
