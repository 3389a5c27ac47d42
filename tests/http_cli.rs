//! Plays `ludex player` and `ludex referee` against each other over the loopback address.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ludex_base::Seed;
use ludex_testkit::command::{binary, json, ludex, ludex_with, stderr, stdout};
use ludex_tests::faults::{FaultConfig, FaultReport, PlayerProcess, run};
use ludex_tests::overhead;
use ludex_tests::peers::{self, AttackConfig, AttackReport};
use serde_json::Value;

const QUICK: [&str; 6] = ["--player", "uct", "--iterations", "300", "--threads", "1"];
const CLOCKS: [&str; 4] = ["--start-clock", "2", "--play-clock", "1"];

fn player(name: &str, more: &[&str]) -> PlayerProcess {
    let args = [&QUICK[..], &["--name", name], more].concat();
    PlayerProcess::start(&args)
}

fn referee(game: &str, players: &str, more: &[&str]) -> Vec<Value> {
    let args = [&["referee", game, "--players", players, "--json"][..], &CLOCKS, more].concat();
    let output = ludex(&args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let parse = |line: &str| serde_json::from_str(line).expect("every line is a record");
    stdout(&output).lines().map(parse).collect()
}

fn post(player: &PlayerProcess, message: &str) -> String {
    let mut stream = TcpStream::connect(player.address).expect("it listens");
    let length = message.len();
    write!(stream, "POST / HTTP/1.0\r\nContent-Length: {length}\r\n\r\n{message}").expect("sent");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).expect("a reply");
    reply.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.to_owned())
}

/// Checks the fields that every finished community record has.
#[track_caller]
fn check_record(record: &Value, n_roles: usize) {
    let list =
        |key: &str| record[key].as_array().unwrap_or_else(|| panic!("{key}: {record}")).len();
    let n_steps = list("moves");
    assert!(n_steps > 0 && record["isCompleted"] == true && record["isAborted"] == false);
    assert_eq!((list("states"), list("stateTimes")), (n_steps + 1, n_steps + 1));
    assert_eq!((list("errors"), list("goalValues")), (n_steps + 1, n_roles));
    assert_eq!((list("playerNamesFromHost"), list("isPlayerHuman")), (n_roles, n_roles));
    for errors in record["errors"].as_array().expect("a list") {
        let errors = errors.as_array().expect("a list");
        assert!(errors.len() == n_roles && errors.iter().all(|error| error == ""), "{record}");
    }
    assert_eq!(record["randomToken"].as_str().map(str::len), Some(32));
    assert_eq!((&record["startClock"], &record["playClock"]), (&2.into(), &1.into()));
    assert_eq!(record["previewClock"], -1);
    let state = record["states"][0].as_str().expect("a text");
    assert!(state.starts_with("( ") && state.ends_with(" )"), "{state}");
    assert!(record["startTime"].as_u64() <= record["stateTimes"][0].as_u64());
}

#[test]
fn processes_play_complete_matches() {
    let (rose, lily) = (player("Rose", &[]), player("Lily", &[]));
    let players = format!("{},{}", rose.url(), lily.url());
    for (game, n_roles, more) in [
        ("tictactoe", 2, &["--count", "2"][..]),
        ("tictactoe", 2, &["--scramble"][..]),
        ("kuhn-poker", 3, &[][..]),
        ("kuhn-poker", 3, &["--scramble"][..]),
        ("blind-tictactoe", 2, &["--scramble", "--count", "2"][..]),
    ] {
        let records = referee(game, &players, more);
        assert_eq!(records.len(), if more.contains(&"--count") { 2 } else { 1 });
        for (number, record) in records.iter().enumerate() {
            check_record(record, n_roles);
            assert_eq!(record["scrambled"], more.contains(&"--scramble"));
            let names: Vec<&str> =
                (record["playerNamesFromHost"].as_array().expect("a list").iter())
                    .filter_map(Value::as_str)
                    .filter(|name| *name != "random")
                    .collect();
            let seated = if number == 0 { ["Rose", "Lily"] } else { ["Lily", "Rose"] };
            assert_eq!(names, seated, "seats rotate");
        }
    }
}

#[test]
fn seats_go_to_the_named_players() {
    let rose = player("Rose", &[]);
    let mixed = referee("tictactoe", &format!("{},random", rose.url()), &[]);
    check_record(&mixed[0], 2);
    assert_eq!(mixed[0]["playerNamesFromHost"], serde_json::json!(["Rose", "random"]));
    // A person who types a number for a move, without time pressure.
    let args = ["referee", "tictactoe", "--players", "person,random", "--json"];
    let output = ludex_with(&args, "1\nwhat?\n(mark 3 3)\n1\n1\n1\n1\n1\n1\n1\n1\n");
    let record = json(&output, 0);
    assert_eq!(record["isPlayerHuman"], serde_json::json!([true, false]));
    assert_eq!(record["moves"][0][0], "( mark 1 1 )");
    assert!(stderr(&output).contains("You play xplayer"), "{}", stderr(&output));
    // A person who quits aborts the match.
    let output = ludex_with(&args, "1\nquit\n");
    let record = json(&output, 3);
    assert!(record["isAborted"] == true && record["isCompleted"] == false, "{record}");
    assert_eq!(record.get("goalValues"), None);
}

