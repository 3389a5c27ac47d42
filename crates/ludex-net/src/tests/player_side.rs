//! The player's side against scripted managers.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ludex_base::Seed;
use ludex_player::{PlayerConfig, PlayerSpec};
use ludex_protocol::wire_rules;

use super::{CARD, DUEL};
use crate::{Endpoint, EndpointConfig, Event, Server};

struct Player {
    server: Server,
    endpoint: Arc<Endpoint>,
    events: Arc<Mutex<Vec<Event>>>,
}

fn player_with(spec: &str, max_matches: usize, iterations: Option<u64>) -> Player {
    let events = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&events);
    let config = EndpointConfig {
        name: "Ludex".into(),
        spec: PlayerSpec::parse(spec).expect("it is there"),
        player: PlayerConfig { iterations, ..PlayerConfig::new(Seed(1)) },
        load_memory: 1 << 30,
        max_matches,
    };
    let observe = move |event: &Event| noted.lock().expect("nobody panics").push(event.clone());
    let endpoint = Arc::new(Endpoint::new(config, Arc::new(observe)));
    let server = Server::start("127.0.0.1:0", Arc::clone(&endpoint)).expect("a port is free");
    Player { server, endpoint, events }
}

/// A player that is quick on any clock.
fn player() -> Player {
    player_with("uct", 1, Some(50))
}

/// Sends bytes and reads the whole reply.
fn exchange(address: SocketAddr, bytes: &[u8], half_closes: bool) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
    stream.write_all(bytes).expect("it takes bytes");
    if half_closes {
        stream.shutdown(Shutdown::Write).expect("half of it closes");
    }
    let mut reply = String::new();
    stream.read_to_string(&mut reply).expect("a reply, and the end");
    reply
}

/// The request as the reference implementation sends it.
fn reference_request(message: &str) -> String {
    format!(
        "POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: localhost\r\nSender: GAMESERVER\r\n\
         Receiver: \r\nContent-Type: text/acl\r\nContent-Length: {}\r\n\r\n{message}",
        message.len()
    )
}

/// The reply as the reference implementation sends it.
fn reference_reply(body: &str) -> String {
    format!(
        "HTTP/1.0 200 OK\r\nContent-type: text/acl\r\nContent-length: {}\r\n\
         Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Methods: POST, GET, OPTIONS\r\n\
         Access-Control-Allow-Headers: Content-Type\r\nAccess-Control-Allow-Age: 86400\r\n\r\n\
         {body}",
        body.len()
    )
}

impl Player {
    fn post(&self, message: &str) -> String {
        let reply = exchange(self.server.address(), reference_request(message).as_bytes(), false);
        let (head, body) = reply.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.starts_with("HTTP/1.0 "), "{head}");
        body.to_owned()
    }

    fn start(&self, match_id: &str, role: &str, rules: &str) -> String {
        self.post(&format!("( START {match_id} {role} {} 5 5)", wire_rules(rules)))
    }

    /// Sends messages one after another, each with the reply that is expected.
    #[track_caller]
    fn converse(&self, dialogue: &[(&str, &str)]) {
        for (place, (message, reply)) in dialogue.iter().enumerate() {
            assert_eq!(self.post(message), *reply, "message {place}: {message}");
        }
    }

    #[track_caller]
    fn check(&self, message: &str, body: &str) {
        let reply = exchange(self.server.address(), reference_request(message).as_bytes(), false);
        assert_eq!(reply, reference_reply(body), "{message}");
    }
}

const AVAILABLE: &str = "( ( name Ludex ) ( status available ) )";
const BUSY: &str = "( ( name Ludex ) ( status busy ) )";

