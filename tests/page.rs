//! `ludex serve` under load: many matches and watchers at a time, and servers that are killed.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ludex_base::Seed;
use ludex_testkit::command::binary;
use ludex_testkit::contained::within_address_space;
use serde_json::{Value, json};

/// A server on a database.
pub struct Server {
    process: Child,
    /// Its host and port.
    pub address: String,
}

impl Server {
    /// Starts a server and waits until it listens.
    pub fn start(database: &Path) -> Self {
        Self::start_as(Command::new(binary()), database, &[])
    }

    /// Starts a server with this much memory, in MB, in an address space of twice that.
    pub fn start_within(database: &Path, megabytes: u64) -> Self {
        let command = within_address_space(&binary(), (2 * megabytes) << 20);
        Self::start_as(command, database, &["--memory", &format!("{megabytes}MB")])
    }

    fn start_as(mut command: Command, database: &Path, options: &[&str]) -> Self {
        let mut process = command
            .args(["serve", "--json", "--no-open", "--port", "0", "--database"])
            .arg(database)
            .args(options)
            .stdout(Stdio::piped())
            .stdin(Stdio::null())
            .spawn()
            .expect("the command starts");
        let mut lines = BufReader::new(process.stdout.take().expect("it is piped")).lines();
        let mut text = String::new();
        let report: Value = loop {
            text += &lines.next().expect("a report").expect("text");
            if let Ok(report) = serde_json::from_str(&text) {
                break report;
            }
        };
        let link = report["link"].as_str().expect("a link");
        let address = link.trim_start_matches("http://").trim_end_matches('/').to_string();
        Self { process, address }
    }

    /// Sends a request and returns the status and the JSON of its answer.
    pub fn request(&self, verb: &str, path: &str, body: &str) -> (u16, Value) {
        request(&self.address, verb, path, body).expect("the server answers")
    }

    /// Sends a request and returns the status and the JSON of its answer, if there is one.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn try_request(&self, verb: &str, path: &str, body: &str) -> io::Result<(u16, Value)> {
        request(&self.address, verb, path, body)
    }

    /// Starts a match between two people; returns its name and the keys of its seats.
    pub fn start_match(&self, game: &str) -> (String, Value) {
        let seat = json!({ "kind": "person" });
        let body = json!({ "game": game, "seats": [seat, seat], "move_time": 10 });
        let (status, made) = self.request("POST", "/api/matches", &body.to_string());
        assert_eq!(status, 200, "{made}");
        (made["id"].as_str().expect("a name").into(), made["keys"].clone())
    }

    /// Asks for a match until it shows this many steps and waits for people.
    pub fn shown(&self, id: &str, n_steps: usize) -> Value {
        loop {
            let (_, view) = self.request("GET", &format!("/api/matches/{id}"), "");
            assert_ne!(view["status"], "failed", "{view}");
            if view["n_steps"] == n_steps && view["status"] == "waiting" {
                return view;
            }
            thread::yield_now();
        }
    }

    /// Memory of the server, in MB.
    pub fn megabytes(&self) -> f64 {
        crate::faults::resident_mb(self.process.id())
    }

    /// The most memory that the server had, in MB.
    pub fn peak_megabytes(&self) -> f64 {
        crate::faults::peak_mb(self.process.id())
    }

    /// Whether the server still runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// Kills the server.
    pub fn kill(mut self) {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it ends");
    }
}

fn request(address: &str, verb: &str, path: &str, body: &str) -> io::Result<(u16, Value)> {
    let mut stream = TcpStream::connect(address)?;
    let length = body.len();
    let head = format!(
        "{verb} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nX-Ludex: 1\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all((head + body).as_bytes())?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply)?;
    let broken = || io::Error::other("a broken reply");
    let (head, body) = reply.split_once("\r\n\r\n").ok_or_else(broken)?;
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).ok_or_else(broken)?;
    Ok((status, serde_json::from_str(body)?))
}

/// A page that listens for the changes of a match.
struct Listener {
    reader: BufReader<TcpStream>,
    line: String,
}

impl Listener {
    fn open(address: &str, id: &str) -> io::Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        let request = format!("GET /api/matches/{id}/events HTTP/1.1\r\nHost: {address}\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        Ok(Self { reader: BufReader::new(stream), line: String::new() })
    }

    /// A handle that ends the connection.
    fn stream(&self) -> io::Result<TcpStream> {
        self.reader.get_ref().try_clone()
    }

