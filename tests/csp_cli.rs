//! `ludex csp solve` as a person or a script uses it: lines, JSON, exit codes.

use std::fs;
use std::process::Output;
use std::time::{Duration, Instant};

use ludex_testkit::command::{self, lines, ludex, ludex_with, stderr};
use serde_json::{Value, json};

const QUEENS: &str = r#"<instance format="XCSP3" type="CSP">
  <variables> <array id="q" size="[4]"> 0..3 </array> </variables>
  <constraints>
    <allDifferent> q[] </allDifferent>
    <allDifferent> q[0] add(q[1],1) add(q[2],2) add(q[3],3) </allDifferent>
    <allDifferent> q[0] sub(q[1],1) sub(q[2],2) sub(q[3],3) </allDifferent>
  </constraints>
</instance>"#;

const PIGEONS: &str = r#"<instance format="XCSP3" type="CSP">
  <variables> <array id="p" size="[4]"> 0..2 </array> </variables>
  <constraints> <allDifferent> p[] </allDifferent> </constraints>
</instance>"#;

const COST: &str = r#"<instance format="XCSP3" type="COP">
  <variables> <var id="x"> 1..5 </var> <var id="y"> 1..5 </var> </variables>
  <constraints> <intension> gt(add(x,y),6) </intension> </constraints>
  <objectives> <minimize> add(mul(2,x),y) </minimize> </objectives>
</instance>"#;

/// Runs `ludex csp solve - …` on a text.
fn solve(text: &str, args: &[&str]) -> Output {
    ludex_with(&[&["csp", "solve", "-"], args].concat(), text)
}

/// Checks that a call fails with this code and with all these words on standard error.
#[track_caller]
fn check_refused(text: &str, args: &[&str], code: i32, words: &[&str]) {
    let output = solve(text, args);
    command::check_refused(&output, code, words);
}

/// Returns a queens instance whose solutions take longer to count than a test lasts.
fn many_queens() -> String {
    let shifted = |op: &str| -> String {
        (0..30).map(|i| format!("{op}(q[{i}],{i})")).collect::<Vec<_>>().join(" ")
    };
    format!(
        r#"<instance format="XCSP3" type="CSP">
        <variables> <array id="q" size="[30]"> 0..29 </array> </variables>
        <constraints> <allDifferent> q[] </allDifferent>
        <allDifferent> {} </allDifferent> <allDifferent> {} </allDifferent>
        </constraints> </instance>"#,
        shifted("add"),
        shifted("sub")
    )
}

#[test]
fn answers_are_the_lines_of_the_competition() {
    let lines = lines(&solve(QUEENS, &["--seed", "1"]), 0);
    assert_eq!(lines[0], "s SATISFIABLE");
    assert!(lines[1].starts_with("v <instantiation> <list> q[] </list> <values> "), "{lines:?}");
    assert!(lines[2..].iter().all(|line| line.starts_with("d ")), "{lines:?}");
}

#[test]
fn a_file_is_read_by_its_path() {
    let path = std::env::temp_dir().join(format!("ludex-csp-cli-{}.xml", std::process::id()));
    fs::write(&path, PIGEONS).expect("a temporary file can be written");
    let output = ludex(&["csp", "solve", path.to_str().expect("the path is text")]);
    fs::remove_file(&path).expect("the file exists");
    assert_eq!(lines(&output, 0)[0], "s UNSATISFIABLE");
}

#[test]
fn a_missing_file_is_a_wrong_call() {
    let output = ludex(&["csp", "solve", "no-such-file.xml"]);
    assert_eq!(lines(&output, 2), [""; 0]);
    assert!(stderr(&output).contains("cannot read `no-such-file.xml`: no such file"));
}

