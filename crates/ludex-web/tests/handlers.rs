//! The server without a socket: every answer that the page relies on, and what visitors must not do.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use futures_util::StreamExt as _;
use ludex_web::{App, AppConfig, Store, router};
use serde_json::{Value, json};
use tower::ServiceExt as _;

const PERSON: &str = r#"{"kind":"person"}"#;

fn server() -> Router {
    server_on(Store::in_memory().expect("a database"))
}

fn server_on(store: Store) -> Router {
    router(Arc::new(App::new(store, AppConfig::local())))
}

/// Runs a test on a runtime of its own.
fn run(test: impl Future<Output = ()>) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(test);
}

fn get(path: &str) -> Request<Body> {
    let request = Request::get(path).header("host", "localhost");
    request.body(Body::empty()).expect("a request")
}

fn post(path: &str, body: impl Into<Body>) -> Request<Body> {
    let request = Request::post(path)
        .header("host", "localhost")
        .header("x-ludex", "1")
        .header("content-type", "application/json");
    request.body(body.into()).expect("a request")
}

async fn text(server: &Router, request: Request<Body>) -> (StatusCode, String) {
    let response = server.clone().oneshot(request).await.expect("the server never fails");
    let status = response.status();
    let bytes = to_bytes(response.into_body(), 1 << 24).await.expect("a body");
    (status, String::from_utf8(bytes.to_vec()).expect("text"))
}