#[test]
fn wrong_calls_fail_and_absent_players_are_recorded() {
    let said = |args: &[&str], words: &str| {
        let output = ludex(args);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    };
    let call = ["referee", "tictactoe", "--players"];
    let two = "http://127.0.0.1:9,random";
    said(&[&call[..], &[two, "--play-clock", "0.5"]].concat(), "use whole seconds");
    said(&[&call[..], &["https://127.0.0.1:9,random"]].concat(), "unsupported scheme `https`");
    said(&[&call[..], &["person,person"]].concat(), "one terminal");
    said(&[&call[..], &["random"]].concat(), "give two names");
    let twice = "http://127.0.0.1:9,http://127.0.0.1:9/";
    said(&[&call[..], &[twice]].concat(), "would have 2 seats of a match");
    let three = [&["referee", "three-player-nim", "--players"][..], &["random,http://127.0.0.1:9"]];
    said(&three.concat(), "start as many players as the game has roles");
    said(&["player", "--name", "two words"], "not one word");
    said(&["player", "--player", "nobody"], "there is no player `nobody`");
    let output = ludex(&[&call[..], &[two, "--json"], &CLOCKS].concat());
    let record = json(&output, 0);
    let errors: Vec<&str> = (record["errors"].as_array().expect("a list").iter())
        .filter_map(|errors| errors[0].as_str())
        .collect();
    assert!(errors.len() > 5 && errors.iter().all(|error| *error == "CE"), "{errors:?}");
    assert!(stderr(&output).contains("does not answer"), "{}", stderr(&output));
    assert_eq!(record["isCompleted"], true);
}

#[test]
fn a_player_logs_its_matches_and_stops_cleanly() {
    let folder = std::env::temp_dir().join(format!("ludex-log-{}", std::process::id()));
    let folder_text = folder.to_str().expect("a plain path").to_owned();
    let mut rose = player("Rose", &["--log-dir", &folder_text]);
    let record = &referee("tictactoe", &format!("{},random", rose.url()), &[])[0];
    let id = record["matchId"].as_str().expect("a name");
    let moves = record["moves"].as_array().expect("a list");
    let read_answered = || -> Vec<Value> {
        let log =
            std::fs::read_to_string(folder.join(format!("{id}.jsonl"))).expect("the log exists");
        let whole = log.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let lines =
            whole.lines().map(|line| serde_json::from_str(line).expect("every line is an event"));
        lines.filter(|line: &Value| line["event"] == "answered").collect()
    };
    // The player replies to `stop` before it writes the log.
    let asked = Instant::now();
    let mut answered = read_answered();
    while answered.len() < moves.len() + 2 && asked.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(10));
        answered = read_answered();
    }
    assert_eq!(answered.len(), moves.len() + 2, "start, every move, stop");
    assert!(answered[0]["request"].as_str().is_some_and(|text| text.starts_with("( START ")));
    // Replayed, the messages give the same match with the same legal moves.
    let lily = player("Lily", &[]);
    for event in &answered[..answered.len() - 1] {
        let reply = post(&lily, event["request"].as_str().expect("a text"));
        assert!(reply == "ready" || reply == "noop" || reply.starts_with("( mark "), "{reply}");
    }
    assert_eq!(
        post(&lily, answered[answered.len() - 1]["request"].as_str().expect("a text")),
        "done"
    );
    for (step, joint) in moves.iter().enumerate() {
        assert_eq!(answered[step + 1]["reply"], joint[0], "what it said was played");
    }
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
    let status = Command::new("kill").args(["-TERM", &rose.id().to_string()]).status();
    assert!(status.is_ok_and(|status| status.success()));
    assert_eq!(rose.wait(), Some(0));
}