    /// Returns the next view as text; `None` at the end.
    fn next(&mut self) -> Option<&str> {
        loop {
            self.line.clear();
            if self.reader.read_line(&mut self.line).ok()? == 0 {
                return None;
            }
            if self.line.starts_with("data:") {
                return self.line.strip_prefix("data:").map(str::trim);
            }
        }
    }
}

/// How much load a server gets.
#[derive(Clone, Copy, Debug)]
pub struct LoadConfig {
    /// Pages that watch the first match.
    pub n_watchers: usize,
    /// Matches between people, of connect four.
    pub n_matches: usize,
    /// Time between two moves of a match.
    pub pace: Duration,
    /// How long it goes on.
    pub time: Duration,
    /// The seed of the moves.
    pub seed: Seed,
}

/// What a loaded server did.
#[derive(Clone, Default, Debug)]
pub struct LoadReport {
    /// Time from sending a move until its step was shown, in milliseconds, sorted.
    pub milliseconds: Vec<f64>,
    /// Views that the watchers received.
    pub n_views: u64,
    /// Their bytes.
    pub n_bytes: u64,
    /// Memory of the server, at the beginning and then every ten seconds.
    pub megabytes: Vec<f64>,
}

impl LoadReport {
    /// The time that this share of all moves stayed within, in milliseconds.
    pub fn percentile(&self, share: f64) -> f64 {
        let last = self.milliseconds.len().saturating_sub(1);
        self.milliseconds.get((share * last as f64).round() as usize).copied().unwrap_or(f64::NAN)
    }
}

/// Time between two looks at the memory of a server.
const MEMORY_INTERVAL: Duration = Duration::from_secs(10);

/// Plays many matches on a server while others watch the first one.
pub fn load(server: &Server, config: &LoadConfig) -> LoadReport {
    let address = server.address.as_str();
    let matches: Vec<_> =
        (0..config.n_matches).map(|_| server.start_match("connectfour")).collect();
    matches.iter().for_each(|(id, _)| drop(server.shown(id, 0)));
    let (n_views, n_bytes) = (AtomicU64::new(0), AtomicU64::new(0));
    let times = Mutex::new(Vec::new());
    let is_over = AtomicBool::new(false);
    let streams = Mutex::new(Vec::new());
    let megabytes = thread::scope(|scope| {
        for _ in 0..config.n_watchers {
            let id = &matches[0].0;
            let watch = || {
                let mut listener = Listener::open(address, id).expect("the server listens");
                streams.lock().expect("no panic").push(listener.stream());
                while let Some(text) = listener.next() {
                    n_views.fetch_add(1, Ordering::Relaxed);
                    n_bytes.fetch_add(text.len() as u64, Ordering::Relaxed);
                }
            };
            let builder = thread::Builder::new().stack_size(256 << 10);
            builder.spawn_scoped(scope, watch).expect("a thread for a watcher");
        }
        for (number, (id, keys)) in matches.iter().enumerate() {
            let seed = config.seed.child(number as u64);
            let (times, is_over) = (&times, &is_over);
            scope.spawn(move || {
                let own = play(address, (id, keys), config, seed, is_over);
                times.lock().expect("no panic").extend(own);
            });
        }
        let end = Instant::now() + config.time;
        let mut megabytes = vec![server.megabytes()];
        while Instant::now() < end {
            thread::sleep(MEMORY_INTERVAL.min(end.saturating_duration_since(Instant::now())));
            megabytes.push(server.megabytes());
        }
        is_over.store(true, Ordering::Relaxed);
        for stream in streams.lock().expect("no panic").drain(..).flatten() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        megabytes
    });
    let mut milliseconds = times.into_inner().expect("no panic");
    milliseconds.sort_by(f64::total_cmp);
    let (n_views, n_bytes) = (n_views.into_inner(), n_bytes.into_inner());
    LoadReport { milliseconds, n_views, n_bytes, megabytes }
}