async fn ask(server: &Router, request: Request<Body>) -> (StatusCode, Value) {
    let (status, text) = text(server, request).await;
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

/// Starts a match; returns its name and the keys of its seats.
async fn start(server: &Router, body: Value) -> (String, Vec<String>) {
    let (status, made) = ask(server, post("/api/matches", body.to_string())).await;
    assert_eq!(status, StatusCode::OK, "{made}");
    let keys = made["keys"].as_array().expect("keys").iter();
    let keys = keys.map(|key| key.as_str().expect("a key").to_string()).collect();
    (made["id"].as_str().expect("a name").into(), keys)
}

fn people(game: &str, n_roles: usize) -> Value {
    let seat: Value = serde_json::from_str(PERSON).expect("JSON");
    json!({ "game": game, "seats": vec![seat; n_roles], "move_time": 100 })
}

/// Follows a match until it is as wanted, however long that takes.
async fn follow(server: &Router, id: &str, key: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let request = get(&format!("/api/matches/{id}/events?key={key}"));
    let response = server.clone().oneshot(request).await.expect("the server never fails");
    assert_eq!(response.status(), StatusCode::OK);
    let mut events = response.into_body().into_data_stream();
    let mut pending = String::new();
    loop {
        let bytes = events.next().await.expect("the match goes on").expect("a body");
        pending.push_str(std::str::from_utf8(&bytes).expect("text"));
        while let Some(end) = pending.find("\n\n") {
            let event: String = pending.drain(..end + 2).collect();
            let data = event.lines().find_map(|line| line.strip_prefix("data: "));
            let Some(data) = data else { continue };
            let view: Value = serde_json::from_str(data).expect("JSON");
            assert_ne!(view["status"], "failed", "{view}");
            if wanted(&view) {
                return view;
            }
        }
    }
}

async fn waiting(server: &Router, id: &str, key: &str, n_steps: usize) -> Value {
    follow(server, id, key, |view| {
        view["n_steps"] == n_steps && (view["status"] == "waiting" || view["status"] == "over")
    })
    .await
}

async fn play(server: &Router, id: &str, key: &str, step: usize, chosen: &str) -> StatusCode {
    let body = json!({ "key": key, "step": step, "text": chosen });
    ask(server, post(&format!("/api/matches/{id}/moves"), body.to_string())).await.0
}

#[test]
fn two_people_play_to_the_end() {
    run(async {
        let server = server();
        let (id, keys) = start(&server, people("tictactoe", 2)).await;
        let moves = ["(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 2)", "(mark 1 3)"];
        for (step, chosen) in moves.iter().enumerate() {
            let view = waiting(&server, &id, "", step).await;
            assert_eq!(view["pending"][0]["role"], step % 2);
            let offered = view["pending"][0]["moves"].as_array().expect("moves");
            let own = offered.iter().find(|it| it["text"] == *chosen).expect("it is offered");
            assert_eq!(own["touches"].as_array().map(Vec::len), Some(1), "one cell is touched");
            let other = &keys[1 - step % 2];
            assert_ne!(play(&server, &id, other, step, chosen).await, StatusCode::OK);
            assert_eq!(play(&server, &id, &keys[step % 2], step, chosen).await, StatusCode::OK);
        }
        let view = waiting(&server, &id, "", 5).await;
        assert_eq!((&view["status"], &view["goals"]), (&json!("over"), &json!([100, 0])));
        assert_eq!(view["history"].as_array().map(Vec::len), Some(5));
        let (_, first) = ask(&server, get(&format!("/api/matches/{id}/states/0"))).await;
        let fluents = first["fluents"].as_array().expect("fluents");
        assert!(fluents.contains(&json!("(cell 1 1 b)")), "{first}");
        let (_, list) = ask(&server, get("/api/matches")).await;
        assert_eq!((&list[0]["id"], &list[0]["goals"]), (&json!(id), &json!([100, 0])));
    });
}

#[test]
fn a_new_server_continues_the_match_of_an_old_one() {
    run(async {
        let folder = std::env::temp_dir().join(format!("ludex-web-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("resume.db");
        let open = || server_on(Store::open(&file).expect("a database"));
        let old = open();
        let (id, keys) = start(&old, people("tictactoe", 2)).await;
        waiting(&old, &id, "", 0).await;
        assert_eq!(play(&old, &id, &keys[0], 0, "(mark 2 2)").await, StatusCode::OK);
        let before = waiting(&old, &id, "", 1).await;
        // The old server never gets to close anything.
        std::mem::forget(old);
        let new = open();
        let after = waiting(&new, &id, "", 1).await;
        assert_eq!(after["history"], before["history"]);
        assert_eq!(after["svg"], before["svg"]);
        assert_eq!(play(&new, &id, &keys[1], 1, "(mark 1 1)").await, StatusCode::OK);
        waiting(&new, &id, "", 2).await;
        std::fs::remove_dir_all(&folder).expect("the folder is ours");
    });
}

#[test]
fn a_player_answers_and_moves_are_taken_back() {
    run(async {
        let server = server();
        let seats = json!([{ "kind": "person" }, { "kind": "player", "player": "random" }]);
        let body = json!({ "game": "tictactoe", "seats": seats, "move_time": 10 });
        let (id, keys) = start(&server, body).await;
        waiting(&server, &id, &keys[0], 0).await;
        assert_eq!(play(&server, &id, &keys[0], 0, "(mark 2 2)").await, StatusCode::OK);
        waiting(&server, &id, &keys[0], 2).await;
        let body = json!({ "key": keys[0] }).to_string();
        let (status, hint) =
            ask(&server, post(&format!("/api/matches/{id}/hint"), body.clone())).await;
        assert_eq!(status, StatusCode::OK, "{hint}");
        assert_eq!(hint["moves"].as_array().map(Vec::len), Some(7));
        let (status, _) = ask(&server, post(&format!("/api/matches/{id}/undo"), body)).await;
        assert_eq!(status, StatusCode::OK);
        waiting(&server, &id, &keys[0], 0).await;
    });
}

#[test]
fn people_resign_and_go_on_after_an_undo() {
    run(async {
        let server = server();
        let (id, keys) = start(&server, people("tictactoe", 2)).await;
        waiting(&server, &id, &keys[0], 0).await;
        assert_eq!(play(&server, &id, &keys[0], 0, "(mark 1 1)").await, StatusCode::OK);
        waiting(&server, &id, &keys[0], 1).await;
        let to = |what: &str, key: &str| {
            post(&format!("/api/matches/{id}/{what}"), json!({ "key": key }).to_string())
        };
        assert_eq!(ask(&server, to("resign", &keys[1])).await.0, StatusCode::OK);
        let view = follow(&server, &id, "", |view| view["status"] == "over").await;
        assert_eq!((&view["resigned"], &view["goals"]), (&json!(1), &Value::Null));
        let again = ask(&server, to("resign", &keys[0])).await;
        assert_eq!(again.0, StatusCode::UNPROCESSABLE_ENTITY, "{}", again.1);
        assert_eq!(ask(&server, to("undo", &keys[0])).await.0, StatusCode::OK);
        assert_eq!(waiting(&server, &id, &keys[0], 0).await["resigned"], Value::Null);
    });
}

#[test]
fn a_person_whose_time_is_over_gets_a_drawn_move() {
    run(async {
        let server = server();
        let mut body = people("tictactoe", 2);
        body["person_time"] = json!(1_000);
        let (id, _) = start(&server, body).await;
        let view = follow(&server, &id, "", |view| view["status"] == "waiting").await;
        assert!(view["clock_end"].as_u64().is_some(), "{view}");
        let view = follow(&server, &id, "", |view| view["n_steps"] == 1).await;
        assert_eq!(view["history"][0]["thoughts"][0]["search"], "out of time");
        assert_eq!(view["history"][0]["thoughts"][1], Value::Null);
    });
}

#[test]
fn a_match_hosted_elsewhere_is_told_and_checked() {
    run(async {
        let server = server();
        let seat = json!({ "kind": "elsewhere", "name": "somebody" });
        let mixed = json!([seat, { "kind": "person" }]);
        let body = json!({ "game": "tictactoe", "seats": mixed, "move_time": 10 });
        let refused = ask(&server, post("/api/matches", body.to_string())).await;
        assert_eq!(refused.0, StatusCode::UNPROCESSABLE_ENTITY);
        let body = json!({ "game": "tictactoe", "seats": [seat, seat], "move_time": 10 });
        let (id, keys) = start(&server, body).await;
        let tell = async |step: usize, moves: [&str; 2]| {
            let body = json!({ "key": keys[0], "step": step, "moves": moves });
            ask(&server, post(&format!("/api/matches/{id}/steps"), body.to_string())).await.0
        };
        let refused = StatusCode::UNPROCESSABLE_ENTITY;
        assert_eq!(tell(0, ["(mark 1 1)", "(mark 1 1)"]).await, refused);
        assert_eq!(tell(1, ["(mark 1 1)", "noop"]).await, refused);
        for (step, moves) in [
            ["(mark 1 1)", "noop"],
            ["noop", "(mark 2 1)"],
            ["(mark 1 2)", "noop"],
            ["noop", "(mark 2 2)"],
            ["(mark 1 3)", "noop"],
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!(tell(step, moves).await, StatusCode::OK, "{step}");
        }
        let view = follow(&server, &id, "", |view| view["status"] == "over").await;
        assert_eq!(view["goals"], json!([100, 0]));
        assert_eq!(tell(5, ["noop", "noop"]).await, refused);
    });
}

#[test]
fn a_program_elsewhere_that_does_not_answer_is_replaced() {
    run(async {
        let server = server();
        // Nothing listens at this port.
        let remote = json!({ "kind": "remote", "url": "http://127.0.0.1:9" });
        let seats = json!([remote, { "kind": "player", "player": "random" }]);
        let body = json!({ "game": "tictactoe", "seats": seats, "move_time": 10 });
        let (id, _) = start(&server, body).await;
        let view = follow(&server, &id, "", |view| view["status"] == "over").await;
        let remark = view["history"][0]["thoughts"][0]["search"].as_str().expect("a remark");
        assert!(remark.starts_with("no answer"), "{remark}");
    });
}

#[test]
fn a_seat_can_be_given_to_a_player() {
    run(async {
        let server = server();
        let (id, keys) = start(&server, people("tictactoe", 2)).await;
        waiting(&server, &id, "", 0).await;
        for key in &keys {
            let seat = json!({ "kind": "player", "player": "random" });
            let body = json!({ "key": key, "seat": seat }).to_string();
            assert_eq!(
                ask(&server, post(&format!("/api/matches/{id}/seat"), body)).await.0,
                StatusCode::OK
            );
        }
        follow(&server, &id, "", |view| view["status"] == "over").await;
    });
}

#[test]
fn hidden_information_stays_hidden() {
    run(async {
        let server = server();
        let (_, game) = ask(&server, get("/api/games/kuhn-poker")).await;
        let n_roles = game["sheet"]["roles"].as_array().map_or(0, Vec::len);
        let mut body = people("kuhn-poker", n_roles);
        for (role, seat) in body["seats"].as_array_mut().expect("seats").iter_mut().enumerate() {
            if game["sheet"]["roles"][role]["is_random"] == true {
                *seat = json!({ "kind": "player", "player": "random" });
            }
        }
        let (id, keys) = start(&server, body).await;
        let public = follow(&server, &id, "", |view| view["status"] == "waiting").await;
        assert_eq!((&public["svg"], &public["pending"]), (&Value::Null, &json!([])));
        let moves = public["history"].as_array().expect("a history").iter();
        assert!(moves.flat_map(|it| it["moves"].as_array()).flatten().all(Value::is_null));
        let state = get(&format!("/api/matches/{id}/states/0"));
        assert_eq!(ask(&server, state).await.0, StatusCode::UNPROCESSABLE_ENTITY);
        let is_person = |role: &usize| game["sheet"]["roles"][*role]["is_random"] == false;
        let mut n_choices = 0;
        for role in (0..n_roles).filter(is_person) {
            let own = follow(&server, &id, &keys[role], |view| view["status"] == "waiting").await;
            // Only the own card is certain.
            let board = own["svg"].as_str().expect("a board of what the role can know");
            for (at, other) in game["sheet"]["roles"].as_array().expect("roles").iter().enumerate()
            {
                let card = format!("holds {} ", other["name"].as_str().expect("a name"));
                assert_eq!(board.contains(&card), at == role, "{board}");
            }
            for pending in own["pending"].as_array().expect("choices") {
                assert_eq!(pending["role"], role);
                n_choices += 1;
            }
            for step in own["history"].as_array().expect("a history") {
                let moves = step["moves"].as_array().expect("moves");
                assert!(moves.iter().enumerate().all(|(at, it)| at == role || it.is_null()));
            }
        }
        assert_eq!(n_choices, 1, "one role has to move");
    });
}

#[test]
fn a_page_that_missed_nothing_gets_nothing_again() {
    run(async {
        let server = server();
        let (id, keys) = start(&server, people("tictactoe", 2)).await;
        waiting(&server, &id, "", 0).await;
        let path = format!("/api/matches/{id}/events");
        let first = |stream: axum::body::BodyDataStream| async {
            let (bytes, _) = stream.into_future().await;
            String::from_utf8(bytes.expect("an event").expect("a body").to_vec()).expect("text")
        };
        let response = server.clone().oneshot(get(&path)).await.expect("the server never fails");
        let event = first(response.into_body().into_data_stream()).await;
        let stamp = event.lines().find_map(|line| line.strip_prefix("id: ")).expect("an id");
        let mut request = get(&path);
        request.headers_mut().insert("last-event-id", stamp.parse().expect("a header"));
        let response = server.clone().oneshot(request).await.expect("the server never fails");
        // The first thing it hears is the next step.
        assert_eq!(play(&server, &id, &keys[0], 0, "(mark 2 2)").await, StatusCode::OK);
        let event = first(response.into_body().into_data_stream()).await;
        assert!(event.contains(r#""n_steps":1"#), "{event}");
    });
}

#[test]
fn hundreds_watch_while_many_play() {
    run(async {
        let server = server();
        let seats = json!([{ "kind": "player", "player": "random" }, { "kind": "player", "player": "random" }]);
        let others = json!({ "game": "tictactoe", "seats": seats, "move_time": 10 });
        let (watched, keys) = start(&server, people("tictactoe", 2)).await;
        waiting(&server, &watched, "", 0).await;
        let watchers: Vec<_> = (0..300)
            .map(|_| {
                let (server, id) = (server.clone(), watched.clone());
                tokio::spawn(async move { waiting(&server, &id, "", 1).await })
            })
            .collect();
        let mut matches = Vec::new();
        for _ in 0..50 {
            matches.push(start(&server, others.clone()).await.0);
        }
        assert_eq!(play(&server, &watched, &keys[0], 0, "(mark 2 2)").await, StatusCode::OK);
        for watcher in watchers {
            let view = watcher.await.expect("the watcher sees the step");
            assert_eq!(view["history"][0]["moves"][0], "(mark 2 2)");
        }
        for id in matches {
            follow(&server, &id, "", |view| view["status"] == "over").await;
        }
    });
}

#[test]
fn the_editor_gets_mistakes_with_places_and_a_board() {
    run(async {
        let server = server();
        let check = |rules: &str| post("/api/rules", json!({ "rules": rules }).to_string());
        let (_, sheet) = ask(&server, check("(role me)\n(init (at 1)\n")).await;
        assert_eq!(sheet["is_playable"], false);
        assert!(sheet["diagnostics"].as_array().is_some_and(|all| !all.is_empty()), "{sheet}");
        let rules = ludex_library::find("hex").expect("a game").rules;
        let (_, sheet) = ask(&server, check(rules)).await;
        assert_eq!(sheet["is_playable"], true);
        assert_eq!(sheet["svg"].as_str().map(|svg| svg.matches("<polygon").count()), Some(49));
    });
}

#[test]
fn every_game_of_the_library_can_be_shown() {
    run(async {
        let server = server();
        for game in ludex_library::games() {
            let (status, shown) = ask(&server, get(&format!("/api/games/{}", game.name))).await;
            assert_eq!(status, StatusCode::OK, "{}", game.name);
            assert_eq!(shown["sheet"]["is_playable"], true, "{}: {}", game.name, shown["sheet"]);
        }
        let (_, study) = ask(&server, get("/api/games/tictactoe/study")).await;
        assert!(study["sizes"]["fluents"].as_u64().is_some_and(|n| n > 20), "{study}");
    });
}

/// Sheets that try to take all time and memory, or to put a script on the page.
const HOSTILE: [&str; 8] = [
    "(role me) (init (n 0)) (legal me go) (<= (next (n (s ?x))) (true (n ?x))) (<= terminal (true (n 1)))",
    "(role me) (init (<script>alert(1)</script> 1 2)) (legal me go) (goal me 0) (<= terminal (true x))",
    "(((((((((((((((((((((((((((((((((((((((((",
    "))))))))))))))))))",
    "",
    "\u{0}\u{1}\u{fffe}",
    "(role a) (role b) (role c) (<= (role ?x) (role ?y) (role ?x)) (legal a go)",
    "(role me) (d 0) (d 1) (d 2) (d 3) (d 4) (d 5) (d 6) (d 7) (d 8) (d 9)
     (<= (init (p ?a ?b ?c ?e ?f ?g ?h ?i)) (d ?a) (d ?b) (d ?c) (d ?e) (d ?f) (d ?g) (d ?h) (d ?i))
     (legal me go) (<= terminal (true q)) (goal me 0)",
];

#[test]
fn hostile_sheets_are_bounded_and_cannot_add_elements() {
    run(async {
        let server = server();
        let deep = "(".repeat(100_000);
        let long = format!("(role {})", "n".repeat(300_000));
        let texts = HOSTILE.iter().map(|it| it.to_string()).chain([deep, long]);
        for rules in texts {
            let body = json!({ "rules": rules }).to_string();
            let (status, sheet) = ask(&server, post("/api/rules", body)).await;
            assert_eq!(status, StatusCode::OK, "{sheet}");
            let svg = sheet["svg"].as_str().expect("an image").to_string();
            assert!(!svg.contains("<script"), "{svg}");
        }
        let (status, _) = ask(&server, get("/api/games")).await;
        assert_eq!(status, StatusCode::OK, "the page stays alive");
    });
}

#[test]
fn wrong_requests_are_refused_in_words() {
    run(async {
        let server = server();
        let (id, keys) = start(&server, people("tictactoe", 2)).await;
        waiting(&server, &id, "", 0).await;
        let moves = format!("/api/matches/{id}/moves");
        let huge = format!(r#"{{"rules":"{}"}}"#, "x".repeat(900_000));
        let large = format!(r#"{{"rules":"{}"}}"#, "x".repeat(500_000));
        let seats =
            |seats: &str| format!(r#"{{"game":"tictactoe","seats":{seats},"move_time":1}}"#);
        let by = |key: &str, step: usize, text: &str| {
            json!({ "key": key, "step": step, "text": text }).to_string()
        };
        let cases: Vec<(Request<Body>, u16)> = vec![
            (post("/api/rules", huge), 413),
            (post("/api/rules", large), 422),
            (post("/api/rules", "{"), 400),
            (post("/api/rules", "[]"), 422),
            (post("/api/rules", r#"{"rules":1}"#), 422),
            (post("/api/rules", r#"{"rules":"","more":1}"#), 422),
            (post("/api/matches", seats("[]")), 422),
            (post("/api/matches", seats(&format!("[{PERSON}]"))), 422),
            (post("/api/matches", seats(r#"[{"kind":"king"},{"kind":"person"}]"#)), 422),
            (
                post(
                    "/api/matches",
                    seats(r#"[{"kind":"player","player":"nobody"},{"kind":"person"}]"#),
                ),
                422,
            ),
            (post("/api/matches", r#"{"seats":[],"move_time":1}"#), 422),
            (post("/api/matches", r#"{"game":"no-such","seats":[],"move_time":1}"#), 404),
            (post("/api/matches", r#"{"rules":"(role","seats":[],"move_time":1}"#), 422),
            (post("/api/matches", r#"{"game":"hex","seats":[],"move_time":-1}"#), 422),
            (post(&moves, by("", 0, "(mark 1 1)")), 422),
            (post(&moves, by("wrong", 0, "(mark 1 1)")), 422),
            (post(&moves, by(&keys[1], 0, "(mark 1 1)")), 422),
            (post(&moves, by(&keys[0], 7, "(mark 1 1)")), 422),
            (post(&moves, by(&keys[0], 0, "(mark 9 9)")), 422),
            (post(&moves, by(&keys[0], 0, "<b>")), 422),
            (post(&format!("/api/matches/{id}/undo"), json!({ "key": keys[0] }).to_string()), 422),
            (post("/api/matches/none/moves", by("", 0, "")), 404),
            (get("/api/matches/none"), 404),
            (get("/api/matches/none/events"), 404),
            (get("/api/matches/'%20OR%201=1"), 404),
            (get(&format!("/api/matches/{id}/states/99")), 422),
            (get(&format!("/api/matches/{id}/states/-1")), 400),
            (get("/api/games/no-such"), 404),
            (get("/api/games/..%2f..%2fetc%2fpasswd"), 404),
            (get("/../../etc/passwd"), 404),
            (get("/%2e%2e/Cargo.toml"), 404),
            (get("/style.css/x"), 404),
        ];
        for (request, wanted) in cases {
            let what = format!("{} {}", request.method(), request.uri());
            let (status, body) = ask(&server, request).await;
            assert_eq!(status.as_u16(), wanted, "{what}: {body}");
            assert!(
                wanted == 400 || body["error"].as_str().is_some_and(|it| !it.is_empty()),
                "{what}: {body}"
            );
        }
        let foreign = |name: &'static str, value: &'static str| {
            let mut request = post("/api/rules", r#"{"rules":""}"#);
            request.headers_mut().insert(name, axum::http::HeaderValue::from_static(value));
            request
        };
        for (name, value) in [
            ("origin", "http://evil.example"),
            ("origin", "null"),
            ("sec-fetch-site", "cross-site"),
            ("host", "evil.example"),
            ("host", "localhost.evil.example"),
        ] {
            let (status, _) = ask(&server, foreign(name, value)).await;
            assert_eq!(status, StatusCode::FORBIDDEN, "{name}: {value}");
        }
    });
}

#[test]
fn thousands_of_new_matches_are_refused() {
    run(async {
        let config =
            AppConfig { new_matches: 5.0, new_matches_per_second: 0.0, ..AppConfig::local() };
        let server = router(Arc::new(App::new(Store::in_memory().expect("a database"), config)));
        let body = people("tictactoe", 2).to_string();
        for n in 0..8 {
            let (status, _) = ask(&server, post("/api/matches", body.clone())).await;
            let wanted = if n < 5 { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
            assert_eq!(status, wanted, "match {n}");
        }
        assert_eq!(ask(&server, get("/api/games")).await.0, StatusCode::OK);
    });
}

#[test]
fn answers_forbid_foreign_scripts_and_a_token_is_asked_for() {
    run(async {
        let open = server();
        for path in ["/", "/app.js", "/api/games", "/nothing"] {
            let response = open.clone().oneshot(get(path)).await.expect("the server never fails");
            let policy = &response.headers()["content-security-policy"];
            assert!(policy.to_str().expect("text").contains("default-src 'none'"), "{path}");
            assert_eq!(response.headers()["x-content-type-options"], "nosniff");
        }
        let config = AppConfig { token: Some("abc".into()), ..AppConfig::local() };
        let closed = router(Arc::new(App::new(Store::in_memory().expect("a database"), config)));
        assert_eq!(text(&closed, get("/")).await.0, StatusCode::UNAUTHORIZED);
        let response = closed.clone().oneshot(get("/?token=abc")).await.expect("an answer");
        assert_eq!(response.status(), StatusCode::SEE_OTHER);
        let cookie = response.headers()["set-cookie"].to_str().expect("text").to_string();
        let mut request = get("/");
        let value = cookie.split(';').next().expect("a value").parse().expect("a header");
        request.headers_mut().insert("cookie", value);
        assert_eq!(text(&closed, request).await.0, StatusCode::OK);
    });
}
