//! The manager's side against scripted players, with and without faults.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ludex_base::{Deadline, RoleId, Seed};
use ludex_protocol::{Codebook, wire_rules};
use ludex_referee::{
    Clocks, Ending, Lapse, MAX_STEPS, MatchConfig, MatchRecord, Seat, play_match, replay,
};

use super::{CARD, DUEL, loaded};
use crate::{Address, AskError, RemoteMatch, RemoteSeat, ask, info};

/// How a scripted player reacts to a message.
#[derive(Clone, Debug)]
enum Act {
    /// Writes these bytes and closes.
    Bytes(Vec<u8>),
    /// Writes a byte at a time, this many milliseconds apart.
    Drip(Vec<u8>, u64),
    /// Writes zeros until the peer closes.
    Flood,
    /// Stays silent until the peer closes.
    Silence,
}

fn body(text: &str) -> Act {
    Act::Bytes(format!("HTTP/1.0 200 OK\r\nContent-length: {}\r\n\r\n{text}", text.len()).into())
}

/// A player that follows its script and keeps every request.
struct Scripted {
    address: Address,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Scripted {
    /// The script maps the body of each request to an act.
    fn new(script: impl Fn(&str) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it listens").port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (noted, script) = (Arc::clone(&requests), Arc::new(script));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (noted, script) = (Arc::clone(&noted), Arc::clone(&script));
                std::thread::spawn(move || {
                    let request = read_request(&stream);
                    let body = request.split_once("\r\n\r\n").map_or("", |(_, body)| body);
                    let act = script(body);
                    noted.lock().expect("nobody panics").push(request.clone());
                    perform(&stream, act);
                });
            }
        });
        let address = Address::parse(&format!("http://127.0.0.1:{port}")).expect("an address");
        Self { address, requests }
    }

    fn bodies(&self) -> Vec<String> {
        let requests = self.requests.lock().expect("nobody panics");
        let body = |request: &String| {
            request.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.to_owned())
        };
        requests.iter().map(body).collect()
    }
}

fn read_request(mut stream: &TcpStream) -> String {
    let mut text = String::new();
    let mut block = [0; 4096];
    loop {
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
            let length: usize = length.expect("managers say it").parse().expect("a number");
            if body.len() >= length {
                return text;
            }
        }
        match stream.read(&mut block) {
            Ok(0) | Err(_) => return text,
            Ok(n_bytes) => text.push_str(&String::from_utf8_lossy(&block[..n_bytes])),
        }
    }
}

fn perform(mut stream: &TcpStream, act: Act) {
    match act {
        Act::Bytes(bytes) => drop(stream.write_all(&bytes)),
        Act::Drip(bytes, ms) => {
            for byte in bytes {
                std::thread::sleep(Duration::from_millis(ms));
                if stream.write_all(&[byte]).is_err() {
                    return;
                }
            }
        }
        Act::Flood => {
            let block = [b'0'; 64 << 10];
            while stream.write_all(&block).is_ok() {}
        }
        Act::Silence => drop(stream.read(&mut [0; 16])),
    }
}

/// The settings of a test match.
struct Setting<'a> {
    rules: &'a str,
    codebook: fn(&str) -> Codebook,
    preview_clock: Option<Duration>,
    stop: Deadline,
    clock: Duration,
}

fn plain(rules: &str) -> Codebook {
    Codebook::plain(&ludex_gdl::parse(&ludex_base::Source::new("test", rules)).0)
}

fn scrambled(rules: &str) -> Codebook {
    Codebook::scrambled(&ludex_gdl::parse(&ludex_base::Source::new("test", rules)).0, Seed(7))
}

impl<'a> Setting<'a> {
    fn new(rules: &'a str) -> Self {
        let clock = Duration::from_secs(1);
        Self { rules, codebook: plain, preview_clock: None, stop: Deadline::never(), clock }
    }

    /// Plays with one address per seat.
    fn play(&self, addresses: &[&Address]) -> MatchRecord {
        let (_, game) = loaded(self.rules);
        let clocks = Clocks { start: self.clock, play: self.clock };
        let shared = Arc::new(RemoteMatch {
            match_id: "m.1".into(),
            codebook: (self.codebook)(self.rules),
            clocks,
            preview_clock: self.preview_clock,
            stop: self.stop.clone(),
        });
        let mut addresses = addresses.iter();
        let roles = ludex_game::Game::roles(&game).to_vec();
        let mut seats: Vec<Option<Box<dyn Seat>>> = Vec::new();
        for role in roles {
            let seat = (!role.is_random).then(|| -> Box<dyn Seat> {
                let address = (*addresses.next().expect("one address per seat")).clone();
                let shared = Arc::clone(&shared);
                Box::new(RemoteSeat::new(game.clone(), address, "Rose".into(), shared))
            });
            seats.push(seat);
        }
        let config = MatchConfig {
            number: 0,
            seed: Seed(1),
            clocks,
            max_steps: MAX_STEPS,
            stop: self.stop.clone(),
            watcher: None,
        };
        let record = play_match(&game, &mut seats, &config);
        if record.ending == Ending::Terminal {
            assert_eq!(replay(&game, &record), Ok(record.goals.clone()));
        }
        record
    }
}

