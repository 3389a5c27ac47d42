//! What is done with an input, and what counts as a finding.
//!
//! A finding is a difference between two ways to the same answer. Panics, aborts and overruns are found
//! from outside, by [`campaign`](super::campaign).

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::ops::AddAssign;
use std::sync::Arc;
use std::time::Duration;

use ludex_analysis::Layout;
use ludex_base::{Deadline, Goal, Limits, RoleId, Seed, Source};
use ludex_cli::session::{self, SessionConfig, SessionEnd};
use ludex_cli::transcript::transcript_text;
use ludex_csp::{SearchMethod, SolveOptions, Verdict};
use ludex_encode::{EncodeConfig, encode};
use ludex_formats::Format;
use ludex_game::Game as _;
use ludex_gdl::{decode, parse, print_infix, print_kif, scramble};
use ludex_model::{Data, ModelLimits, Problem};
use ludex_net::{Address, Endpoint, EndpointConfig, Server};
use ludex_pipeline::{Engine, EngineChoice, LoadOptions, LoadedGame, load, load_within, with_game};
use ludex_player::{PlayerConfig, PlayerSpec};
use ludex_protocol::{Codebook, Info, Request, Term};
use ludex_qcsp::Propagation;
use ludex_record::{CommunityRecord, SeriesReport, TraceRecord, Transcript};
use ludex_testkit::{agree, lanes_agree};
use ludex_verify::{Certificate, Claim, Proof, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::certificates;
use super::generator::Generator;

/// How far the inputs went.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Depth {
    /// Inputs that a stage after reading accepted.
    pub n_accepted: usize,
    /// Answers that were compared: states of games, verdicts, texts read again.
    pub n_compared: usize,
}

impl AddAssign for Depth {
    fn add_assign(&mut self, other: Self) {
        self.n_accepted += other.n_accepted;
        self.n_compared += other.n_compared;
    }
}

/// Tries inputs. It holds a server, because starting one for each input would take long.
#[derive(Default)]
pub struct Trial {
    server: Option<(Server, Arc<Endpoint>)>,
}

/// Time limit of each stage.
const TIME: Duration = Duration::from_millis(500);
/// Steps of joins for one state: about a second of the reasoner.
const MAX_STEPS: u64 = 1 << 24;
/// Memory limit of each stage, in bytes.
const MEMORY: u64 = 100 << 20;
/// One in this many sheets goes through the stages that take long.
const RARELY: usize = 8;
/// States on which engines are compared.
const N_STATES: usize = 12;

impl Trial {
    /// Runs all stages on an input.
    ///
    /// # Errors
    /// Returns the difference if two ways to the same answer differ.
    pub fn try_input(&mut self, generator: Generator, input: &[u8]) -> Result<Depth, String> {
        let text = || String::from_utf8_lossy(input).into_owned();
        match generator {
            Generator::Bytes
            | Generator::Tokens
            | Generator::Nearly
            | Generator::Fresh
            | Generator::FreshChanged => try_sheet(input),
            Generator::Models => try_model(&text()),
            Generator::Xcsp3 => try_file(&text(), Format::Xcsp3),
            Generator::Qdimacs => try_file(&text(), Format::Qdimacs),
            Generator::Certificates => try_certificate(&text()),
            Generator::Records => try_record(input),
            Generator::Messages => Ok(try_message(&text())),
            Generator::Http => self.try_http(input),
        }
    }
}

