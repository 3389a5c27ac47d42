//! `ludex qcsp` as a person or a script uses it: lines, JSON, files, exit codes.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use ludex_testkit::command::{self, lines, ludex, ludex_with, stderr};
use ludex_testkit::workspace;
use serde_json::{Value, json};

fn model(name: &str) -> String {
    workspace().join("models").join(format!("{name}.qcp")).display().to_string()
}

fn solve(file: &str, args: &[&str]) -> Output {
    ludex(&[&["qcsp", "solve", file], args].concat())
}

/// Checks that a text is rejected with this code and with all these words on standard error.
#[track_caller]
fn check_refused(text: &str, args: &[&str], code: i32, words: &[&str]) {
    let output = ludex_with(&[&["qcsp", "solve", "-"], args].concat(), text);
    command::check_refused(&output, code, words);
}

fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("ludex-qcsp-{}-{name}", std::process::id()))
}

#[test]
fn json_reports_the_result() {
    let nim = command::json(&solve(&model("nim"), &["-D", "n=27", "--json"]), 0);
    assert_eq!(nim["status"], "true");
    assert!(nim["nodes"].is_u64() && nim["seconds"].is_f64(), "{nim}");
    assert_eq!((nim.get("value"), &nim["strategy_nodes"]), (None, &json!(0)));
    let prices = command::json(&solve(&model("link-pricing"), &["--json", "-D", "links=5"]), 0);
    assert_eq!((&prices["status"], &prices["value"]), (&json!("true"), &json!(260)));
    let pessimistic = ["--json", "--ties", "pessimistic"];
    assert_eq!(command::json(&solve(&model("link-pricing"), &pessimistic), 0)["value"], 200);
    let board = ["-D", "columns=4", "-D", "rows=4", "--json"];
    assert_eq!(command::json(&solve(&model("connect-four"), &board), 0)["status"], "false");
}

#[test]
fn strategies_are_written_and_checked() {
    for (n, winner) in [("10", "exists"), ("8", "forall")] {
        let file = temporary(&format!("{n}.json"));
        let path = file.display().to_string();
        let size = format!("n={n}");
        let found =
            command::json(&solve(&model("nim"), &["-D", &size, "--strategy", &path, "--json"]), 0);
        assert!(found["strategy_nodes"].as_u64() > Some(0), "{found}");
        let strategy: Value =
            serde_json::from_str(&fs::read_to_string(&file).expect("the file was written"))
                .expect("the file is JSON");
        assert_eq!(strategy["winner"], winner);
        let args = ["-D", &size, "--check-strategy", &path, "--json"];
        let checked = command::json(&solve(&model("nim"), &args), 0);
        assert_eq!((&checked["ok"], &checked["winner"]), (&json!(true), &json!(winner)));
        // A strategy of another game is rejected.
        let other = solve(&model("nim"), &["-D", "n=9", "--check-strategy", &path]);
        assert_eq!(other.status.code(), Some(1), "{}", stderr(&other));
        fs::remove_file(&file).expect("the file exists");
    }
}