#[test]
fn an_interrupt_aborts_the_match_and_notifies_the_players() {
    let rose = PlayerProcess::start(&["--player", "uct", "--threads", "1"]);
    let mut child = Command::new(binary())
        .args(["referee", "connectfour", "--players", &format!("{},random", rose.url()), "--json"])
        .args(["--start-clock", "1", "--play-clock", "300"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    let is_playing = || post(&rose, "( INFO )").contains("busy");
    let mut n_waits = 0;
    while !is_playing() {
        std::thread::sleep(Duration::from_millis(100));
        n_waits += 1;
        assert!(n_waits < 300, "the match does not begin");
    }
    std::thread::sleep(Duration::from_millis(1500));
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(status.is_ok_and(|status| status.success()));
    let mut text = String::new();
    let mut out = child.stdout.take().expect("it is piped");
    out.read_to_string(&mut text).expect("the record");
    assert_eq!(child.wait().expect("it ends").code(), Some(3));
    let record: Value = serde_json::from_str(text.trim()).expect("a record");
    assert!(record["isAborted"] == true && record["isCompleted"] == false, "{record}");
    assert!(!is_playing(), "the player still plays the match");
}

#[test]
fn an_interrupt_is_noticed_while_a_person_thinks() {
    let mut child = Command::new(binary())
        .args(["referee", "tictactoe", "--players", "person,random", "--json"])
        .args(["--start-clock", "1", "--play-clock", "300"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // A person who does not type anything.
    let input = child.stdin.take().expect("it is piped");
    let mut said = BufReader::new(child.stderr.take().expect("it is piped")).lines();
    let is_asked = said.by_ref().map_while(Result::ok).any(|line| line.contains("s left (1-"));
    assert!(is_asked, "the person is not asked for a move");
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(status.is_ok_and(|status| status.success()));
    let asked = Instant::now();
    let mut text = String::new();
    let mut out = child.stdout.take().expect("it is piped");
    out.read_to_string(&mut text).expect("the record");
    assert_eq!(child.wait().expect("it ends").code(), Some(3));
    assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
    let record: Value = serde_json::from_str(text.trim()).expect("a record");
    assert_eq!(record["isAborted"], true, "{record}");
    drop(input);
}

#[test]
fn chance_differs_from_run_to_run_unless_a_seed_is_given() {
    let record = |more: &[&str]| {
        let args = ["referee", "tictactoe", "--players", "random,random", "--json"];
        json(&ludex(&[&args[..], &CLOCKS, more].concat()), 0)
    };
    let (first, second) = (record(&[]), record(&[]));
    assert_ne!(first["ludex"]["seriesSeed"], second["ludex"]["seriesSeed"]);
    assert_ne!(first["ludex"]["seed"], second["ludex"]["seed"]);
    assert_ne!(first["randomToken"], second["randomToken"]);
    let seed = first["ludex"]["seriesSeed"].to_string();
    let again = record(&["--seed", &seed]);
    assert_eq!(again["moves"], first["moves"], "its seed repeats a series");
}

#[test]
fn a_player_plays_on_without_a_reader_of_its_output() {
    for is_gone in [false, true] {
        let mut child = Command::new(binary())
            .args(["player", "--port", "0", "--json", "--player", "random"])
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("the command starts");
        let mut reader = BufReader::new(child.stderr.take().expect("it is piped"));
        let mut first = String::new();
        reader.read_line(&mut first).expect("the first line names the address");
        let place = first.split("\"address\":\"").nth(1).and_then(|rest| rest.split('"').next());
        let address = place.and_then(|place| place.parse().ok()).expect("an address");
        // The reader either stops reading or is gone.
        let kept = (!is_gone).then_some(reader);
        let player = PlayerProcess::adopt(child, address);
        // More than fits in a pipe.
        for _ in 0..1000 {
            assert!(post(&player, "( INFO )").contains("available"));
        }
        let record = &referee("tictactoe", &format!("{},random", player.url()), &[])[0];
        check_record(record, 2);
        drop(kept);
    }
}

#[test]
fn players_without_search_reply_at_once() {
    // The time of a match depends on the load of the machine; `cargo experiment overhead` measures
    // the median of many on a quiet machine.
    let (instant, overhead) = (overhead::run_instant(20), overhead::run(20));
    assert_eq!((instant.len(), overhead.matches.len()), (20, 20));
    let shortest = instant.iter().min().expect("there are matches");
    assert!(*shortest < Duration::from_millis(100), "{instant:?}");
    let shortest = overhead.replies.iter().min().expect("there are replies");
    assert!(*shortest < Duration::from_millis(10), "{:?}", overhead.replies);
}

#[test]
fn broken_messages_break_no_match() {
    let config = FaultConfig { count: 12, n_played: 0, n_parallel: 4, percent: 20, seed: Seed(5) };
    let mut report = FaultReport::default();
    run(&config, |part| report.add(part));
    assert_eq!((report.n_matches, report.n_finished), (config.count, config.count), "{report:?}");
    assert!(report.illegal.is_empty() && report.late.is_empty(), "{report:?}");
    assert!(report.n_broken > 10 && report.n_judged > 20, "{report:?}");
}

#[test]
fn attackers_delay_no_match_and_take_no_memory() {
    // `cargo experiment peers-attack` does the same for minutes, with more attackers. A machine that
    // is busy otherwise may be late, but not every time.
    let mut reports = Vec::new();
    let is_unharmed = (0..4).any(|seed| {
        let time = Duration::from_secs(4);
        let config = AttackConfig { n_connections: 40, time, seed: Seed(seed) };
        let mut report = AttackReport::default();
        peers::run(&config, |part| report.add(part));
        assert!(report.n_connections > 80 && report.n_matches > 0, "{report:?}");
        let most = report.megabytes.iter().copied().fold(0.0, f64::max);
        assert!(most < 400.0, "{report:?}");
        let is_unharmed = report.errors.is_empty();
        reports.push(report);
        is_unharmed
    });
    assert!(is_unharmed, "{reports:?}");
}