fn lapses(record: &MatchRecord, role: usize) -> Vec<Lapse> {
    record.lapses(RoleId::new(role)).cloned().collect()
}

/// A player that answers `ready`, `done` and always the same move.
fn says(text: &'static str) -> Scripted {
    Scripted::new(move |message| match message.split_whitespace().nth(1) {
        Some("PLAY") => body(text),
        Some("STOP") => body("done"),
        _ => body("ready"),
    })
}

#[test]
fn messages_are_those_of_the_reference_to_the_byte() {
    let (left, right) = (says("a"), says("( say b )"));
    let setting = Setting { preview_clock: Some(Duration::from_secs(1)), ..Setting::new(DUEL) };
    let record = setting.play(&[&left.address, &right.address]);
    assert!(lapses(&record, 0).is_empty() && lapses(&record, 1).is_empty(), "{record:?}");
    assert_eq!(record.steps[0].moves, ["a", "(say b)"]);
    let rules = wire_rules(DUEL);
    let expected = |role: &str| {
        [
            format!("( PREVIEW {rules} 1 )"),
            format!("( START m.1 {role} {rules} 1 1)"),
            "( PLAY m.1 NIL )".to_owned(),
            "( PLAY m.1 (a ( say b ) ) )".to_owned(),
            "( STOP m.1 (a ( say b ) ) )".to_owned(),
        ]
    };
    assert_eq!(left.bodies(), expected("left"));
    assert_eq!(right.bodies(), expected("right"));
    let first_play = left.requests.lock().expect("nobody panics")[2].clone();
    assert_eq!(
        first_play,
        "POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: 127.0.0.1\r\nSender: GAMESERVER\r\n\
         Receiver: Rose\r\nContent-Type: text/acl\r\nContent-Length: 16\r\n\r\n( PLAY m.1 NIL )"
    );
}

#[test]
fn a_role_with_percepts_gets_only_its_own_move() {
    let player = Scripted::new(|message| match message {
        _ if message.contains("( card red )") && message.contains("PLAY") => body("( name red )"),
        _ if message.contains("( card blue )") && message.contains("PLAY") => body("( name blue )"),
        _ if message.contains("PLAY") => body("noop"),
        _ => body("ready"),
    });
    let record = Setting::new(CARD).play(&[&player.address]);
    assert!(lapses(&record, 0).is_empty(), "{record:?}");
    assert_eq!(record.goals[0].value(), 100);
    let card = if record.steps[0].moves[1] == "(deal red)" { "red" } else { "blue" };
    assert_eq!(
        player.bodies(),
        [
            format!("( START m.1 me {} 1 1)", wire_rules(CARD)),
            "( PLAY m.1 0 NIL () )".to_owned(),
            format!("( PLAY m.1 1 noop (( card {card} ) ) )"),
            format!("( STOP m.1 2 ( name {card} ) () )"),
        ]
    );
}

/// A game of chance without percepts and with one step.
const COIN: &str =
    "(role me) (role random) (init begun) (legal me wait) (<= (next over) (true begun))
    (legal random (toss heads)) (<= terminal (true over)) (goal me 50) (goal random 50)";

#[test]
fn a_joint_move_contains_the_move_of_random() {
    let player = says("wait");
    let record = Setting::new(COIN).play(&[&player.address]);
    assert!(lapses(&record, 0).is_empty(), "{record:?}");
    let bodies = player.bodies();
    assert_eq!(bodies[1..], ["( PLAY m.1 NIL )", "( STOP m.1 (wait ( toss heads ) ) )"]);
}

#[test]
fn a_scrambled_match_is_recorded_in_the_names_of_the_game() {
    let book = scrambled(DUEL);
    let said = book.send("(say b)").expect("a term").to_string().to_uppercase();
    let player = Scripted::new(
        move |message| if message.contains("PLAY") { body(&said) } else { body("ready") },
    );
    let setting = Setting { codebook: scrambled, ..Setting::new(DUEL) };
    let record = setting.play(&[&player.address, &player.address]);
    assert_eq!(record.steps[1].moves, ["(say b)", "(say b)"]);
    assert!(lapses(&record, 0).is_empty(), "{record:?}");
    let bodies = player.bodies();
    assert!(bodies.iter().all(|body| !body.contains("left") && !body.contains("say")));
    assert!(bodies.iter().all(|body| body.contains(" m.1 ")));
}

