//! Plays matches over HTTP with requests and replies broken on the way.
//!
//! A proxy between the referee and each player passes most messages on and breaks the rest. It
//! records the messages that the player received intact and the answers to them, and the record of
//! the match shows whether these were legal.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ludex_base::{Deadline, Rng, RoleId, Seed, Source};
use ludex_game::{Cursor, Describe, Game};
use ludex_machine::Machine;
use ludex_net::{Address, RemoteMatch, RemoteSeat};
use ludex_pipeline::{Engine, LoadOptions, LoadedGame, load};
use ludex_protocol::{Codebook, Term};
use ludex_referee::{Clocks, Ending, MAX_STEPS, MatchConfig, MatchRecord, Seat, play_match};
use serde::{Deserialize, Serialize};

/// A `ludex player` process, killed on drop.
pub struct PlayerProcess {
    child: Child,
    /// The address it listens on.
    pub address: SocketAddr,
}

impl PlayerProcess {
    /// Starts a player on a free port and waits until it listens.
    ///
    /// # Panics
    /// Panics if it does not start.
    pub fn start(args: &[&str]) -> Self {
        Self::start_heard(args, |_| {})
    }

    /// As [`PlayerProcess::start`], and calls `hear` with every later line of its standard error.
    ///
    /// # Panics
    /// Panics if it does not start.
    pub fn start_heard(args: &[&str], mut hear: impl FnMut(String) + Send + 'static) -> Self {
        let mut child = Command::new(ludex_testkit::command::binary())
            .args(["player", "--port", "0", "--json"])
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut lines =
            BufReader::new(child.stderr.take().expect("standard error is piped")).lines();
        let first = lines.next().and_then(Result::ok).expect("the first line names the address");
        let place = first.split("\"address\":\"").nth(1).and_then(|rest| rest.split('"').next());
        let address = place.and_then(|place| place.parse().ok());
        let address = address.unwrap_or_else(|| panic!("no address in {first}"));
        // Keep reading its output; otherwise it would block on a full pipe.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(&mut hear));
        Self { child, address }
    }

    /// Wraps a process that was started elsewhere.
    pub fn adopt(child: Child, address: SocketAddr) -> Self {
        Self { child, address }
    }

    /// Returns its URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it exits, and returns the exit code.
    pub fn wait(&mut self) -> Option<i32> {
        self.child.wait().ok().and_then(|status| status.code())
    }
}

impl Drop for PlayerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The fault that breaks a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    Refused,
    CutRequest,
    HalfOpen,
    Garbage,
    Twice,
    DroppedReply,
    CutReply,
    OtherReply,
    LateReply,
    DrippingReply,
    FloodedReply,
}

const FAULTS: [Fault; 11] = [
    Fault::Refused,
    Fault::CutRequest,
    Fault::HalfOpen,
    Fault::Garbage,
    Fault::Twice,
    Fault::DroppedReply,
    Fault::CutReply,
    Fault::OtherReply,
    Fault::LateReply,
    Fault::DrippingReply,
    Fault::FloodedReply,
];

/// The play clock, the shortest that the protocol allows.
const PLAY_CLOCK: Duration = Duration::from_secs(1);
const START_CLOCK: Duration = Duration::from_secs(2);

/// A proxy between a referee and a player.
struct Breaker {
    address: Address,
    shared: Arc<Shared>,
}

struct Shared {
    player: SocketAddr,
    percent: usize,
    rng: Mutex<Rng>,
    matches: Mutex<HashMap<String, Heard>>,
    n_requests: AtomicUsize,
    n_broken: AtomicUsize,
}

/// The messages that a player received in a match, and its answers.
#[derive(Clone, Debug, Default)]
struct Heard {
    /// Number of moves requested.
    n_plays: usize,
    has_started: bool,
    /// Whether every message so far arrived intact.
    is_whole: bool,
    /// The answers by step.
    said: Vec<Said>,
}

/// The request of a message. It is recorded on arrival and not when it is answered, because the
/// answer may come after that to the next message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Asked {
    Start,
    Play(Turn),
    Other,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Turn {
    step: usize,
    /// Whether everything so far arrived intact: a player that missed a step cannot know the legal
    /// moves.
    is_informed: bool,
}