#[test]
fn four_queens_are_counted() {
    for search in ["mac", "fc", "cbj", "dbt"] {
        let counted = command::json(&solve(QUEENS, &["--count", "--json", "--search", search]), 0);
        assert_eq!((&counted["status"], &counted["solutions"]), (&json!("SATISFIABLE"), &json!(2)));
    }
    let lines = lines(&solve(QUEENS, &["--count", "--threads", "2"]), 0);
    assert!(lines.contains(&"d FOUND SOLUTIONS 2".into()), "{lines:?}");
}

#[test]
fn all_or_the_first_few_solutions_are_shown() {
    let all = command::json(&solve(QUEENS, &["--all", "--json"]), 0);
    assert_eq!(all["solutions"], 2);
    let mut rows: Vec<Vec<i64>> = all["assignments"]
        .as_array()
        .expect("solutions are listed")
        .iter()
        .map(|found| (0..4).filter_map(|i| found[format!("q[{i}]")].as_i64()).collect())
        .collect();
    rows.sort();
    assert_eq!(rows, [[1, 3, 0, 2], [2, 0, 3, 1]]);
    let n_shown = |args: &[&str]| {
        lines(&solve(QUEENS, args), 0).iter().filter(|line| line.starts_with("v ")).count()
    };
    assert_eq!((n_shown(&["--all"]), n_shown(&["--limit", "1"])), (2, 1));
    assert_eq!((n_shown(&["--limit", "2"]), n_shown(&["--limit", "9"])), (2, 2));
}

#[test]
fn an_optimum_has_its_value() {
    let lines = lines(&solve(COST, &[]), 0);
    let end = lines.iter().position(|line| line == "s OPTIMUM FOUND").expect("a status");
    assert!(lines[..end].iter().all(|line| line.starts_with("o ")), "{lines:?}");
    assert_eq!(lines[end - 1], "o 9");
    assert!(lines[end + 1].contains("<values> 2 5 </values>"), "{lines:?}");

    let best = command::json(&solve(COST, &["--json"]), 0);
    assert_eq!((&best["status"], &best["value"]), (&json!("OPTIMUM FOUND"), &json!(9)));
    assert_eq!(best["solution"], json!({"x": 2, "y": 5}));
}

#[test]
fn json_reports_the_search() {
    let found = command::json(&solve(QUEENS, &["--json"]), 0);
    assert!(found["solution"]["q[3]"].is_i64());
    assert!(found["nodes"].is_u64() && found["seconds"].is_f64(), "{found}");
    assert_eq!((found.get("solutions"), found.get("value")), (None, None));
    let none = command::json(&solve(PIGEONS, &["--json"]), 0);
    assert_eq!((&none["status"], &none["solution"]), (&json!("UNSATISFIABLE"), &Value::Null));
}

#[test]
fn every_option_value_is_accepted() {
    let choices = [
        ("--propagator", "auto ct bit ac2001 str2 str"),
        ("--all-different", "auto value bounds gac"),
        ("--order", "lex dom dom/deg dom/ddeg dom/wdeg impact activity"),
        ("--values", "min max random last"),
        ("--branching", "binary d-way"),
        ("--restarts", "never luby geometric"),
        ("--search", "mac local gt bt bc cbj dbt fc"),
    ];
    let help = ludex(&["csp", "solve", "--help"]);
    let help = lines(&help, 0).join("\n");
    for (option, values) in choices {
        assert!(help.contains(&values.replace(' ', ", ")), "{option} in\n{help}");
        for value in values.split(' ') {
            let lines = lines(&solve(QUEENS, &[option, value, "--time", "60"]), 0);
            assert_eq!(lines[0], "s SATISFIABLE", "{option} {value}");
        }
    }
}

#[test]
fn an_unknown_option_value_lists_the_known_ones() {
    check_refused(QUEENS, &["--propagator", "gac"], 2, &["gac", "--propagator", "ac2001", "str2"]);
    check_refused(QUEENS, &["--order", "deg"], 2, &["dom/wdeg", "impact"]);
    check_refused(QUEENS, &["--search", "dfs"], 2, &["mac", "local", "cbj"]);
    check_refused(QUEENS, &["--limit", "0"], 2, &["--limit"]);
    check_refused(QUEENS, &["--all", "--count"], 2, &["--all", "--count"]);
}