#[test]
fn each_row_of_the_table_of_messages_has_its_reply() {
    let player = player();
    let rules = wire_rules(DUEL);
    let is_move = |reply: &str| assert!(["a", "( say b )"].contains(&reply), "{reply}");
    player.check("( INFO )", AVAILABLE);
    player.check("(ping)", "available");
    player.check(&format!("( PREVIEW {rules} 5 )"), "ready");
    player.check("( PLAY m1 NIL )", "busy");
    player.check("( STOP m1 NIL )", "busy");
    player.check("( ABORT m1 )", "busy");
    player.check(&format!("( START m1 left {rules} 5 5)"), "ready");
    player.check("( INFO )", BUSY);
    player.check("(ping)", "busy");
    player.check(&format!("( PREVIEW {rules} 5 )"), "busy");
    player.check(&format!("( START m2 left {rules} 5 5)"), "busy");
    is_move(&player.post("( PLAY m1 NIL )"));
    player.check("( PLAY m2 NIL )", "busy");
    is_move(&player.post("( PLAY m1 (a ( say b ) ) )"));
    player.check("( STOP m2 (a a ) )", "busy");
    player.check("( STOP m1 (a a ) )", "done");
    player.check("( STOP m1 (a a ) )", "busy");
    player.check(&format!("( START m3 right {rules} 5 5)"), "ready");
    player.check("( ABORT m4 )", "busy");
    player.check("( ABORT m3 )", "aborted");
    player.check("( INFO )", AVAILABLE);
}

#[test]
fn requests_may_have_any_form() {
    let player = player();
    let address = player.server.address();
    let forms = [
        ("POST / HTTP/1.0\r\nContent-Length: 8\r\n\r\n( INFO )", false),
        ("post / HTTP/1.1\r\nHOST: x\r\nCONTENT-LENGTH: 8\r\n\r\n( INFO )", false),
        ("Post / HTTP/1.1\ncontent-length: 8\n\n( info )", false),
        // Without a length: until the peer closes its half, or until the list is whole.
        ("POST / HTTP/1.0\r\n\r\n( INFO )", true),
        ("POST / HTTP/1.0\r\n\r\n( INFO )", false),
        ("POST / HTTP/1.0\r\n\r\ninfo", true),
        ("POST / HTTP/1.0\r\n\r\n(\r\nINFO\r\n)\r\n", true),
        (
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n( I\r\n5\r\nNFO )\r\n0\r\n\r\n",
            false,
        ),
        ("GET /%28+INFO%20%29 HTTP/1.0\r\n\r\n", false),
        ("get /(INFO) HTTP/1.1\r\nHost: x\r\n\r\n", false),
        // Only the verb and the message of the first line matter.
        ("POST / http/1.0\r\nContent-Length: 8\r\n\r\n( INFO )", false),
        ("POST /\r\nContent-Length: 8\r\n\r\n( INFO )", false),
        ("POST / HTTP/2.0\r\nContent-Length: 8\r\n\r\n( INFO )", false),
        ("GET /( INFO ) HTTP/1.0\r\n\r\n", false),
        ("GET http://h/(INFO)\r\n\r\n", false),
        // Bytes after the announced length are ignored.
        ("POST / HTTP/1.0\r\nContent-Length: 8\r\n\r\n( INFO )\r\n\r\nand more", false),
        ("POST / HTTP/1.0\r\nno colon here\r\nContent-Length: 8\r\n\r\n( INFO )", false),
    ];
    for (request, half_closes) in forms {
        let reply = exchange(address, request.as_bytes(), half_closes);
        assert_eq!(reply, reference_reply(AVAILABLE), "{request:?}");
    }
    let options = exchange(address, b"OPTIONS / HTTP/1.1\r\nHost: x\r\n\r\n", false);
    assert_eq!(options, reference_reply(""));
    let expecting = "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 8\r\n\r\n( INFO )";
    let reply = exchange(address, expecting.as_bytes(), false);
    assert_eq!(reply, format!("HTTP/1.1 100 Continue\r\n\r\n{}", reference_reply(AVAILABLE)));
}