/// An answer to a message that arrived intact.
#[derive(Clone, Debug)]
struct Said {
    turn: Turn,
    reply: String,
    /// The time from the message to the end of the reply.
    time: Duration,
}

impl Heard {
    /// Records a message, whether or not it reaches the player.
    fn note_request(&mut self, kind: &str, is_received: bool) -> Asked {
        match kind {
            "START" => {
                self.is_whole = is_received;
                Asked::Start
            }
            "PLAY" => {
                self.is_whole &= is_received;
                self.n_plays += 1;
                Asked::Play(Turn { step: self.n_plays - 1, is_informed: self.is_whole })
            }
            _ => Asked::Other,
        }
    }

    /// Records the answer to an intact message, which may be answered twice.
    fn note_reply(&mut self, asked: Asked, reply: String, time: Duration) {
        match asked {
            Asked::Start => self.has_started |= reply == "ready",
            Asked::Play(turn) if self.has_started => self.said.push(Said { turn, reply, time }),
            Asked::Play(_) | Asked::Other => {}
        }
    }
}

impl Breaker {
    fn new(player: SocketAddr, percent: usize, seed: Seed) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let at = listener.local_addr().expect("it listens");
        let shared = Arc::new(Shared {
            player,
            percent,
            rng: Mutex::new(seed.rng()),
            matches: Mutex::default(),
            n_requests: AtomicUsize::new(0),
            n_broken: AtomicUsize::new(0),
        });
        let own = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&own);
                std::thread::spawn(move || shared.pass(&stream));
            }
        });
        let address = Address::parse(&format!("http://{at}")).expect("an address");
        Self { address, shared }
    }
}

impl Shared {
    fn pass(&self, referee: &TcpStream) {
        let Some(request) = read_message(referee) else { return };
        self.n_requests.fetch_add(1, Ordering::Relaxed);
        let fault = {
            let mut rng = lock(&self.rng);
            let is_broken = rng.below(100) < self.percent;
            is_broken.then(|| *rng.choose(&FAULTS).expect("there are faults"))
        };
        if fault.is_some() {
            self.n_broken.fetch_add(1, Ordering::Relaxed);
        }
        let lost = [Fault::Refused, Fault::CutRequest, Fault::HalfOpen, Fault::Garbage];
        let is_received = !fault.is_some_and(|fault| lost.contains(&fault));
        let asked = self.note(&request, |heard, kind| heard.note_request(kind, is_received));
        let ask = || {
            let began = Instant::now();
            let reply = self.forward(&request);
            let time = began.elapsed();
            let asked = asked.unwrap_or(Asked::Other);
            self.note(&request, |heard, _| heard.note_reply(asked, body(&reply), time));
            reply
        };
        let reply = if is_received { ask() } else { Vec::new() };
        match fault {
            None => send(referee, &reply),
            Some(Fault::Twice) => {
                // Ask again before the referee gets the answer, like a manager that missed it; the
                // second answer is judged like the first.
                ask();
                send(referee, &reply);
            }
            Some(fault) => self.spoil(referee, fault, &request, &reply),
        }
    }

    /// Forwards a request to the player and returns its whole reply.
    fn forward(&self, request: &[u8]) -> Vec<u8> {
        let mut reply = Vec::new();
        if let Ok(mut stream) = TcpStream::connect(self.player) {
            let _ = stream.write_all(request);
            let _ = stream.read_to_end(&mut reply);
        }
        reply
    }