#[test]
fn incompatible_options_are_rejected() {
    check_refused(QUEENS, &["--count", "--search", "local"], 2, &["--search local"]);
    check_refused(COST, &["--count"], 2, &["objective", "--count"]);
    check_refused(QUEENS, &["--search", "cbj", "--order", "dom"], 2, &["cbj", "dom"]);
    check_refused(QUEENS, &["--search", "fc", "--order", "impact"], 2, &["fc", "impact"]);
    let ordered = lines(&solve(QUEENS, &["--search", "fc", "--order", "dom"]), 0);
    assert_eq!(ordered[0], "s SATISFIABLE");
    check_refused(COST, &["--search", "fc"], 2, &["objective", "--search mac"]);
}

#[test]
fn a_malformed_file_is_rejected_with_its_line() {
    check_refused(&QUEENS.replace("</constraints>", "</oops>"), &[], 1, &["<stdin>:7: "]);
    check_refused("", &[], 1, &["<stdin>:1: "]);
    check_refused(&COST.replace("gt(add(x,y),6)", "gt(add(x,z),6)"), &[], 1, &["<stdin>:3: ", "z"]);
    let output = solve("<instance>\n<variables> <var id=\"x\"> 5..1e9 </var>", &["--json"]);
    let refused = command::json(&output, 1);
    assert_eq!((&refused["ok"], &refused["errors"][0]["line"]), (&json!(false), &json!(2)));
}

#[test]
fn an_unsupported_element_is_named() {
    let strange = PIGEONS.replace("allDifferent", "knights");
    check_refused(&strange, &[], 1, &["<stdin>:3: ", "`knights` is not supported"]);
}

#[test]
fn an_invalid_network_is_rejected_with_its_line() {
    let twice = PIGEONS.replace("p[] <", "p[0] p[1] p[0] <");
    check_refused(&twice, &[], 1, &["<stdin>:3: ", "constraint 1, `allDifferent`", "`p[0]`"]);
    let empty = PIGEONS.replace("0..2", "");
    check_refused(&empty, &[], 1, &["<stdin>:2: ", "empty domain"]);
    let wide = COST.replace("1..5", "0..2000000000");
    check_refused(&wide, &[], 1, &["<stdin>:4: ", "objective", "out of range"]);
}

#[test]
fn symbols_are_shown_by_their_names() {
    let colors = r#"<instance format="XCSP3" type="CSP">
      <variables>
        <array id="c" size="[3]" type="symbolic"> red green blue </array>
        <var id="d" type="symbolic"> white red </var>
      </variables>
      <constraints>
        <allDifferent> c[] </allDifferent>
        <extension> <list> c[0] c[1] </list> <supports> (green,red)(blue,*) </supports> </extension>
        <intension> and(eq(c[2],blue),ne(d,white)) </intension>
      </constraints>
    </instance>"#;
    let found = command::json(&solve(colors, &["--all", "--json"]), 0);
    assert_eq!(found["solutions"], 1);
    let expected = json!({"c[0]": "green", "c[1]": "red", "c[2]": "blue", "d": "red"});
    assert_eq!(found["solution"], expected);
    let shown = lines(&solve(colors, &[]), 0);
    assert!(shown[1].contains("<values> green red blue red </values>"), "{shown:?}");
}

#[test]
fn preprocessing_can_be_switched_off() {
    let free = QUEENS.replace("</variables>", "<var id=\"free\"> 1..7 </var> </variables>");
    for args in [&["--count", "--json"][..], &["--count", "--json", "--no-preprocess"]] {
        let counted = command::json(&solve(&free, args), 0);
        assert_eq!(counted["solutions"], 14, "{args:?}");
    }
    assert_eq!(command::json(&solve(&free, &["--all", "--json"]), 0)["solutions"], 14);
}