#[test]
fn malformed_messages_get_an_error_and_are_closed() {
    let player = player();
    let address = player.server.address();
    let wrong = [
        ("POST / HTTP/1.0\r\nContent-Length: 0\r\n\r\n", "400", "the message is empty"),
        ("POST / HTTP/1.0\r\nContent-Length: 7\r\n\r\n(hello)", "400", "unknown message `hello`"),
        ("POST / HTTP/1.0\r\nContent-Length: 9\r\n\r\n( START )", "400", "`start` needs a match"),
        (
            "POST / HTTP/1.0\r\nContent-Length: 99999999999\r\n\r\n",
            "413",
            "more than 16777216 bytes",
        ),
        ("GET /favicon.ico HTTP/1.1\r\n\r\n", "400", "unknown message `favicon.ico`"),
        ("what is this?\r\n\r\n", "400", "is not HTTP"),
    ];
    for (request, status, words) in wrong {
        let reply = exchange(address, request.as_bytes(), false);
        assert!(reply.starts_with(&format!("HTTP/1.0 {status} ")), "{request:?}: {reply}");
        assert!(reply.contains(words), "{request:?}: {reply}");
    }
    let cut = exchange(address, b"POST / HTTP/1.0\r\nContent-Length: 80\r\n\r\n( INFO )", true);
    assert!(cut.contains("ended in the middle"), "{cut}");
    assert_eq!(exchange(address, b"", true), "", "an empty message gets no reply");
    player.check("( INFO )", AVAILABLE);
}

#[test]
fn silent_and_incomplete_connections_delay_nobody() {
    let player = player();
    let address = player.server.address();
    let mut silent = Vec::new();
    for number in 0..3 * crate::server::MAX_CONNECTIONS {
        let mut stream = TcpStream::connect(address).expect("it listens");
        if number % 2 == 0 {
            // The server may have closed it to make room.
            let _ = stream.write_all(b"POST / HTTP/1.0\r\nContent-Length: 100\r\n\r\n( INF");
        }
        silent.push(stream);
    }
    let asked = Instant::now();
    player.check("( INFO )", AVAILABLE);
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
}

#[test]
fn abandoned_requests_do_not_block_the_player() {
    let player = player_with("uct", 1, None);
    let start = format!("( START m left {} 1 600)", wire_rules(DUEL));
    assert_eq!(player.post(&start), "ready");
    let request = reference_request("( PLAY m NIL )");
    let ask = |_| {
        let mut stream = TcpStream::connect(player.server.address()).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
        stream.write_all(request.as_bytes()).expect("it takes bytes");
        stream
    };
    let asking: Vec<TcpStream> = (0..400).map(ask).collect();
    let asked = Instant::now();
    player.check("( INFO )", BUSY);
    player.check("( ABORT m )", "aborted");
    player.check("( INFO )", AVAILABLE);
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    let replies = asking.into_iter().map(|mut stream| {
        let mut reply = String::new();
        // The server closed the connections that were one too many.
        let _ = stream.read_to_string(&mut reply);
        reply.rsplit_once("\r\n").map_or(String::new(), |(_, body)| body.to_owned())
    });
    let n_moves = replies.filter(|reply| ["a", "( say b )"].contains(&reply.as_str())).count();
    assert!(n_moves <= 2, "at most two requests get a move, {n_moves} did");
}

