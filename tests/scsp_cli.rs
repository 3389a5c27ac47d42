//! `ludex scsp` as a person or a script uses it: lines, JSON, files, exit codes.

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
fn json_reports_the_result() {
    for method in ["ssbt", "sfc", "mac"] {
        let args = ["--best", "--exact", "--json", "--method", method];
        let found = command::json(&solve(&model("two-stages"), &args), 0);
        assert_eq!((&found["status"], &found["exact"]), (&json!("true"), &json!("1")), "{found}");
        assert!(found["nodes"].is_u64() && found["policy_nodes"].as_u64() > Some(0), "{found}");
    }
    let found = command::json(&solve(&model("two-stages"), &["--scenarios", "--json"]), 0);
    assert_eq!((&found["exact"], &found["scenarios"]), (&json!("1"), &json!(9)));
    assert!(found["value"] == json!(1.0) && found["nodes"].is_u64(), "{found}");
    let text = lines(&solve(&model("two-stages"), &["--exact"]), 0);
    assert!(text[0].starts_with("true, value "), "{text:?}");
    assert_eq!(text[1], "first: xd1 = 1");
}

/// The one-stage example: four feasible tuples of the chance part, one solution.
#[test]
fn a_network_of_one_stage_is_solved_in_two_parts() {
    let found = command::json(&solve(&model("one-stage"), &["--two-parts", "--json"]), 0);
    assert_eq!((&found["status"], &found["feasible"]), (&json!("true"), &json!(4)), "{found}");
    assert_eq!((&found["solutions"], &found["scope"]), (&json!(1), &json!(["x1", "x2"])));
    assert_eq!(found["decisions"], json!([{"x1": 2, "x2": 2}]));
    let text = lines(&solve(&model("one-stage"), &["--two-parts"]), 0);
    assert!(text[0].starts_with("true, 1 solution; the chance part allows 4 values"), "{text:?}");
    assert_eq!(text[1], "x1 = 2, x2 = 2");
    let output = solve(&model("two-stages"), &["--two-parts"]);
    command::check_refused(&output, 2, &["it has several stages"]);
}

