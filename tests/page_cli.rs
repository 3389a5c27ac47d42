//! `ludex draw` and `ludex serve` as a person uses them; the server is killed again and again.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use ludex_testkit::command::{binary, json, ludex, stderr, stdout};
use serde_json::{Value, json};

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

/// A server on a database.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(database: &PathBuf) -> Self {
        let mut process = Command::new(binary())
            .args(["serve", "--json", "--no-open", "--port", "0", "--database"])
            .arg(database)
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

    fn request(&self, verb: &str, path: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let (host, length) = (&self.address, body.len());
        write!(
            stream,
            "{verb} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nX-Ludex: 1\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .expect("sent");
        let mut reply = String::new();
        stream.read_to_string(&mut reply).expect("a reply");
        let (head, body) = reply.split_once("\r\n\r\n").expect("a head and a body");
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).expect("a status");
        (status, serde_json::from_str(body).unwrap_or_else(|_| panic!("{body}")))
    }

    /// Asks for a match until it shows this many steps and waits for people.
    fn shown(&self, id: &str, n_steps: usize) -> Value {
        loop {
            let (_, view) = self.request("GET", &format!("/api/matches/{id}"), "");
            assert_ne!(view["status"], "failed", "{view}");
            if view["n_steps"] == n_steps && view["status"] == "waiting" {
                return view;
            }
            std::thread::yield_now();
        }
    }

    fn kill(mut self) {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it ends");
    }
}

#[test]
fn no_step_that_was_shown_is_lost_when_the_server_is_killed() {
    let folder = temporary("kill");
    let database = folder.join("matches.db");
    let mut server = Server::start(&database);
    let seat = json!({ "kind": "person" });
    let body = json!({ "game": "connectfour", "seats": [seat, seat], "move_time": 10 });
    let (status, made) = server.request("POST", "/api/matches", &body.to_string());
    assert_eq!(status, 200, "{made}");
    let id = made["id"].as_str().expect("a name").to_string();
    let mut history = json!([]);
    for step in 0..6 {
        let view = server.shown(&id, step);
        assert_eq!(view["history"], history, "step {step}");
        let text = &view["pending"][0]["moves"][step % 3]["text"];
        let body = json!({ "key": made["keys"][step % 2], "step": step, "text": text });
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