#[test]
fn matches_aborted_while_loading_leave_nothing_behind() {
    // Nine places for eight letters: far too many instances to ground in time.
    let letters = "(d 0) (d 1) (d 2) (d 3) (d 4) (d 5) (d 6) (d 7)";
    let [args, body]: [String; 2] = ["?x", "(d ?x"].map(|start| {
        let end = if start.starts_with('(') { ")" } else { "" };
        (0..9).map(|n| format!("{start}{n}{end} ")).collect()
    });
    let huge = format!(
        "(role me) {letters} (init begun) (legal me wait) (<= (legal me (go {args})) {body})
         (<= (next (at {args})) (does me (go {args}))) (<= terminal (not (true begun))) (goal me 100)"
    );
    let player = Arc::new(player());
    for number in 0..8 {
        let start = format!("( START m{number} me {} 60 5)", wire_rules(&huge));
        let starting = Arc::clone(&player);
        let thread = std::thread::spawn(move || starting.post(&start));
        let abort = format!("( ABORT m{number} )");
        let asked = Instant::now();
        while player.post(&abort) != "aborted" {
            assert!(asked.elapsed() < Duration::from_secs(10), "match {number} cannot begin");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(thread.join().expect("it is answered"), "busy");
    }
    let asked = Instant::now();
    while player.start("m", "left", DUEL) != "ready" {
        assert!(asked.elapsed() < Duration::from_secs(10), "an aborted match goes on");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_panicking_observer_disturbs_no_match() {
    let config = EndpointConfig {
        name: "Ludex".into(),
        spec: PlayerSpec::parse("random").expect("it is there"),
        player: PlayerConfig::new(Seed(1)),
        load_memory: 1 << 30,
        max_matches: 1,
    };
    let endpoint = Arc::new(Endpoint::new(config, Arc::new(|event| panic!("{event:?}"))));
    let server = Server::start("127.0.0.1:0", Arc::clone(&endpoint)).expect("a port is free");
    let player = Player { server, endpoint, events: Arc::default() };
    assert_eq!(player.start("m", "left", DUEL), "ready");
    for news in ["NIL", "(a a)"] {
        let reply = player.post(&format!("( PLAY m {news} )"));
        assert!(["a", "( say b )"].contains(&reply.as_str()), "{reply}");
    }
    player.check("( STOP m (a a) )", "done");
}

#[test]
fn a_panicking_search_is_reported_and_replaced() {
    let player = player_with("uct", 1, Some(50));
    player.endpoint.breaks_down.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(player.start("m", "x", ROW), "ready");
    assert!(player.post("( PLAY m NIL )").starts_with("( mark "));
    assert_eq!(player.post("( PLAY m (( mark 1 ) noop ) )"), "noop");
    assert_eq!(player.post("( PLAY m (noop ( mark 2 ) ) )"), "( mark 3 )");
    player.check("( STOP m (( mark 3 ) noop ) )", "done");
    player.check("( INFO )", AVAILABLE);
    let events = player.events.lock().expect("nobody panics");
    let is_reported = events.iter().any(|event| match event {
        Event::Moved { thought, .. } => thought.note.contains("the search panicked"),
        _ => false,
    });
    assert!(is_reported, "{events:?}");
}

#[test]
fn the_circuit_takes_over_in_a_match() {
    let player = player_with("uct", 1, Some(50));
    let latch = &player.endpoint.loaders.latch;
    latch.hold(true);
    let start = format!("( START m x {} 1 5)", wire_rules(ROW));
    assert_eq!(player.post(&start), "ready");
    let engines = || -> Vec<&'static str> {
        let events = player.events.lock().expect("nobody panics");
        let engine = |event: &Event| match event {
            Event::Loaded { engine, .. } => Some(*engine),
            _ => None,
        };
        events.iter().filter_map(engine).collect()
    };
    assert_eq!(engines(), ["reasoner"]);
    assert!(player.post("( PLAY m NIL )").starts_with("( mark "));
    assert_eq!(engines(), ["reasoner"], "the circuit is held back");

    // Both loads have handed over before the next move is asked for.
    latch.hold(false);
    latch.wait_for(2);
    assert_eq!(player.post("( PLAY m (( mark 1 ) noop ) )"), "noop");
    assert_eq!(engines(), ["reasoner", "circuit"]);
    // Only a player that has followed the match knows that one cell is left.
    assert_eq!(player.post("( PLAY m (noop ( mark 2 ) ) )"), "( mark 3 )");
    player.check("( STOP m (( mark 3 ) noop ) )", "done");
    player.check("( INFO )", AVAILABLE);
    assert_eq!(engines(), ["reasoner", "circuit"], "it takes over once");
}

#[test]
fn rules_that_cannot_be_played_are_refused_and_forgotten() {
    let player = player();
    let wrong = [
        "this is no rulesheet",
        "(<= (legal left ?x) (not (true ?x)))",
        // No role, no move, no end.
        "(p a) (p b)",
    ];
    for rules in wrong {
        assert_eq!(player.start("odd", "left", rules), "busy", "{rules}");
        player.check("( PLAY odd NIL )", "busy");
        player.check("( INFO )", AVAILABLE);
    }
    assert_eq!(player.start("odd", "nobody", DUEL), "busy");
    // A megabyte of useless facts.
    let huge = "(p (f (g a b) (h c d)) 1 2 3) ".repeat(40_000);
    assert_eq!(player.start("huge", "left", &huge), "busy");
    player.check("( INFO )", AVAILABLE);
    // The reply does not wait for the account of the refusal.
    let n_refused = || {
        let events = player.events.lock().expect("nobody panics");
        events.iter().filter(|event| matches!(event, Event::NotLoaded { .. })).count()
    };
    let patience = Instant::now() + Duration::from_secs(60);
    while n_refused() < wrong.len() + 2 && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(n_refused(), wrong.len() + 2);
}

#[test]
fn a_start_that_comes_twice_is_one_match() {
    let player = player();
    assert_eq!(player.start("m", "left", DUEL), "ready");
    assert_eq!(player.start("m", "left", DUEL), "ready");
    assert_eq!(player.start("m", "right", DUEL), "busy");
    player.post("( PLAY m NIL )");
    assert_eq!(player.start("m", "left", DUEL), "busy", "the match has begun");
    player.check("( STOP m (a a) )", "done");
    assert_eq!(player.start("m", "right", DUEL), "ready");
}

#[test]
fn several_matches_run_at_once_if_configured() {
    let player = player_with("random", 3, None);
    for id in ["m1", "m2", "m3"] {
        assert_eq!(player.start(id, "left", DUEL), "ready");
    }
    assert_eq!(player.start("m4", "left", DUEL), "busy");
    for id in ["m3", "m1", "m2"] {
        assert_ne!(player.post(&format!("( PLAY {id} NIL )")), "busy");
        player.check(&format!("( ABORT {id} )"), "aborted");
    }
}

/// Marks in a row of three; own moves decide what is legal.
const ROW: &str =
    "(role x) (role o) (init (free 1)) (init (free 2)) (init (free 3)) (init (turn x))
    (<= (legal ?r (mark ?n)) (true (turn ?r)) (true (free ?n)))
    (<= (legal x noop) (true (turn o))) (<= (legal o noop) (true (turn x)))
    (<= (next (free ?n)) (true (free ?n)) (not (marked ?n)))
    (<= (marked ?n) (does ?r (mark ?n)))
    (<= (next (turn o)) (true (turn x))) (<= (next (turn x)) (true (turn o)))
    (<= terminal (not free)) (<= free (true (free ?n)))
    (goal x 50) (goal o 50)";

#[test]
fn the_joint_move_overrides_the_last_answer() {
    let player = player();
    assert_eq!(player.start("m", "x", ROW), "ready");
    let first = player.post("( PLAY m NIL )");
    // The manager played another move in its place.
    let other = if first == "( mark 1 )" { 2 } else { 1 };
    assert_eq!(player.post(&format!("( PLAY m (( mark {other} ) noop ) )")), "noop");
    let left = 6 - other - 3;
    let last = player.post("( PLAY m (noop ( mark 3 ) ) )");
    assert_eq!(last, format!("( mark {left} )"));
}

#[test]
fn repeated_and_lost_messages_do_not_lose_the_match() {
    let player = player();
    assert_eq!(player.start("m", "x", ROW), "ready");
    player.post("( PLAY m NIL )");
    player.converse(&[
        ("( PLAY m (( mark 1 ) noop ) )", "noop"),
        ("( PLAY m (( mark 1 ) noop ) )", "noop"),
        ("( PLAY m (noop ( mark 2 ) ) )", "( mark 3 )"),
    ]);
    player.check("( STOP m (( mark 3 ) noop ) )", "done");
    // The second message was lost: the missed step must be a move of x.
    assert_eq!(player.start("m", "x", ROW), "ready");
    assert_eq!(player.post("( PLAY m NIL )").len(), "( mark 1 )".len());
    let last = player.post("( PLAY m (noop ( mark 2 ) ) )");
    assert!(["( mark 1 )", "( mark 3 )"].contains(&last.as_str()), "{last}");
    // After nonsense, the player answers with a legal move of the known state.
    assert!(player.post("( PLAY m (castle castle castle) )").starts_with("( mark "));
}

/// Three steps; the second is won by `b`, and in the third there is one move.
const THREE: &str = "(role x) (role o) (init (step 1)) (succ 1 2) (succ 2 3) (succ 3 4)
    (legal o noop) (<= (legal x a) (not (true (step 3)))) (<= (legal x b) (not (true (step 3))))
    (<= (legal x c) (true (step 3)))
    (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
    (<= (next won) (true (step 2)) (does x b)) (<= (next won) (true won))
    (<= terminal (true (step 4)))
    (<= (goal x 100) (true won)) (<= (goal x 0) (not (true won))) (goal o 50)";

#[test]
fn equal_news_are_a_new_step_only_if_they_contain_the_last_answer() {
    let player = player_with("uct", 1, Some(2000));
    assert_eq!(player.start("m", "x", THREE), "ready");
    player.post("( PLAY m NIL )");
    // It answered b, so the second message repeats the first.
    player.converse(&[
        ("( PLAY m (a noop) )", "b"),
        ("( PLAY m (a noop) )", "b"),
        ("( PLAY m (b noop) )", "c"),
    ]);
    player.check("( ABORT m )", "aborted");
    assert_eq!(player.start("m", "x", THREE), "ready");
    player.post("( PLAY m NIL )");
    // It answered b, and b was played.
    player.converse(&[("( PLAY m (b noop) )", "b"), ("( PLAY m (b noop) )", "c")]);
}

#[test]
fn percepts_are_heard_in_both_forms() {
    for (news, named) in [
        ("1 noop (( card blue ) )", "( name blue )"),
        ("1 noop (( card red ) )", "( name red )"),
        // A manager that knows only the older form sends all moves.
        ("(noop ( deal blue ) )", "( name blue )"),
    ] {
        let player = player();
        assert_eq!(player.start("m", "me", CARD), "ready");
        let first = if news.starts_with('(') { "NIL" } else { "0 NIL ()" };
        assert_eq!(player.post(&format!("( PLAY m {first} )")), "noop");
        assert_eq!(player.post(&format!("( PLAY m {news} )")), named, "{news}");
        assert_eq!(player.post(&format!("( PLAY m {news} )")), named, "again");
    }
}

#[test]
fn info_and_abort_are_answered_while_it_thinks() {
    let player = Arc::new(player_with("uct", 1, None));
    let long = format!("( START m left {} 1 600)", wire_rules(DUEL));
    assert_eq!(player.post(&long), "ready");
    let thinking = Arc::clone(&player);
    let asked = Instant::now();
    let thread = std::thread::spawn(move || thinking.post("( PLAY m NIL )"));
    std::thread::sleep(Duration::from_millis(200));
    player.check("( INFO )", BUSY);
    player.check("( ABORT m )", "aborted");
    player.check("( INFO )", AVAILABLE);
    // The aborted search ends long before the clock of ten minutes.
    let reply = thread.join().expect("it is answered");
    assert!(["a", "( say b )"].contains(&reply.as_str()), "{reply}");
    assert!(asked.elapsed() < Duration::from_secs(60), "{:?}", asked.elapsed());
}

#[test]
fn a_clock_of_zero_leaves_time_for_a_move() {
    let player = player_with("uct", 1, None);
    player.check(&format!("( START m left {} 0 0)", wire_rules(DUEL)), "ready");
    for news in ["NIL", "(a a)"] {
        let asked = Instant::now();
        let reply = player.post(&format!("( PLAY m {news} )"));
        assert!(["a", "( say b )"].contains(&reply.as_str()), "{reply}");
        // It thinks for some milliseconds; the bound leaves room for a busy machine.
        assert!(asked.elapsed() < Duration::from_secs(20), "{:?}", asked.elapsed());
    }
    player.check("( STOP m (a a) )", "done");
}

#[test]
fn the_clock_runs_from_the_first_byte() {
    // A busy machine may take longer than the bound, but not every time.
    let is_in_time = (0..TRIES).any(|_| {
        let time = time_of_a_slow_request();
        assert!(time > Duration::from_millis(900), "it thinks: {time:?}");
        time < Duration::from_secs(2)
    });
    assert!(is_in_time, "the two seconds do not begin with the first byte");
}

/// Tries of a test that measures time.
const TRIES: usize = 5;

/// Sends a request in two parts, 0.7 s apart, and measures until the reply.
fn time_of_a_slow_request() -> Duration {
    let player = player_with("uct", 1, None);
    let start = format!("( START m left {} 1 2)", wire_rules(DUEL));
    assert_eq!(player.post(&start), "ready");
    let request = reference_request("( PLAY m NIL )");
    let mut stream = TcpStream::connect(player.server.address()).expect("it listens");
    std::thread::sleep(Duration::from_millis(300));
    let began = Instant::now();
    let (first, rest) = request.split_at(20);
    stream.write_all(first.as_bytes()).expect("it takes bytes");
    std::thread::sleep(Duration::from_millis(700));
    stream.write_all(rest.as_bytes()).expect("it takes bytes");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).expect("a reply");
    began.elapsed()
}

#[test]
fn any_messages_in_any_order_are_survived() {
    let player = player_with("random", 2, None);
    let rules = wire_rules(DUEL);
    let messages = [
        "( INFO )".to_owned(),
        format!("( START a left {rules} 1 1)"),
        format!("( START b right {rules} 1 1)"),
        "( START a left (((( 1 1)".into(),
        "( PLAY a NIL )".into(),
        "( PLAY a (a a ) )".into(),
        "( PLAY b (a ( say b ) ) )".into(),
        "( PLAY b 3 a (x y ) )".into(),
        "( PLAY a (a) )".into(),
        "( STOP a (a a ) )".into(),
        "( STOP b 1 a () )".into(),
        "( ABORT a )".into(),
        "( ABORT nowhere )".into(),
        ")(".into(),
    ];
    let address = player.server.address();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let messages = &messages;
            scope.spawn(move || {
                let mut rng = Seed(number).rng();
                for _ in 0..60 {
                    let message = rng.choose(messages).expect("there are messages");
                    let reply = exchange(address, reference_request(message).as_bytes(), false);
                    assert!(reply.starts_with("HTTP/1.0 "), "{message}: {reply}");
                }
            });
        }
    });
    for id in ["a", "b"] {
        player.post(&format!("( ABORT {id} )"));
    }
    player.check("( INFO )", AVAILABLE);
}

