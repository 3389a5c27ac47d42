//! `ludex scsp` as a person or a script meets it: lines, JSON, files, exit codes.

use std::fs;
use std::process::Output;

use ludex_testkit::command::{self, lines, ludex, ludex_with};
use ludex_testkit::workspace;
use serde_json::{Value, json};

fn model(name: &str) -> String {
    workspace().join("models").join(format!("{name}.qcp")).display().to_string()
}

fn solve(file: &str, args: &[&str]) -> Output {
    ludex(&[&["scsp", "solve", file], args].concat())
}

#[test]
fn json_says_what_was_found() {
    for method in ["ssbt", "sfc", "mac"] {
        let args = ["--best", "--exact", "--json", "--method", method];
        let found = command::json(&solve(&model("two-stages"), &args), 0);
        assert_eq!((&found["status"], &found["exact"]), (&json!("true"), &json!("1")), "{found}");
        assert!(found["nodes"].is_u64() && found["policy_nodes"].as_u64() > Some(0), "{found}");
    }
    let found = command::json(&solve(&model("two-stages"), &["--scenarios", "--json"]), 0);
    assert_eq!((&found["exact"], &found["scenarios"]), (&json!("1"), &json!(9)));
    let text = lines(&solve(&model("two-stages"), &["--exact"]), 0);
    assert!(text[0].starts_with("true, value "), "{text:?}");
    assert_eq!(text[1], "first: xd1 = 1");
}

#[test]
fn a_policy_is_written() {
    let file = std::env::temp_dir().join(format!("ludex-scsp-{}.json", std::process::id()));
    let path = file.display().to_string();
    let args = ["--best", "--json", "--policy", &path, "-D", "months=3"];
    let found = command::json(&solve(&model("stock"), &args), 0);
    assert_eq!(found["status"], "true", "{found}");
    let policy: Value = serde_json::from_str(&fs::read_to_string(&file).expect("it was written"))
        .expect("it is JSON");
    let n_nodes = policy["nodes"].as_array().expect("nodes are listed").len();
    assert_eq!(found["policy_nodes"], json!(n_nodes));
    fs::remove_file(file).expect("it is there");
}

#[test]
fn bad_input_is_refused_in_words() {
    for (text, code, words) in [
        ("random y: 0..1 weight 1 of 3; goal true;", 1, &["the weights sum to 2, not to 3"][..]),
        (
            "exists x: 0..1; random y: 0..1 where y > x;",
            1,
            &["given x = 1", "no value can be drawn"],
        ),
        ("threshold 5 of 4; exists x: 0..1;", 1, &["5 of 4 is no probability"]),
        ("exists x: 0..1; forall y: 0..1; random z: 0..1;", 2, &["an opponent"]),
        ("exists x: 0..1; random y: 0..1; utility x - y;", 1, &["the utility can be -1"]),
    ] {
        let output = ludex_with(&["scsp", "solve", "-"], text);
        command::check_refused(&output, code, words);
    }
    let output = ludex_with(&["qcsp", "solve", "-"], "random y: 0..1; goal true;");
    command::check_refused(&output, 2, &["ludex scsp solve"]);
}