#[test]
fn a_policy_is_written() {
    let file = std::env::temp_dir().join(format!("ludex-scsp-{}.json", std::process::id()));
    let path = file.display().to_string();
    let args = ["--best", "--json", "--policy", &path, "-D", "months=3"];
    let found = command::json(&solve(&model("stock"), &args), 0);
    assert_eq!(found["status"], "true", "{found}");
    let policy: Value =
        serde_json::from_str(&fs::read_to_string(&file).expect("the file was written"))
            .expect("the file is JSON");
    let n_nodes = policy["nodes"].as_array().expect("nodes are listed").len();
    assert_eq!(found["policy_nodes"], json!(n_nodes));
    assert_eq!(found["policy"], policy);
    // The written policy can be read back and has the reported value.
    let args = ["--check-policy", &path, "-D", "months=3", "--json"];
    let checked = command::json(&solve(&model("stock"), &args), 0);
    assert_eq!(checked["ok"], json!(true), "{checked}");
    let utility = checked["utility"].as_str().expect("a fraction");
    let (above, below) = utility.split_once('/').unwrap_or((utility, "1"));
    let utility = above.parse::<f64>().unwrap() / below.parse::<f64>().unwrap();
    assert!((utility - found["value"].as_f64().unwrap()).abs() < 1e-9, "{checked}");
    let mut changed = policy.clone();
    for node in changed["nodes"].as_array_mut().expect("nodes are listed") {
        if node["decide"]["variable"] == "order[1]" {
            node["decide"]["value"] = json!(9);
        }
    }
    for (text, words) in [
        (changed.to_string(), "`order[1]` can't be 9"),
        (r#"{"root":0,"nodes":["end"]}"#.to_string(), "it ends before `order[1]` has a value"),
        (r#"{"root":1,"nodes":["end"]}"#.to_string(), "node 1 does not exist"),
        (r#"{"root":0,"nodes":[]"#.to_string(), "EOF"),
    ] {
        fs::write(&file, text).expect("the file can be written");
        let args = ["--check-policy", &path, "-D", "months=3"];
        command::check_refused(&solve(&model("stock"), &args), 1, &[&path, words]);
    }
    fs::remove_file(file).expect("the file exists");
}

#[test]
fn policies_go_to_standard_output_with_value_names() {
    let text = "enum Sky = {clear, dark}; exists x: Sky; exists b: bool; random s: Sky; \
                goal x = s \\/ b; goal x = dark; threshold 1 of 1;";
    let output = ludex_with(&["scsp", "solve", "-"], text);
    assert_eq!(lines(&output, 0)[1], "first: x = dark, b = true");
    let output = ludex_with(&["scsp", "solve", "-", "--json"], text);
    assert_eq!(command::json(&output, 0)["first"], json!({"x": "dark", "b": "true"}));
    let output = ludex_with(&["scsp", "solve", "-", "--policy", "-"], text);
    let policy: Value = serde_json::from_str(&lines(&output, 0).concat()).expect("only JSON");
    let nodes = policy["nodes"].as_array().expect("nodes are listed");
    assert!(nodes.iter().any(|node| node["decide"]["value"] == "dark"), "{policy}");
    let output = ludex_with(&["scsp", "solve", "-", "--policy", "-", "--json"], text);
    assert_eq!(command::json(&output, 2)["ok"], json!(false));
    let folder = std::env::temp_dir().join("ludex-no-such-folder/p.json");
    let path = folder.display().to_string();
    let output = ludex_with(&["scsp", "solve", "-", "--policy", &path], text);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains(&path));
    // Without a policy there is nothing to write and no value to report.
    let never = "exists x: 0..1; random s: 0..1; goal s = 1; goal x >= 0 threshold 1 of 1;";
    let output = ludex_with(&["scsp", "solve", "-", "--json", "--policy", &path], never);
    let found = command::json(&output, 0);
    assert_eq!((&found["status"], found.get("value")), (&json!("false"), None), "{found}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no policy to write"));
}

/// Each instance reaches its limit long before the test ends, and exits with the code for limits.
#[test]
fn limits_are_kept() {
    let wide: String =
        (0..60).map(|i| format!("exists x{i}: 0..1000000; goal x{i} >= 1;")).collect();
    let wide = format!("{wide} random s: 0..1; threshold 1 of 4;");
    let weights = "exists x: 0..1000000; random s: 0..1000000 weight 1 + x + s; goal s >= x; \
                   threshold 1 of 4;";
    let many: String = (0..16)
        .map(|i| format!("exists x{i}: 0..1; random s{i}: 0..1; goal x{i} >= s{i};"))
        .collect();
    for (text, args, words) in [
        (&*wide, &["--memory", "100MB"][..], "the limit of memory"),
        (weights, &["--time", "0.01"], "the limit of time"),
        (&*many, &["--scenarios", "--memory", "100MB"], "the limit of memory"),
        (&*many, &["--scenarios", "--time", "0.001"], "time"),
    ] {
        let output = ludex_with(&[&["scsp", "solve", "-"], args].concat(), text);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{args:?}: {said}");
        assert!(said.contains(words), "{args:?}: {said}");
        assert!(!String::from_utf8_lossy(&output.stdout).contains("false"), "{args:?}");
    }
}

#[test]
fn invalid_input_is_rejected_with_a_message() {
    for (text, code, words) in [
        ("random y: 0..1 weight 1 of 3; goal true;", 1, &["the weights sum to 2, not to 3"][..]),
        (
            "exists x: 0..1; random y: 0..1 where y > x;",
            1,
            &["given x = 1", "no value can be drawn"],
        ),
        ("threshold 5 of 4; exists x: 0..1;", 1, &["5 of 4 is no probability"]),
        ("exists x: 0..1; forall y: 0..1; random z: 0..1;", 1, &["an opponent"]),
        ("exists x: 0..1; random y: 0..1; utility x - y;", 1, &["the utility can be -1"]),
        ("random y: 0..2 weight [3, 2, 1][y];", 1, &["the weight of 0 has no value"]),
        ("<instance type=\"CSP\"></instance>", 1, &["the framework is CSP"]),
    ] {
        let output = ludex_with(&["scsp", "solve", "-"], text);
        command::check_refused(&output, code, words);
    }
    // Errors have a position even if only the network shows them.
    for (text, place) in [
        ("exists x: 0..1000;\nutility x * 10000000000000000;", "<stdin>:2:"),
        ("exists x: 0..1;\nrandom y: 0..1\n  weight 1 of 3;", "<stdin>:3:"),
        ("random y: 0..1;\nexists x: 0..1;\nutility x - y;", "<stdin>:3:"),
        ("exists x: 0..1;\nthreshold -1 of 4;", "<stdin>:2:"),
        ("exists x: 0..1;\ngoal x = 1 threshold 3 of 2;", "<stdin>:2:"),
        ("random y: 0..1;\nexists x: 0..9999999;", "<stdin>:2:"),
    ] {
        let output = ludex_with(&["scsp", "solve", "-"], text);
        command::check_refused(&output, 1, &[place]);
    }
    // A model without chance is checked like one with it.
    let output = ludex_with(&["scsp", "solve", "-"], "exists x: 0..9999999;");
    command::check_refused(&output, 1, &["<stdin>", "at most 1048576"]);
    command::check_refused(&solve("a.qdimacs", &[]), 2, &["QDIMACS cannot express chance"]);
    let output = ludex_with(&["qcsp", "solve", "-"], "random y: 0..1; goal true;");
    command::check_refused(&output, 2, &["ludex scsp solve"]);
}

#[test]
fn xcsp3_is_read_and_written() {
    let folder = std::env::temp_dir();
    let file = folder.join(format!("ludex-scsp-{}.xml", std::process::id()));
    let path = file.display().to_string();
    lines(&solve(&model("two-stages"), &["--xcsp3", &path]), 0);
    for args in [&["--best", "--exact", "--json"][..], &["--exact", "--json"]] {
        let [own, read] =
            [&model("two-stages"), &path].map(|file| command::json(&solve(file, args), 0));
        assert_eq!((&own["status"], &own["exact"]), (&read["status"], &read["exact"]), "{read}");
    }
    command::check_refused(&solve(&path, &["-D", "n=1"]), 2, &["`.qcp` files"]);
    let text = fs::read_to_string(&file).expect("the file was written");
    for (from, to, words) in [
        ("0:1/3", "0:1/2", "the distribution of `xs1`: the probabilities sum to 7/6, not to 1"),
        ("threshold=\"1/3\"", "threshold=\"4/3\"", "the threshold 4/3 is not between 0 and 1"),
        ("<decision> xd2 </decision>", "", "`xd2` is not listed in a stage"),
    ] {
        let wrong = text.replacen(from, to, 1);
        assert_ne!(wrong, text, "{from}");
        fs::write(&file, wrong).expect("the file can be written");
        let place = format!("{path}:");
        command::check_refused(&solve(&path, &[]), 1, &[&place, words]);
    }
    fs::remove_file(file).expect("the file exists");
    // An unsupported part is rejected and named.
    let dependent = "exists x: 0..1; random y: 0..1 where y >= x; goal y = 1;";
    let output = ludex_with(&["scsp", "solve", "-", "--xcsp3", "-"], dependent);
    command::check_refused(&output, 2, &["the probabilities of `y`"]);
}