/// A player that reacts to `play` with this act.
fn answers(act: Act) -> Scripted {
    Scripted::new(move |message| if message.contains("PLAY") { act.clone() } else { body("ready") })
}

#[test]
fn replies_may_have_any_form() {
    let forms: [&[u8]; 10] = [
        b"HTTP/1.0 200 OK\r\nContent-type: text/acl\r\nContent-length: 9\r\n\r\n( say b )",
        b"HTTP/1.1 200 OK\r\nCONTENT-LENGTH: 7\r\n\r\n(say b)and more",
        b"HTTP/1.1 500 Oops\ncontent-length:9\n\n( say b )",
        b"HTTP/1.0 200 OK\r\n\r\n( say b )\r\n",
        b"HTTP/1.0 200 OK\r\nServer: x\r\n\r\n(say\r\nb)",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n(say\r\n3\r\n b)\r\n0\r\n\r\n",
        b"http/1.0 200 OK\r\nContent-length: 7\r\n\r\n(say b)",
        b"HTTP/1.0 OK\r\nContent-length: 7\r\n\r\n(say b)",
        b"HTTP/2 200 OK\r\nContent-length: 7\r\n\r\n(say b)",
        b"HTTP/1.0 200 OK\r\nno colon\r\nContent-length : 7\r\n\r\n(say b)",
    ];
    for form in forms {
        let player = answers(Act::Bytes(form.to_vec()));
        let record = Setting::new(DUEL).play(&[&player.address, &player.address]);
        let shown = String::from_utf8_lossy(form);
        assert!(lapses(&record, 0).is_empty(), "{shown:?}: {:?}", lapses(&record, 0));
    }
}

#[test]
fn illegal_replies_are_replaced_and_recorded() {
    let illegal = |text: &str| Lapse::Illegal(text.into());
    let null = || illegal("null");
    let bytes = |text: &str| Act::Bytes(text.as_bytes().to_vec());
    let gigabyte = "HTTP/1.0 200 OK\r\nContent-length: 1000000000\r\n\r\n( say b )";
    let cases = [
        (body("( SAY B )"), illegal("(SAY B)")),
        (body("busy"), illegal("busy")),
        (body("nil"), illegal("nil")),
        (body("castle"), illegal("castle")),
        (body(""), null()),
        (body("( say"), null()),
        (body("a b"), null()),
        (body(&"x".repeat(70_000)), null()),
        (bytes(gigabyte), null()),
    ];
    for (act, lapse) in cases {
        let player = answers(act.clone());
        let record = Setting::new(DUEL).play(&[&player.address, &player.address]);
        assert_eq!(record.ending, Ending::Terminal);
        assert_eq!(lapses(&record, 1), vec![lapse; 2], "{act:?}");
    }
    // Without a length, the reader stops after the first megabyte.
    let head = b"HTTP/1.0 200 OK\r\n\r\n".to_vec();
    let endless = answers(Act::Bytes([head, vec![b'x'; 3 << 20]].concat()));
    let record = Setting::new(DUEL).play(&[&endless.address, &endless.address]);
    assert_eq!(lapses(&record, 0), vec![null(); 2]);
}

#[test]
fn a_missing_or_broken_connection_is_a_failure() {
    let failed = |lapses: &[Lapse]| lapses.iter().all(|lapse| matches!(lapse, Lapse::Failed(_)));
    let nobody = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it listens").port();
        Address::parse(&format!("http://127.0.0.1:{port}")).expect("an address")
    };
    let record = Setting::new(DUEL).play(&[&nobody, &says("a").address]);
    assert_eq!((lapses(&record, 0).len(), lapses(&record, 1).len()), (3, 0), "{record:?}");
    assert!(failed(&lapses(&record, 0)), "{record:?}");
    assert!(matches!(info(&nobody), Err(AskError::Connection(_))));
    for bytes in [
        "",
        "HTTP/1.0 200 OK\r\nContent-le",
        "HTTP/1.0 200 OK\r\nContent-length: 9\r\n\r\n( sa",
        "( say b )\r\n\r\n",
    ] {
        let player = answers(Act::Bytes(bytes.as_bytes().to_vec()));
        let record = Setting::new(DUEL).play(&[&player.address, &player.address]);
        let found = lapses(&record, 0);
        assert!(found.len() == 2 && failed(&found), "{bytes:?}: {found:?}");
    }
}