#[test]
fn the_time_limit_keeps_the_best_solution() {
    let start = Instant::now();
    let stopped = command::json(&solve(&many_queens(), &["--count", "--json", "--time", "0.5"]), 3);
    assert_eq!((&stopped["status"], &stopped["stopped"]), (&json!("SATISFIABLE"), &json!("time")));
    assert!(stopped["solutions"].as_u64() > Some(0), "{stopped}");
    // Generate and test finds no solution in that time.
    let output = solve(&many_queens(), &["--search", "gt", "--time", "0.5"]);
    assert_eq!(lines(&output, 3)[0], "s UNKNOWN");
    assert!(stderr(&output).contains("limit of time"), "{}", stderr(&output));
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
#[cfg(target_os = "linux")]
fn the_memory_limit_stops_the_search() {
    let stopped = command::json(&solve(&many_queens(), &["--all", "--json", "--memory", "8MB"]), 3);
    assert_eq!(stopped["stopped"], "memory");
    // What was found by then is reported.
    let n_listed = stopped["assignments"].as_array().map_or(0, Vec::len);
    assert!(n_listed > 1_000, "{n_listed}");
    assert_eq!(stopped["solutions"], n_listed);
}

#[test]
fn symmetries_are_listed_and_broken() {
    let output = ludex_with(&["csp", "symmetries", "-", "--json"], QUEENS);
    let report: Value = serde_json::from_str(&lines(&output, 0).join("\n")).expect("JSON");
    assert_eq!((&report["order"], &report["orbits"]), (&json!("8"), &json!(3)));
    assert_eq!((&report["literals"], &report["is_complete"]), (&json!(16), &json!(true)));
    let text = lines(&ludex_with(&["csp", "symmetries", "-"], PIGEONS), 0);
    assert!(text[0].starts_with("<stdin>: 144 symmetries ("), "{text:?}");

    let count = |text: &str, args: &[&str]| {
        let output = solve(text, &[&["--count", "--json"], args].concat());
        let report: Value = serde_json::from_str(&lines(&output, 0).join("\n")).expect("JSON");
        report["solutions"].as_u64().expect("a number")
    };
    // Both solutions of four queens are images of each other.
    assert_eq!((count(QUEENS, &[]), count(QUEENS, &["--break-symmetries"])), (2, 1));
    let broken = lines(&solve(PIGEONS, &["--break-symmetries"]), 0);
    assert_eq!(broken[0], "s UNSATISFIABLE");
    let value = |args: &[&str]| {
        let output = solve(COST, &[&["--json"], args].concat());
        let report: Value = serde_json::from_str(&lines(&output, 0).join("\n")).expect("JSON");
        report["value"].clone()
    };
    assert_eq!(value(&[]), value(&["--break-symmetries"]));

    let wrong = ludex_with(&["csp", "symmetries", "-"], "<instance");
    command::check_refused(&wrong, 1, &["<stdin>:1", "syntax error"]);
}

#[test]
fn orbits_of_first_moves_are_drawn() {
    let path = std::env::temp_dir().join(format!("ludex-orbits-{}.svg", std::process::id()));
    let file = path.to_str().expect("the path is text");
    lines(&ludex(&["symmetries", "tictactoe", "--svg", file]), 0);
    let drawing = fs::read_to_string(&path).expect("an image");
    fs::remove_file(&path).expect("it can be removed");
    let n_cells = |letter: &str| drawing.matches(&format!(">{letter}</text>")).count();
    assert_eq!(["A", "B", "C"].map(n_cells), [4, 4, 1]);
    let refused = ludex(&["symmetries", "tictactoe", "--svg", "/no/such/folder/x.svg"]);
    command::check_refused(&refused, 1, &["/no/such/folder/x.svg"]);
}