fn try_sheet(input: &[u8]) -> Result<Depth, String> {
    let (source, _) = decode("fuzz", input);
    let options = |engine| LoadOptions { engine, time: TIME, memory: MEMORY };
    // A limit may stop it.
    let _ = ludex_pipeline::check(&source, &options(EngineChoice::Auto));
    let (sheet, _) = parse(&source);
    scramble(&sheet, Seed(1));
    print_infix(&sheet);
    let written = print_kif(&sheet);
    let seed = Seed(
        input.iter().fold(7, |sum: u64, &byte| sum.wrapping_mul(31).wrapping_add(byte.into())),
    );
    let is_rare = seed.rng().below(RARELY) == 0;
    // Players recode names and read them back.
    Codebook::scrambled(&sheet, Seed(1));

    let machine = load(source.clone(), &options(EngineChoice::Circuit));
    // Nobody sets deadlines for its states below.
    let mut limits = options(EngineChoice::Reasoner).limits();
    limits.sizes.steps = MAX_STEPS;
    let reasoner = load_within(source, EngineChoice::Reasoner, &limits);
    let mut depth = Depth::default();
    if let (
        Ok(LoadedGame { engine: Engine::Machine(machine), .. }),
        Ok(LoadedGame { engine: Engine::Reasoner(reasoner), .. }),
    ) = (&machine, &reasoner)
    {
        let deadline = Deadline::after(TIME);
        depth.n_compared += agree(machine, reasoner, N_STATES, seed, &deadline)
            .map_err(|words| format!("machine and reasoner: {words}"))?;
        if is_rare
            && let Ok(LoadedGame { engine: Engine::Machine(wide), .. }) =
                load(Source::new("fuzz", written), &options(EngineChoice::Wide))
        {
            lanes_agree(&wide, machine, 64, seed, &Deadline::after(TIME))
                .map_err(|words| format!("lanes and machine: {words}"))?;
        }
    }
    for loaded in [&machine, &reasoner].into_iter().flatten() {
        depth.n_accepted = 1;
        play(loaded, seed, is_rare);
    }
    if let Ok(LoadedGame { engine: Engine::Machine(machine), .. }) = &machine
        && is_rare
    {
        let config = EncodeConfig {
            deadline: Deadline::after(TIME),
            max_bytes: MEMORY,
            ..EncodeConfig::default()
        };
        if let Ok(template) = encode(machine.circuit(), &config) {
            // Networks that are too large are refused.
            let _ = template.unrolled_within(2, &config);
        }
    }
    Ok(depth)
}

/// Traces a game, draws the states of a play, and plays ten moves as a person does.
fn play(loaded: &LoadedGame, seed: Seed, is_rare: bool) {
    let layout = Layout::of(&loaded.program);
    with_game!(&loaded.engine, |game| {
        ludex_game::trace(game, &Deadline::after(TIME / 4));
        let deadline = Deadline::after(TIME / 4);
        let transcript = Transcript::of_random_play(game, "fuzz", seed, 6, &deadline);
        transcript_text(&transcript, &layout);
        let player = if is_rare { "uct" } else { "random" };
        let config = SessionConfig {
            person: game.roles().iter().position(|role| !role.is_random).map(RoleId::new),
            player: PlayerSpec::parse(player).expect("a player"),
            program: Arc::clone(&loaded.program),
            move_time: Duration::from_millis(2),
            n_threads: 1,
            memory: 16 << 20,
            deadline: Deadline::after(TIME / 4),
            seed,
            saved: None,
            width: 80,
        };
        // Without a person at the table a game can go on for as long as it likes.
        if config.person.is_some() && game.roles().len() <= MAX_ROLES_AT_PLAY {
            let (mut typed, mut page) = (TYPED.as_bytes(), Page { n_left: PAGE_BYTES });
            // A game without choices goes on by itself until the page is full.
            let end = session::play(game, &layout, &config, &mut typed, &mut page);
            assert!(!matches!(end, Ok(SessionEnd::Failed)), "the game panicked");
        }
    });
}

/// Takes some bytes, and then none.
struct Page {
    n_left: usize,
}

impl std::io::Write for Page {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.n_left = self.n_left.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::WriteZero)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// More than ten moves of any game are shown in fewer bytes.
const PAGE_BYTES: usize = 100_000;

/// With more roles the players take more time than a fuzzer has.
const MAX_ROLES_AT_PLAY: usize = 6;

/// Ten moves and some nonsense.
const TYPED: &str =
    "1\n1\nlist\n2\nnonsense (\n1\nundo\n1\n3\n1\n0\n1\n1\n99999999999999999999\n1\n1\nquit\n";

fn try_model(text: &str) -> Result<Depth, String> {
    let limits = ModelLimits {
        max_steps: 100_000,
        max_parts: 100_000,
        max_length: 10_000,
        max_scopes: 100,
        max_variables: 2000,
        ..ModelLimits::default()
    };
    let source = Source::new("fuzz.qcp", text);
    match ludex_model::compile(&source, &Data::default(), &limits, &Deadline::after(TIME)) {
        Ok(compiled) => try_problem(compiled.problem),
        Err(_) => Ok(Depth::default()),
    }
}