#[test]
fn a_late_reply_is_late_however_slowly_it_arrives() {
    let reply = b"HTTP/1.0 200 OK\r\nContent-length: 9\r\n\r\n( say b )".to_vec();
    for act in [Act::Silence, Act::Drip(reply, 1000), Act::Flood] {
        let player = answers(act.clone());
        let asked = Instant::now();
        let record = Setting::new(DUEL).play(&[&player.address, &says("a").address]);
        // A flood never forms the head of a reply.
        let found = lapses(&record, 0);
        let is_flood = matches!(act, Act::Flood);
        assert!(
            found == vec![Lapse::Late; 2]
                || (is_flood && found == vec![Lapse::Illegal("null".into()); 2]),
            "{act:?}: {found:?}"
        );
        assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
        assert!(lapses(&record, 1).is_empty(), "the others are not disturbed");
    }
    let slow_start =
        Scripted::new(|message| if message.contains("START") { Act::Silence } else { body("a") });
    let record = Setting::new(DUEL).play(&[&slow_start.address, &says("a").address]);
    assert_eq!(lapses(&record, 0), [Lapse::Late], "only the start was late");
    // Players of the reference implementation do not understand `preview`.
    let no_preview =
        Scripted::new(|message| if message.contains("PREVIEW") { Act::Silence } else { body("a") });
    let setting = Setting { preview_clock: Some(Duration::from_secs(1)), ..Setting::new(DUEL) };
    let record = setting.play(&[&no_preview.address, &says("a").address]);
    assert_eq!(lapses(&record, 0), [Lapse::Late], "only the preview was late");
    assert_eq!(record.ending, Ending::Terminal);
}

#[test]
fn a_busy_player_is_asked_for_moves_all_the_same() {
    let player = Scripted::new(|_| body("busy"));
    let record = Setting::new(DUEL).play(&[&player.address, &says("a").address]);
    assert_eq!(lapses(&record, 0), vec![Lapse::Illegal("busy".into()); 2], "not at the start");
    assert_eq!(player.bodies().len(), 4, "start, two moves, stop");
}

#[test]
fn players_are_asked_at_the_same_time() {
    let slow = || {
        Scripted::new(|message| {
            if message.contains("PLAY") {
                std::thread::sleep(Duration::from_millis(300));
            }
            body("a")
        })
    };
    let setting = Setting { clock: Duration::from_secs(5), ..Setting::new(DUEL) };
    // A busy machine may take longer, but not every time.
    let is_at_once = (0..5).any(|_| {
        let asked = Instant::now();
        let record = setting.play(&[&slow().address, &slow().address]);
        assert!(lapses(&record, 0).is_empty() && lapses(&record, 1).is_empty());
        asked.elapsed() < Duration::from_millis(1100)
    });
    assert!(is_at_once, "two steps take 0.3 s each, not 0.6 s");
}

#[test]
fn an_interrupt_aborts_the_match_at_once() {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    let player = Scripted::new(move |message| {
        if message.contains("PLAY") {
            set.store(true, Ordering::Relaxed);
            return Act::Silence;
        }
        body("ready")
    });
    let stop = Deadline::never().or_when(flag);
    let setting = Setting { clock: Duration::from_secs(60), stop, ..Setting::new(DUEL) };
    let asked = Instant::now();
    let record = setting.play(&[&player.address, &player.address]);
    assert_eq!((record.ending, record.steps.len()), (Ending::Interrupted, 0));
    assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
    let aborts = player.bodies().iter().filter(|body| *body == "( ABORT m.1 )").count();
    assert_eq!(aborts, 2, "{:?}", player.bodies());
}

#[test]
fn stop_is_sent_in_spite_of_an_interrupt() {
    let player = says("a");
    let (_, game) = loaded(DUEL);
    let clock = Duration::from_secs(5);
    let shared = Arc::new(RemoteMatch {
        match_id: "m.1".into(),
        codebook: plain(DUEL),
        clocks: Clocks { start: clock, play: clock },
        preview_clock: None,
        stop: Deadline::never().or_when(Arc::new(AtomicBool::new(true))),
    });
    let mut seat = RemoteSeat::new(game, player.address.clone(), "Rose".into(), shared);
    seat.stop(ludex_player::Seen::Nothing);
    assert_eq!(player.bodies(), ["( STOP m.1 NIL )"]);
}

#[test]
fn names_come_from_info_in_every_form() {
    let player = Scripted::new(|message| {
        assert_eq!(message, "( INFO )");
        body("( ( name Rose ) ( status busy ) )")
    });
    let found = info(&player.address).expect("it answers");
    assert_eq!((found.name.as_str(), found.status), ("Rose", ludex_protocol::Status::Busy));
    let silent = Scripted::new(|_| Act::Silence);
    let late = ask(&silent.address, "", "( INFO )", &Deadline::after(Duration::from_millis(100)));
    assert_eq!(late, Err(AskError::Late));
}