/// Plays both seats of a match at random, and takes back the last steps when it ends; returns how long
/// each step took to be shown, in milliseconds.
fn play(
    address: &str,
    (id, keys): (&str, &Value),
    config: &LoadConfig,
    seed: Seed,
    is_over: &AtomicBool,
) -> Vec<f64> {
    let mut rng = seed.rng();
    let mut times = Vec::new();
    // Matches do not move in step.
    thread::sleep(config.pace.mul_f64(rng.unit()));
    let mut listener = Listener::open(address, id).expect("the server listens");
    let mut due = Instant::now();
    let mut view = next_view(&mut listener, 0);
    while !is_over.load(Ordering::Relaxed) {
        if view["status"] == "over" {
            let path = format!("/api/matches/{id}/undo");
            let body = json!({ "key": keys[0] }).to_string();
            let n_steps = view["n_steps"].as_u64().unwrap_or(0);
            request(address, "POST", &path, &body).expect("the server answers");
            while view["n_steps"].as_u64() >= Some(n_steps) || view["status"] != "waiting" {
                view = next_view(&mut listener, 0);
            }
        }
        thread::sleep(due.saturating_duration_since(Instant::now()));
        due = Instant::now() + config.pace;
        let step = view["n_steps"].as_u64().expect("a number");
        let pending = &view["pending"][0];
        let role = pending["role"].as_u64().expect("a role") as usize;
        let moves = pending["moves"].as_array().expect("moves");
        let text = &moves[rng.below(moves.len())]["text"];
        let body = json!({ "key": keys[role], "step": step, "text": text }).to_string();
        let begin = Instant::now();
        let path = format!("/api/matches/{id}/moves");
        let (status, reply) = request(address, "POST", &path, &body).expect("the server answers");
        assert_eq!(status, 200, "{reply}");
        view = next_view(&mut listener, step + 1);
        times.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    times
}

/// Waits for a view with at least this many steps in which someone can move, or that is the end.
fn next_view(listener: &mut Listener, n_steps: u64) -> Value {
    loop {
        let text = listener.next().expect("the server goes on");
        let view: Value = serde_json::from_str(text).expect("a view");
        assert_ne!(view["status"], "failed", "{view}");
        let can_move = view["status"] == "waiting" || view["status"] == "over";
        if view["n_steps"].as_u64() >= Some(n_steps) && can_move {
            return view;
        }
    }
}

/// What servers that were killed did.
#[derive(Clone, Default, Debug)]
pub struct KillReport {
    /// Servers killed.
    pub n_kills: usize,
    /// Steps that were shown before.
    pub n_shown: usize,
    /// Those of them that were there no more.
    pub n_lost: usize,
}

/// Kills servers at random moments while a match is played as fast as it can be.
pub fn kill_at_random(folder: &Path, n_kills: usize, seed: Seed) -> KillReport {
    let database: PathBuf = folder.join("matches.db");
    let mut rng = seed.rng();
    let mut report = KillReport::default();
    for round in 0..n_kills {
        let server = Server::start(&database);
        let (id, keys) = server.start_match("connectfour");
        server.shown(&id, 0);
        let (address, shown) = (server.address.clone(), Mutex::new(Vec::new()));
        let wait = Duration::from_micros(1_000 + rng.below(100_000) as u64);
        thread::scope(|scope| {
            let (shown, id, seed) = (&shown, &id, seed.child(round as u64));
            scope.spawn(move || play_until_killed(&address, (id, &keys), seed, shown));
            thread::sleep(wait);
            server.kill();
        });
        let shown: Vec<Value> = shown.into_inner().expect("no panic");
        let server = Server::start(&database);
        let view = loaded_view(&server, &id);
        let history = view["history"].as_array().cloned().unwrap_or_default();
        let n_kept = shown.iter().zip(&history).take_while(|(one, other)| one == other).count();
        report.n_kills += 1;
        report.n_shown += shown.len();
        report.n_lost += shown.len() - n_kept;
        server.kill();
    }
    report
}

/// The view of a match after it is loaded.
fn loaded_view(server: &Server, id: &str) -> Value {
    loop {
        let (status, view) = server.request("GET", &format!("/api/matches/{id}"), "");
        assert!(status == 200 && view["status"] != "failed", "{view}");
        if view["status"] == "waiting" || view["status"] == "over" {
            return view;
        }
        thread::yield_now();
    }
}

/// Plays a match at random until the server is gone, and keeps the last history that it showed.
fn play_until_killed(
    address: &str,
    (id, keys): (&str, &Value),
    seed: Seed,
    shown: &Mutex<Vec<Value>>,
) {
    let mut rng = seed.rng();
    let Ok(mut listener) = Listener::open(address, id) else { return };
    while let Some(text) = listener.next() {
        let Ok(view) = serde_json::from_str::<Value>(text) else { return };
        *shown.lock().expect("no panic") = view["history"].as_array().cloned().unwrap_or_default();
        let Some(moves) = view["pending"][0]["moves"].as_array() else { continue };
        let role = view["pending"][0]["role"].as_u64().unwrap_or(0) as usize;
        let text = &moves[rng.below(moves.len())]["text"];
        let body = json!({ "key": keys[role], "step": view["n_steps"], "text": text });
        let path = format!("/api/matches/{id}/moves");
        if request(address, "POST", &path, &body.to_string()).is_err() {
            return;
        }
    }
}
