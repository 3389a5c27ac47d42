//! `ludex solve` and `ludex verify` on puzzles, as a person or a script uses them: text, JSON, exit
//! codes.

use std::path::PathBuf;

use ludex_testkit::command::{check_refused, json, lines, ludex, ludex_with, stderr, stdout};
use serde_json::{Value, json};

/// A walk of three steps, one or two at a time. It can be made in two moves and gives 70 at most.
const WALK: &str = "(role you) (init (at 0)) (succ 0 1) (succ 1 2) (succ 2 3)
    (<= (legal you one) (true (at ?x)) (succ ?x ?y))
    (<= (legal you two) (true (at ?x)) (succ ?x ?y) (succ ?y ?z))
    (<= (legal you give-up) (true (at ?x)) (succ ?x ?y))
    (<= (next (at ?y)) (does you one) (true (at ?x)) (succ ?x ?y))
    (<= (next (at ?z)) (does you two) (true (at ?x)) (succ ?x ?y) (succ ?y ?z))
    (<= (next lost) (does you give-up))
    (<= (next (at ?x)) (does you give-up) (true (at ?x)))
    (<= terminal (true (at 3))) (<= terminal (true lost))
    (<= (goal you 100) (true (at 3)) (true lost))
    (<= (goal you 70) (true (at 3)) (not (true lost)))
    (<= (goal you 10) (true lost) (not (true (at 3))))";

fn solve(rules: &str, args: &[&str]) -> std::process::Output {
    ludex_with(&[&["solve", "-"], args].concat(), rules)
}

/// A file that is removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("ludex-solve-cli-{}-{name}", std::process::id())))
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("the path is text")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It may not have been written.
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn the_report_has_the_value_the_line_and_the_proof() {
    let report = json(&solve(WALK, &["--json", "--method", "breadth"]), 0);
    assert_eq!(report["solved"], true);
    assert_eq!(report["value"], json!([70]));
    assert_eq!((&report["lower"], &report["upper"]), (&json!([70]), &json!([70])));
    assert_eq!(report["roles"], json!(["you"]));
    assert_eq!(report["evidence"], "enumeration");
    assert_eq!(report["line"].as_array().map(Vec::len), Some(2));
    assert_eq!(report["last_state"], json!(["(at 3)"]));
    assert_eq!(report.get("stopped"), None);
    let text = stdout(&solve(WALK, &["--method", "breadth"]));
    assert!(text.starts_with("you: 70\n"), "{text}");
    assert!(text.contains("proof: every state that can be reached was visited"), "{text}");
}

#[test]
fn every_method_of_the_help_text_can_be_asked_for() {
    let help = stdout(&ludex(&["solve", "--help"]));
    for method in ludex_solve::METHODS.iter().filter(|it| it.fits(ludex_solve::Kind::Puzzle)) {
        let name = method.name();
        assert!(help.contains(name), "the help text has no `{name}`");
        let output = solve(WALK, &["--json", "--method", name, "--budget", "2s"]);
        let code = output.status.code();
        let report = json(&output, code.expect("it exits"));
        let bounds = |key: &str| report[key][0].as_u64().expect("a goal");
        assert!((bounds("lower")..=bounds("upper")).contains(&70), "{name}: {report}");
        assert_eq!(code, Some(if report["solved"] == true { 0 } else { 3 }), "{name}");
        if let Some(by) = report.get("method") {
            assert_eq!(by, name);
        }
    }
}

#[test]
fn methods_are_used_in_the_order_given() {
    let report =
        json(&solve(WALK, &["--json", "--method", "dijkstra,breadth", "--threads", "1"]), 0);
    assert_eq!(report["method"], "dijkstra");
    assert_eq!(report["line"].as_array().map(Vec::len), Some(2));
}

#[test]
fn an_unknown_method_is_a_wrong_call() {
    check_refused(&solve(WALK, &["--method", "magic"]), 2, &["magic", "placement", "sat"]);
    check_refused(&solve(WALK, &["--budget", "soon"]), 2, &["soon"]);
}

