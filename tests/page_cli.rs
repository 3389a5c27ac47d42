//! `ludex draw` and `ludex serve` as a person uses them; the server is killed again and again.

use std::path::PathBuf;

use ludex_base::Seed;
use ludex_testkit::command::{json, ludex, stderr, stdout};
use ludex_tests::faults::PlayerProcess;
use ludex_tests::page::{Server, kill_at_random};
use serde_json::json;

#[test]
fn a_board_is_drawn() {
    let output = ludex(&["draw", "hex"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stdout(&output).matches("<polygon").count(), 49);
    let report = json(&ludex(&["draw", "chess", "--json"]), 0);
    let board = &report["boards"][0];
    assert_eq!((&board["kind"], &board["n_cells"]), (&json!("grid"), &json!(64)));
    assert_eq!(board["n_pieces"], 32);
}

#[test]
fn a_state_is_drawn_if_it_is_one() {
    let folder = temporary("draw");
    let (good, bad) = (folder.join("good.txt"), folder.join("bad.txt"));
    std::fs::write(&good, "(cell 1 1 x) (cell 2 2 o) (control xplayer)").expect("written");
    std::fs::write(&bad, "(cell 1 1 x)\n(no-such-fluent 1)").expect("written");
    let draw = |path: &PathBuf| {
        ludex(&["draw", "tictactoe", "--json", "--state", path.to_str().expect("a path")])
    };
    assert_eq!(json(&draw(&good), 0)["boards"][0]["n_pieces"], 2);
    let refused = draw(&bad);
    assert_ne!(refused.status.code(), Some(0));
    let text = stdout(&refused) + &stderr(&refused);
    assert!(text.contains("no-such-fluent") && text.contains('2'), "{text}");
    std::fs::remove_dir_all(folder).expect("the folder is ours");
}

#[test]
fn no_step_that_was_shown_is_lost_when_the_server_is_killed() {
    let folder = temporary("kill");
    let database = folder.join("matches.db");
    let mut server = Server::start(&database);
    let (id, keys) = server.start_match("connectfour");
    let mut history = json!([]);
    for step in 0..6 {
        let view = server.shown(&id, step);
        assert_eq!(view["history"], history, "step {step}");
        let text = &view["pending"][0]["moves"][step % 3]["text"];
        let body = json!({ "key": keys[step % 2], "step": step, "text": text });
        let path = format!("/api/matches/{id}/moves");
        let (status, reply) = server.request("POST", &path, &body.to_string());
        assert_eq!(status, 200, "{reply}");
        history = server.shown(&id, step + 1)["history"].clone();
        server.kill();
        server = Server::start(&database);
    }
    assert_eq!(server.shown(&id, 6)["history"], history);
    server.kill();
    std::fs::remove_dir_all(folder).expect("the folder is ours");
}

#[test]
fn servers_killed_at_random_moments_lose_no_step() {
    let folder = temporary("random-kills");
    let report = kill_at_random(&folder, 4, Seed(1));
    assert_eq!((report.n_kills, report.n_lost), (4, 0), "{report:?}");
    std::fs::remove_dir_all(folder).expect("the folder is ours");
}

/// Asks for a match until it is over.
fn over(server: &Server, id: &str) -> serde_json::Value {
    loop {
        let (_, view) = server.request("GET", &format!("/api/matches/{id}"), "");
        assert_ne!(view["status"], "failed", "{view}");
        if view["status"] == "over" {
            return view;
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_program_elsewhere_plays_on_the_page() {
    let folder = temporary("remote");
    let server = Server::start(&folder.join("matches.db"));
    let rose = PlayerProcess::start(&["--player", "uct", "--iterations", "200", "--threads", "1"]);
    let remote = json!({ "kind": "remote", "url": rose.url() });
    for game in ["tictactoe", "blind-tictactoe"] {
        let seats = json!([remote, { "kind": "player", "player": "random" }]);
        let body = json!({ "game": game, "seats": seats, "move_time": 2_000 });
        let (status, made) = server.request("POST", "/api/matches", &body.to_string());
        assert_eq!(status, 200, "{made}");
        let view = over(&server, made["id"].as_str().expect("a name"));
        // A move that the program did not choose has a remark.
        for step in view["history"].as_array().expect("steps") {
            assert_eq!(step["thoughts"][0], serde_json::Value::Null, "{step}");
        }
    }
    server.kill();
    std::fs::remove_dir_all(folder).expect("the folder is ours");
}

#[test]
fn matches_of_the_command_are_shown_while_they_are_played() {
    let folder = temporary("watched");
    let server = Server::start(&folder.join("matches.db"));
    let link = format!("http://{}/", server.address);
    for verb in ["match", "referee"] {
        let call = [verb, "tictactoe", "--players", "uct,random", "--count", "2", "--page", &link];
        let more = ["--iterations", "50", "--start-clock", "10", "--play-clock", "10"];
        let output = ludex(&[&call[..], &more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    let (_, rows) = server.request("GET", "/api/matches?words=uct", "");
    let rows = rows.as_array().expect("a list");
    assert_eq!(rows.len(), 4, "{rows:?}");
    for row in rows {
        assert!(row["goals"].is_array(), "{row}");
        let names: Vec<_> = row["seats"].as_array().expect("seats").iter().collect();
        assert!(names.iter().all(|seat| seat["kind"] == "elsewhere"), "{row}");
    }
    server.kill();
    std::fs::remove_dir_all(folder).expect("the folder is ours");
}

#[test]
fn wrong_calls_of_the_server_say_what_to_do() {
    let folder = temporary("wrong");
    let text = folder.join("text.db");
    std::fs::write(&text, "this is no database, and it is long enough to tell").expect("written");
    let refused = |args: &[&str], remedy: &str| {
        let output = ludex(&[&["serve", "--no-open"], args].concat());
        assert_ne!(output.status.code(), Some(0), "{args:?}");
        let message = stderr(&output);
        assert!(message.contains(remedy), "{args:?}: {message}");
    };
    let database = text.to_str().expect("a path");
    refused(&["--database", database], "--database");
    let empty = folder.join("empty.db");
    let empty = empty.to_str().expect("a path");
    refused(&["--database", empty, "--listen", "nowhere"], "127.0.0.1");
    let busy = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = busy.local_addr().expect("an address").port().to_string();
    refused(&["--database", empty, "--port", &port], "--port");
    std::fs::remove_dir_all(folder).expect("the folder is ours");
}

fn temporary(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("ludex-page-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}