fn try_file(text: &str, format: Format) -> Result<Depth, String> {
    match ludex_formats::read(text, format, &Deadline::after(TIME)) {
        Ok(problem) => {
            let written = ludex_formats::write(&problem, format).ok();
            let depth = try_problem(problem)?;
            if let Some(written) = written {
                ludex_formats::read(&written, format, &Deadline::after(4 * TIME))
                    .map_err(|error| format!("what was written is refused: {error}"))?;
            }
            Ok(depth)
        }
        Err(_) => Ok(Depth::default()),
    }
}

/// Nodes that a solver may search.
const MAX_NODES: u64 = 2000;

/// Solves a problem in two ways, and compares the verdicts.
fn try_problem(problem: Problem) -> Result<Depth, String> {
    let verdicts: [Option<Verdict>; 2] = match &problem {
        Problem::Plain(network) => {
            // The second is slow and simple, and proves both answers.
            ["mac", "bt"].map(|name| {
                let found = SearchMethod::ALL.into_iter().find(|it| it.0 == name);
                let (_, method) = found.expect("a method");
                let mut options = SolveOptions { method, ..SolveOptions::default() };
                options.search.max_nodes = MAX_NODES;
                options.search.deadline = Deadline::after(TIME);
                ludex_csp::solve_by(network, &options, &mut |_, _| {})
                    .ok()
                    .map(|report| report.verdict())
            })
        }
        Problem::Quantified(model) => [Propagation::Auto, Propagation::None].map(|propagation| {
            let is_plain = propagation == Propagation::None;
            let default = ludex_qcsp::SolveConfig::default();
            let config = ludex_qcsp::SolveConfig {
                propagation,
                memory: !is_plain,
                learning: !is_plain && default.learning,
                backjumping: !is_plain && default.backjumping,
                pure_values: !is_plain && default.pure_values,
                n_threads: 1,
                max_nodes: MAX_NODES,
                deadline: Deadline::after(TIME),
                ..default
            };
            ludex_qcsp::solve(model, &config).ok().map(|report| report.verdict)
        }),
        Problem::Stochastic(network) => [true, false].map(|remembers| {
            let config = ludex_scsp::SolveConfig {
                remembers,
                max_nodes: MAX_NODES,
                deadline: Deadline::after(TIME),
                ..ludex_scsp::SolveConfig::default()
            };
            ludex_scsp::solve(network, &config).ok().map(|report| report.verdict)
        }),
    };
    match verdicts {
        [Some(Verdict::True), Some(Verdict::False)]
        | [Some(Verdict::False), Some(Verdict::True)] => {
            Err(format!("two ways to solve it differ: {verdicts:?}"))
        }
        [Some(first), Some(second)] => {
            Ok(Depth { n_accepted: 1, n_compared: usize::from(first == second) })
        }
        _ => Ok(Depth { n_accepted: 1, n_compared: 0 }),
    }
}

/// Reads, writes and reads a certificate, and checks it. What is accepted must agree with the values of the
/// game.
fn try_certificate(text: &str) -> Result<Depth, String> {
    let Ok(certificate) = Certificate::read(text) else { return Ok(Depth::default()) };
    let again = Certificate::read(&certificate.to_string());
    if again.as_ref() != Ok(&certificate) {
        return Err("another certificate was read than written".into());
    }
    let limits = Limits { max_bytes: MEMORY, ..Limits::usual().until(Deadline::after(TIME)) };
    let verdict = ludex_verify::verify(&certificate, &certificates::rules(), &limits);
    let depth = Depth { n_accepted: 1, n_compared: 0 };
    if verdict != ludex_verify::Verdict::Accepted {
        return Ok(depth);
    }
    match certificate.proofs.iter().find(|proof| !is_true(&certificate, proof)) {
        Some(proof) => Err(format!("a false claim was accepted: {}", proof.claim)),
        None => Ok(Depth { n_compared: 1, ..depth }),
    }
}

/// Returns whether a claim about the game of certificates is true, by arithmetic; true if the arithmetic does
/// not know.
fn is_true(certificate: &Certificate, proof: &Proof) -> bool {
    let Some(winner) = winner(certificate.start.as_deref()) else { return true };
    let value = |role: &str| Value::from(if role == winner { Goal::MAX } else { Goal::MIN });
    match &proof.claim {
        Claim::Plan(..) => false,
        Claim::AtLeast(role, least) => value(role) >= *least,
        Claim::AtMost(role, most) => value(role) <= *most,
        Claim::Values(values) => *values == [value("left"), value("right")],
    }
}