#[test]
fn without_time_the_bounds_are_those_of_the_rules() {
    let output = solve(WALK, &["--json", "--budget", "0.000000001"]);
    let report = json(&output, 3);
    assert_eq!(report["solved"], false);
    assert_eq!((&report["lower"], &report["upper"]), (&json!([0]), &json!([100])));
    assert_eq!(report["stopped"], "time");
    assert_eq!(report.get("value"), None);
    let output = solve(WALK, &["--budget", "0.000000001"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("the value is within the bounds"), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("you: 0 to 100\n"), "{}", stdout(&output));
}

#[test]
fn a_shortest_line_is_marked() {
    let report = json(&solve(WALK, &["--json", "--shortest"]), 0);
    assert_eq!(report["shortest"], true);
    assert_eq!(report["line"].as_array().map(Vec::len), Some(2));
    let report = json(&ludex(&["solve", "hanoi", "--json", "--shortest"]), 0);
    assert_eq!(report["shortest"], true);
    assert_eq!(report["line"].as_array().map(Vec::len), Some(31));
    assert!(stdout(&solve(WALK, &["--shortest"])).contains("line of 2 steps, a shortest line:"));
}

/// Writes the certificate of a game, checks it, and returns its text.
fn certified(game: &str, args: &[&str]) -> (String, Value) {
    let file = Scratch::new(&game.replace('/', "-"));
    let solved = ludex(&[&["solve", game, "--json", "--certificate", file.path()], args].concat());
    let report = json(&solved, 0);
    assert_eq!(report["certificate"], file.path());
    let verdict = json(&ludex(&["verify", file.path(), game, "--json"]), 0);
    assert_eq!(verdict["accepted"], true, "{verdict}");
    (std::fs::read_to_string(&file.0).expect("the certificate was written"), report)
}

#[test]
fn certificates_of_puzzles_are_accepted() {
    for game in ["sudoku-4x4", "buttons", "wolf-goat-cabbage"] {
        let (text, report) = certified(game, &[]);
        let n_moves = report["line"].as_array().expect("a list").len();
        assert!(text.contains("plan "), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("  ")).count(), n_moves);
    }
}

#[test]
fn mutations_of_a_certificate_are_refuted() {
    let rules = Scratch::new("walk.kif");
    std::fs::write(&rules.0, WALK).expect("a temporary file can be written");
    let (text, _) = certified(rules.path(), &["--method", "breadth"]);
    assert!(text.contains("plan you 70") && text.contains("at-most you 70"), "{text}");
    let first = text.lines().find(|line| line.starts_with("  ")).expect("the plan has a move");
    let mutations = [
        text.replace("plan you 70", "plan you 71"),
        text.replace("at-most you 70", "at-most you 69"),
        text.replacen(&format!("{first}\n"), "", 1),
        text.replacen(first, "  give-up", 1),
        text.replacen(first, "  jump", 1),
        text.replace("plan you", "plan me"),
        text.replace("end\n", ""),
        text.replacen("rules ", "rules 0", 1),
    ];
    for mutation in mutations {
        assert_ne!(mutation, text, "a mutation changes something");
        let file = Scratch::new("mutation");
        std::fs::write(&file.0, &mutation).expect("a temporary file can be written");
        let output = ludex(&["verify", file.path(), rules.path()]);
        assert_ne!(output.status.code(), Some(0), "accepted:\n{mutation}");
    }
}

#[test]
fn games_that_are_no_puzzles_refuse_its_methods_by_leaving_bounds() {
    let output = ludex(&["solve", "tic-tac-toe", "--method", "sat", "--json", "--budget", "2s"]);
    let report = json(&output, 3);
    assert_eq!(report["solved"], false);
    assert!(!lines(&output, 3).is_empty());
}

#[test]
fn saved_strategies_are_played_and_damaged_ones_are_refused() {
    let file = Scratch::new("saved");
    assert_eq!(ludex(&["solve", "tictactoe", "--save", file.path()]).status.code(), Some(0));
    let play = |rules: &str| {
        let args = ["match", rules, "--players", "ludex,random", "--count", "2", "--verbose"];
        ludex(&[&args[..], &["--saved", file.path()]].concat())
    };
    let text = stdout(&play("tictactoe"));
    let by_ludex = text.lines().filter(|line| line.contains("saved, goal 50 proved")).count();
    assert!(by_ludex >= 4, "{text}");
    assert!(!text.contains("grave") && !text.contains("alphabeta"), "{text}");
    check_refused(&play("nim"), 1, &["for other rules"]);
    // A part of the file, as a killed process could leave it.
    let saved = std::fs::read_to_string(&file.0).expect("it was written");
    std::fs::write(&file.0, &saved[..saved.len() / 2]).expect("the folder is there");
    check_refused(&play("tictactoe"), 1, &["incomplete or damaged"]);
}

#[test]
fn a_game_of_several_parts_is_solved_by_them_and_its_certificate_accepted() {
    for name in ["maze-then-lights", "lights-parallel", "nim"] {
        let file = Scratch::new(name);
        let output =
            ludex(&["solve", name, "--method", "parts", "--json", "--certificate", file.path()]);
        let report = json(&output, 0);
        assert_eq!(report["solved"], true, "{name}: {report}");
        assert_eq!(report["method"], "parts", "{name}");
        let checked = json(&ludex(&["verify", file.path(), name, "--json"]), 0);
        assert_eq!(checked["accepted"], true, "{name}: {checked}");
    }
}

#[test]
fn subgames_are_drawn_in_colors_of_their_own() {
    let drawing = stdout(&ludex(&["decompose", "tictactoe-parallel", "--svg"]));
    assert!(drawing.starts_with("<svg ") && drawing.ends_with("</svg>\n"), "{drawing}");
    assert_eq!(drawing.matches("class=\"subgame\"").count(), 3, "two boards, and whose turn it is");
    for color in ["#56b4e9", "#e69f00"] {
        let cells = format!("class=\"ground group\" fill=\"{color}\"");
        assert_eq!(drawing.matches(&cells).count(), 9, "a board has nine cells");
    }
}