    fn spoil(&self, referee: &TcpStream, fault: Fault, request: &[u8], reply: &[u8]) {
        let half = |bytes: &[u8]| bytes[..bytes.len() / 2].to_vec();
        match fault {
            Fault::Refused | Fault::DroppedReply | Fault::Twice => {}
            Fault::CutRequest => drop(self.forward_half(&half(request))),
            Fault::HalfOpen => {
                let kept = self.forward_half(&half(request));
                std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_secs(3));
                    drop(kept);
                });
            }
            Fault::Garbage => drop(self.forward(b"POST / HTTP/1.0\r\n\r\n)))) what ((((\x00\xff")),
            Fault::CutReply => send(referee, &half(reply)),
            Fault::OtherReply => {
                let others = ["nil", "busy", "", "( castle e1 g1 )", "((((", "\u{1F3B2}"];
                let other = *lock(&self.rng).choose(&others).expect("there are some");
                let length = other.len();
                let text = format!("HTTP/1.0 200 OK\r\nContent-length: {length}\r\n\r\n{other}");
                send(referee, text.as_bytes());
            }
            Fault::LateReply => {
                std::thread::sleep(PLAY_CLOCK + Duration::from_millis(200));
                send(referee, reply);
            }
            Fault::DrippingReply => {
                for byte in reply {
                    std::thread::sleep(Duration::from_millis(20));
                    send(referee, &[*byte]);
                }
            }
            Fault::FloodedReply => {
                send(referee, b"HTTP/1.0 200 OK\r\n\r\n");
                send(referee, &vec![b'x'; 2 << 20]);
            }
        }
        let _ = referee.shutdown(Shutdown::Both);
    }

    fn forward_half(&self, bytes: &[u8]) -> Option<TcpStream> {
        let mut stream = TcpStream::connect(self.player).ok()?;
        stream.write_all(bytes).ok()?;
        Some(stream)
    }

    /// Updates the record of the match that a message belongs to.
    fn note<T>(&self, request: &[u8], note: impl FnOnce(&mut Heard, &str) -> T) -> Option<T> {
        let (kind, id) = kind_and_id(request)?;
        Some(note(lock(&self.matches).entry(id).or_default(), &kind))
    }
}

pub(crate) fn body(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.to_owned())
}

/// Returns the kind of a message and the id of its match.
fn kind_and_id(request: &[u8]) -> Option<(String, String)> {
    let request = body(request);
    let mut words = request.split_whitespace().skip(1).map(str::to_owned);
    Some((words.next()?, words.next()?))
}

fn send(mut stream: &TcpStream, bytes: &[u8]) {
    // A referee that has given up misses it.
    let _ = stream.set_write_timeout(Some(Duration::from_secs(2)));
    let _ = stream.write_all(bytes);
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a message of ours: a head with its length, and a body.
pub(crate) fn read_message(mut stream: &TcpStream) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut block = [0; 8192];
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "))?;
            if body.len() >= length.parse().ok()? {
                return Some(bytes);
            }
        }
        match stream.read(&mut block) {
            Ok(0) | Err(_) => return None,
            Ok(n_bytes) => bytes.extend_from_slice(&block[..n_bytes]),
        }
    }
}

/// The number of matches and the rate of broken messages.
#[derive(Clone, Copy, Debug)]
pub struct FaultConfig {
    /// Number of matches.
    pub count: usize,
    /// Number of these that were played before, in another call.
    pub n_played: usize,
    /// Number of matches played at the same time.
    pub n_parallel: usize,
    /// Percentage of broken messages.
    pub percent: usize,
    /// The seed of the faults.
    pub seed: Seed,
}

/// The result of some matches.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FaultReport {
    /// Number of matches.
    pub n_matches: usize,
    /// Number of matches that reached their end.
    pub n_finished: usize,
    /// Number of messages of the referee.
    pub n_requests: usize,
    /// Number of them broken on the way there or back.
    pub n_broken: usize,
    /// Number of answers to messages that arrived intact.
    pub n_judged: usize,
    /// Descriptions of the late ones among them.
    pub late: Vec<String>,
    /// Number of answers by players that had also received everything before intact.
    pub n_informed: usize,
    /// Descriptions of the illegal ones among them.
    pub illegal: Vec<String>,
    /// The longest time from the request to the reply.
    pub longest: Duration,
    /// Resident megabytes of the players and this process, after the matches.
    pub megabytes: Vec<[f64; 3]>,
}

impl FaultReport {
    /// Adds the result of later matches.
    pub fn add(&mut self, later: FaultReport) {
        self.n_matches += later.n_matches;
        self.n_finished += later.n_finished;
        self.n_requests += later.n_requests;
        self.n_broken += later.n_broken;
        self.n_judged += later.n_judged;
        self.late.extend(later.late);
        self.n_informed += later.n_informed;
        self.illegal.extend(later.illegal);
        self.longest = self.longest.max(later.longest);
        self.megabytes.extend(later.megabytes);
    }
}