#[test]
fn the_status_page_shows_the_running_match() {
    let player = player();
    assert_eq!(player.start("<m>", "left", DUEL), "ready");
    player.post("( PLAY <m> NIL )");
    let page = exchange(player.server.address(), b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", false);
    assert!(page.contains("Content-type: text/html"), "{page}");
    assert!(page.contains("&lt;m&gt;") && !page.contains("<m>"), "{page}");
    assert!(page.contains("<td>left</td>") && page.contains("<td>circuit</td>"), "{page}");
    player.post("( STOP <m> (a a) )");
    let page = exchange(player.server.address(), b"GET / HTTP/1.0\r\n\r\n", false);
    assert!(page.contains("&lt;m&gt; as left"), "{page}");
}

#[test]
fn a_reply_leaves_soon_after_the_move_is_chosen() {
    // A busy machine may take longer, but not every time.
    let is_soon = (0..TRIES).any(|_| {
        let player = player_with("uct", 1, None);
        let start = format!("( START m left {} 1 1)", wire_rules(DUEL));
        assert_eq!(player.post(&start), "ready");
        player.post("( PLAY m NIL )");
        player.post("( PLAY m (a a ) )");
        player.check("( STOP m (a a ) )", "done");
        let events = player.events.lock().expect("nobody panics");
        let sent: Vec<Duration> = (events.iter())
            .filter_map(|event| match event {
                Event::Moved { sent_after, .. } => Some(*sent_after),
                _ => None,
            })
            .collect();
        assert_eq!(sent.len(), 2);
        sent.iter().all(|&time| time < Duration::from_millis(10))
    });
    assert!(is_soon, "a reply waits after its move is chosen");
}