/// Returns who wins the game of certificates from a state: the role in control, unless the sum is 1 or 4.
/// `None` for sets of fluents that are no state of the game.
fn winner(start: Option<&[String]>) -> Option<&'static str> {
    let (control, sum) = match start {
        None => ("(control left)", "(sum 0)"),
        Some([control, sum]) => (control.as_str(), sum.as_str()),
        Some(_) => return None,
    };
    let (role, other) = match control {
        "(control left)" => ("left", "right"),
        "(control right)" => ("right", "left"),
        _ => return None,
    };
    match sum {
        "(sum 1)" | "(sum 4)" => Some(other),
        "(sum 0)" | "(sum 2)" | "(sum 3)" => Some(role),
        _ => None,
    }
}

fn try_record(input: &[u8]) -> Result<Depth, String> {
    let mut depth = Depth::default();
    for read_again in
        [again::<CommunityRecord>, again::<SeriesReport>, again::<Transcript>, again::<TraceRecord>]
    {
        depth += read_again(input)?;
    }
    Ok(depth)
}

/// Reads a value, writes it, and reads it again.
fn again<T: Serialize + DeserializeOwned + PartialEq>(input: &[u8]) -> Result<Depth, String> {
    let Ok(first) = serde_json::from_slice::<T>(input) else { return Ok(Depth::default()) };
    let written = serde_json::to_string(&first).map_err(|error| format!("not written: {error}"))?;
    let second: T =
        serde_json::from_str(&written).map_err(|error| format!("not read again: {error}"))?;
    if first == second {
        Ok(Depth { n_accepted: 1, n_compared: 1 })
    } else {
        Err("another value was read than written".into())
    }
}

fn try_message(text: &str) -> Depth {
    let request = Request::read(text);
    Info::read(text);
    ludex_protocol::read_move(text);
    ludex_protocol::wire_rules(text);
    ludex_protocol::shortened(text, 40);
    let term = Term::read(text);
    if let Ok(request) = &request {
        // What is written can be read.
        assert!(Request::read(&request.to_string()).is_ok(), "{request}");
    }
    let n_accepted = usize::from(request.is_ok() || term.is_some());
    Depth { n_accepted, n_compared: usize::from(request.is_ok()) }
}

impl Trial {
    /// Sends bytes to a player, which must still answer another request, and as a reply to a referee.
    fn try_http(&mut self, input: &[u8]) -> Result<Depth, String> {
        let (server, endpoint) = self.server.get_or_insert_with(start_server);
        let address = server.address();
        let reply = exchange(address, input).map_err(|error| format!("no exchange: {error}"))?;
        endpoint.end_all();
        let own =
            Address::parse(&format!("http://{address}")).map_err(|error| error.to_string())?;
        ludex_net::info(&own).map_err(|error| format!("no answer afterwards: {error}"))?;
        // The same bytes as the reply of a peer.
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
        let peer = listener.local_addr().map_err(|error| error.to_string())?;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                if let Ok((mut stream, _)) = listener.accept() {
                    // The referee may hang up early.
                    let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n");
                    let _ = stream.write_all(input);
                }
            });
            let peer =
                Address::parse(&format!("http://{peer}")).map_err(|error| error.to_string())?;
            // Any error will do.
            let _ = ludex_net::ask(&peer, "", "(INFO)", &Deadline::after(2 * TIME));
            Ok::<(), String>(())
        })?;
        let is_accepted = reply.starts_with(b"HTTP/1.0 200") || reply.starts_with(b"HTTP/1.1 200");
        Ok(Depth { n_accepted: usize::from(is_accepted), n_compared: 1 })
    }
}

fn start_server() -> (Server, Arc<Endpoint>) {
    let config = EndpointConfig {
        name: "Ludex".into(),
        spec: PlayerSpec::parse("random").expect("a player"),
        player: PlayerConfig::new(Seed(1)),
        load_memory: MEMORY,
        max_matches: 2,
    };
    let endpoint = Arc::new(Endpoint::new(config, Arc::new(|_| {})));
    let server = Server::start("127.0.0.1:0", Arc::clone(&endpoint)).expect("a port is free");
    (server, endpoint)
}

/// Sends bytes and reads the beginning of the reply.
fn exchange(address: SocketAddr, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    // The player may refuse early and hang up.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut reply = vec![0; 200];
    let n_read = stream.read(&mut reply).unwrap_or(0);
    reply.truncate(n_read);
    Ok(reply)
}