/// Plays the matches, and hands over the result of each tenth.
///
/// # Panics
/// Panics if the command is not built.
pub fn run(config: &FaultConfig, on_tenth: impl FnMut(FaultReport) + Send) {
    let args = ["--threads", "1", "--matches", "1000", "--search-memory", "16MB", "--player"];
    // One player answers at once; the other always uses its whole clock.
    let quick = [&args[..], &["uct", "--iterations", "30"]].concat();
    let slow = [&args[..], &["flat"]].concat();
    let players = [PlayerProcess::start(&quick), PlayerProcess::start(&slow)];
    let breakers = [0, 1].map(|idx| {
        Breaker::new(players[idx].address, config.percent, config.seed.child(idx as u64))
    });
    let games: Vec<(Machine, LoadedGame)> = ["tictactoe", "kuhn-poker"].map(game).into();
    let next = AtomicUsize::new(config.n_played);
    let tenth = Mutex::new((FaultReport::default(), on_tenth));
    let sum = |take: fn(&Shared) -> &AtomicUsize| -> usize {
        breakers.iter().map(|breaker| take(&breaker.shared).swap(0, Ordering::Relaxed)).sum()
    };
    let hand_over = |report: &mut FaultReport, on_tenth: &mut (dyn FnMut(FaultReport) + Send)| {
        let ids = [players[0].id(), players[1].id(), std::process::id()];
        report.megabytes.push(ids.map(resident_mb));
        report.n_requests = sum(|shared| &shared.n_requests);
        report.n_broken = sum(|shared| &shared.n_broken);
        on_tenth(std::mem::take(report));
    };
    std::thread::scope(|scope| {
        for _ in 0..config.n_parallel {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= config.count {
                        break;
                    }
                    let (machine, loaded) = &games[number % games.len()];
                    let match_id = format!("m.{number}");
                    // Both players play both roles of both games.
                    let mut seated = [&breakers[0], &breakers[1]];
                    if number / games.len() % 2 == 1 {
                        seated.reverse();
                    }
                    let record = play(machine, loaded, &match_id, number, seated);
                    let mut guard = lock(&tenth);
                    let (report, on_tenth) = &mut *guard;
                    judge(report, machine, &record, &match_id, seated);
                    report.n_matches += 1;
                    if report.n_matches == config.count.div_ceil(10) {
                        hand_over(report, on_tenth);
                    }
                }
            });
        }
    });
    let (mut rest, mut on_tenth) = tenth.into_inner().unwrap_or_else(PoisonError::into_inner);
    if rest.n_matches > 0 {
        hand_over(&mut rest, &mut on_tenth);
    }
}

pub(crate) fn game(name: &str) -> (Machine, LoadedGame) {
    let rules = ludex_testkit::library().into_iter().find(|rules| rules.name == name);
    let rules = rules.expect("the library has the game");
    let loaded = load(Source::new(name, rules.text()), &LoadOptions::default()).expect("it loads");
    let Engine::Machine(machine) = &loaded.engine else { unreachable!("the game is small") };
    (machine.clone(), loaded)
}

fn play(
    game: &Machine,
    loaded: &LoadedGame,
    match_id: &str,
    number: usize,
    breakers: [&Breaker; 2],
) -> MatchRecord {
    let clocks = Clocks { start: START_CLOCK, play: PLAY_CLOCK };
    let sheet = ludex_gdl::parse(&loaded.source).0;
    let shared = Arc::new(RemoteMatch {
        match_id: match_id.to_owned(),
        codebook: Codebook::plain(&sheet),
        clocks,
        preview_clock: None,
        stop: Deadline::never(),
    });
    let mut remote = breakers.iter();
    let mut seats: Vec<Option<Box<dyn Seat>>> = Vec::new();
    for role in game.roles() {
        let seat = (!role.is_random).then(|| -> Box<dyn Seat> {
            let address = remote.next().expect("two players").address.clone();
            Box::new(RemoteSeat::new(game.clone(), address, "Ludex".into(), Arc::clone(&shared)))
        });
        seats.push(seat);
    }
    let seed = Seed(number as u64);
    let stop = Deadline::never();
    let config = MatchConfig { number, seed, clocks, max_steps: MAX_STEPS, stop, watcher: None };
    play_match(game, &mut seats, &config)
}