#[test]
fn strategies_are_drawn() {
    for (name, begins) in [("nim.dot", "digraph"), ("nim.svg", "<svg")] {
        let file = temporary(name);
        let path = file.display().to_string();
        lines(&solve(&model("nim"), &["--strategy", &path]), 0);
        assert!(fs::read_to_string(&file).expect("the file was written").starts_with(begins));
        fs::remove_file(&file).expect("the file exists");
    }
    let output = solve(&model("nim"), &["--strategy", "nim.png"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

/// A winning strategy can also be checked for optimality: the best tolls, and the best choices of
/// those who pay them.
#[test]
fn strategies_are_certified_to_be_optimal() {
    let file = temporary("prices.json");
    let path = file.display().to_string();
    let model = model("link-pricing");
    let small = ["-D", "links=3", "-D", "tariffs={3, 7}"];
    lines(&solve(&model, &[&small[..], &["--strategy", &path]].concat()), 0);
    let check = ["--check-strategy", &path, "--json"];
    let checked = command::json(&solve(&model, &[&small[..], &check].concat()), 0);
    assert_eq!((&checked["ok"], &checked["optimal"]), (&json!(true), &json!(true)), "{checked}");
    // With more tariffs it still wins, but is not optimal.
    let more = ["-D", "links=3", "-D", "tariffs={3, 7, 11}"];
    let refuted = command::json(&solve(&model, &[&more[..], &check].concat()), 1);
    assert_eq!((&refuted["ok"], &refuted["optimal"]), (&json!(false), &json!(false)), "{refuted}");
    let any = ["--ties", "any"];
    let unknown = command::json(&solve(&model, &[&small[..], &check, &any].concat()), 0);
    assert_eq!((&unknown["ok"], &unknown["optimal"]), (&json!(true), &json!(null)), "{unknown}");
    fs::remove_file(&file).expect("the file exists");
}

#[test]
fn a_strategy_that_does_not_fit_is_reported() {
    let file = temporary("large.json");
    let path = file.display().to_string();
    let board = ["-D", "columns=4", "-D", "rows=4", "-D", "question=notlose", "--json"];
    let args = [&board[..], &["--memory", "1MB", "--strategy", &path]].concat();
    let output = solve(&model("connect-four"), &args);
    let refused = command::json(&output, 3);
    assert_eq!((&refused["status"], &refused["strategy_nodes"]), (&json!("true"), &json!(0)));
    assert!(stderr(&output).contains("does not fit in"), "{}", stderr(&output));
    assert!(!file.exists());
    // A model that does not fit is rejected before it is built.
    let large = ["-D", "depth=10", "--memory", "5MB"];
    let output = solve(&model("matrix-game"), &large);
    command::check_refused(&output, 1, &["error[too-large]"]);
}

#[test]
fn branches_of_a_strategy_are_counted() {
    let file = temporary("branches.json");
    let path = file.display().to_string();
    let found =
        command::json(&solve(&model("nim-black-jack"), &["--json", "--strategy", &path]), 0);
    let scopes = found["strategy_scopes"].as_array().expect("a list");
    assert_eq!(scopes[0], json!({"scope": "x1", "nodes": 1, "branches": 1}));
    assert_eq!(scopes[1], json!({"scope": "y1", "nodes": 1, "branches": 3}));
    fs::remove_file(&file).expect("the file exists");
}

#[test]
fn all_strategies_are_counted() {
    let found = command::json(&solve(&model("nim-black-jack"), &["--all-strategies", "--json"]), 0);
    assert_eq!((&found["status"], &found["strategies"]), (&json!("true"), &json!(2)));
}

#[test]
fn data_comes_from_files() {
    let text = "param n: int; param c: array[1..n] of int; param s: set of int;
        exists x: s where x = sum(c); goal true;";
    for (name, data) in [
        ("a.json", r#"{"n": 2, "c": [3, 4], "s": {"set": [1, [5, 9]]}}"#),
        ("a.dzn", "n = 2; c = [3, 4]; s = 5..9;"),
    ] {
        let file = temporary(name);
        fs::write(&file, data).expect("a temporary file can be written");
        let path = file.display().to_string();
        let output = ludex_with(&["qcsp", "solve", "-", "--json", "--data", &path], text);
        assert_eq!(command::json(&output, 0)["status"], "true");
        let args = ["qcsp", "solve", "-", "--json", "--data", &path, "-D", "c=[1, 1]"];
        assert_eq!(command::json(&ludex_with(&args, text), 0)["status"], "false");
        fs::remove_file(&file).expect("the file exists");
    }
}

#[test]
fn errors_have_positions_and_help() {
    check_refused(
        "exists x: 0..1\n  where x < y;\nforall y: 0..1;\ngoal true;",
        &[],
        1,
        &["error[later-variable]", "<stdin>:2:13", "help: a restrictor can mention only"],
    );
    check_refused(
        "exists x: 3..1; goal true;",
        &[],
        1,
        &["error[empty-domain]", "`x` has no values"],
    );
    check_refused(
        "exists x: 0..1 let z = x + y; forall y: 0..1; goal true;",
        &[],
        1,
        &["error[used-before-scope]", "<stdin>:1:28", "`y`"],
    );
    check_refused(
        "forall k: 0..1 aggregate total = sum(incom);\nexists income: 0..1;\ngoal true;",
        &[],
        1,
        &["error[unknown-variable]", "<stdin>:1:38", "did you mean `income`?"],
    );
    check_refused(
        "exists x: 0..1 minimize y; forall y: 0..1; goal true;",
        &[],
        1,
        &["error[unknown-variable]", "aggregate"],
    );
    check_refused("goal colum > 1; param column: int = 2;", &[], 1, &["error[unknown-name]"]);
    check_refused("param n: int; goal true;", &[], 1, &["error[missing-data]", "-D n="]);
    check_refused("goal true;", &["-D", "n"], 2, &["-D name=value"]);
    check_refused("goal true;", &["-D", "n=1 +"], 2, &["-D n=1 +"]);
    let output = ludex_with(&["qcsp", "solve", "-", "--json"], "goal 1 +;");
    let refused = command::json(&output, 1);
    assert_eq!((&refused["ok"], &refused["errors"][0]["code"]), (&json!(false), &json!("syntax")));
    assert_eq!(solve("no-such-file.qcp", &[]).status.code(), Some(2));
}

#[test]
fn time_stops_the_search() {
    let args = ["--time", "0.5", "--json", "--threads", "1"];
    let stopped = command::json(&solve(&model("connect-four"), &args), 3);
    assert_eq!((&stopped["status"], &stopped["stopped"]), (&json!("unknown"), &json!("time")));
}

#[test]
fn a_person_plays_the_other_side() {
    let output = ludex_with(&["qcsp", "play", &model("nim"), "-D", "n=5"], "3\nx\n1\n1\n1\n1\n");
    let text = lines(&output, 0).join("\n");
    assert!(text.contains("You play `forall`"), "{text}");
    assert!(text.contains("strategy: take@1 = 1"), "{text}");
    assert!(text.contains("the strategy wins"), "{text}");
    let left = ludex_with(&["qcsp", "play", &model("nim"), "-D", "n=8"], "q\n");
    assert!(lines(&left, 0)[0].contains("You play `exists`"));
}

#[test]
fn every_option_value_is_accepted() {
    for option in [
        &["--propagation", "none"][..],
        &["--propagation", "restrictor"],
        &["--propagation", "fusion"],
        &["--propagation", "cascade"],
        &["--propagation", "full"],
        &["--order", "ascending"],
        &["--order", "goal"],
        &["--order", "history"],
        &["--order", "preserve"],
        &["--no-memory"],
        &["--no-symmetry"],
        &["--no-bounds"],
        &["--deepening"],
        &["--threads", "2"],
    ] {
        let args = [&["-D", "n=9", "--json"][..], option].concat();
        assert_eq!(command::json(&solve(&model("nim"), &args), 0)["status"], "true", "{option:?}");
    }
}

#[test]
fn xcsp3_is_written_and_read() {
    let file = temporary("jack.xml");
    let path = file.display().to_string();
    lines(&solve(&model("nim-black-jack"), &["--xcsp3", &path]), 0);
    assert_eq!(command::json(&solve(&path, &["--json"]), 0)["status"], "true");
    fs::write(&file, "<instance>").expect("a temporary file can be written");
    let refused = solve(&path, &[]);
    assert_eq!(refused.status.code(), Some(1), "{}", stderr(&refused));
    fs::remove_file(&file).expect("the file exists");
    let refused = solve(&model("link-pricing"), &["--xcsp3", "-"]);
    assert!(stderr(&refused).contains("aggregate `total`"), "{}", stderr(&refused));
}

#[test]
fn qdimacs_is_read_and_written() {
    let file = temporary("f.qdimacs");
    let path = file.display().to_string();
    for (text, status) in [
        ("p cnf 2 2\na 1 0\ne 2 0\n1 2 0\n-1 -2 0\n", "true"),
        ("p cnf 2 2\ne 2 0\na 1 0\n1 2 0\n-1 -2 0\n", "false"),
    ] {
        fs::write(&file, text).expect("a temporary file can be written");
        assert_eq!(command::json(&solve(&path, &["--json"]), 0)["status"], status);
        let written = lines(&solve(&path, &["--qdimacs", "-"]), 0).join("\n") + "\n";
        fs::write(&file, written).expect("a temporary file can be written");
        assert_eq!(command::json(&solve(&path, &["--json"]), 0)["status"], status);
    }
    fs::remove_file(&file).expect("the file exists");
}