/// Compares the answers of the players with the record of the match.
fn judge(
    report: &mut FaultReport,
    game: &Machine,
    record: &MatchRecord,
    match_id: &str,
    breakers: [&Breaker; 2],
) {
    report.n_finished += usize::from(record.ending == Ending::Terminal);
    let roles = game.roles().iter().zip(game.role_ids()).filter(|(role, _)| !role.is_random);
    for (breaker, (_, role)) in breakers.iter().zip(roles) {
        let heard = lock(&breaker.shared.matches).remove(match_id).unwrap_or_default();
        let mut cursor = game.cursor();
        for (step, played) in record.steps.iter().enumerate() {
            for said in heard.said.iter().filter(|said| said.turn.step == step) {
                let Said { turn: Turn { is_informed, .. }, reply, time } = said;
                report.n_judged += 1;
                report.longest = report.longest.max(*time);
                if *time > PLAY_CLOCK {
                    report.late.push(format!("{match_id} step {step}: {time:?}"));
                }
                report.n_informed += usize::from(*is_informed);
                if *is_informed && !is_legal(game, &mut cursor, role, reply) {
                    report.illegal.push(format!("{match_id} step {step}: {reply:?}"));
                }
            }
            let moves = game.role_ids().zip(&played.moves);
            let joint: Option<Vec<_>> =
                moves.map(|(role, text)| game.find_move(role, text)).collect();
            cursor.play(&joint.expect("played moves exist"));
        }
    }
}

fn is_legal<C: Cursor>(
    game: &impl Describe<Cursor = C>,
    cursor: &mut C,
    role: RoleId,
    reply: &str,
) -> bool {
    let said = Term::read(reply).and_then(|term| game.find_move(role, term.as_str()));
    said.is_some_and(|said| cursor.legal_moves(role).contains(&said))
}

/// Returns the resident memory of a process in megabytes.
///
/// # Panics
/// Panics if the system does not report it, because the check would be void otherwise.
pub(crate) fn resident_mb(id: u32) -> f64 {
    memory_mb(id, "VmRSS:")
}

/// The most memory that a process had, in MB.
///
/// # Panics
/// Panics if the system does not report it, because the check would be void otherwise.
pub(crate) fn peak_mb(id: u32) -> f64 {
    memory_mb(id, "VmHWM:")
}

fn memory_mb(id: u32, name: &str) -> f64 {
    let path = format!("/proc/{id}/status");
    let status = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kb: Option<f64> = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kb.unwrap_or_else(|| panic!("{path} has no `{name}` line")) / 1024.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_answer_belongs_to_its_own_message() {
        let mut heard = Heard::default();
        let say = |heard: &mut Heard, asked, reply: &str| {
            heard.note_reply(asked, reply.into(), Duration::ZERO);
        };
        let start = heard.note_request("START", true);
        let first = heard.note_request("PLAY", true);
        say(&mut heard, start, "ready");
        say(&mut heard, first, "( mark 3 1 )");
        // The first message arrives again. Meanwhile the referee asks for the next move, and the
        // answer to that is recorded before the repeated answer. Then a message is lost.
        let second = heard.note_request("PLAY", true);
        say(&mut heard, second, "noop");
        heard.note_request("PLAY", false);
        say(&mut heard, first, "( mark 3 1 )");
        let fourth = heard.note_request("PLAY", true);
        say(&mut heard, fourth, "( mark 1 1 )");
        let said: Vec<_> = (heard.said.iter())
            .map(|said| (said.turn.step, said.reply.as_str(), said.turn.is_informed))
            .collect();
        let expected = [
            (0, "( mark 3 1 )", true),
            (1, "noop", true),
            (0, "( mark 3 1 )", true),
            (3, "( mark 1 1 )", false),
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn a_player_that_missed_the_start_is_not_judged() {
        let mut heard = Heard::default();
        let start = heard.note_request("START", true);
        heard.note_reply(start, "busy".into(), Duration::ZERO);
        let first = heard.note_request("PLAY", true);
        heard.note_reply(first, "busy".into(), Duration::ZERO);
        assert!(heard.said.is_empty(), "{heard:?}");
    }
}
